//! Finds the subgraph that a field is fetched from, and the way there.

use std::collections::BTreeSet;

use super::builder::{Builder, Fail};
use super::group::{ContextValue, Entry, GroupId, Input, Part};
use crate::operation::{ClassId, NodeId};
use crate::supergraph::{FieldSet, Key, Selected, SubgraphId};

/// How a field can be fetched.
#[derive(Clone, Copy, Debug)]
enum Source {
    /// In a group that has the object.
    Inline(GroupId),
    /// In a subgraph that the object has to be made present in.
    Enter(SubgraphId),
    /// In a subgraph that has to be given what the field requires.
    Given(SubgraphId),
}

/// How the objects of a class can be made present in a subgraph.
#[derive(Clone, Copy, Debug)]
enum Way<'s> {
    /// By a new request at the root.
    Root,
    /// By a new request at the root, for a field that leads back to the root type.
    Reentry,
    /// By the field that leads to the class, fetched there too.
    Above(NodeId),
    /// By a key.
    Key(&'s Key),
}

/// What is put into representations, and the groups that must be complete before.
pub(super) type Inputs = (Vec<Input>, BTreeSet<GroupId>);

impl<'s> Builder<'s> {
    /// Finds a place for a field, if it has none. Only ways that are complete before the wave `limit` are
    /// taken, so what something waits for never waits for it.
    pub(super) fn place(&mut self, node: NodeId, limit: u32) -> Result<GroupId, Fail> {
        if let Some(known) = self.fetched.get(&node) {
            let first = known
                .iter()
                .min_by_key(|group| (self.groups[**group].wave, **group));
            return first.copied().ok_or_else(|| self.impossible(node));
        }
        let sources = self.sources(node, limit);
        if sources.is_empty() {
            return Err(self.impossible(node));
        }
        let chosen = self.choices.choose(sources.len());
        let group = match sources[chosen] {
            Source::Inline(group) => group,
            Source::Enter(subgraph) => {
                let class = self.tree.node(node).class;
                let group = self.enter(class, node, subgraph, limit)?;
                group.ok_or_else(|| self.impossible(node))?
            }
            Source::Given(subgraph) => self.given(node, subgraph, limit)?,
        };
        self.add(group, node);
        Ok(group)
    }

    /// Returns how a field can be fetched, the most promising way first.
    fn sources(&mut self, node: NodeId, limit: u32) -> Vec<Source> {
        let (class, field) = (self.tree.node(node).class, self.tree.node(node).field);
        let is_leaf = self.tree.node(node).is_leaf;
        let mut inline = self.presences(class);
        inline.retain(|group| self.is_inline(*group, node));
        inline.sort_by_key(|group| (self.groups[*group].wave, *group));
        if is_leaf && let Some(first) = inline.first() {
            return vec![Source::Inline(*first)];
        }
        if let Some(first) = inline.first()
            && self.missing(node, self.groups[*first].subgraph) == 0
        {
            // Nothing can be better: it is there first, and all below comes with it.
            return vec![Source::Inline(*first)];
        }
        let mut sources: Vec<(u32, SubgraphId, Source)> = Vec::new();
        for group in &inline {
            let Some(known) = self.groups.get(*group) else {
                continue;
            };
            sources.push((known.wave, known.subgraph, Source::Inline(*group)));
        }
        for join in self.graph.resolvers(field) {
            self.steps += 1;
            let subgraph = join.subgraph;
            let is_here = sources.iter().any(|(_, known, _)| *known == subgraph);
            let wave = self.resolved(node, subgraph);
            let Some(wave) = wave.filter(|wave| *wave < limit && !is_here) else {
                continue;
            };
            let source = match join.is_plain() {
                false => Source::Given(subgraph),
                true => Source::Enter(subgraph),
            };
            sources.push((wave, subgraph, source));
        }
        if let [(_, _, only)] = sources.as_slice() {
            return vec![*only];
        }
        sources.sort_by_cached_key(|(wave, subgraph, source)| {
            let covered = self.covered(class, node, *subgraph);
            let below = self.missing(node, *subgraph);
            (
                wave + u32::from(below > 0),
                below,
                usize::MAX - covered,
                source.rank(),
                *subgraph,
            )
        });
        sources.into_iter().map(|(_, _, source)| source).collect()
    }

