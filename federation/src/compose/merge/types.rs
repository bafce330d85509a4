//! Merges types of one name.

use apollo_compiler::ast::Value;
use apollo_compiler::collections::IndexSet;
use apollo_compiler::schema::{
    Component, ComponentName, DirectiveList, ExtendedType, InterfaceType, ObjectType, ScalarType,
};
use apollo_compiler::{Name, Node, name};

use graphql_service::suggestions::nearest;

use super::{Merge, Sources};
use crate::compose::code::{CompositionCode, HintCode};
use crate::compose::facts::fields;
use crate::compose::finding::CompositionError;
use crate::compose::read::is_own;
use crate::supergraph::join::DirectiveBuilder;

impl<'m> Merge<'m> {
    /// Merges what subgraphs say of a type; `None` if it cannot be merged.
    pub(super) fn merge_type(
        &mut self,
        name: &Name,
        sources: &Sources<'m, ExtendedType>,
    ) -> Option<ExtendedType> {
        self.check_base(name, sources);
        if !self.check_kinds(name, sources) {
            if sources.iter().all(|(_, ty)| fields(ty).is_some()) {
                // What is wrong with its fields is said at once.
                self.merge_fields(name, sources);
            }
            return None;
        }
        let texts: Vec<_> = sources
            .iter()
            .map(|(at, ty)| (*at, ty.description()))
            .collect();
        let description = self.description(name, &texts);
        let is_interface = sources.iter().any(|(_, ty)| ty.is_interface());
        self.hint_of_entity(name, sources);
        let mut directives = DirectiveList::default();
        directives.0.extend(self.join_types(sources));
        let applied: Vec<_> = sources
            .iter()
            .map(|(at, ty)| (*at, ty.directives()))
            .collect();
        let applied = applied
            .iter()
            .map(|(at, list)| (*at, list.iter().map(|it| &it.node).collect()))
            .collect();
        let merged = self.merge_directives(name, applied);
        directives.0.extend(merged.into_iter().map(Component::from));
        let ty = match sources[0].1 {
            ExtendedType::Scalar(_) => ExtendedType::Scalar(Node::new(ScalarType {
                description,
                name: name.clone(),
                directives,
            })),
            ExtendedType::Object(_) if !is_interface => {
                let (interfaces, joins) = self.interfaces(sources);
                directives.0.splice(0..0, joins);
                sort_joins(&mut directives);
                ExtendedType::Object(Node::new(ObjectType {
                    description,
                    name: name.clone(),
                    implements_interfaces: interfaces,
                    directives,
                    fields: self.merge_fields(name, sources),
                }))
            }
            ExtendedType::Object(_) | ExtendedType::Interface(_) => {
                let (interfaces, joins) = self.interfaces(sources);
                directives.0.splice(0..0, joins);
                sort_joins(&mut directives);
                ExtendedType::Interface(Node::new(InterfaceType {
                    description,
                    name: name.clone(),
                    implements_interfaces: interfaces,
                    directives,
                    fields: self.merge_fields(name, sources),
                }))
            }
            ExtendedType::Union(_) => self.merge_union(name, sources, description, directives),
            ExtendedType::Enum(_) => self.merge_enum(name, sources, description, directives)?,
            ExtendedType::InputObject(_) => {
                self.merge_input(name, sources, description, directives)?
            }
        };
        Some(ty)
    }

    fn check_kinds(&mut self, name: &Name, sources: &Sources<'_, ExtendedType>) -> bool {
        let kind = |ty: &ExtendedType| match ty {
            // It stands for an interface of other subgraphs.
            ty if ty.directives().has("federation__interfaceObject") => "interface",
            ExtendedType::Scalar(_) => "scalar",
            ExtendedType::Object(_) => "object",
            ExtendedType::Interface(_) => "interface",
            ExtendedType::Union(_) => "union",
            ExtendedType::Enum(_) => "enum",
            ExtendedType::InputObject(_) => "input object",
        };
        let first = kind(sources[0].1);
        if sources.iter().any(|(_, ty)| kind(ty) != first) {
            let said: Vec<_> = sources
                .iter()
                .map(|(at, ty)| format!("{} in `{}`", kind(ty), self.subgraphs[*at].name))
                .collect();
            let message = format!("`{name}` is of different kinds: {}", said.join(", "));
            let places = self.places_of(sources);
            self.report(
                CompositionCode::TYPE_KIND_MISMATCH,
                name.as_str(),
                places,
                message,
            );
            return false;
        }
        // Somebody has to know the types behind an interface object.
        let is_object = |ty: &ExtendedType| ty.directives().has("federation__interfaceObject");
        if sources.iter().all(|(_, ty)| is_object(ty)) {
            let message = format!(
                "`{name}` has `@interfaceObject`, but no subgraph defines it as an interface"
            );
            let places = self.places_of(sources);
            self.report(
                CompositionCode::INTERFACE_OBJECT_USAGE_ERROR,
                name.as_str(),
                places,
                message,
            );
            return false;
        }
        true
    }

    /// Reports a type that is extended and nowhere defined (docs/composition.md, "Extensions").
    fn check_base(&mut self, name: &Name, sources: &Sources<'_, ExtendedType>) {
        let is_base = |at: usize| !self.subgraphs[at].undefined.contains(name);
        if is_root(name) || sources.iter().any(|(at, _)| is_base(*at)) {
            return;
        }
        let in_subgraphs = self.named(sources.iter().map(|(at, _)| *at));
        let message = format!("`{name}` is extended in {in_subgraphs}, but no subgraph defines it");
        let code = CompositionCode::EXTENSION_WITH_NO_BASE;
        let error = CompositionError::new(code, message)
            .about(name.as_str())
            .at_all(self.places_of(sources));
        let defined = self.subgraphs.iter().flat_map(|subgraph| {
            let types = subgraph.schema.types.values().filter(|ty| is_own(ty));
            let names = types.map(|ty| ty.name());
            names.filter(|name| !subgraph.undefined.contains(*name))
        });
        let meant = nearest(
            name,
            defined.map(Name::as_str).filter(|name| !is_root(name)),
        );
        self.errors.push(match meant {
            Some(other) => error.help(format!("did you mean `{other}`?")),
            None => error,
        });
    }

