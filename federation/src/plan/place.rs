//! Finds the subgraph that a field is fetched from.
//!
//! A way is left out where another one is surely as good. What is left are choices, the most promising first.

use std::collections::BTreeSet;

use super::builder::{Builder, Fail};
use super::group::{ContextValue, Entry, Group, GroupId, Input, Part};
use super::moves::Wave;
use super::ways::Way;
use crate::operation::{ClassId, NodeId};
use crate::supergraph::{FieldSet, Selected, SubgraphId};

/// When something is needed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Due {
    /// Before this wave if possible: what it is needed for can be had then. `None` where clients need it.
    soon: Option<u32>,
    /// Before this wave at the latest.
    pub(super) last: u32,
}

/// How a field can be fetched.
#[derive(Clone, Copy, Debug)]
enum Source {
    /// In a group that has the object.
    Here(GroupId),
    /// In a subgraph that the object has to be made present in.
    Enter(SubgraphId),
    /// In a subgraph that has to be given what the field requires.
    Given(SubgraphId),
}

/// The groups in which a field can be fetched as they are, the earliest first.
struct Here {
    /// Those that fetch it already.
    known: Vec<GroupId>,
    /// Those that can.
    inline: Vec<GroupId>,
}

/// A subgraph that a field can be fetched from otherwise, with the wave after which it is.
type There = (Wave, SubgraphId, Source);

/// What is put into representations, and the groups that must be complete before.
pub(super) type Inputs = (Vec<Input>, BTreeSet<GroupId>);

/// Fields that are needed as input, and what for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Needed<'n> {
    /// To find the object: where a part is unknown, it is not looked for.
    Key(&'n FieldSet),
    /// To compute something: what is unknown is null.
    Value(&'n FieldSet),
}

impl<'n> Needed<'n> {
    fn set(self) -> &'n FieldSet {
        match self {
            Needed::Key(set) | Needed::Value(set) => set,
        }
    }

    /// Returns other fields that are needed for the same.
    fn with(self, set: &FieldSet) -> Needed<'_> {
        match self {
            Needed::Key(_) => Needed::Key(set),
            Needed::Value(_) => Needed::Value(set),
        }
    }
}

impl Due {
    /// What clients need is complete before the wave `last`.
    pub(super) fn of_clients(last: u32) -> Self {
        Due { soon: None, last }
    }

    /// Returns when the inputs of a group are needed that is likely to be in a wave.
    pub(super) fn of_inputs(self, wave: Wave) -> Self {
        let last = self.last.saturating_sub(1);
        Due {
            soon: Some(wave.likely.map_or(last, |wave| wave.min(last))),
            last,
        }
    }

    fn is_of_clients(self) -> bool {
        self.soon.is_none()
    }

    /// Returns whether a wave is likely to be too late for what is hoped for.
    pub(super) fn is_late(self, wave: Wave) -> bool {
        self.soon.is_some_and(|soon| !wave.is_likely_before(soon))
    }
}

impl<'s> Builder<'s> {
    /// Finds a place for a field.
    pub(super) fn place(&mut self, node: NodeId, due: Due) -> Result<GroupId, Fail> {
        self.bound()?;
        let sources = self.sources(node, due);
        if sources.is_empty() {
            return Err(self.impossible(node));
        }
        let chosen = self.choices.choose(sources.len());
        let group = match sources[chosen] {
            Source::Here(group) => group,
            Source::Enter(subgraph) => {
                let class = self.tree.node(node).class;
                self.enter(class, node, subgraph, due)?
            }
            Source::Given(subgraph) => self.given(node, subgraph, due)?,
        };
        self.add(group, node);
        self.in_time(group, due)
    }

    /// Returns how a field can be fetched, the most promising way first.
    fn sources(&mut self, node: NodeId, due: Due) -> Vec<Source> {
        let here = self.here(node, due);
        if due.is_of_clients()
            && let Some(only) = self.suffices(node, &here)
        {
            return vec![Source::Here(only)];
        }
        let there = self.there(node, due, &here);
        let first = here.known.first().or(here.inline.first()).copied();
        if let Some(first) = first
            && self.groups[first].is_fixed
            && self.has_all_below(node, first)
            && !there
                .iter()
                .any(|(wave, ..)| wave.can_be_before(self.groups[first].wave))
        {
            return vec![Source::Here(first)];
        }
        self.in_order(node, due, here, there)
    }

