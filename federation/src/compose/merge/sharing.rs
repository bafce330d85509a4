//! Fields that several subgraphs resolve have to be `@shareable` in all of them, so that nobody
//! resolves the field of another team by mistake.

use apollo_compiler::Name;
use apollo_compiler::ast::FieldDefinition;
use apollo_compiler::schema::{Component, ExtendedType};

use super::Merge;
use super::fields::FieldSource;
use super::overrides::Moved;
use crate::compose::code::CompositionCode;
use crate::compose::facts::text;
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
        if name == "Subscription" && self.is_shared_subscription(coordinate, sources) {
            return;
        }
        let over_interfaces = self.interface_objects_with(name, field);
        let over_interfaces: Vec<_> = over_interfaces
            .into_iter()
            .filter(|it| sources.iter().all(|source| source.at != it.at) && self.is_resolving(it))
            .collect();
        let mut resolving: Vec<_> = sources
            .iter()
            .zip(moved)
            .filter(|(source, moved)| {
                // While it moves, only one of two subgraphs resolves a field: the target stands for both.
                let is_origin = moved.label.is_some() && moved.from.is_none();
                !moved.is_overridden && !is_origin && self.is_resolving(source)
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
        let message = if private.len() == resolving.len() {
            format!("`{coordinate}` is resolved by {all}, but is `@shareable` in none of them")
        } else {
            format!("`{coordinate}` is resolved by {all}, but is not `@shareable` in {names}")
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

    /// Reports a field of the subscription type that is to be shared; returns whether there is one.
    fn is_shared_subscription(&mut self, coordinate: &str, sources: &[FieldSource<'_>]) -> bool {
        let mut marked = sources.iter();
        let marked = marked.find(|it| it.field.directives.has("federation__shareable"));
        if let Some(source) = marked {
            let place = vec![self.place(source.at, source.field.location())];
            let message = format!("`@shareable` on `{coordinate}`: a subscription has one source");
            let code = CompositionCode::INVALID_FIELD_SHARING;
            self.report(code, coordinate, place, message);
        }
        marked.is_some()
    }

    /// Returns a note for an `@override` that names a subgraph which does not exist.
    fn stray_override(&self, source: &FieldSource<'_>) -> Option<String> {
        let directive = source.field.directives.get("federation__override")?;
        let from = text(directive, "from")?;
        if self.has_subgraph(from) {
            return None;
        }
        let meant = self
            .meant_subgraph(from)
            .map_or_else(String::new, |name| format!("; did you mean `{name}`?"));
        let subgraph = &self.subgraphs[source.at].name;
        Some(format!(
            "`@override(from: \"{from}\")` in `{subgraph}` names no subgraph{meant}"
        ))
    }

    /// Returns whether a subgraph resolves a field, if only on some path.
    fn is_resolving(&self, source: &FieldSource<'_>) -> bool {
        let facts = &self.facts[source.at];
        !source.is_external || facts.is_provided(source.parent.name(), &source.field.name)
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

    fn is_shareable(&self, source: &FieldSource<'_>) -> bool {
        let subgraph = &self.subgraphs[source.at];
        let is_query = source.parent.name() == "Query";
        if subgraph.is_federation_1() {
            // What several subgraphs of federation 1 resolve counts as shareable, but never queries if those
            // are to be in conflict (`shared_root_fields`, docs/composition.md).
            return !is_query || !self.rejects_shared_root_fields();
        }
        let facts = &self.facts[source.at];
        // Fields of keys are resolved by every subgraph that has the key.
        is_marked_shareable(source.parent, source.field)
            || facts.is_key_field(source.parent.name(), &source.field.name)
                && is_entity(source.parent)
    }
}

fn is_entity(ty: &ExtendedType) -> bool {
    ty.is_object()
}

/// Returns whether a field has `@shareable`, or the block of its type that it stands in.
fn is_marked_shareable(ty: &ExtendedType, field: &Component<FieldDefinition>) -> bool {
    let mut of_type = ty.directives().get_all("federation__shareable");
    field.directives.has("federation__shareable")
        || of_type.any(|marker| marker.origin == field.origin)
}
