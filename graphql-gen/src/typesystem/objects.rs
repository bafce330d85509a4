//! The GraphQL types of the document's objects.

use apollo_compiler::collections::IndexSet;
use apollo_compiler::schema::ComponentName;
use apollo_compiler::{Name, name};
use soml_core::schema::{ObjectId, Schema};

use super::fields::ObjectShape;
use super::hierarchy::{Hierarchy, index};
use super::inputs::{BuiltInKeys, CommonKeys, Filter};
use super::nodes::{Text, interface_type, object_type, text};
use super::origin::{Origin, Source};
use super::table::TypeTable;
use super::targets::{Target, Targets};

/// What the types of all objects are made from.
pub(super) struct TypeBuilder<'a> {
    pub(super) soml: &'a Schema,
    pub(super) hierarchy: &'a Hierarchy,
    pub(super) targets: &'a Targets,
    pub(super) keys: &'a CommonKeys,
    pub(super) shapes: &'a [ObjectShape],
}

impl TypeBuilder<'_> {
    /// Adds types, interfaces and inputs of every object, and the inputs of `Object` and `Nameable`.
    pub(super) fn add(&self, table: &mut TypeTable<'_>, nameable: &[ObjectId], all: &[ObjectId]) {
        let targets = self.targets;
        let origin = Origin::BUILT_IN;
        let of_objects = Filter {
            origin,
            target: &targets.any_object,
            built_in: BuiltInKeys {
                object: true,
                name: false,
            },
            properties: &[],
            narrowed: all,
        };
        self.keys.add_where(table, &of_objects);
        self.keys
            .add_order(table, origin, &targets.any_object, false, &[]);
        let of_named = Filter {
            origin,
            target: &targets.nameable,
            built_in: BuiltInKeys {
                object: false,
                name: true,
            },
            properties: &[],
            narrowed: nameable,
        };
        self.keys.add_where(table, &of_named);
        for (position, shape) in self.shapes.iter().enumerate() {
            let id = ObjectId(u32::try_from(position).expect("objects are counted in 32 bits"));
            self.add_object(table, id, shape);
        }
    }

    fn add_object(&self, table: &mut TypeTable<'_>, id: ObjectId, shape: &ObjectShape) {
        let targets = self.targets.object(id);
        let description = self.description(id);
        let origin = Origin::of(Source::Object(id));
        let mut interfaces = self.inherited_interfaces(id);
        if let Some(target) = &targets.interface {
            let ty = interface_type(
                target.ty.clone(),
                description.clone(),
                interfaces.clone(),
                shape.members(id),
            );
            table.add(origin, ty);
            self.add_inputs(table, id, target, &self.hierarchy.concrete[index(id)]);
            interfaces.insert(ComponentName::from(&target.ty));
        }
        if let Some(target) = &targets.concrete {
            let fields = shape.members(id);
            table.add(
                origin,
                object_type(target.ty.clone(), description, interfaces, fields),
            );
            self.add_inputs(table, id, target, &[]);
        }
    }

    fn add_inputs(
        &self,
        table: &mut TypeTable<'_>,
        id: ObjectId,
        target: &Target,
        narrowed: &[ObjectId],
    ) {
        let origin = Origin::of(Source::Object(id));
        let shape = &self.shapes[index(id)];
        let nameable = self.soml.is_nameable(id);
        let filter = Filter {
            origin,
            target,
            built_in: BuiltInKeys {
                object: true,
                name: nameable,
            },
            properties: &shape.where_keys,
            narrowed,
        };
        self.keys.add_where(table, &filter);
        self.keys
            .add_order(table, origin, target, nameable, &shape.order_keys);
    }

    /// Returns `Object`, `Nameable`, and the interfaces of all superclasses, root first: a type
    /// declares the interfaces of its interfaces too
    /// (<https://spec.graphql.org/September2025/#IsValidImplementation()>).
    fn inherited_interfaces(&self, id: ObjectId) -> IndexSet<ComponentName> {
        let mut names: IndexSet<ComponentName> = IndexSet::default();
        names.insert(name!("Object").into());
        if self.soml.is_nameable(id) {
            names.insert(name!("Nameable").into());
        }
        let above = &self.hierarchy.ancestors[index(id)];
        names.extend(
            above
                .iter()
                .map(|&a| ComponentName::from(self.interface_name(a))),
        );
        names
    }

    fn interface_name(&self, ancestor: ObjectId) -> &Name {
        let target = self.targets.object(ancestor).interface.as_ref();
        &target
            .expect("an object with subclasses has an interface")
            .ty
    }

    /// Returns the label, else the description, else the name (docs/schema.md, "The API").
    fn description(&self, id: ObjectId) -> Text {
        let object = &self.soml[id];
        let written = object.label.as_deref().or(object.descr.as_deref());
        text(written.unwrap_or(&object.name.graphql))
    }
}
