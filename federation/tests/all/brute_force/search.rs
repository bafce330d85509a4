//! Tries everything that there is to do in a plan that grows.

use apollo_compiler::executable::OperationType;
use federation::graph::Graph;
use federation::supergraph::{
    ContextArgument, FieldJoin, FieldSet, Selected, SubgraphId, Supergraph, TypeId,
};

use super::Bound;
use super::state::{Entry, Group, State, Taken, Task, text};

pub(super) struct Search<'s> {
    pub(super) graph: Graph<'s>,
    pub(super) supergraph: &'s Supergraph,
    operation: OperationType,
    bound: Bound,
    /// Candidates that may still be looked at.
    left: usize,
}

impl<'s> Search<'s> {
    pub(super) fn new(
        graph: Graph<'s>,
        operation: OperationType,
        bound: Bound,
        candidates: usize,
    ) -> Self {
        Search {
            graph,
            supergraph: graph.supergraph(),
            operation,
            bound,
            left: candidates,
        }
    }

    pub(super) fn is_exhausted(&self) -> bool {
        self.left == 0
    }

    /// Returns whether there is a plan within the bound.
    pub(super) fn exists(&mut self, mut state: State) -> bool {
        if self.left == 0 || !state.can_be_within(self.bound) {
            return false;
        }
        self.left -= 1;
        let next = match state.tasks.pop() {
            None => return state.fits(self.bound),
            Some(Task::Barrier) => {
                state.wait_for_all();
                vec![state]
            }
            Some(Task::Below(node)) if self.needs_types(&state, node) => {
                let untold = self.untold(&state, node);
                state
                    .tasks
                    .extend([Task::Below(node), Task::Types(node, None)]);
                untold.into_iter().chain([state]).collect()
            }
            Some(Task::Below(node)) => {
                for class in state.nodes[node].classes.clone() {
                    if self.is_present_anywhere(&state, class) {
                        let asked = state.classes[class].asked.clone();
                        state.push(&asked);
                    }
                }
                vec![state]
            }
            Some(Task::Needs(node, by)) => {
                let inner = state.nodes[node].inner.clone().unwrap_or_default();
                for class in state.nodes[node].classes.clone() {
                    if self.is_present_anywhere(&state, class) {
                        self.needs(&mut state, class, &inner, by);
                    }
                }
                vec![state]
            }
            Some(Task::Types(node, by)) => self.types(state, node, by),
            Some(Task::Fetch(node, None)) if state.is_fetched(node) => vec![state],
            Some(Task::Fetch(node, by)) => self.places(&state, node, by),
        };
        next.into_iter().any(|state| self.exists(state))
    }

    /// Returns what becomes of a state in each way to fetch a field.
    fn places(&self, state: &State, node: usize, by: Option<usize>) -> Vec<State> {
        let here = self.here(state, node);
        let is_first = |group: &usize| {
            let group = &state.groups[*group];
            group.entry == Entry::Root && group.after.is_empty()
        };
        if state.nodes[node].classes.is_empty()
            && let Some(first) = here.iter().find(|group| is_first(group))
        {
            // Nothing is earlier, and nobody cares where a leaf comes from.
            let mut state = state.clone();
            state.groups[*first].nodes.insert(node);
            return self.waited_for(state, *first, by).into_iter().collect();
        }
        let here = here.into_iter().map(|group| (state.clone(), group));
        let mut found: Vec<(State, usize)> = here.collect();
        let class = state.nodes[node].class;
        for join in self.graph.resolvers(state.nodes[node].field) {
            if join.is_plain() {
                found.extend(self.enter(state, (class, node), join.subgraph, 0));
            } else {
                found.extend(self.given(state, class, join));
            }
        }
        let found = found.into_iter().filter_map(|(mut state, group)| {
            state.groups[group].nodes.insert(node);
            self.waited_for(state, group, by)
        });
        found.collect()
    }

    /// Returns what becomes of a state in each way to fetch a field that requires others, or takes values from
    /// contexts, but for the field itself.
    fn given(&self, state: &State, class: usize, join: &FieldJoin) -> Vec<(State, usize)> {
        let Some(contexts) = self.contexts(state, class, join) else {
            return Vec::new();
        };
        let is_same = |group: &Group| {
            group.is_of_entities()
                && group.begins.contains(&class)
                && group.subgraph == join.subgraph
                && group.contexts == contexts
        };
        let old = (0..state.groups.len()).filter(|group| is_same(&state.groups[*group]));
        let old: Vec<usize> = old.collect();
        let new = match contexts.is_empty() {
            true => self.by_keys(state, class, join.subgraph),
            false if old.len() > 1 => Vec::new(),
            false => self.by_keys_and_contexts(state, (class, join.subgraph), &contexts),
        };
        let old = old.into_iter().map(|group| (state.clone(), group));
        let mut found = Vec::new();
        for (mut state, group) in old.chain(new).collect::<Vec<_>>() {
            let requires = join.requires.as_ref();
            if requires.is_none_or(|requires| self.give(&mut state, class, requires, group)) {
                found.push((state, group));
            }
        }
        found
    }