    /// Returns how many fields of a class a subgraph could fetch that have no place yet.
    fn covered(&self, class: ClassId, node: NodeId, subgraph: SubgraphId) -> usize {
        if self.tree.class(class).position.is_none() && !self.tree.node(node).classes.is_empty() {
            return 0;
        }
        let nodes = self.tree.class(class).nodes.iter();
        let open = nodes.filter(|other| !self.fetched.contains_key(other));
        let resolved = open.filter(|other| {
            let field = self.tree.node(**other).field;
            self.graph.resolves(subgraph, field).is_some()
        });
        resolved.count()
    }

    /// Returns how many fields below another one a subgraph cannot fetch on the way.
    fn missing(&self, node: NodeId, subgraph: SubgraphId) -> usize {
        let below = self.tree.node(node).classes.iter();
        let nodes = below.flat_map(|class| &self.tree.class(*class).nodes);
        nodes
            .map(
                |node| match self.graph.resolves(subgraph, self.tree.node(*node).field) {
                    Some(join) if join.is_plain() => self.missing(*node, subgraph),
                    _ => 1,
                },
            )
            .sum()
    }

    /// Makes the objects of a class present in a subgraph, to fetch a field there; `None` where no way leads
    /// there in time.
    fn enter(
        &mut self,
        class: ClassId,
        node: NodeId,
        subgraph: SubgraphId,
        limit: u32,
    ) -> Result<Option<GroupId>, Fail> {
        let here = self.presences(class).into_iter();
        let here = here.filter(|group| {
            self.groups[*group].subgraph == subgraph && self.is_alike(*group, node)
        });
        if let Some(known) = here.min_by_key(|group| (self.groups[*group].wave, *group)) {
            return Ok(Some(known));
        }
        let mut ways = self.ways(class, subgraph, limit);
        let is_alike = self.is_alike_in(subgraph, node);
        ways.retain(|(_, way)| is_alike || !matches!(way, Way::Above(_)));
        if ways.is_empty() {
            return Ok(None);
        }
        let chosen = self.choices.choose(ways.len());
        let (wave, way) = ways[chosen];
        let group = match way {
            Way::Root => self.begin(subgraph, Entry::Root, BTreeSet::new()),
            Way::Reentry => {
                let mut before: BTreeSet<GroupId> = self.presences(class).into_iter().collect();
                before.extend(self.types_of(class));
                self.begin(subgraph, Entry::Reentry(class), before)
            }
            Way::Above(position) => {
                let above = self.tree.node(position).class;
                let Some(group) = self.enter(above, position, subgraph, wave + 1)? else {
                    return Ok(None);
                };
                self.add(group, position);
                group
            }
            Way::Key(key) => self.by_key(class, subgraph, key, wave)?,
        };
        Ok(Some(group))
    }

    /// Returns the ways to make a class present in a subgraph with the waves after which it is, the
    /// earliest first.
    fn ways(&mut self, class: ClassId, subgraph: SubgraphId, limit: u32) -> Vec<(u32, Way<'s>)> {
        let waves = self.waves(class);
        let (position, ty) = (self.tree.class(class).position, self.tree.class(class).ty());
        let mut ways = Vec::new();
        match position {
            None if self.graph.supergraph().ty(ty).join(subgraph).is_some() => {
                ways.push((self.after_barrier(), Way::Root));
            }
            None => {}
            Some(position) => {
                for (other, wave) in self.ways_from_above(class, position) {
                    if other == subgraph {
                        ways.push((wave, Way::Above(position)));
                    }
                }
                if self.is_query(ty) && self.graph.supergraph().ty(ty).join(subgraph).is_some() {
                    ways.push((waves.get(subgraph).unwrap_or_default(), Way::Reentry));
                }
            }
        }
        for key in self.graph.keys(ty, subgraph) {
            if let Some(ready) = self.graph.ready(ty, &key.fields, &waves) {
                ways.push((ready + 1, Way::Key(key)));
            }
        }
        ways.retain(|(wave, _)| *wave < limit);
        ways.sort_by_key(|(wave, way)| (*wave, way.size()));
        ways
    }

