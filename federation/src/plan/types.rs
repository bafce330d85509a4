//! Types of objects that a subgraph answers as objects of an interface: who tells them, and until when they
//! do not matter.

use std::collections::BTreeSet;

use super::builder::{PlanBuilder, PlanFailure};
use super::fetch_candidates::{Needed, WaveDeadline};
use super::fetch_group::{GroupEntry, GroupId};
use super::reach_cache::Wave;
use crate::operation::{Class, ClassId, NodeId, Output, Tree};
use crate::supergraph::{Key, Selected, SubgraphId, TypeId};

/// Entities that a subgraph is asked for by a key.
#[derive(Clone, Copy, Debug)]
pub(super) struct KeyFetch<'k> {
    pub(super) subgraph: SubgraphId,
    pub(super) key: &'k Key,
    /// The wave in which it can be sent.
    pub(super) wave: Wave,
}

impl<'s> PlanBuilder<'s> {
    /// Returns the interface that the objects of a class are known by, where no one tells their types.
    pub(super) fn untyped(&self, class: ClassId) -> Option<TypeId> {
        let position = self.tree.class(class).position?;
        if self.typed.contains_key(&position) {
            return None;
        }
        let field = self
            .graph
            .supergraph()
            .field(self.tree.node(position).field);
        let mut interface = None;
        for group in self.fetched.get(&position)? {
            let join = field.join(self.groups[*group].subgraph)?;
            interface = Some(self.graph.untyped(join)?);
        }
        interface
    }

    /// Returns whether the types of the values of a field have to be known, and are not.
    pub(super) fn needs_types(&self, node: NodeId) -> bool {
        let classes = &self.tree.node(node).classes;
        let asks = |class: &ClassId| self.tree.asks_types(*class);
        classes
            .first()
            .is_some_and(|class| self.untyped(*class).is_some())
            && (classes.len() > 1 || classes.iter().any(asks))
    }

    /// Finds places for what is below a field without knowing the types of its values, where clients ask the same of
    /// all of them: the first class stands for the others. Returns whether it could; if not, nothing is changed.
    pub(super) fn without_types(&mut self, node: NodeId) -> Result<bool, PlanFailure> {
        let Some(class) = self.tree.node(node).classes.first().copied() else {
            return Ok(false);
        };
        if !self.tree.node(node).is_uniform || self.untyped(class).is_none() || !self.is_lent(class)
        {
            return Ok(false);
        }
        // What fails below a field whose types stay unknown would be tried again for each field between the two, and
        // below each of them again. Once the types of the uppermost one are told, it may succeed.
        if !self.is_below_untold(node) {
            self.told.clear();
        }
        if self.told.contains(&node) || self.choices.choose(2) > 0 {
            return Ok(false);
        }
        let told = std::mem::take(&mut self.told);
        let mut before = self.clone();
        self.told = told;
        self.steps += 1 + self.tree.len() / 4;
        self.untold.insert(node);
        match self.class(class) {
            Ok(()) if self.untyped(class).is_some() => return Ok(true),
            Ok(()) | Err(PlanFailure::Impossible(_)) => {}
            Err(failure) => return Err(failure),
        }
        // What was tried has its price, and its choices can be others.
        before.choices = std::mem::take(&mut self.choices);
        before.steps = self.steps;
        before.told = std::mem::take(&mut self.told);
        before.told.insert(node);
        *self = before;
        Ok(false)
    }

    /// Returns whether the types of the values of a field above stay unknown.
    fn is_below_untold(&self, node: NodeId) -> bool {
        let mut class = self.tree.node(node).class;
        while let Some(position) = self.tree.class(class).position {
            if self.untold.contains(&position) {
                return true;
            }
            class = self.tree.node(position).class;
        }
        false
    }