    /// Returns the values that a field takes from contexts: the argument's type, the class above, what is taken.
    fn contexts(&self, state: &State, class: usize, join: &FieldJoin) -> Option<Vec<Taken>> {
        let above = |argument: &ContextArgument| {
            let mut class = class;
            loop {
                class = state.nodes[state.classes[class].position?].class;
                let is_root = state.classes[class].position.is_none();
                if is_root && self.operation == OperationType::Mutation {
                    return None;
                }
                if let Some(set) = argument.source(state.classes[class].types[0]) {
                    return Some((argument.ty.to_string(), class, set.clone()));
                }
            }
        };
        join.contexts.iter().map(above).collect()
    }

    /// Returns the ways to begin at entities of a class for fields that are given values from contexts.
    fn by_keys_and_contexts(
        &self,
        state: &State,
        (class, subgraph): (usize, SubgraphId),
        contexts: &[Taken],
    ) -> Vec<(State, usize)> {
        let told = self.told(state, class).into_iter();
        let begun = told.flat_map(|state| self.by_keys(&state, class, subgraph));
        let begun =
            begun.filter(|(state, group)| state.groups[*group].entry == Entry::Entities(class));
        let begun = begun.map(|(mut state, group)| {
            state.groups[group].contexts = contexts.to_vec();
            for (_, above, set) in contexts {
                self.needs(&mut state, *above, set, group);
            }
            (state, group)
        });
        begun.collect()
    }

    /// Returns the groups in which a field can be fetched as they are, first those that fetch it already. Of a
    /// leaf those are left out that wait for another one of them which costs no more.
    fn here(&self, state: &State, node: usize) -> Vec<usize> {
        let is_there = |group: usize| state.groups[group].nodes.contains(&node);
        let groups = 0..state.groups.len();
        let can = |group: &usize| is_there(*group) || self.is_inline(state, *group, node);
        let mut here: Vec<usize> = groups.filter(can).collect();
        here.sort_by_key(|group| !is_there(*group));
        if state.nodes[node].classes.is_empty() {
            let all = here.clone();
            here.retain(|group| {
                let is_better = |other: &usize| {
                    other != group
                        && state.waits_for(*group, *other)
                        && (is_there(*other) || !is_there(*group))
                };
                !all.iter().any(is_better)
            });
        }
        here
    }

    /// Lets a group wait for another one, if it can.
    pub(super) fn waited_for(
        &self,
        mut state: State,
        group: usize,
        by: Option<usize>,
    ) -> Option<State> {
        if let Some(by) = by {
            if state.waits_for(group, by) {
                return None;
            }
            state.groups[by].after.insert(group);
        }
        Some(state)
    }

    /// Lets a group be given the fields of a set, unless it is given others of the same name.
    pub(super) fn give(
        &self,
        state: &mut State,
        class: usize,
        set: &FieldSet,
        group: usize,
    ) -> bool {
        for (name, node) in self.needs(state, class, set, group) {
            let known = *state.groups[group].inputs.entry(name).or_insert(node);
            if state.nodes[known].arguments != state.nodes[node].arguments {
                return false;
            }
        }
        true
    }

    /// Lets a group need the fields of a set, and returns them with their names.
    fn needs(
        &self,
        state: &mut State,
        class: usize,
        set: &FieldSet,
        by: usize,
    ) -> Vec<(String, usize)> {
        let ty = state.classes[class].types[0];
        let mut needed = Vec::new();
        for selected in set.of(self.supergraph, ty) {
            let Selected::Field {
                name,
                arguments,
                inner,
                ..
            } = &selected
            else {
                continue;
            };
            let wanted = (name.as_str(), text(arguments), inner);
            let node = state.needed(self.graph, class, wanted);
            if !inner.is_empty() {
                state.tasks.push(Task::Needs(node, by));
                state.tasks.push(Task::Types(node, Some(by)));
            }
            state.tasks.push(Task::Fetch(node, Some(by)));
            needed.push((name.to_string(), node));
        }
        needed
    }

