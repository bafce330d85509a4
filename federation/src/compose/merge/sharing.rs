//! Fields that several subgraphs resolve have to be `@shareable` in all of them.

use std::collections::BTreeSet;

use apollo_compiler::Name;
use apollo_compiler::schema::ExtendedType;

use graphql_service::suggestions::nearest;

use super::Merge;
use super::fields::FieldSource;
use super::overrides::Moved;
use crate::compose::code::{CompositionCode, HintCode};
use crate::compose::facts::text;
use crate::compose::field_set::possible;
use crate::compose::finding::CompositionError;

impl<'m> Merge<'m> {
    pub(super) fn check_sharing(
        &mut self,
        coordinate: &str,
        name: &Name,
        sources: &[FieldSource<'_>],
        moved: &[Moved],
    ) {
        let field = &sources[0].field.name;
        let over_interfaces = self.interface_objects_with(name, field);
        let over_interfaces: Vec<_> = over_interfaces
            .into_iter()
            .filter(|it| sources.iter().all(|source| source.at != it.at))
            .collect();
        let mut resolving: Vec<_> = sources
            .iter()
            .zip(moved)
            .filter(|(source, moved)| {
                let is_provided =
                    || self.facts[source.at].is_provided(source.parent.name(), &source.field.name);
                // While it moves, only one of two subgraphs resolves a field.
                let is_target = moved.label.is_some() && moved.from.is_some();
                !moved.is_overridden && !is_target && (!source.is_external || is_provided())
            })
            .map(|(source, _)| source)
            .collect();
        if !resolving.is_empty() {
            resolving.extend(&over_interfaces);
        }
        if resolving.len() < 2 {
            return;
        }
        // What is provided on some path is external, and shares what others have to share.
        let private: Vec<_> = resolving
            .iter()
            .filter(|source| !source.is_external && !self.is_shareable(source))
            .collect();
        if private.is_empty() {
            return;
        }
        let all = self.named(resolving.iter().map(|source| source.at));
        let names = self.named(private.iter().map(|source| source.at));
        let message = match private.len() == resolving.len() {
            true => {
                format!("`{coordinate}` is resolved by {all}, and is `@shareable` in none of them")
            }
            false => {
                format!("`{coordinate}` is resolved by {all}, and is not `@shareable` in {names}")
            }
        };
        let places: Vec<_> = resolving
            .iter()
            .map(|source| self.place(source.at, source.field.name.location()))
            .collect();
        let code = CompositionCode::INVALID_FIELD_SHARING;
        let error = CompositionError::new(code, message)
            .about(coordinate)
            .at_all(places);
        let stray = resolving
            .iter()
            .find_map(|source| self.stray_override(source));
        self.errors.push(match stray {
            Some(help) => error.help(help),
            None => error,
        });
    }

    /// Says of an `@override` that it names a subgraph which does not exist.
    fn stray_override(&self, source: &FieldSource<'_>) -> Option<String> {
        let directive = source.field.directives.get("federation__override")?;
        let from = text(directive, "from")?;
        let names = || self.subgraphs.iter().map(|subgraph| subgraph.name.as_str());
        if names().any(|name| name == from) {
            return None;
        }
        let meant = nearest(from, names());
        let meant = meant.map_or_else(String::new, |name| format!("; did you mean `{name}`?"));
        let subgraph = &self.subgraphs[source.at].name;
        Some(format!(
            "`@override(from: \"{from}\")` in `{subgraph}` names no subgraph{meant}"
        ))
    }

    /// Returns what subgraphs say of a field of an object type that have one of its interfaces as an object.
    fn interface_objects_with(&self, name: &Name, field: &Name) -> Vec<FieldSource<'m>> {
        let mut found = Vec::new();
        for (at, ty) in &self.interface_objects {
            let definition = super::fields::field_of(ty, field);
            if let Some(definition) =
                definition.filter(|_| self.relations.is_subtype(name, ty.name()))
            {
                found.push(FieldSource {
                    at: *at,
                    parent: ty,
                    field: definition,
                    is_external: self.facts[*at].is_external(ty.name(), field),
                });
            }
        }
        found
    }

    /// What several subgraphs resolve must be able to be the same.
    pub(super) fn check_runtime_types(
        &mut self,
        coordinate: &str,
        sources: &[FieldSource<'_>],
        moved: &[Moved],
    ) {
        let resolving = sources
            .iter()
            .zip(moved)
            .filter(|(source, moved)| !source.is_external && !moved.is_overridden);
        let runtime = resolving.filter_map(|(source, _)| {
            let schema = &self.subgraphs[source.at].schema;
            let ty = schema.types.get(source.field.ty.inner_named_type())?;
            let is_whole = !ty.directives().has("federation__interfaceObject");
            let types: BTreeSet<String> = possible(schema, ty)
                .into_iter()
                .map(ToString::to_string)
                .collect();
            let is_composite = ty.is_object() || ty.is_interface() || ty.is_union();
            (is_whole && is_composite).then_some((source.at, types))
        });
        let runtime: Vec<_> = runtime.collect();
        let Some((_, first)) = runtime.first() else {
            return;
        };
        if runtime.iter().all(|(_, types)| types == first) {
            return;
        }
        let has_common = first
            .iter()
            .any(|ty| runtime.iter().all(|(_, types)| types.contains(ty)));
        let said = runtime.iter().map(|(at, types)| {
            let types: Vec<_> = types.iter().map(|ty| format!("`{ty}`")).collect();
            format!("{} in `{}`", types.join(", "), self.subgraphs[*at].name)
        });
        let said = said.collect::<Vec<_>>().join("; ");
        let places: Vec<_> = sources
            .iter()
            .map(|source| self.place(source.at, source.field.name.location()))
            .collect();
        if has_common {
            let message = format!("the object types of `{coordinate}` differ: {said}");
            let code = HintCode::INCONSISTENT_RUNTIME_TYPES_FOR_SHAREABLE_RETURN;
            self.hint(code, coordinate, places, message);
        } else {
            let message = format!(
                "no object type of `{coordinate}` is known to all subgraphs that resolve it: {said}"
            );
            let code = CompositionCode::SHAREABLE_HAS_MISMATCHED_RUNTIME_TYPES;
            self.mismatched.push(
                CompositionError::new(code, message)
                    .about(coordinate)
                    .at_all(places),
            );
        }
    }

    fn is_shareable(&self, source: &FieldSource<'_>) -> bool {
        let subgraph = &self.subgraphs[source.at];
        let is_marked = || {
            let field = source.field;
            let of_block = || {
                let mut markers = source.parent.directives().get_all("federation__shareable");
                markers.any(|marker| marker.origin == field.origin)
            };
            field.directives.has("federation__shareable") || of_block()
        };
        let is_query = source.parent.name() == "Query";
        if subgraph.is_federation_1() {
            // What several subgraphs of federation 1 resolve counts as shareable, but never queries if those
            // are to be in conflict.
            return !is_query || !self.rejects_shared_root_fields();
        }
        let facts = &self.facts[source.at];
        is_marked()
            || facts.is_key_field(source.parent.name(), &source.field.name)
                && is_entity(source.parent)
    }
}

fn is_entity(ty: &ExtendedType) -> bool {
    ty.is_object()
}