    /// Puts ways to fetch a field in order.
    fn in_order(&self, node: NodeId, due: Due, here: Here, there: Vec<There>) -> Vec<Source> {
        let class = self.tree.node(node).class;
        let is_leaf = self.tree.node(node).is_leaf;
        let known = here.known.into_iter().map(|group| (0, group));
        let inline = here.inline.into_iter();
        let inline = inline.map(|group| (if is_leaf { 1 } else { 2 }, group));
        let here = known.chain(inline).map(|(tier, group)| {
            let Group { wave, subgraph, .. } = self.groups[group];
            (tier, Wave::at(wave), subgraph, Source::Here(group))
        });
        let there = there.into_iter();
        let there = there.map(|(wave, subgraph, source)| (2, wave, subgraph, source));
        let mut sources: Vec<_> = here.chain(there).collect();
        if sources.len() > 1 {
            sources.sort_by_cached_key(|(tier, wave, subgraph, source)| {
                let below = self.missing(node, *subgraph);
                (
                    due.is_late(*wave),
                    *tier,
                    wave.likely
                        .map(|wave| wave + u32::from(below > 0))
                        .unwrap_or(u32::MAX),
                    below,
                    usize::MAX - self.covered(class, node, *subgraph),
                    source.rank(),
                    *subgraph,
                )
            });
        }
        sources.into_iter().map(|(.., source)| source).collect()
    }

    /// Returns the groups in which a field can be fetched as they are.
    fn here(&self, node: NodeId, due: Due) -> Here {
        let in_order = |mut groups: Vec<GroupId>| {
            groups.retain(|group| self.groups[*group].wave < due.last);
            groups.sort_by_key(|group| (self.groups[*group].wave, *group));
            groups
        };
        let known = self.fetched.get(&node).cloned().unwrap_or_default();
        let mut inline = self.presences(self.tree.node(node).class);
        inline.retain(|group| !known.contains(group) && self.is_inline(*group, node));
        Here {
            known: in_order(known),
            inline: in_order(inline),
        }
    }

    /// Returns a group than which none is better for what clients need: all below can be had there too.
    fn suffices(&self, node: NodeId, here: &Here) -> Option<GroupId> {
        let mut inline = here.inline.iter();
        let known = here.known.first();
        let found = known.or_else(|| inline.find(|group| self.has_all_below(node, **group)));
        found.copied()
    }

    fn has_all_below(&self, node: NodeId, group: GroupId) -> bool {
        self.missing(node, self.groups[group].subgraph) == 0
    }

    /// Returns the subgraphs from which a field can be fetched otherwise, with the waves after which it is.
    fn there(&mut self, node: NodeId, due: Due, here: &Here) -> Vec<There> {
        let field = self.tree.node(node).field;
        let mut found = Vec::new();
        for join in self.graph.resolvers(field) {
            self.steps += 1;
            let subgraph = join.subgraph;
            let wave = self.resolved(node, subgraph);
            if !wave.can_be_before(due.last) {
                continue;
            }
            let source = match join.is_plain() {
                true => Source::Enter(subgraph),
                false if self.computing.contains(&node) => continue,
                false => Source::Given(subgraph),
            };
            let groups = here.known.iter().chain(&here.inline);
            let mut groups = groups.filter(|group| self.groups[**group].subgraph == subgraph);
            let is_better = groups.all(|group| self.is_better(wave, *group, due));
            if is_better {
                found.push((wave, subgraph, source));
            }
        }
        found
    }

    /// Returns whether making an object present once more can be better than a group of the same subgraph:
    /// it is earlier, or the group may yet be given what waits for it.
    pub(super) fn is_better(&self, wave: Wave, group: GroupId, due: Due) -> bool {
        wave.can_be_before(self.groups[group].wave)
            || (!due.is_of_clients() && !self.groups[group].is_fixed)
    }

