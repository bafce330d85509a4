//! Leaves out types that nothing reaches.
//!
//! The API has inputs for every scalar and types for subscriptions and writing, for clients that
//! know them by name. Who does not need them gets a smaller schema by
//! [`ApiOptions::prune`](super::ApiOptions::prune), in which every operation is answered as before: an
//! operation can only name types that something reaches.

use apollo_compiler::ast::FieldDefinition;
use apollo_compiler::collections::{HashMap, HashSet};
use apollo_compiler::schema::{ComponentName, ExtendedType, NamedType};
use apollo_compiler::{Node, Schema};

use super::origin::Origins;

/// Removes the types that neither a root type nor a directive reaches, with their origins.
///
/// A type reaches what its fields, arguments and input fields are of, the interfaces it implements,
/// and as an interface or union all types that its values can be. What GraphQL itself defines stays.
pub(super) fn prune(schema: &mut Schema, origins: &mut Origins) {
    let reached = Reach::new(schema).reached;
    schema.types.retain(|name, _| reached.contains(name));
    origins.retain(|name, _| reached.contains(name));
}

/// The types reached so far, and those of them whose own references were not followed yet.
struct Reach {
    reached: HashSet<NamedType>,
    open: Vec<NamedType>,
}

impl Reach {
    fn new(schema: &Schema) -> Self {
        let mut reach = Reach {
            reached: HashSet::default(),
            open: Vec::new(),
        };
        let roots = schema.schema_definition.iter_root_operations();
        roots.for_each(|(_, root)| reach.add(&root.name));
        let directives = schema.directive_definitions.values();
        for argument in directives.flat_map(|directive| &directive.arguments) {
            reach.add(argument.ty.inner_named_type());
        }
        let built_in = schema.types.iter().filter(|(_, ty)| ty.is_built_in());
        built_in.for_each(|(name, _)| reach.add(name));
        let implementers = implementers(schema);
        while let Some(name) = reach.open.pop() {
            if let Some(ty) = schema.types.get(&name) {
                reach.follow(ty, implementers.get(&name).map_or(&[], Vec::as_slice));
            }
        }
        reach
    }

    fn add(&mut self, name: &NamedType) {
        if self.reached.insert(name.clone()) {
            self.open.push(name.clone());
        }
    }

    fn follow(&mut self, ty: &ExtendedType, implementers: &[&NamedType]) {
        match ty {
            ExtendedType::Scalar(_) | ExtendedType::Enum(_) => {}
            ExtendedType::Object(ty) => {
                self.add_all(&ty.implements_interfaces);
                ty.fields.values().for_each(|field| self.add_field(field));
            }
            ExtendedType::Interface(ty) => {
                self.add_all(&ty.implements_interfaces);
                ty.fields.values().for_each(|field| self.add_field(field));
                implementers.iter().for_each(|name| self.add(name));
            }
            ExtendedType::Union(ty) => self.add_all(&ty.members),
            ExtendedType::InputObject(ty) => {
                let keys = ty.fields.values();
                keys.for_each(|key| self.add(key.ty.inner_named_type()));
            }
        }
    }

    fn add_all<'a>(&mut self, names: impl IntoIterator<Item = &'a ComponentName>) {
        names.into_iter().for_each(|name| self.add(&name.name));
    }

    fn add_field(&mut self, field: &Node<FieldDefinition>) {
        self.add(field.ty.inner_named_type());
        for argument in &field.arguments {
            self.add(argument.ty.inner_named_type());
        }
    }
}

/// Returns the types that implement each interface.
fn implementers(schema: &Schema) -> HashMap<&NamedType, Vec<&NamedType>> {
    let mut implementers: HashMap<&NamedType, Vec<&NamedType>> = HashMap::default();
    for (name, ty) in &schema.types {
        let interfaces = match ty {
            ExtendedType::Object(ty) => &ty.implements_interfaces,
            ExtendedType::Interface(ty) => &ty.implements_interfaces,
            _ => continue,
        };
        for interface in interfaces {
            implementers.entry(&interface.name).or_default().push(name);
        }
    }
    implementers
}