    /// Returns whether all that clients ask for of a class can be had from subgraphs that do not know its types.
    fn is_lent(&self, class: ClassId) -> bool {
        let Class { types, outputs, .. } = self.tree.class(class);
        let mut nodes = outputs.iter().filter_map(Output::node);
        nodes.all(|node| {
            let mut resolvers = self.graph.resolvers(self.tree.node(node).field);
            resolvers.any(|join| self.graph.interface(types[0], join.subgraph).is_some())
        })
    }

    /// Lets a subgraph that knows the interface tell the types of the values of a field.
    pub(super) fn tell_types(
        &mut self,
        node: NodeId,
        deadline: WaveDeadline,
    ) -> Result<(), PlanFailure> {
        let Some(class) = self.tree.node(node).classes.first().copied() else {
            return Ok(());
        };
        let Some(interface) = self.untyped(class) else {
            return Ok(());
        };
        if self.untold.contains(&node) {
            return Err(self.impossible(node));
        }
        let (reached, ty) = (self.reached(class), self.tree.class(class).ty());
        let mut fetches: Vec<KeyFetch<'s>> = Vec::new();
        for (subgraph, key) in self.keys_of(interface) {
            let wave = self.reach_cache.ready(ty, &key.fields, &reached).next();
            if wave.can_be_before(deadline.hard) {
                fetches.push(KeyFetch {
                    subgraph,
                    key,
                    wave,
                });
            }
        }
        if fetches.is_empty() {
            return Err(self.impossible(node));
        }
        fetches.sort_by_key(|fetch| {
            let likely = fetch.wave.likely.unwrap_or(u32::MAX);
            (deadline.is_late(fetch.wave), likely, fetch.subgraph)
        });
        let fetch = fetches[self.choices.choose(fetches.len())];
        self.by_interface(node, interface, fetch, deadline)?;
        Ok(())
    }

