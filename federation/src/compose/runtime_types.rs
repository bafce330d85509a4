//! The object types that subgraphs can answer a field with: what several of them resolve must be able to be the same.
//!
//! Only subgraphs count that can be asked at the same place of a query.

use std::collections::BTreeMap;

use super::code::{CompositionCode, HintCode};
use super::finding::{CompositionError, CompositionHint};
use super::read::Subgraph;
use crate::graph::Graph;
use crate::supergraph::{FieldId, SubgraphId, Supergraph, TypeId};

/// The fields whose types differ, with the subgraphs that can be asked at one place.
#[derive(Debug, Default)]
pub(super) struct RuntimeTypes {
    differing: BTreeMap<FieldId, Differing>,
}

#[derive(Debug)]
struct Differing {
    /// The types by subgraph.
    types: Vec<(SubgraphId, Vec<TypeId>)>,
    /// Whether the subgraphs have no type in common.
    is_error: bool,
}

impl RuntimeTypes {
    /// Compares the types of a field in subgraphs that can be asked at one place.
    pub(super) fn compare(
        &mut self,
        graph: Graph<'_>,
        field: FieldId,
        subgraphs: impl Iterator<Item = SubgraphId>,
    ) {
        let supergraph = graph.supergraph();
        let definition = supergraph.field(field);
        let types = subgraphs.filter_map(|subgraph| {
            let join = definition.join(subgraph).filter(|join| !join.is_external)?;
            let inner = supergraph.type_id(join.ty.inner_named_type())?;
            let there = supergraph.ty(inner).join(subgraph);
            // An interface object stands for all types.
            let is_whole = there.is_none_or(|there| !there.is_interface_object);
            is_whole.then(|| (subgraph, graph.possible(join).to_vec()))
        });
        let types: Vec<_> = types.collect();
        let Some((_, first)) = types.first() else {
            return;
        };
        if types.iter().all(|(_, other)| other == first) {
            return;
        }
        let is_common = |ty: &TypeId| types.iter().all(|(_, other)| other.contains(ty));
        // Subgraphs without a type in common cannot mean the same objects; otherwise they may only
        // know different ones of them.
        let is_error = !first.iter().any(is_common);
        let known = self.differing.get(&field);
        if known.is_none_or(|known| is_error && !known.is_error) {
            self.differing.insert(field, Differing { types, is_error });
        }
    }

    /// Returns errors and hints about fields whose types differ.
    pub(super) fn findings(
        &self,
        supergraph: &Supergraph,
        subgraphs: &[Subgraph],
    ) -> (Vec<CompositionError>, Vec<CompositionHint>) {
        let (mut errors, mut hints) = (Vec::new(), Vec::new());
        for (field, differing) in &self.differing {
            let definition = supergraph.field(*field);
            let parent = &supergraph.ty(definition.parent).name;
            let coordinate = format!("{parent}.{}", definition.name);
            let said = differing.types.iter().map(|(subgraph, types)| {
                let types = types
                    .iter()
                    .map(|ty| format!("`{}`", supergraph.ty(*ty).name));
                let types: Vec<_> = types.collect();
                format!(
                    "{} in `{}`",
                    types.join(", "),
                    supergraph.subgraph(*subgraph).name
                )
            });
            let said = said.collect::<Vec<_>>().join("; ");
            let places = differing.types.iter().map(|(subgraph, _)| {
                subgraphs[subgraph.index()].place_of_field(parent, &definition.name)
            });
            let places = places.collect();
            if differing.is_error {
                let message = format!(
                    "no object type of `{coordinate}` is known to all subgraphs that resolve it: {said}"
                );
                let code = CompositionCode::SHAREABLE_HAS_MISMATCHED_RUNTIME_TYPES;
                let error = CompositionError::new(code, message);
                errors.push(error.about(coordinate).at_all(places));
            } else {
                let code = HintCode::INCONSISTENT_RUNTIME_TYPES_FOR_SHAREABLE_RETURN;
                let message = format!("the object types of `{coordinate}` differ: {said}");
                hints.push(CompositionHint::new(code, coordinate, places, message));
            }
        }
        (errors, hints)
    }
}
