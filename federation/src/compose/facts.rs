//! What a subgraph's directives mean together: which fields it resolves, and which it only mentions.

use std::collections::{HashMap, HashSet};

use apollo_compiler::ast::Directive;
use apollo_compiler::schema::{Component, DirectiveList, ExtendedType, FieldDefinition};
use apollo_compiler::{Name, Node, Schema};

use super::field_set::{each_field, each_field_named, possible, taken_from_context};
use super::read::Subgraph;
pub(super) use crate::supergraph::join::text;

/// What the directives of a subgraph mean together.
#[derive(Debug, Default)]
pub(super) struct Facts {
    /// Fields that it only mentions, by type and name.
    external: HashSet<(Name, Name)>,
    /// Fields that a key, a requirement, a provision or an interface needs.
    used: HashSet<(Name, Name)>,
    /// Fields of keys.
    key_fields: HashSet<(Name, Name)>,
    /// Fields of keys that extensions have.
    extension_key_fields: HashSet<(Name, Name)>,
    /// External fields that it resolves on some path.
    provided: HashSet<(Name, Name)>,
    keys: HashMap<Name, Vec<Key>>,
}

/// A `@key`.
#[derive(Clone, Debug)]
pub(super) struct Key {
    pub(super) fields: String,
    pub(super) is_resolvable: bool,
    /// Whether it belongs to an extension. The subgraph resolves its fields, also those that are written `@external`,
    /// as libraries of federation 1 demand it.
    pub(super) is_of_extension: bool,
    pub(super) directive: Node<Directive>,
}

impl Facts {
    pub(super) fn of(subgraph: &Subgraph) -> Facts {
        let schema = &subgraph.schema;
        let mut facts = Facts::default();
        for ty in schema.types.values() {
            facts.read_type(subgraph, ty);
        }
        for ty in schema.types.values() {
            for (name, field) in fields(ty).into_iter().flatten() {
                let is_marked = is_marked_external(ty, field);
                // Federation 1 wants key fields of extensions marked, although the subgraph
                // resolves them (docs/composition.md, "Extensions").
                if is_marked && !facts.is_key_field_of_extension(subgraph, ty.name(), name) {
                    facts.external.insert((ty.name().clone(), name.clone()));
                }
            }
            facts.read_interfaces(schema, ty);
        }
        let Facts {
            external, provided, ..
        } = &mut facts;
        provided.retain(|field| external.contains(field));
        facts
    }

    /// Returns whether the subgraph only mentions a field.
    pub(super) fn is_external(&self, ty: &Name, field: &Name) -> bool {
        contains(&self.external, ty, field)
    }

    /// Returns whether something needs a field that may be external.
    pub(super) fn is_used(&self, ty: &Name, field: &Name) -> bool {
        contains(&self.used, ty, field)
    }

    pub(super) fn is_key_field(&self, ty: &Name, field: &Name) -> bool {
        contains(&self.key_fields, ty, field)
    }

    /// Returns whether a field belongs to the key of an extension, or to a key and an extension.
    fn is_key_field_of_extension(&self, subgraph: &Subgraph, ty: &Name, field: &Name) -> bool {
        contains(&self.extension_key_fields, ty, field)
            || (subgraph.extended.contains(ty) && self.is_key_field(ty, field))
    }

    /// Returns whether the subgraph resolves an external field on some path.
    pub(super) fn is_provided(&self, ty: &Name, field: &Name) -> bool {
        contains(&self.provided, ty, field)
    }

    pub(super) fn keys(&self, ty: &str) -> &[Key] {
        self.keys.get(ty).map_or(&[], Vec::as_slice)
    }