    /// Returns the keys by which subgraphs tell the types of the objects of an interface.
    fn keys_of(&self, interface: TypeId) -> impl Iterator<Item = (SubgraphId, &'s Key)> + use<'s> {
        let joins = self
            .graph
            .supergraph()
            .ty(interface)
            .joins
            .iter()
            .filter(|join| !join.is_interface_object);
        joins.flat_map(|join| {
            let keys = join.keys.iter().filter(|key| key.is_resolvable);
            keys.map(|key| (join.subgraph, key))
        })
    }

    /// Asks for all values of a field as objects of an interface.
    fn by_interface(
        &mut self,
        node: NodeId,
        interface: TypeId,
        fetch: KeyFetch<'_>,
        deadline: WaveDeadline,
    ) -> Result<GroupId, PlanFailure> {
        let KeyFetch {
            subgraph,
            key,
            wave,
        } = fetch;
        let classes = self.tree.node(node).classes.clone();
        let (mut inputs, mut before) = (Vec::new(), BTreeSet::new());
        for class in &classes {
            let (more, groups) =
                self.inputs(*class, Needed::Key(&key.fields), deadline.of_inputs(wave))?;
            inputs.extend(more);
            before.extend(groups);
        }
        inputs.dedup();
        before.extend(self.types_of(classes[0]));
        let entry = GroupEntry::Entities {
            classes,
            interface: Some(interface),
            inputs,
            contexts: Vec::new(),
        };
        let group = self.begin(subgraph, entry, before);
        self.typed.insert(node, group);
        self.in_time(group, deadline)
    }

    /// Asks for entities of a class by a key. Where their types are not known, they are asked for as objects
    /// of their interface, or their types are told first.
    pub(super) fn by_key(
        &mut self,
        class: ClassId,
        fetch: KeyFetch<'_>,
        deadline: WaveDeadline,
    ) -> Result<GroupId, PlanFailure> {
        let KeyFetch {
            subgraph,
            key,
            wave,
        } = fetch;
        let interface = self.graph.interface(self.tree.class(class).ty(), subgraph);
        let position = self.tree.class(class).position;
        let is_untold = position.is_some_and(|node| self.untold.contains(&node));
        let is_one =
            is_untold || position.is_some_and(|node| self.tree.node(node).classes.len() == 1);
        if let (Some(untyped), Some(position)) = (self.untyped(class), position)
            && !(is_one && interface.is_some())
        {
            let mut known = self.keys_of(untyped);
            let known =
                known.find(|(other, known)| *other == subgraph && known.fields == key.fields);
            match known.filter(|_| interface.is_none()) {
                Some((_, key)) if !is_untold => {
                    let fetch = KeyFetch { key, ..fetch };
                    return self.by_interface(position, untyped, fetch, deadline);
                }
                _ => self.tell_types(position, deadline)?,
            }
        }
        self.entering.push((class, subgraph));
        let (inputs, mut before) =
            self.inputs(class, Needed::Key(&key.fields), deadline.of_inputs(wave))?;
        self.entering.pop();
        before.extend(self.types_of(class));
        if before.is_empty() {
            // A key of nothing but `__typename`: known wherever the object is.
            let present = self.presences(class).into_iter();
            before.extend(present.min_by_key(|group| (self.groups[*group].wave, *group)));
        }
        let all = position.filter(|_| is_untold && interface.is_some());
        let entry = GroupEntry::Entities {
            classes: all.map_or_else(|| vec![class], |all| self.tree.node(all).classes.clone()),
            interface,
            inputs,
            contexts: Vec::new(),
        };
        let group = self.begin(subgraph, entry, before);
        self.in_time(group, deadline)
    }

    /// Returns the groups that tell the types of the objects of a class, and of those above: until then it is
    /// not known which objects are of the class.
    pub(super) fn types_of(&self, mut class: ClassId) -> Vec<GroupId> {
        let mut groups = Vec::new();
        while let Some(position) = self.tree.class(class).position {
            groups.extend(self.typed.get(&position));
            class = self.tree.node(position).class;
        }
        groups
    }

    /// Returns whether a group has the objects of a field, and only those.
    pub(super) fn is_alike(&self, group: GroupId, node: NodeId) -> bool {
        let group = &self.groups[group];
        let class = self.tree.node(node).class;
        group.entry.classes().contains(&class) || self.is_alike_in(group.subgraph, node)
    }

    /// Returns whether a subgraph can fetch a field where it is led to the objects: without knowing their
    /// types it does if all of them have the same of it.
    pub(super) fn is_alike_in(&self, subgraph: SubgraphId, node: NodeId) -> bool {
        let class = self.tree.node(node).class;
        let Some(position) = self.tree.class(class).position else {
            return true;
        };
        let classes = &self.tree.node(position).classes;
        if classes.len() == 1 {
            return true;
        }
        let field = self
            .graph
            .supergraph()
            .field(self.tree.node(position).field);
        let join = field.join(subgraph);
        if join.is_none_or(|join| self.graph.untyped(join).is_none()) {
            return true;
        }
        // Keys are those of the interface, which all types have.
        !is_asked(&self.tree, node)
            || self.is_of_key(node, subgraph)
            || classes.iter().all(|other| {
                let outputs = self.tree.class(*other).outputs.iter();
                let mut nodes = outputs.filter_map(Output::node);
                nodes.any(|other| self.tree.is_alike(node, other))
            })
    }

    /// Returns whether a leaf belongs to a key by which a subgraph knows objects.
    fn is_of_key(&self, node: NodeId, subgraph: SubgraphId) -> bool {
        let node = self.tree.node(node);
        let ty = self.tree.class(node.class).ty();
        let mut keys = self.graph.keys(ty, subgraph);
        let is_named = |selected: &Selected| matches!(selected, Selected::Field { name, .. } if *name == node.name);
        node.is_leaf && keys.any(|key| key.fields.selections.iter().any(is_named))
    }
}

fn is_asked(tree: &Tree, node: NodeId) -> bool {
    let outputs = tree.class(tree.node(node).class).outputs.iter();
    outputs.filter_map(Output::node).any(|other| other == node)
}