    /// Returns how many fields of a class a subgraph could fetch that have no place yet.
    fn covered(&self, class: ClassId, node: NodeId, subgraph: SubgraphId) -> usize {
        if self.tree.class(class).position.is_none() && !self.tree.node(node).classes.is_empty() {
            return 0;
        }
        let nodes = self.tree.class(class).nodes.iter();
        let open =
            nodes.filter(|other| !self.fetched.contains_key(other) && !self.later.contains(other));
        let resolved = open.filter(|other| {
            let field = self.tree.node(**other).field;
            self.graph.resolves(subgraph, field).is_some()
        });
        resolved.count()
    }

    /// Returns how many fields below another one a subgraph cannot fetch on the way.
    fn missing(&self, node: NodeId, subgraph: SubgraphId) -> usize {
        let classes = &self.tree.node(node).classes;
        let nodes = classes
            .iter()
            .flat_map(|class| &self.tree.class(*class).nodes);
        let below: usize = nodes
            .map(
                |node| match self.graph.resolves(subgraph, self.tree.node(*node).field) {
                    Some(join) if join.is_plain() => self.missing(*node, subgraph),
                    _ => 1,
                },
            )
            .sum();
        below + usize::from(self.lacks_types(node, subgraph))
    }

    /// Returns whether a subgraph does not tell the types of the values of a field, which are needed.
    fn lacks_types(&self, node: NodeId, subgraph: SubgraphId) -> bool {
        let classes = &self.tree.node(node).classes;
        let asks = |class: &ClassId| self.tree.asks_types(*class);
        let join = self
            .graph
            .supergraph()
            .field(self.tree.node(node).field)
            .join(subgraph);
        join.is_some_and(|join| self.graph.untyped(join).is_some())
            && (classes.len() > 1 && !self.tree.node(node).is_uniform || classes.iter().any(asks))
    }

    /// Fetches a field that requires others, or values from contexts: in a request that is given them.
    fn given(&mut self, node: NodeId, subgraph: SubgraphId, due: Due) -> Result<GroupId, Fail> {
        let (class, field) = (self.tree.node(node).class, self.tree.node(node).field);
        let Some(join) = self.graph.resolves(subgraph, field) else {
            return Err(self.impossible(node));
        };
        let wave = self.resolved(node, subgraph);
        self.computing.push(node);
        let (inputs, mut before) = match &join.requires {
            Some(requires) => self.inputs(class, Needed::Value(requires), due.of_inputs(wave))?,
            None => Inputs::default(),
        };
        let (contexts, more) = self.context_values(class, join, due.of_inputs(wave))?;
        self.computing.pop();
        before.extend(more);
        let given = (inputs.as_slice(), contexts.as_slice());
        let (free, late) = self.open_groups(class, subgraph, given, &before);
        if let (Some(group), false, None) = (free.first(), contexts.is_empty(), &join.requires)
            && !wave.can_be_before(self.groups[*group].wave)
        {
            // No other group is better for the same values.
            let group = *group;
            self.give(group, inputs, &before);
            return Ok(group);
        }
        let chosen = self.choices.choose(free.len() + 1 + late.len());
        if let Some(group) = free.get(chosen) {
            self.give(*group, inputs, &before);
            return Ok(*group);
        }
        if let Some(group) = chosen.checked_sub(free.len() + 1) {
            self.give(late[group], inputs, &before);
            return Ok(late[group]);
        }
        let mut ways = self.ways(class, subgraph, due);
        ways.retain(|(_, way)| matches!(way, Way::Key(_)));
        if ways.is_empty() {
            return Err(self.impossible(node));
        }
        let (wave, Way::Key(key)) = ways[self.choices.choose(ways.len())] else {
            return Err(self.impossible(node));
        };
        let group = if contexts.is_empty() {
            self.by_key((class, subgraph), key, wave, due)?
        } else {
            self.by_key_and_contexts((class, subgraph), key, (wave, due), contexts)?
        };
        self.give(group, inputs, &before);
        Ok(group)
    }

