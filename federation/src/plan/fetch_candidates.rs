//! The candidates for fetching a field: groups that can fetch it, and subgraphs that a new group could ask.
//!
//! A candidate is left out where another one is surely as good. The others are choices, the most promising first.

use std::collections::BTreeSet;

use super::builder::{PlanBuilder, PlanFailure};
use super::entry_candidates::EntryCandidate;
use super::fetch_group::{ContextValue, FetchGroup, GroupEntry, GroupId, Input, InputFragment};
use super::reach_cache::Wave;
use super::types::KeyFetch;
use crate::operation::{ClassId, FieldSelection, NodeId};
use crate::supergraph::{FieldSet, Selected, SubgraphId};

/// The waves before which something is needed.
#[derive(Clone, Copy, Debug)]
pub(super) struct WaveDeadline {
    /// Before this wave if possible: what it is needed for can be had then. `None` where clients need it.
    soft: Option<u32>,
    /// Before this wave at the latest.
    pub(super) hard: u32,
}

/// How a field can be fetched.
#[derive(Clone, Copy, Debug)]
enum FetchCandidate {
    /// In a group that has the object.
    Group(GroupId),
    /// In a subgraph that the object has to be made present in.
    Enter(SubgraphId),
    /// In a subgraph that has to be given what the field requires.
    WithInputs(SubgraphId),
}

/// The groups in which a field can be fetched as they are, the earliest first.
struct CandidateGroups {
    /// Those that fetch it already.
    known: Vec<GroupId>,
    /// Those that can.
    inline: Vec<GroupId>,
}

/// A subgraph that a field can be fetched from otherwise.
struct CandidateSubgraph {
    /// The wave after which it is fetched.
    wave: Wave,
    subgraph: SubgraphId,
    candidate: FetchCandidate,
}

/// What a field is given that requires others, or values from contexts.
#[derive(Clone, Copy)]
struct FieldInputs<'g> {
    inputs: &'g [Input],
    contexts: &'g [ContextValue],
    /// The groups that must be complete before.
    before: &'g BTreeSet<GroupId>,
}

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

impl WaveDeadline {
    /// What clients need is complete before the wave `last`.
    pub(super) fn of_clients(last: u32) -> Self {
        WaveDeadline {
            soft: None,
            hard: last,
        }
    }

    /// Returns when the inputs of a group are needed that is likely to be in a wave.
    pub(super) fn of_inputs(self, wave: Wave) -> Self {
        let hard = self.hard.saturating_sub(1);
        WaveDeadline {
            soft: Some(wave.likely.map_or(hard, |wave| wave.min(hard))),
            hard,
        }
    }

    fn is_of_clients(self) -> bool {
        self.soft.is_none()
    }

    /// Returns whether a wave is likely to be too late for what is hoped for.
    pub(super) fn is_late(self, wave: Wave) -> bool {
        self.soft.is_some_and(|soft| !wave.is_likely_before(soft))
    }
}

impl<'s> PlanBuilder<'s> {
    /// Finds a place for a field.
    pub(super) fn place(
        &mut self,
        node: NodeId,
        deadline: WaveDeadline,
    ) -> Result<GroupId, PlanFailure> {
        self.bound()?;
        let candidates = self.fetch_candidates(node, deadline);
        if candidates.is_empty() {
            return Err(self.impossible(node));
        }
        let chosen = self.choices.choose(candidates.len());
        let group = match candidates[chosen] {
            FetchCandidate::Group(group) => group,
            FetchCandidate::Enter(subgraph) => {
                let class = self.tree.node(node).class;
                self.enter(class, node, subgraph, deadline)?
            }
            FetchCandidate::WithInputs(subgraph) => self.given(node, subgraph, deadline)?,
        };
        self.add(group, node);
        self.in_time(group, deadline)
    }

