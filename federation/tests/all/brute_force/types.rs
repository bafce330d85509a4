//! Objects of interface objects: who tells their types, and how entities are asked for.

use federation::supergraph::{Key, Selected, SubgraphId, TypeId};

use super::search::Search;
use super::state::{Entry, State};

impl<'s> Search<'s> {
    /// Returns the interface that the objects of a class are known by, where nobody tells their types.
    fn untyped(&self, state: &State, class: usize) -> Option<TypeId> {
        let position = state.classes[class].position?;
        if state.typed.contains_key(&position) {
            return None;
        }
        let field = self.supergraph.field(state.nodes[position].field);
        let mut interface = None;
        for group in &state.groups {
            if group.nodes.contains(&position) {
                interface = Some(self.graph.untyped(field.join(group.subgraph)?)?);
            }
        }
        interface
    }

    /// Returns whether the types of the values of a field have to be known, and are not.
    pub(super) fn needs_types(&self, state: &State, node: usize) -> bool {
        let classes = &state.nodes[node].classes;
        let asks = |class: &usize| state.classes[*class].asks_type;
        classes
            .first()
            .is_some_and(|class| self.untyped(state, *class).is_some())
            && (classes.len() > 1 || classes.iter().any(asks))
    }

    /// Returns what becomes of a state where the types of the values of a field stay unknown, if they can: clients ask
    /// the same of all of them, so what is fetched for the first class is so for all.
    pub(super) fn untold(&self, state: &State, node: usize) -> Option<State> {
        if !state.nodes[node].is_uniform {
            return None;
        }
        let first = state.nodes[node].classes.first()?;
        let mut untold = state.clone();
        untold.untold.insert(node);
        untold.push(&state.classes[*first].asked);
        Some(untold)
    }

    /// Returns what becomes of a state in each way to tell the types of the values of a field.
    pub(super) fn types(&self, state: State, node: usize, by: Option<usize>) -> Vec<State> {
        let Some(class) = state.nodes[node].classes.first() else {
            return vec![state];
        };
        let told = match (state.typed.get(&node), self.untyped(&state, *class)) {
            (Some(group), _) => vec![(state.clone(), *group)],
            (None, Some(interface)) => self.tell(&state, node, interface),
            (None, None) => return vec![state],
        };
        let told = told.into_iter();
        told.filter_map(|(state, group)| self.waited_for(state, group, by))
            .collect()
    }

    /// Returns what becomes of a state in each way to tell the types of the objects of a class.
    pub(super) fn told(&self, state: &State, class: usize) -> Vec<State> {
        match state.classes[class]
            .position
            .zip(self.untyped(state, class))
        {
            None => vec![state.clone()],
            Some((node, interface)) => {
                let told = self.tell(state, node, interface).into_iter();
                told.map(|(state, _)| state).collect()
            }
        }
    }

    fn tell(&self, state: &State, node: usize, interface: TypeId) -> Vec<(State, usize)> {
        if state.untold.contains(&node) {
            return Vec::new();
        }
        let joins = self.supergraph.ty(interface).joins.iter();
        let joins = joins.filter(|join| !join.is_interface_object);
        let keys = joins.flat_map(|join| {
            let keys = join.keys.iter().filter(|key| key.is_resolvable);
            keys.map(|key| (join.subgraph, key))
        });
        keys.filter_map(|(subgraph, key)| self.whole(state, node, subgraph, key))
            .collect()
    }

    /// Asks for all values of a field as objects of an interface.
    fn whole(
        &self,
        state: &State,
        node: usize,
        subgraph: SubgraphId,
        key: &Key,
    ) -> Option<(State, usize)> {
        let mut state = state.clone();
        let classes = state.nodes[node].classes.clone();
        let types = self.types_of(&state, classes[0]);
        let group = state.begin(subgraph, Entry::Whole(node), classes.clone(), types);
        state.typed.insert(node, group);
        for class in classes {
            if !self.give(&mut state, class, &key.fields, group) {
                return None;
            }
        }
        Some((state, group))
    }

    /// Returns the ways to begin at entities of a class.
    pub(super) fn by_keys(
        &self,
        state: &State,
        class: usize,
        subgraph: SubgraphId,
    ) -> Vec<(State, usize)> {
        let ty = state.classes[class].types[0];
        let there = state.groups.iter().filter(|group| {
            group.entry == Entry::Entities(class)
                && group.subgraph == subgraph
                && group.contexts.is_empty()
        });
        if there.count() >= 2 {
            return Vec::new();
        }
        let interface = self.graph.interface(ty, subgraph);
        let position = state.classes[class].position;
        let is_one = position.is_some_and(|node| {
            state.nodes[node].classes.len() == 1 || state.untold.contains(&node)
        });
        let untyped = self.untyped(state, class);
        let untyped = untyped.filter(|_| !(is_one && interface.is_some()));
        let mut found = Vec::new();
        for key in self.graph.keys(ty, subgraph) {
            let Some((untyped, position)) = untyped.zip(position) else {
                found.extend(self.by_key(state, class, subgraph, key));
                continue;
            };
            let known = self.supergraph.ty(untyped).join(subgraph);
            let mut keys = known.into_iter().flat_map(|join| &join.keys);
            if interface.is_none()
                && !state.untold.contains(&position)
                && keys.any(|known| known.is_resolvable && known.fields == key.fields)
            {
                found.extend(self.whole(state, position, subgraph, key));
            }
            for (state, _) in self.tell(state, position, untyped) {
                found.extend(self.by_key(&state, class, subgraph, key));
            }
        }
        found
    }

