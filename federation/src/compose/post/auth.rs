//! A field demands of requests at least what the fields demand that it requires: its value may tell
//! theirs.

use std::collections::BTreeSet;

use apollo_compiler::ast::Directive;
use apollo_compiler::schema::{Component, ExtendedType, FieldDefinition};
use apollo_compiler::{Name, Node};

use crate::compose::code::CompositionCode;
use crate::compose::facts::{fields, text};
use crate::compose::field_set::{each_field, parse, taken_from_context};
use crate::compose::finding::CompositionError;
use crate::compose::merge::Merged;
use crate::compose::read::Subgraph;

/// What a request must have: alternatives of things that hold together.
type Alternatives = BTreeSet<BTreeSet<String>>;

const LISTS: [(&str, &str); 2] = [("requiresScopes", "scopes"), ("policy", "policies")];

pub(super) fn check(merged: &Merged, subgraphs: &[Subgraph], errors: &mut Vec<CompositionError>) {
    let is_used = ["authenticated", "requiresScopes", "policy"]
        .iter()
        .any(|name| merged.features.contains(name));
    if !is_used {
        return;
    }
    for subgraph in subgraphs {
        for ty in subgraph.schema.types.values() {
            for (_, field) in fields(ty).into_iter().flatten() {
                check_field(merged, subgraph, ty, field, errors);
            }
        }
    }
}

/// Returns the object types that implement an interface once subgraphs are merged.
fn implementing<'m>(merged: &'m Merged, interface: &str) -> Vec<&'m Name> {
    let objects = merged
        .types
        .values()
        .filter_map(ExtendedType::as_object)
        .filter(|object| object.implements_interfaces.contains(interface));
    objects.map(|object| &object.name).collect()
}

fn check_field(
    merged: &Merged,
    subgraph: &Subgraph,
    ty: &ExtendedType,
    field: &Component<FieldDefinition>,
    errors: &mut Vec<CompositionError>,
) {
    let directive = field.directives.get("federation__requires");
    let required = directive
        .and_then(|it| text(it, "fields"))
        .and_then(|text| parse(&subgraph.schema, ty.name(), text).ok());
    let mut needed = required.unwrap_or_default();
    for argument in &field.arguments {
        let taken = taken_from_context(&subgraph.schema, argument);
        needed.extend(taken.into_iter().flatten());
    }
    if needed.is_empty() {
        return;
    }
    let own = applied(merged, ty.name(), &field.name);
    let mut missing = None;
    each_field(&needed, &mut |it| {
        // Objects of an interface may be of types that only other subgraphs know.
        let parents = match subgraph.schema.types.get(it.parent) {
            Some(ExtendedType::Interface(_)) => implementing(merged, it.parent),
            _ => vec![it.parent],
        };
        let demanding = parents
            .into_iter()
            .find(|parent| !implies(&own, &applied(merged, parent, &it.field.name)));
        if let Some(parent) = demanding.filter(|_| missing.is_none()) {
            missing = Some(format!("{parent}.{}", it.field.name));
        }
    });
    if let Some(missing) = missing {
        let coordinate = format!("{}.{}", ty.name(), field.name);
        let message = format!(
            "`{coordinate}` needs `{missing}`, but does not have the same requirements as that \
             field"
        );
        let code = CompositionCode::MISSING_TRANSITIVE_AUTH_REQUIREMENTS;
        let error = CompositionError::new(code, message)
            .about(coordinate)
            .at(subgraph.place(field.location()));
        errors.push(
            error.help("repeat its `@authenticated`, `@requiresScopes` and `@policy` on the field"),
        );
    }
}

/// Returns the directives of a merged field, of its type and of the type that it belongs to.
fn applied<'m>(merged: &'m Merged, ty: &Name, field: &Name) -> Vec<&'m Node<Directive>> {
    let Some(parent) = merged.types.get(ty) else {
        return Vec::new();
    };
    let mut all: Vec<&Node<Directive>> = parent.directives().iter().map(|it| &it.node).collect();
    if let Some(field) = fields(parent).and_then(|fields| fields.get(field)) {
        all.extend(field.directives.iter());
        let inner = merged.types.get(field.ty.inner_named_type());
        all.extend(
            inner
                .into_iter()
                .flat_map(|ty| ty.directives().iter().map(|it| &it.node)),
        );
    }
    all
}

/// Returns whether what one field demands includes what another one does.
fn implies(own: &[&Node<Directive>], other: &[&Node<Directive>]) -> bool {
    let has = |all: &[&Node<Directive>], name: &str| all.iter().any(|it| it.name == name);
    let is_authenticated = !has(other, "authenticated") || has(own, "authenticated");
    is_authenticated
        && LISTS.iter().all(|(name, argument)| {
            let of = |all: &[&Node<Directive>]| -> Vec<Alternatives> {
                let lists = all.iter().filter(|it| it.name == *name);
                lists.map(|it| alternatives(it, argument)).collect()
            };
            // Each alternative of ours includes one of theirs.
            of(other).iter().all(|wanted| {
                let includes = |own: &Alternatives| {
                    own.iter()
                        .all(|all| wanted.iter().any(|some| some.is_subset(all)))
                };
                of(own).iter().any(includes)
            })
        })
}

fn alternatives(directive: &Directive, argument: &str) -> Alternatives {
    let lists = directive
        .specified_argument_by_name(argument)
        .and_then(|value| value.as_list());
    let of_list = |list: &Node<apollo_compiler::ast::Value>| -> BTreeSet<String> {
        let items = list.as_list().into_iter().flatten();
        items
            .filter_map(|item| item.as_str().map(str::to_owned))
            .collect()
    };
    lists.into_iter().flatten().map(of_list).collect()
}
