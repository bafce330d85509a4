//! The candidates for making objects present in a subgraph: by a key, at the root, or by the field that leads to them.

use std::collections::BTreeSet;

use super::builder::{PlanBuilder, PlanFailure};
use super::fetch_candidates::WaveDeadline;
use super::fetch_group::{GroupEntry, GroupId};
use super::reach_cache::Wave;
use super::types::KeyFetch;
use crate::operation::{ClassId, NodeId};
use crate::supergraph::{Key, SubgraphId};

/// How the objects of a class can be made present in a subgraph.
#[derive(Clone, Copy, Debug)]
pub(super) enum EntryCandidate<'s> {
    /// By a new request at the root.
    Root,
    /// By a new request at the root, for a field that leads back to the root type and is fetched in a group.
    Reentry(GroupId),
    /// By the field that leads to the class, fetched in a group that has the object above.
    InGroup(NodeId, GroupId),
    /// By the field that leads to the class, where the object above is made present too.
    Above(NodeId),
    /// By a key.
    Key(&'s Key),
}

impl<'s> PlanBuilder<'s> {
    /// Makes the objects of a class present in a subgraph once more, to fetch a field there.
    pub(super) fn enter(
        &mut self,
        class: ClassId,
        node: NodeId,
        subgraph: SubgraphId,
        deadline: WaveDeadline,
    ) -> Result<GroupId, PlanFailure> {
        let mut candidates = self.entry_candidates(class, subgraph, deadline);
        if !self.is_alike_in(subgraph, node) {
            candidates.retain(|(_, candidate)| {
                !matches!(
                    candidate,
                    EntryCandidate::Above(_) | EntryCandidate::InGroup(..)
                )
            });
        }
        if candidates.is_empty() {
            return Err(self.impossible(node));
        }
        let (wave, candidate) = candidates[self.choices.choose(candidates.len())];
        match candidate {
            EntryCandidate::Root => Ok(self.begin(subgraph, GroupEntry::Root, BTreeSet::new())),
            EntryCandidate::Reentry(group) => {
                let mut before = BTreeSet::from([group]);
                before.extend(self.types_of(class));
                Ok(self.begin(subgraph, GroupEntry::Reentry(class), before))
            }
            EntryCandidate::InGroup(position, group) => {
                self.add(group, position);
                Ok(group)
            }
            EntryCandidate::Above(position) => {
                let above = self.tree.node(position).class;
                let group = self.enter(above, position, subgraph, deadline)?;
                self.add(group, position);
                Ok(group)
            }
            EntryCandidate::Key(key) => {
                let fetch = KeyFetch {
                    subgraph,
                    key,
                    wave,
                };
                self.by_key(class, fetch, deadline)
            }
        }
    }

    /// Returns the candidates for making a class present in a subgraph once more, with the waves after which
    /// it is, the earliest first.
    pub(super) fn entry_candidates(
        &mut self,
        class: ClassId,
        subgraph: SubgraphId,
        deadline: WaveDeadline,
    ) -> Vec<(Wave, EntryCandidate<'s>)> {
        let reached = self.reached(class);
        let (position, ty) = (self.tree.class(class).position, self.tree.class(class).ty());
        let is_known = self.graph.supergraph().ty(ty).join(subgraph).is_some();
        let mut candidates = Vec::new();
        match position {
            None if is_known => {
                candidates.push((Wave::at(self.after_barrier()), EntryCandidate::Root))
            }
            None => {}
            Some(position) => {
                if self
                    .leading(self.graph, class, position)
                    .contains(&subgraph)
                {
                    self.candidates_from_above(position, subgraph, deadline, &mut candidates);
                }
                if self.is_query(ty) && is_known {
                    candidates.extend(self.reentries(class));
                }
            }
        }
        // What waits for itself is never there.
        if !self.entering.contains(&(class, subgraph)) {
            for key in self.graph.keys(ty, subgraph) {
                let wave = self.reach_cache.ready(ty, &key.fields, &reached).next();
                candidates.push((wave, EntryCandidate::Key(key)));
            }
        }
        candidates.retain(|(wave, _)| wave.can_be_before(deadline.hard));
        candidates.sort_by_key(|(wave, candidate)| {
            let likely = wave.likely.unwrap_or(u32::MAX);
            (deadline.is_late(*wave), likely, candidate.size())
        });
        candidates
    }

    /// Adds the candidates over the field that leads to a class.
    fn candidates_from_above(
        &mut self,
        position: NodeId,
        subgraph: SubgraphId,
        deadline: WaveDeadline,
        candidates: &mut Vec<(Wave, EntryCandidate<'s>)>,
    ) {
        let above = self.tree.node(position).class;
        let wave = self.reached(above).get(subgraph);
        let mut present = self.presences(above);
        present.retain(|group| {
            self.groups[*group].subgraph == subgraph && self.is_alike(*group, position)
        });
        if present
            .iter()
            .all(|group| self.is_better(wave, *group, deadline))
        {
            candidates.push((wave, EntryCandidate::Above(position)));
        }
        present.retain(|group| !self.groups[*group].nodes.contains(&position));
        let known = present.into_iter();
        candidates.extend(known.map(|group| {
            let wave = Wave::at(self.groups[group].wave);
            (wave, EntryCandidate::InGroup(position, group))
        }));
    }

    /// Returns the candidates that begin at the root type again.
    fn reentries(&self, class: ClassId) -> Vec<(Wave, EntryCandidate<'s>)> {
        let mut present = self.presences(class);
        present.sort_by_key(|group| (self.groups[*group].wave, *group));
        if let Some(first) = present.first().copied()
            && self.groups[first].is_fixed
        {
            present.truncate(1);
        }
        let candidates = present.into_iter();
        candidates
            .map(|group| {
                (
                    Wave::at(self.groups[group].wave + 1),
                    EntryCandidate::Reentry(group),
                )
            })
            .collect()
    }
}

impl EntryCandidate<'_> {
    fn size(self) -> usize {
        match self {
            EntryCandidate::Key(key) => key.fields.selections.len(),
            _ => 0,
        }
    }
}