    fn by_key(
        &self,
        state: &State,
        class: usize,
        subgraph: SubgraphId,
        key: &Key,
    ) -> Vec<(State, usize)> {
        let begin = |before: Option<usize>| {
            let mut state = state.clone();
            let types = self.types_of(&state, class).into_iter();
            let entry = Entry::Entities(class);
            let begins = self.begins(&state, class, subgraph);
            let group = state.begin(subgraph, entry, begins, types.chain(before));
            let can = self.give(&mut state, class, &key.fields, group);
            can.then_some((state, group))
        };
        let ty = state.classes[class].types[0];
        let set = key.fields.of(self.supergraph, ty);
        if set
            .iter()
            .any(|selected| matches!(selected, Selected::Field { .. }))
        {
            return begin(None).into_iter().collect();
        }
        // A key of nothing but the type: known wherever the object is.
        let groups = 0..state.groups.len();
        let present = groups.filter(|group| self.is_present(state, *group, class));
        present.filter_map(|group| begin(Some(group))).collect()
    }

    /// Returns the classes whose objects are asked for as entities of a class.
    fn begins(&self, state: &State, class: usize, subgraph: SubgraphId) -> Vec<usize> {
        let ty = state.classes[class].types[0];
        let position = state.classes[class].position;
        let untold = position.filter(|node| state.untold.contains(node));
        let untold = untold.filter(|_| self.graph.interface(ty, subgraph).is_some());
        untold.map_or_else(|| vec![class], |node| state.nodes[node].classes.clone())
    }

    /// Returns the groups that tell the types of the objects of a class, and of those above.
    pub(super) fn types_of(&self, state: &State, mut class: usize) -> Vec<usize> {
        let mut groups = Vec::new();
        while let Some(position) = state.classes[class].position {
            groups.extend(state.typed.get(&position));
            class = state.nodes[position].class;
        }
        groups
    }

    /// Returns whether a group has the objects of a field, and only those.
    pub(super) fn is_alike(&self, state: &State, group: usize, node: usize) -> bool {
        let group = &state.groups[group];
        group.begins.contains(&state.nodes[node].class)
            || self.is_alike_in(state, group.subgraph, node)
    }

    /// Returns whether a subgraph can fetch a field where it is led to objects whose types it does not know.
    pub(super) fn is_alike_in(&self, state: &State, subgraph: SubgraphId, node: usize) -> bool {
        let class = state.nodes[node].class;
        let Some(position) = state.classes[class].position else {
            return true;
        };
        let field = self.supergraph.field(state.nodes[position].field);
        let join = field.join(subgraph);
        let knows = join.is_none_or(|join| self.graph.untyped(join).is_none());
        let classes = &state.nodes[position].classes;
        knows
            || classes.len() == 1
            || !state.classes[class].asked.contains(&node)
            || self.is_of_key(state, subgraph, node)
            || classes.iter().all(|other| {
                let mut nodes = state.classes[*other].asked.iter();
                nodes.any(|other| asks_alike(state, node, *other))
            })
    }

    fn is_of_key(&self, state: &State, subgraph: SubgraphId, node: usize) -> bool {
        let node = &state.nodes[node];
        let ty = state.classes[node.class].types[0];
        let mut keys = self.graph.keys(ty, subgraph);
        let is_named = |selected: &Selected| matches!(selected, Selected::Field { name, .. } if *name == node.name.as_str());
        node.classes.is_empty() && keys.any(|key| key.fields.selections.iter().any(is_named))
    }
}

/// Returns whether clients ask the same of two fields.
fn asks_alike(state: &State, one: usize, other: usize) -> bool {
    let (a, b) = (&state.nodes[one], &state.nodes[other]);
    let same = |(a, b): (&usize, &usize)| {
        let (a, b) = (&state.classes[*a], &state.classes[*b]);
        a.types == b.types
            && a.keys.len() == b.keys.len()
            && a.keys.iter().zip(&b.keys).all(|(a, b)| {
                a.0 == b.0
                    && match (a.1, b.1) {
                        (Some(a), Some(b)) => asks_alike(state, a, b),
                        (a, b) => a == b,
                    }
            })
    };
    one == other
        || (a.key == b.key
            && a.arguments == b.arguments
            && a.classes.len() == b.classes.len()
            && a.classes.iter().zip(&b.classes).all(same))
}