    /// Returns how a field can be fetched, the most promising candidate first.
    fn fetch_candidates(&mut self, node: NodeId, deadline: WaveDeadline) -> Vec<FetchCandidate> {
        let groups = self.candidate_groups(node, deadline);
        if deadline.is_of_clients()
            && let Some(only) = self.suffices(node, &groups)
        {
            return vec![FetchCandidate::Group(only)];
        }
        let subgraphs = self.candidate_subgraphs(node, deadline, &groups);
        let first = groups.known.first().or(groups.inline.first()).copied();
        if let Some(first) = first
            && self.groups[first].is_fixed
            && self.has_all_below(node, first)
            && !subgraphs
                .iter()
                .any(|other| other.wave.can_be_before(self.groups[first].wave))
        {
            return vec![FetchCandidate::Group(first)];
        }
        self.in_order(node, deadline, groups, subgraphs)
    }

    /// Puts candidates for fetching a field in order.
    fn in_order(
        &self,
        node: NodeId,
        deadline: WaveDeadline,
        groups: CandidateGroups,
        subgraphs: Vec<CandidateSubgraph>,
    ) -> Vec<FetchCandidate> {
        let class = self.tree.node(node).class;
        let is_leaf = self.tree.node(node).is_leaf;
        let known = groups.known.into_iter().map(|group| (0, group));
        let inline = groups
            .inline
            .into_iter()
            .map(|group| (if is_leaf { 1 } else { 2 }, group));
        let in_groups = known.chain(inline).map(|(tier, group)| {
            let FetchGroup { wave, subgraph, .. } = self.groups[group];
            (tier, Wave::at(wave), subgraph, FetchCandidate::Group(group))
        });
        let subgraphs = subgraphs
            .into_iter()
            .map(|other| (2, other.wave, other.subgraph, other.candidate));
        let mut candidates: Vec<_> = in_groups.chain(subgraphs).collect();
        if candidates.len() > 1 {
            candidates.sort_by_cached_key(|(tier, wave, subgraph, candidate)| {
                let below = self.missing(node, *subgraph);
                (
                    deadline.is_late(*wave),
                    *tier,
                    wave.likely
                        .map(|wave| wave + u32::from(below > 0))
                        .unwrap_or(u32::MAX),
                    below,
                    usize::MAX - self.covered(class, node, *subgraph),
                    candidate.rank(),
                    *subgraph,
                )
            });
        }
        candidates
            .into_iter()
            .map(|(.., candidate)| candidate)
            .collect()
    }

    /// Returns the groups in which a field can be fetched as they are.
    fn candidate_groups(&self, node: NodeId, deadline: WaveDeadline) -> CandidateGroups {
        let in_order = |mut groups: Vec<GroupId>| {
            groups.retain(|group| self.groups[*group].wave < deadline.hard);
            groups.sort_by_key(|group| (self.groups[*group].wave, *group));
            groups
        };
        let known = self.fetched.get(&node).cloned().unwrap_or_default();
        let mut inline = self.presences(self.tree.node(node).class);
        inline.retain(|group| !known.contains(group) && self.is_inline(*group, node));
        CandidateGroups {
            known: in_order(known),
            inline: in_order(inline),
        }
    }

    /// Returns a group than which none is better for what clients need: all below can be had there too.
    fn suffices(&self, node: NodeId, groups: &CandidateGroups) -> Option<GroupId> {
        let mut inline = groups.inline.iter();
        let known = groups.known.first();
        let found = known.or_else(|| inline.find(|group| self.has_all_below(node, **group)));
        found.copied()
    }

    fn has_all_below(&self, node: NodeId, group: GroupId) -> bool {
        self.missing(node, self.groups[group].subgraph) == 0
    }

    /// Returns the subgraphs from which a field can be fetched otherwise, with the waves after which it is.
    fn candidate_subgraphs(
        &mut self,
        node: NodeId,
        deadline: WaveDeadline,
        groups: &CandidateGroups,
    ) -> Vec<CandidateSubgraph> {
        let field = self.tree.node(node).field;
        let mut found = Vec::new();
        for join in self.graph.resolvers(field) {
            self.steps += 1;
            let subgraph = join.subgraph;
            let wave = self.resolved(node, subgraph);
            if !wave.can_be_before(deadline.hard) {
                continue;
            }
            let candidate = if join.is_plain() {
                FetchCandidate::Enter(subgraph)
            } else if self.computing.contains(&node) {
                continue;
            } else {
                FetchCandidate::WithInputs(subgraph)
            };
            let mut known = groups
                .known
                .iter()
                .chain(&groups.inline)
                .filter(|group| self.groups[**group].subgraph == subgraph);
            let is_better = known.all(|group| self.is_better(wave, *group, deadline));
            if is_better {
                found.push(CandidateSubgraph {
                    wave,
                    subgraph,
                    candidate,
                });
            }
        }
        found
    }