    /// Returns the groups at a class that can be given more: they are not waited for by what they would be
    /// given, and no other value has the same name. First those that need not wait for it longer than they
    /// do, the earliest first, then the others.
    fn open_groups(
        &self,
        class: ClassId,
        subgraph: SubgraphId,
        (inputs, contexts): (&[Input], &[ContextValue]),
        before: &BTreeSet<GroupId>,
    ) -> (Vec<GroupId>, Vec<GroupId>) {
        let entered = match contexts {
            [] => self.entered.get(&class),
            _ => self.contextual.get(&class),
        };
        let entered = entered.into_iter().flatten().copied();
        let open = entered.filter(|id| {
            let group = &self.groups[*id];
            let Entry::Entities {
                inputs: known,
                contexts: given,
                ..
            } = &group.entry
            else {
                return false;
            };
            let differs = |input: &Input| {
                known
                    .iter()
                    .any(|known| known.name == input.name && known.key != input.key)
            };
            group.subgraph == subgraph
                && given == contexts
                && !inputs.iter().any(differs)
                && !before.iter().any(|other| self.waits_for(*other, *id))
        });
        let (mut free, late): (Vec<GroupId>, Vec<GroupId>) = open.partition(|group| {
            let mut before = before.iter();
            before.all(|other| self.groups[*other].wave < self.groups[*group].wave)
        });
        free.sort_by_key(|group| (self.groups[*group].wave, *group));
        (free, late)
    }

    fn give(&mut self, group: GroupId, inputs: Vec<Input>, before: &BTreeSet<GroupId>) {
        if let Entry::Entities { inputs: known, .. } = &mut self.groups[group].entry {
            for input in inputs {
                if !known.iter().any(|known| known.covers(&input)) {
                    known.push(input);
                }
            }
        }
        self.wait(group, before);
    }

    /// Finds places for the fields of a set, as input of something that comes later.
    pub(super) fn inputs(
        &mut self,
        class: ClassId,
        needed: Needed<'_>,
        due: Due,
    ) -> Result<Inputs, Fail> {
        let (mut inputs, mut before) = (Vec::new(), BTreeSet::new());
        let set = needed.set();
        let supergraph = self.graph.supergraph();
        for selected in set.of(supergraph, self.tree.class(class).ty()) {
            let Selected::Field {
                name,
                arguments,
                inner,
            } = &selected
            else {
                continue;
            };
            let node = if inner.is_empty() {
                self.tree.leaf(supergraph, class, name, arguments)?
            } else {
                self.tree
                    .branch(self.graph, class, (name, arguments), inner)?
            };
            before.insert(self.place(node, due)?);
            if !inner.is_empty() {
                // Objects of abstract types say their types in representations.
                self.tell_types(node, due)?;
                before.extend(self.typed.get(&node));
            }
            let mut parts = Vec::new();
            for below in self.tree.node(node).classes.clone() {
                if inner.is_empty() || self.presences(below).is_empty() {
                    continue;
                }
                let (inputs, more) = self.inputs(below, needed.with(inner), due)?;
                before.extend(more);
                let types = self.tree.class(below).types.clone();
                parts.push(Part { types, inputs });
            }
            let declared = supergraph.field(self.tree.node(node).field).inner;
            let is_abstract = supergraph.ty(declared).is_abstract();
            inputs.push(Input {
                name: name.to_string(),
                key: self.tree.node(node).key.clone(),
                member: self.tree.node(node).member,
                is_key: matches!(needed, Needed::Key(_)),
                has_typename: is_abstract || inner.selections.contains(&Selected::Typename),
                only: (!is_abstract && !inner.is_empty()).then_some(declared),
                parts,
            });
        }
        Ok((inputs, before))
    }
}

impl Source {
    fn rank(self) -> u8 {
        match self {
            Source::Here(_) => 0,
            Source::Enter(_) => 1,
            Source::Given(_) => 2,
        }
    }
}
