//! Which fields subgraphs provide on some path, beside those that they resolve wherever they have the object.

use std::collections::HashSet;

use super::field_set::{FieldSet, Selected};
use super::model::{FieldId, SubgraphId, Supergraph, TypeId};

/// Returns the fields that are named by `@provides`, with the subgraphs that provide them.
pub(super) fn provided(supergraph: &Supergraph) -> HashSet<(SubgraphId, FieldId)> {
    let mut found = HashSet::new();
    for field in &supergraph.fields {
        for join in &field.joins {
            if let Some(set) = &join.provides {
                named(supergraph, field.inner, set, join.subgraph, &mut found);
            }
        }
    }
    found
}

/// Adds the fields that a set names of the objects that a type stands for.
fn named(
    supergraph: &Supergraph,
    declared: TypeId,
    set: &FieldSet,
    subgraph: SubgraphId,
    found: &mut HashSet<(SubgraphId, FieldId)>,
) {
    for ty in &supergraph.ty(declared).possible {
        for selected in set.of(supergraph, *ty) {
            if let Selected::Field { name, inner, .. } = &selected
                && let Some(field) = supergraph.field_id(*ty, name)
            {
                found.insert((subgraph, field));
                named(
                    supergraph,
                    supergraph.field(field).inner,
                    inner,
                    subgraph,
                    found,
                );
            }
        }
    }
}
