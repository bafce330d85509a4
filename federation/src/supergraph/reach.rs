//! Types that no operation can reach.

use std::collections::{HashMap, HashSet};

use apollo_compiler::ast::InputValueDefinition;
use apollo_compiler::collections::IndexSet;
use apollo_compiler::schema::{Component, ComponentName, ExtendedType, FieldDefinition};
use apollo_compiler::{Name, Node, Schema};

/// Removes the types that no operation can reach.
///
/// Operations begin at the root types, and follow fields, arguments, input fields, members of unions and objects of
/// interfaces. Objects keep their interfaces. Where no field leads to such an interface, its other objects are not
/// reached by it.
pub(super) fn prune(schema: &mut Schema) {
    let reached = Reach::of(schema);
    schema
        .types
        .retain(|name, ty| ty.is_built_in() || reached.contains(name));
}

struct Reach<'s> {
    schema: &'s Schema,
    /// The objects of each interface that no field leads to so far.
    objects: HashMap<&'s Name, Vec<&'s Name>>,
    reached: HashSet<&'s Name>,
    /// Types that are reached, and not followed yet.
    open: Vec<&'s Name>,
}

impl<'s> Reach<'s> {
    fn of(schema: &'s Schema) -> HashSet<Name> {
        let mut objects: HashMap<&Name, Vec<&Name>> = HashMap::new();
        for object in schema.types.values().filter_map(ExtendedType::as_object) {
            for interface in &object.implements_interfaces {
                let known = objects.entry(&interface.name).or_default();
                known.push(&object.name);
            }
        }
        let mut reach = Reach {
            schema,
            objects,
            reached: HashSet::new(),
            open: Vec::new(),
        };
        for (_, root) in schema.schema_definition.iter_root_operations() {
            reach.add(&root.name);
        }
        for directive in schema.directive_definitions.values() {
            reach.inputs(&directive.arguments);
        }
        while let Some(name) = reach.open.pop() {
            reach.follow(name);
        }
        reach.reached.into_iter().cloned().collect()
    }

    fn add(&mut self, name: &'s Name) {
        if self.reached.insert(name) {
            self.open.push(name);
        }
    }

    fn follow(&mut self, name: &'s Name) {
        match self.schema.types.get(name) {
            Some(ExtendedType::Object(object)) => {
                self.composite(&object.implements_interfaces, object.fields.values());
            }
            Some(ExtendedType::Interface(interface)) => {
                self.composite(&interface.implements_interfaces, interface.fields.values());
            }
            Some(ExtendedType::Union(union)) => {
                union.members.iter().for_each(|member| self.add(member));
            }
            Some(ExtendedType::InputObject(input)) => {
                self.inputs(input.fields.values().map(|field| &field.node));
            }
            Some(ExtendedType::Scalar(_) | ExtendedType::Enum(_)) | None => {}
        }
    }

    fn composite(
        &mut self,
        interfaces: &'s IndexSet<ComponentName>,
        fields: impl Iterator<Item = &'s Component<FieldDefinition>>,
    ) {
        interfaces
            .iter()
            .for_each(|interface| self.add(&interface.name));
        for field in fields {
            self.inputs(&field.arguments);
            let ty = field.ty.inner_named_type();
            self.add(ty);
            let objects = self.objects.remove(ty);
            objects.into_iter().flatten().for_each(|it| self.add(it));
        }
    }

    fn inputs(&mut self, inputs: impl IntoIterator<Item = &'s Node<InputValueDefinition>>) {
        for input in inputs {
            self.add(input.ty.inner_named_type());
        }
    }
}
