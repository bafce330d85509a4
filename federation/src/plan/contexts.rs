//! Arguments that take their values from objects above: from which, after which wave, and in which groups.

use std::collections::BTreeSet;

use apollo_compiler::executable::OperationType;

use super::builder::{PlanBuilder, PlanFailure};
use super::fetch_candidates::{Needed, WaveDeadline};
use super::fetch_group::{ContextValue, GroupEntry, GroupId};
use super::reach_cache::Wave;
use super::types::KeyFetch;
use crate::operation::{ClassId, NodeId};
use crate::supergraph::{ContextArgument, FieldJoin, FieldSet, SubgraphId};

impl<'s> PlanBuilder<'s> {
    /// Returns the wave after which a subgraph can have resolved a field, given what it requires of its object
    /// and of objects above.
    pub(super) fn resolved(&mut self, node: NodeId, subgraph: SubgraphId) -> Wave {
        let (class, field) = (self.tree.node(node).class, self.tree.node(node).field);
        let (ty, reached) = (self.tree.class(class).ty(), self.reached(class));
        let mut wave = self.reach_cache.resolved(ty, field, subgraph, &reached);
        let join = self.graph.resolves(subgraph, field);
        for argument in join.into_iter().flat_map(|join| &join.contexts) {
            self.steps += 1;
            let Some((above, _, set)) = self.above(class, argument) else {
                return Wave::NEVER;
            };
            let (ty, reached) = (self.tree.class(above).ty(), self.reached(above));
            wave = wave.latest(self.reach_cache.ready(ty, set, &reached).next());
        }
        wave
    }

    /// Returns the nearest objects above a class that have the context of an argument, how many objects above
    /// they are, and what is taken of them.
    fn above(
        &self,
        mut class: ClassId,
        argument: &'s ContextArgument,
    ) -> Option<(ClassId, usize, &'s FieldSet)> {
        let mut levels = 0;
        loop {
            class = self.tree.node(self.tree.class(class).position?).class;
            levels += 1;
            let is_root = self.tree.class(class).position.is_none();
            if is_root && self.operation == OperationType::Mutation {
                // Taking a value there would carry something out.
                return None;
            }
            if let Some(set) = argument.source(self.tree.class(class).ty()) {
                return Some((class, levels, set));
            }
        }
    }

    /// Finds places for the values that a field takes from contexts.
    pub(super) fn context_values(
        &mut self,
        class: ClassId,
        join: &'s FieldJoin,
        deadline: WaveDeadline,
    ) -> Result<(Vec<ContextValue>, BTreeSet<GroupId>), PlanFailure> {
        let (mut values, mut before) = (Vec::new(), BTreeSet::new());
        for argument in &join.contexts {
            let above = self.above(class, argument);
            let (above, levels, set) =
                above.ok_or_else(|| PlanFailure::Impossible(argument.name.to_string()))?;
            // All who take the same have it from the same place.
            let key = (above, std::ptr::from_ref(set).addr());
            let (inputs, more) = match self.taken.get(&key) {
                Some(known) => known.clone(),
                None => {
                    let placed = self.inputs(above, Needed::Value(set), deadline)?;
                    self.taken.insert(key, placed.clone());
                    placed
                }
            };
            before.extend(more);
            let ty = argument.ty.clone();
            values.push(ContextValue { ty, levels, inputs });
        }
        Ok((values, before))
    }

    /// Asks for entities of a class by a key, for fields that are given values from contexts. Only fields that
    /// are given the same values may join.
    pub(super) fn by_key_and_contexts(
        &mut self,
        class: ClassId,
        fetch: KeyFetch<'_>,
        deadline: WaveDeadline,
        values: Vec<ContextValue>,
    ) -> Result<GroupId, PlanFailure> {
        if let Some(position) = self.tree.class(class).position {
            // Objects are asked for by their own types alone.
            self.tell_types(position, deadline)?;
        }
        let group = self.by_key(class, fetch, deadline)?;
        if let Some(entered) = self.entered.get_mut(&class) {
            entered.retain(|id| *id != group);
        }
        self.contextual.entry(class).or_default().push(group);
        if let GroupEntry::Entities { contexts, .. } = &mut self.groups[group].entry {
            *contexts = values;
        }
        Ok(group)
    }
}