    /// Returns `@join__type` for each subgraph, and for each key
    /// (<https://specs.apollo.dev/join/v0.3>).
    fn join_types(
        &mut self,
        sources: &Sources<'_, ExtendedType>,
    ) -> Vec<Component<apollo_compiler::ast::Directive>> {
        let mut joins = Vec::new();
        for (at, ty) in sources {
            let subgraph = &self.subgraphs[*at];
            let is_object = ty.directives().has("federation__interfaceObject");
            let is_type = !is_root(ty.name());
            let begin = || DirectiveBuilder::of_graph(name!("join__type"), &subgraph.graph);
            let end = |join: DirectiveBuilder| {
                join.flag(name!("isInterfaceObject"), is_object).component()
            };
            let keys = self.facts[*at].keys(ty.name());
            for key in keys {
                let join = begin()
                    .with(name!("key"), key.fields.as_str())
                    .flag(name!("extension"), key.is_of_extension && is_type);
                let join = if key.is_resolvable {
                    join
                } else {
                    join.with(name!("resolvable"), Value::Boolean(false))
                };
                joins.push(end(join));
            }
            if keys.is_empty() {
                joins.push(end(begin()));
            }
        }
        joins
    }

    /// Returns the interfaces of a type, and who says so.
    fn interfaces(
        &self,
        sources: &Sources<'_, ExtendedType>,
    ) -> (
        IndexSet<ComponentName>,
        Vec<Component<apollo_compiler::ast::Directive>>,
    ) {
        let mut interfaces = IndexSet::default();
        let mut joins = Vec::new();
        for (at, ty) in sources {
            let known = match ty {
                ExtendedType::Object(object) => &object.implements_interfaces,
                ExtendedType::Interface(interface) => &interface.implements_interfaces,
                _ => continue,
            };
            for interface in known {
                interfaces.insert(ComponentName::from(interface.name.clone()));
                let join = DirectiveBuilder::of_graph(
                    name!("join__implements"),
                    &self.subgraphs[*at].graph,
                );
                joins.push(
                    join.with(name!("interface"), interface.name.as_str())
                        .component(),
                );
            }
        }
        (interfaces, joins)
    }

    /// Notes a type that is an entity in some subgraphs only.
    fn hint_of_entity(&mut self, name: &Name, sources: &Sources<'_, ExtendedType>) {
        let is_entity = |at: usize| !self.facts[at].keys(name).is_empty();
        let objects = sources.iter().copied().filter(|(_, ty)| ty.is_object());
        let (with, without): (Sources<'_, _>, Sources<'_, _>) =
            objects.partition(|(at, _)| is_entity(*at));
        if with.is_empty() || without.is_empty() || is_root(name) {
            return;
        }
        let message = format!(
            "`{name}` has a key in {}, but none in {}",
            self.named(with.iter().map(|(at, _)| *at)),
            self.named(without.iter().map(|(at, _)| *at))
        );
        let places = self.places_of(&without);
        self.hint(
            HintCode::INCONSISTENT_ENTITY,
            name.as_str(),
            places,
            message,
        );
    }

    /// Notes fields of types without keys that some subgraphs do not have.
    pub(super) fn hint_of_missing_field(
        &mut self,
        name: &Name,
        field: &Name,
        sources: &Sources<'_, ExtendedType>,
    ) {
        let has_key = sources
            .iter()
            .any(|(at, _)| !self.facts[*at].keys(name).is_empty());
        if has_key || is_root(name) {
            return;
        }
        let has_it =
            |ty: &ExtendedType| fields(ty).is_some_and(|fields| fields.contains_key(field));
        // A subgraph that only mentions the type is no place for its fields.
        let mentions = |at: usize, ty: &ExtendedType| {
            let mut all = fields(ty).into_iter().flatten();
            all.all(|(field, _)| self.facts[at].is_external(name, field))
        };
        let missing = sources.iter().copied();
        let missing: Sources<'_, _> = missing
            .filter(|(at, ty)| !has_it(ty) && !mentions(*at, ty))
            .collect();
        if missing.is_empty() {
            return;
        }
        let is_interface = sources.iter().any(|(_, ty)| ty.is_interface());
        let code = if is_interface {
            HintCode::INCONSISTENT_INTERFACE_VALUE_TYPE_FIELD
        } else {
            HintCode::INCONSISTENT_OBJECT_VALUE_TYPE_FIELD
        };
        let names = self.named(missing.iter().map(|(at, _)| *at));
        let message = format!("`{name}.{field}` is missing in {names}");
        let places = self.places_of(&missing);
        self.hint(code, format!("{name}.{field}"), places, message);
    }
}

pub(in crate::compose) fn is_root(name: &str) -> bool {
    matches!(name, "Query" | "Mutation" | "Subscription")
}

/// Puts `@join__type` first, then the other join directives, then what is merged.
fn sort_joins(directives: &mut DirectiveList) {
    let rank = |name: &str| match name {
        "join__type" => 0,
        name if name.starts_with("join__") => 1,
        _ => 2,
    };
    directives.0.sort_by_key(|directive| rank(&directive.name));
}