    /// Fetches a field that requires others, or values from contexts: in a request that is given them.
    fn given(&mut self, node: NodeId, subgraph: SubgraphId, limit: u32) -> Result<GroupId, Fail> {
        let (class, field) = (self.tree.node(node).class, self.tree.node(node).field);
        let impossible = self.impossible(node);
        let join = self
            .graph
            .resolves(subgraph, field)
            .ok_or(impossible.clone())?;
        let wave = self.resolved(node, subgraph);
        let wave = wave
            .filter(|wave| *wave < limit)
            .ok_or(impossible.clone())?;
        let (inputs, mut before) = match &join.requires {
            Some(requires) => self.inputs(class, requires, wave)?,
            None => Inputs::default(),
        };
        let (contexts, more) = self.context_values(class, join, wave)?;
        before.extend(more);
        let open = self.open_groups(class, subgraph, (&inputs, &contexts), &before);
        let is_free = |group: &&GroupId| {
            before
                .iter()
                .all(|other| self.groups[*other].wave < self.groups[**group].wave)
        };
        if let Some(group) = open.iter().find(is_free).copied() {
            self.give(group, inputs, &before);
            return Ok(group);
        }
        let chosen = self.choices.choose(open.len() + 1);
        if chosen > 0 {
            let group = open[chosen - 1];
            self.give(group, inputs, &before);
            return Ok(group);
        }
        let mut ways = self.ways(class, subgraph, wave.saturating_add(1));
        ways.retain(|(_, way)| matches!(way, Way::Key(_)));
        if ways.is_empty() {
            return Err(impossible);
        }
        let chosen = self.choices.choose(ways.len());
        let (ready, Way::Key(key)) = ways[chosen] else {
            return Err(impossible);
        };
        let group = match contexts.is_empty() {
            true => self.by_key(class, subgraph, key, ready)?,
            false => self.by_key_and_contexts(class, (subgraph, key), ready, contexts)?,
        };
        self.give(group, inputs, &before);
        Ok(group)
    }

    /// Returns the groups at a class that can be given more: they are not waited for by what they would be
    /// given, and no other value has the same name.
    fn open_groups(
        &self,
        class: ClassId,
        subgraph: SubgraphId,
        (inputs, contexts): (&[Input], &[ContextValue]),
        before: &BTreeSet<GroupId>,
    ) -> Vec<GroupId> {
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
        open.collect()
    }

    fn give(&mut self, group: GroupId, inputs: Vec<Input>, before: &BTreeSet<GroupId>) {
        if let Entry::Entities { inputs: known, .. } = &mut self.groups[group].entry {
            for input in inputs {
                if !known.contains(&input) {
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
        set: &FieldSet,
        limit: u32,
    ) -> Result<Inputs, Fail> {
        let (mut inputs, mut before) = (Vec::new(), BTreeSet::new());
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
            before.insert(self.place(node, limit)?);
            if !inner.is_empty() {
                // Objects of abstract types say their types in representations.
                self.tell_types(node)?;
                before.extend(self.typed.get(&node));
            }
            let mut parts = Vec::new();
            for below in self.tree.node(node).classes.clone() {
                if inner.is_empty() || self.presences(below).is_empty() {
                    continue;
                }
                let (inputs, more) = self.inputs(below, inner, limit)?;
                before.extend(more);
                let types = self.tree.class(below).types.clone();
                parts.push(Part { types, inputs });
            }
            let declared = supergraph.field(self.tree.node(node).field).inner;
            let is_abstract = supergraph.ty(declared).is_abstract();
            inputs.push(Input {
                name: name.to_string(),
                key: self.tree.node(node).key.clone(),
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
            Source::Inline(_) => 0,
            Source::Enter(_) => 1,
            Source::Given(_) => 2,
        }
    }
}

impl Way<'_> {
    fn size(self) -> usize {
        match self {
            Way::Root | Way::Reentry | Way::Above(_) => 0,
            Way::Key(key) => key.fields.selections.len(),
        }
    }
}