    fn read_type(&mut self, subgraph: &Subgraph, ty: &ExtendedType) {
        let schema = &subgraph.schema;
        for directive in ty.directives().get_all("federation__key") {
            let Some(text) = text(directive, "fields") else {
                continue;
            };
            let resolvable = directive.specified_argument_by_name("resolvable");
            let is_of_extension =
                directive.origin.extension_id().is_some() || subgraph.extended.contains(ty.name());
            let key = Key {
                fields: text.to_owned(),
                is_resolvable: resolvable.and_then(|value| value.to_bool()) != Some(false),
                is_of_extension,
                directive: directive.node.clone(),
            };
            self.keys.entry(ty.name().clone()).or_default().push(key);
            each_implementation(schema, ty.name(), text, &mut |ty, field| {
                self.used.insert((ty.clone(), field.clone()));
            });
            each_field_named(schema, ty.name(), text, &mut |ty, field| {
                let field = (ty.clone(), field.clone());
                if is_of_extension {
                    self.extension_key_fields.insert(field.clone());
                }
                self.key_fields.insert(field);
            });
        }
        for field in fields(ty).into_iter().flatten().map(|(_, field)| field) {
            self.read_field(schema, ty, field);
        }
    }

    fn read_field(
        &mut self,
        schema: &Schema,
        ty: &ExtendedType,
        field: &Component<FieldDefinition>,
    ) {
        let of = |name: &str| field.directives.get(name).and_then(|it| text(it, "fields"));
        if let Some(text) = of("federation__requires") {
            each_implementation(schema, ty.name(), text, &mut |ty, field| {
                self.used.insert((ty.clone(), field.clone()));
            });
        }
        for argument in &field.arguments {
            for set in taken_from_context(schema, argument) {
                each_field(&set, &mut |it| {
                    self.used.insert((it.parent.clone(), it.field.name.clone()));
                });
            }
        }
        if let Some(text) = of("federation__provides") {
            each_implementation(
                schema,
                field.ty.inner_named_type(),
                text,
                &mut |ty, field| {
                    self.used.insert((ty.clone(), field.clone()));
                    self.provided.insert((ty.clone(), field.clone()));
                },
            );
        }
    }

    /// Notes the fields of interfaces: an external field may be there only because an interface of
    /// its type needs it.
    fn read_interfaces(&mut self, schema: &Schema, ty: &ExtendedType) {
        let ExtendedType::Object(object) = ty else {
            return;
        };
        for interface in &object.implements_interfaces {
            let fields = schema.get_interface(interface).map(|it| &it.fields);
            for name in fields.into_iter().flat_map(|fields| fields.keys()) {
                self.used.insert((object.name.clone(), name.clone()));
            }
        }
    }
}

fn contains(set: &HashSet<(Name, Name)>, ty: &Name, field: &Name) -> bool {
    !set.is_empty() && set.contains(&(ty.clone(), field.clone()))
}

/// Visits the fields that a text selects, and for those of interfaces also the ones of their implementations.
fn each_implementation(
    schema: &Schema,
    parent: &str,
    text: &str,
    visit: &mut impl FnMut(&Name, &Name),
) {
    each_field_named(schema, parent, text, &mut |ty, field| {
        visit(ty, field);
        if let Some(interface @ ExtendedType::Interface(_)) = schema.types.get(ty) {
            possible(schema, interface)
                .into_iter()
                .for_each(|object| visit(object, field));
        }
    });
}

/// Returns the fields of objects and interfaces.
pub(super) fn fields(
    ty: &ExtendedType,
) -> Option<&apollo_compiler::collections::IndexMap<Name, Component<FieldDefinition>>> {
    match ty {
        ExtendedType::Object(object) => Some(&object.fields),
        ExtendedType::Interface(interface) => Some(&interface.fields),
        _ => None,
    }
}

/// Returns whether a field, or the block of its type that it stands in, has `@external`. On a type,
/// the directive is about the fields of the same definition or extension, as `@shareable` is.
pub(super) fn is_marked_external(ty: &ExtendedType, field: &Component<FieldDefinition>) -> bool {
    let of_block = |directives: &DirectiveList| {
        let mut all = directives.get_all("federation__external");
        all.any(|directive| directive.origin == field.origin)
    };
    field.directives.has("federation__external") || (ty.is_object() && of_block(ty.directives()))
}