    /// Returns whether making an object present once more can be better than a group of the same subgraph:
    /// it is earlier, or the group may yet be given what waits for it.
    pub(super) fn is_better(&self, wave: Wave, group: GroupId, deadline: WaveDeadline) -> bool {
        wave.can_be_before(self.groups[group].wave)
            || (!deadline.is_of_clients() && !self.groups[group].is_fixed)
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
    fn given(
        &mut self,
        node: NodeId,
        subgraph: SubgraphId,
        deadline: WaveDeadline,
    ) -> Result<GroupId, PlanFailure> {
        let (class, field) = (self.tree.node(node).class, self.tree.node(node).field);
        let Some(join) = self.graph.resolves(subgraph, field) else {
            return Err(self.impossible(node));
        };
        let wave = self.resolved(node, subgraph);
        self.computing.push(node);
        let (inputs, mut before) = match &join.requires {
            Some(requires) => {
                self.inputs(class, Needed::Value(requires), deadline.of_inputs(wave))?
            }
            None => Inputs::default(),
        };
        let (contexts, more) = self.context_values(class, join, deadline.of_inputs(wave))?;
        self.computing.pop();
        before.extend(more);
        let given = FieldInputs {
            inputs: &inputs,
            contexts: &contexts,
            before: &before,
        };
        let (free, late) = self.open_groups(class, subgraph, given);
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
        let mut candidates = self.entry_candidates(class, subgraph, deadline);
        candidates.retain(|(_, candidate)| matches!(candidate, EntryCandidate::Key(_)));
        if candidates.is_empty() {
            return Err(self.impossible(node));
        }
        let (wave, EntryCandidate::Key(key)) = candidates[self.choices.choose(candidates.len())]
        else {
            return Err(self.impossible(node));
        };
        let fetch = KeyFetch {
            subgraph,
            key,
            wave,
        };
        let group = if contexts.is_empty() {
            self.by_key(class, fetch, deadline)?
        } else {
            self.by_key_and_contexts(class, fetch, deadline, contexts)?
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
        given: FieldInputs<'_>,
    ) -> (Vec<GroupId>, Vec<GroupId>) {
        let FieldInputs {
            inputs,
            contexts,
            before,
        } = given;
        let entered = match contexts {
            [] => self.entered.get(&class),
            _ => self.contextual.get(&class),
        };
        let entered = entered.into_iter().flatten().copied();
        let open = entered.filter(|id| {
            let group = &self.groups[*id];
            let GroupEntry::Entities {
                inputs: known,
                contexts: known_contexts,
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
                && known_contexts == contexts
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
        if let GroupEntry::Entities { inputs: known, .. } = &mut self.groups[group].entry {
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
        deadline: WaveDeadline,
    ) -> Result<Inputs, PlanFailure> {
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
            let ty = self.tree.class(class).ty();
            let selection = FieldSelection::new(supergraph, ty, name, arguments);
            let node = if inner.is_empty() {
                self.tree.leaf(supergraph, class, selection)?
            } else {
                self.tree.branch(self.graph, class, selection, inner)?
            };
            before.insert(self.place(node, deadline)?);
            if !inner.is_empty() {
                // Objects of abstract types say their types in representations.
                self.tell_types(node, deadline)?;
                before.extend(self.typed.get(&node));
            }
            let mut fragments = Vec::new();
            for below in self.tree.node(node).classes.clone() {
                if inner.is_empty() || self.presences(below).is_empty() {
                    continue;
                }
                let (inputs, more) = self.inputs(below, needed.with(inner), deadline)?;
                before.extend(more);
                let types = self.tree.class(below).types.clone();
                fragments.push(InputFragment { types, inputs });
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
                fragments,
            });
        }
        Ok((inputs, before))
    }
}

impl FetchCandidate {
    fn rank(self) -> u8 {
        match self {
            FetchCandidate::Group(_) => 0,
            FetchCandidate::Enter(_) => 1,
            FetchCandidate::WithInputs(_) => 2,
        }
    }
}
