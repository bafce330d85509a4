//! Which fields subgraphs provide on some path, beside those that they resolve wherever they have the object.

use super::field_set::{FieldSet, Selected};
use super::model::{FieldId, SubgraphId, Supergraph, TypeId};
use crate::hash::HashSet;

/// Returns the fields that are named by `@provides`, with the subgraphs that provide them.
pub(super) fn provided(supergraph: &Supergraph) -> HashSet<(SubgraphId, FieldId)> {
    let mut found = HashSet::default();
    let mut seen = HashSet::default();
    for field in &supergraph.fields {
        for join in &field.joins {
            if let Some(set) = &join.provides {
                let named = Named {
                    declared: field.inner,
                    set: set.clone(),
                    subgraph: join.subgraph,
                };
                add(supergraph, named, &mut seen, &mut found);
            }
        }
    }
    found
}

/// A set that a subgraph provides of the objects that a type stands for.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Named {
    declared: TypeId,
    set: FieldSet,
    subgraph: SubgraphId,
}

/// Adds the fields that a set names. What has been seen is not looked at again: below an interface, each of its types
/// names the same once more, and so on below that.
fn add(
    supergraph: &Supergraph,
    named: Named,
    seen: &mut HashSet<Named>,
    found: &mut HashSet<(SubgraphId, FieldId)>,
) {
    if !seen.insert(named.clone()) {
        return;
    }
    let Named {
        declared,
        set,
        subgraph,
    } = named;
    for ty in &supergraph.ty(declared).possible {
        for selected in set.of(supergraph, *ty) {
            if let Selected::Field { name, inner, .. } = selected
                && let Some(field) = supergraph.field_id(*ty, &name)
            {
                found.insert((subgraph, field));
                let below = Named {
                    declared: supergraph.field(field).inner,
                    set: inner,
                    subgraph,
                };
                add(supergraph, below, seen, found);
            }
        }
    }
}