    /// Returns the ways to make the objects of a class present in a subgraph, to fetch a field there.
    fn enter(
        &self,
        state: &State,
        (class, node): (usize, usize),
        subgraph: SubgraphId,
        depth: usize,
    ) -> Vec<(State, usize)> {
        let mut found = Vec::new();
        if depth > 4 {
            return found;
        }
        let ty = state.classes[class].types[0];
        let is_known = self.supergraph.ty(ty).join(subgraph).is_some();
        let Some(position) = state.classes[class].position else {
            if is_known {
                let mut state = state.clone();
                let group = state.begin(subgraph, Entry::Root, Vec::new(), []);
                found.push((state, group));
            }
            return found;
        };
        if self.supergraph.root(OperationType::Query) == Some(ty) && is_known {
            for before in 0..state.groups.len() {
                if self.is_present(state, before, class) {
                    let mut state = state.clone();
                    let types = self.types_of(&state, class);
                    let after = [before].into_iter().chain(types);
                    let entry = Entry::Reentry(class);
                    let group = state.begin(subgraph, entry, vec![class], after);
                    found.push((state, group));
                }
            }
        }
        found.extend(self.by_keys(state, class, subgraph));
        if self.is_alike_in(state, subgraph, node) && self.leads(state, class, subgraph) {
            let above = state.nodes[position].class;
            let old = (0..state.groups.len()).filter(|group| {
                state.groups[*group].subgraph == subgraph
                    && self.is_present(state, *group, above)
                    && self.is_alike(state, *group, position)
                    && !state.groups[*group].nodes.contains(&position)
            });
            let old = old.map(|group| (state.clone(), group));
            let new = self.enter(state, (above, position), subgraph, depth + 1);
            for (mut state, group) in old.chain(new).collect::<Vec<_>>() {
                state.groups[group].nodes.insert(position);
                found.push((state, group));
            }
        }
        found
    }

    /// Returns whether a subgraph can fetch the field that leads to a class once more.
    fn leads(&self, state: &State, class: usize, subgraph: SubgraphId) -> bool {
        let Some(position) = state.classes[class].position else {
            return false;
        };
        let above = state.nodes[position].class;
        let is_root = state.classes[above].position.is_none();
        if is_root && self.operation == OperationType::Mutation {
            return false;
        }
        let field = state.nodes[position].field;
        let Some(join) = self.graph.resolves(subgraph, field) else {
            return false;
        };
        if state.untold.contains(&position) && self.graph.untyped(join).is_none() {
            return false;
        }
        let possible = self.graph.possible(join);
        let is_same = state.groups.iter().all(|group| {
            let other = self.supergraph.field(field).join(group.subgraph);
            let is_there = group.nodes.contains(&position);
            !is_there || other.is_none_or(|other| self.graph.possible(other) == possible)
        });
        join.is_plain() && is_same && meet(possible, &state.classes[class].types)
    }

    pub(super) fn is_present_anywhere(&self, state: &State, class: usize) -> bool {
        (0..state.groups.len()).any(|group| self.is_present(state, group, class))
    }

    pub(super) fn is_present(&self, state: &State, id: usize, class: usize) -> bool {
        let group = &state.groups[id];
        if group.begins.contains(&class) {
            // What is given values from contexts is asked for alone.
            return group.contexts.is_empty();
        }
        let Some(position) = state.classes[class].position else {
            // A mutation is carried out field by field.
            let is_open = self.operation != OperationType::Mutation || id + 1 == state.groups.len();
            return group.entry == Entry::Root && is_open;
        };
        let field = self.supergraph.field(state.nodes[position].field);
        group.nodes.contains(&position)
            && field
                .join(group.subgraph)
                .is_some_and(|join| meet(self.graph.possible(join), &state.classes[class].types))
    }

    fn is_inline(&self, state: &State, group: usize, node: usize) -> bool {
        if !self.is_present(state, group, state.nodes[node].class)
            || !self.is_alike(state, group, node)
        {
            return false;
        }
        let subgraph = state.groups[group].subgraph;
        match self.graph.resolves(subgraph, state.nodes[node].field) {
            Some(join) => join.is_plain(),
            None => self.is_provided(state, group, node),
        }
    }

    /// Returns whether a field is provided on the path that a group takes to it.
    fn is_provided(&self, state: &State, group: usize, node: usize) -> bool {
        let subgraph = state.groups[group].subgraph;
        let mut names = vec![state.nodes[node].name.clone()];
        let mut class = state.nodes[node].class;
        let field = self.supergraph.field(state.nodes[node].field);
        if field.join(subgraph).is_none() {
            return false;
        }
        let mut types = vec![state.classes[class].types[0]];
        loop {
            let begins = state.groups[group].begins.contains(&class);
            let Some(position) = state.classes[class].position.filter(|_| !begins) else {
                return false;
            };
            if !state.groups[group].nodes.contains(&position) {
                return false;
            }
            let above = self.supergraph.field(state.nodes[position].field);
            let join = above.join(subgraph);
            if let Some(provides) = join.and_then(|join| join.provides.as_ref())
                && self.has(provides, &names, &types)
            {
                return true;
            }
            names.insert(0, state.nodes[position].name.clone());
            class = state.nodes[position].class;
            types.insert(0, state.classes[class].types[0]);
        }
    }

    fn has(&self, set: &FieldSet, names: &[String], types: &[TypeId]) -> bool {
        let (Some(first), Some(ty)) = (names.first(), types.first()) else {
            return true;
        };
        let selected = set.of(self.supergraph, *ty);
        selected.iter().any(|selected| match selected {
            Selected::Field { name, inner, .. } => {
                name == first.as_str() && self.has(inner, &names[1..], &types[1..])
            }
            _ => false,
        })
    }
}

fn meet(one: &[TypeId], other: &[TypeId]) -> bool {
    one.iter().any(|ty| other.contains(ty))
}
