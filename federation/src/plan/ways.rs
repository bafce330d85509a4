//! Ways to make objects present in a subgraph.

use std::collections::BTreeSet;

use super::builder::{Builder, Fail};
use super::group::{Entry, GroupId};
use super::moves::Wave;
use super::place::Due;
use crate::operation::{ClassId, NodeId};
use crate::supergraph::{Key, SubgraphId};

/// How the objects of a class can be made present in a subgraph.
#[derive(Clone, Copy, Debug)]
pub(super) enum Way<'s> {
    /// By a new request at the root.
    Root,
    /// By a new request at the root, for a field that leads back to the root type and is fetched in a group.
    Reentry(GroupId),
    /// By the field that leads to the class, fetched in a group that has the object above.
    In(NodeId, GroupId),
    /// By the field that leads to the class, where the object above is made present too.
    Above(NodeId),
    /// By a key.
    Key(&'s Key),
}

impl<'s> Builder<'s> {
    /// Makes the objects of a class present in a subgraph once more, to fetch a field there.
    pub(super) fn enter(
        &mut self,
        class: ClassId,
        node: NodeId,
        subgraph: SubgraphId,
        due: Due,
    ) -> Result<GroupId, Fail> {
        let mut ways = self.ways(class, subgraph, due);
        if !self.is_alike_in(subgraph, node) {
            ways.retain(|(_, way)| !matches!(way, Way::Above(_) | Way::In(..)));
        }
        if ways.is_empty() {
            return Err(self.impossible(node));
        }
        let (wave, way) = ways[self.choices.choose(ways.len())];
        match way {
            Way::Root => Ok(self.begin(subgraph, Entry::Root, BTreeSet::new())),
            Way::Reentry(group) => {
                let mut before = BTreeSet::from([group]);
                before.extend(self.types_of(class));
                Ok(self.begin(subgraph, Entry::Reentry(class), before))
            }
            Way::In(position, group) => {
                self.add(group, position);
                Ok(group)
            }
            Way::Above(position) => {
                let above = self.tree.node(position).class;
                let group = self.enter(above, position, subgraph, due)?;
                self.add(group, position);
                Ok(group)
            }
            Way::Key(key) => self.by_key((class, subgraph), key, wave, due),
        }
    }

    /// Returns the ways to make a class present in a subgraph once more with the waves after which it is,
    /// the earliest first.
    pub(super) fn ways(
        &mut self,
        class: ClassId,
        subgraph: SubgraphId,
        due: Due,
    ) -> Vec<(Wave, Way<'s>)> {
        let reached = self.reached(class);
        let (position, ty) = (self.tree.class(class).position, self.tree.class(class).ty());
        let is_known = self.graph.supergraph().ty(ty).join(subgraph).is_some();
        let mut ways = Vec::new();
        match position {
            None if is_known => ways.push((Wave::at(self.after_barrier()), Way::Root)),
            None => {}
            Some(position) => {
                if self
                    .leading(self.graph, class, position)
                    .contains(&subgraph)
                {
                    self.ways_from_above(position, subgraph, due, &mut ways);
                }
                if self.is_query(ty) && is_known {
                    ways.extend(self.reentries(class));
                }
            }
        }
        // What waits for itself is never there.
        if !self.entering.contains(&(class, subgraph)) {
            for key in self.graph.keys(ty, subgraph) {
                let wave = self.moves.ready(ty, &key.fields, &reached).next();
                ways.push((wave, Way::Key(key)));
            }
        }
        ways.retain(|(wave, _)| wave.can_be_before(due.last));
        ways.sort_by_key(|(wave, way)| {
            let likely = wave.likely.unwrap_or(u32::MAX);
            (due.is_late(*wave), likely, way.size())
        });
        ways
    }

    /// Adds the ways over the field that leads to a class.
    fn ways_from_above(
        &mut self,
        position: NodeId,
        subgraph: SubgraphId,
        due: Due,
        ways: &mut Vec<(Wave, Way<'s>)>,
    ) {
        let above = self.tree.node(position).class;
        let wave = self.reached(above).get(subgraph);
        let mut present = self.presences(above);
        present.retain(|group| {
            self.groups[*group].subgraph == subgraph && self.is_alike(*group, position)
        });
        if present
            .iter()
            .all(|group| self.is_better(wave, *group, due))
        {
            ways.push((wave, Way::Above(position)));
        }
        present.retain(|group| !self.groups[*group].nodes.contains(&position));
        let known = present.into_iter();
        ways.extend(known.map(|group| {
            let wave = Wave::at(self.groups[group].wave);
            (wave, Way::In(position, group))
        }));
    }

    /// Returns the ways to begin at the root type again.
    fn reentries(&self, class: ClassId) -> Vec<(Wave, Way<'s>)> {
        let mut present = self.presences(class);
        present.sort_by_key(|group| (self.groups[*group].wave, *group));
        if let Some(first) = present.first().copied()
            && self.groups[first].is_fixed
        {
            present.truncate(1);
        }
        let ways = present.into_iter();
        ways.map(|group| (Wave::at(self.groups[group].wave + 1), Way::Reentry(group)))
            .collect()
    }
}

impl Way<'_> {
    fn size(self) -> usize {
        match self {
            Way::Key(key) => key.fields.selections.len(),
            _ => 0,
        }
    }
}
