//! A planner that tries everything, for small operations: whether any plan is better than the one that was
//! made.
//!
//! It knows the moves of the graph, and nothing of how the planner chooses among them. Three questions are
//! asked after each other: is there a plan of fewer waves, one of as many with fewer requests, one of as many
//! of both with fewer fields? Interface objects, mutations and requirements over abstract types are left out.

use std::collections::{BTreeMap, BTreeSet};

use federation::ActiveLabels;
use federation::graph::Graph;
use federation::operation::{Output, Tree};
use federation::plan::{Cost, Plan};
use federation::supergraph::{FieldId, FieldSet, Selected, SubgraphId, Supergraph, TypeId};

use apollo_compiler::executable::OperationType;

/// Candidates that are looked at for one question; with more it stays open.
const CANDIDATES: usize = 30_000;

/// What came of looking for a better plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The plan is as good as any, and was found.
    Best,
    /// There is a better one, of at most these waves, requests and fields.
    Better((usize, usize, usize)),
    /// There are too many candidates.
    Open,
    /// The plan itself was not found: something is missing here.
    NotFound,
}

#[derive(Clone, Debug)]
struct Class {
    position: Option<usize>,
    types: Vec<TypeId>,
    asked: Vec<usize>,
}

#[derive(Clone, Debug)]
struct Node {
    class: usize,
    field: FieldId,
    name: String,
    arguments: String,
    inner: Option<FieldSet>,
    classes: Vec<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Entry {
    Root,
    Reentry(usize),
    Entities(usize),
}

#[derive(Clone, Debug)]
struct Group {
    subgraph: SubgraphId,
    entry: Entry,
    nodes: BTreeSet<usize>,
    after: BTreeSet<usize>,
    inputs: BTreeMap<String, usize>,
}

#[derive(Clone, Copy, Debug)]
enum Task {
    /// A field is fetched, for a group that waits for it or for the client.
    Fetch(usize, Option<usize>),
    /// What the client asks for below a field is fetched.
    Below(usize),
}

#[derive(Clone, Debug, Default)]
struct State {
    classes: Vec<Class>,
    nodes: Vec<Node>,
    groups: Vec<Group>,
    tasks: Vec<Task>,
}

/// What a plan may cost at most.
type Bound = (usize, usize, usize);

struct Search<'s> {
    graph: Graph<'s>,
    supergraph: &'s Supergraph,
    bound: Bound,
    left: usize,
}

/// Returns whether a plan is better than a given one.
pub(crate) fn verdict(supergraph: &Supergraph, labels: &ActiveLabels, plan: &Plan) -> Verdict {
    let Cost {
        waves,
        fetches,
        fields,
        ..
    } = plan.cost;
    let begin = State::of(&plan.tree);
    let ask = |bound: Bound| {
        let mut search = Search {
            graph: Graph::new(supergraph, labels),
            supergraph,
            bound,
            left: CANDIDATES,
        };
        match search.exists(begin.clone()) {
            true => Some(true),
            false if search.left == 0 => None,
            false => Some(false),
        }
    };
    let most = usize::MAX;
    let better = [
        (waves.wrapping_sub(1), most, most),
        (waves, fetches.wrapping_sub(1), most),
        (waves, fetches, fields.wrapping_sub(1)),
    ];
    if waves == 0 {
        return Verdict::Best;
    }
    match ask((waves, fetches, fields)) {
        Some(true) => {}
        Some(false) => return Verdict::NotFound,
        None => return Verdict::Open,
    }
    for bound in better {
        match ask(bound) {
            Some(true) => return Verdict::Better(bound),
            Some(false) => {}
            None => return Verdict::Open,
        }
    }
    Verdict::Best
}

impl State {
    /// Takes what the client asks for from a tree.
    fn of(tree: &Tree) -> State {
        let mut state = State::default();
        let root = state.client(tree, Tree::ROOT, None);
        let asked = state.classes[root].asked.clone();
        state.push(&asked);
        state
    }

    fn client(
        &mut self,
        tree: &Tree,
        id: federation::operation::ClassId,
        position: Option<usize>,
    ) -> usize {
        let class = self.classes.len();
        self.classes.push(Class {
            position,
            types: tree.class(id).types.clone(),
            asked: Vec::new(),
        });
        let mut seen = BTreeSet::new();
        for output in tree.class(id).outputs.iter() {
            let Output::Field { node, .. } = output else {
                continue;
            };
            if !seen.insert(*node) {
                continue;
            }
            let known = tree.node(*node);
            let place = self.nodes.len();
            self.nodes.push(Node {
                class,
                field: known.field,
                name: known.name.to_string(),
                arguments: text(&known.arguments),
                inner: None,
                classes: Vec::new(),
            });
            self.classes[class].asked.push(place);
            for below in &known.classes {
                // Planning adds classes of what only the gateway needs; clients see nothing of them.
                let below = self.client(tree, *below, Some(place));
                self.nodes[place].classes.push(below);
            }
        }
        class
    }

    fn push(&mut self, nodes: &[usize]) {
        for node in nodes.iter().rev() {
            self.tasks.push(Task::Below(*node));
        }
        for node in nodes.iter().rev() {
            self.tasks.push(Task::Fetch(*node, None));
        }
    }

    /// Returns a field that only the gateway needs.
    fn needed(
        &mut self,
        supergraph: &Supergraph,
        class: usize,
        (name, arguments, inner): (&str, String, &FieldSet),
    ) -> usize {
        let wanted = (!inner.is_empty()).then(|| inner.clone());
        let known = self.nodes.iter().position(|node| {
            let is_same = node.class == class && node.name == name && node.arguments == arguments;
            is_same && node.inner == wanted && (wanted.is_some() || node.classes.is_empty())
        });
        if let Some(known) = known {
            return known;
        }
        let field = supergraph.field_id(self.classes[class].types[0], name);
        let field = field.unwrap();
        let place = self.nodes.len();
        self.nodes.push(Node {
            class,
            field,
            name: name.to_owned(),
            arguments,
            inner: wanted.clone(),
            classes: Vec::new(),
        });
        if wanted.is_some() {
            let types = supergraph
                .ty(supergraph.field(field).inner)
                .possible
                .clone();
            assert_eq!(types.len(), 1, "abstract types are left out");
            self.nodes[place].classes.push(self.classes.len());
            self.classes.push(Class {
                position: Some(place),
                types,
                asked: Vec::new(),
            });
        }
        place
    }

    fn waits_for(&self, group: usize, other: usize) -> bool {
        group == other
            || self.groups[group]
                .after
                .iter()
                .any(|before| self.waits_for(*before, other))
    }

    fn wave(&self, group: usize, known: &mut Vec<Option<usize>>) -> usize {
        if let Some(wave) = known[group] {
            return wave;
        }
        let after = self.groups[group].after.iter();
        let wave = after.map(|before| self.wave(*before, known) + 1).max();
        known[group] = wave.or(Some(0));
        wave.unwrap_or(0)
    }

    /// Returns what the groups cost so far: at least, or exactly when they are complete.
    fn cost(&self, is_complete: bool) -> Bound {
        let mut waves = vec![None; self.groups.len()];
        let mut requests = BTreeSet::new();
        for (id, group) in self.groups.iter().enumerate() {
            let wave = self.wave(id, &mut waves);
            let is_entity = matches!(group.entry, Entry::Entities(_));
            // What waits for nothing new stays where it is; other requests may still become one.
            let wave = if is_complete || !is_entity { wave } else { 0 };
            requests.insert((wave, group.subgraph, (!is_entity).then_some(id)));
        }
        let last = waves.iter().flatten().max();
        let fields = self.groups.iter().map(|group| group.nodes.len());
        (
            last.map_or(0, |last| last + 1),
            requests.len(),
            fields.sum(),
        )
    }
}

fn text(arguments: &[apollo_compiler::Node<apollo_compiler::ast::Argument>]) -> String {
    let arguments = arguments.iter();
    let texts = arguments.map(|argument| {
        let value = argument.value.serialize().no_indent();
        format!("{}: {value},", argument.name)
    });
    texts.collect()
}

impl Search<'_> {
    /// Returns whether there is a plan within the bound.
    fn exists(&mut self, mut state: State) -> bool {
        if self.left == 0 {
            return false;
        }
        self.left -= 1;
        let (waves, fetches, fields) = state.cost(state.tasks.is_empty());
        let (most_waves, most_fetches, most_fields) = self.bound;
        if self.bound.0 == usize::MAX
            || waves > most_waves
            || fetches > most_fetches
            || fields > most_fields
        {
            return false;
        }
        match state.tasks.pop() {
            None => true,
            Some(Task::Below(node)) => {
                for class in state.nodes[node].classes.clone() {
                    if self.is_present_anywhere(&state, class) {
                        let asked = state.classes[class].asked.clone();
                        state.push(&asked);
                    }
                }
                self.exists(state)
            }
            Some(Task::Fetch(node, by)) => {
                let mut next = self.places(&state, node, by);
                if by.is_none() {
                    let is_fetched = |group: &Group| group.nodes.contains(&node);
                    if state.groups.iter().any(is_fetched) {
                        next = vec![state];
                    }
                }
                next.into_iter().any(|state| self.exists(state))
            }
        }
    }

    /// Returns what becomes of a state in each way to fetch a field.
    fn places(&self, state: &State, node: usize, by: Option<usize>) -> Vec<State> {
        let mut found: Vec<(State, usize)> = Vec::new();
        for group in 0..state.groups.len() {
            let is_there = state.groups[group].nodes.contains(&node);
            if is_there || self.is_inline(state, group, node) {
                found.push((state.clone(), group));
            }
        }
        let class = state.nodes[node].class;
        for join in self.graph.resolvers(state.nodes[node].field) {
            match &join.requires {
                None => found.extend(self.enter(state, class, join.subgraph, 0)),
                Some(requires) => {
                    let old = (0..state.groups.len()).filter(|group| {
                        let group = &state.groups[*group];
                        group.entry == Entry::Entities(class) && group.subgraph == join.subgraph
                    });
                    let old = old.map(|group| (state.clone(), group));
                    let new = self.by_keys(state, class, join.subgraph);
                    for (mut state, group) in old.chain(new).collect::<Vec<_>>() {
                        if self.give(&mut state, class, requires, group) {
                            found.push((state, group));
                        }
                    }
                }
            }
        }
        let mut states = Vec::new();
        for (mut state, group) in found {
            state.groups[group].nodes.insert(node);
            if let Some(by) = by {
                if state.waits_for(group, by) {
                    continue;
                }
                state.groups[by].after.insert(group);
            }
            states.push(state);
        }
        states
    }

    /// Lets a group be given the fields of a set.
    fn give(&self, state: &mut State, class: usize, set: &FieldSet, group: usize) -> bool {
        self.needs(state, class, set, group, true)
    }

    fn needs(
        &self,
        state: &mut State,
        class: usize,
        set: &FieldSet,
        group: usize,
        is_top: bool,
    ) -> bool {
        let ty = state.classes[class].types[0];
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
            let node = state.needed(self.supergraph, class, wanted);
            if is_top {
                let known = state.groups[group].inputs.entry(name.to_string());
                let known = *known.or_insert(node);
                let same = |one: usize, other: usize| {
                    state.nodes[one].arguments == state.nodes[other].arguments
                };
                if !same(known, node) {
                    return false;
                }
            }
            for below in state.nodes[node].classes.clone() {
                if !inner.is_empty() && !self.needs(state, below, inner, group, false) {
                    return false;
                }
            }
            state.tasks.push(Task::Fetch(node, Some(group)));
        }
        true
    }

    /// Returns the ways to begin at entities of a class.
    fn by_keys(&self, state: &State, class: usize, subgraph: SubgraphId) -> Vec<(State, usize)> {
        let ty = state.classes[class].types[0];
        let there = state
            .groups
            .iter()
            .filter(|group| group.entry == Entry::Entities(class) && group.subgraph == subgraph);
        if there.count() >= 2 {
            return Vec::new();
        }
        let mut found = Vec::new();
        for key in self.graph.keys(ty, subgraph) {
            let mut state = state.clone();
            let group = state.begin(subgraph, Entry::Entities(class));
            if self.give(&mut state, class, &key.fields, group) {
                found.push((state, group));
            }
        }
        found
    }

    /// Returns the ways to make the objects of a class present in a subgraph.
    fn enter(
        &self,
        state: &State,
        class: usize,
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
                let group = state.begin(subgraph, Entry::Root);
                found.push((state, group));
            }
            return found;
        };
        if self.supergraph.root(OperationType::Query) == Some(ty) && is_known {
            for before in 0..state.groups.len() {
                if self.is_present(state, before, class) {
                    let mut state = state.clone();
                    let group = state.begin(subgraph, Entry::Reentry(class));
                    state.groups[group].after.insert(before);
                    found.push((state, group));
                }
            }
        }
        found.extend(self.by_keys(state, class, subgraph));
        let field = state.nodes[position].field;
        if let Some(join) = self.graph.resolves(subgraph, field)
            && join.requires.is_none()
        {
            let possible = self.graph.possible(join);
            let is_same = state.groups.iter().all(|group| {
                let other = self.supergraph.field(field).join(group.subgraph);
                let is_there = group.nodes.contains(&position);
                !is_there || other.is_none_or(|other| self.graph.possible(other) == possible)
            });
            if is_same && meet(possible, &state.classes[class].types) {
                let above = state.nodes[position].class;
                let old = (0..state.groups.len()).filter(|group| {
                    state.groups[*group].subgraph == subgraph
                        && self.is_present(state, *group, above)
                        && !state.groups[*group].nodes.contains(&position)
                });
                let old = old.map(|group| (state.clone(), group));
                let new = self.enter(state, above, subgraph, depth + 1);
                for (mut state, group) in old.chain(new).collect::<Vec<_>>() {
                    state.groups[group].nodes.insert(position);
                    found.push((state, group));
                }
            }
        }
        found
    }

    fn is_present_anywhere(&self, state: &State, class: usize) -> bool {
        (0..state.groups.len()).any(|group| self.is_present(state, group, class))
    }

    fn is_present(&self, state: &State, group: usize, class: usize) -> bool {
        let group = &state.groups[group];
        match group.entry {
            Entry::Entities(begin) | Entry::Reentry(begin) if begin == class => return true,
            _ => {}
        }
        let Some(position) = state.classes[class].position else {
            return group.entry == Entry::Root;
        };
        let field = self.supergraph.field(state.nodes[position].field);
        group.nodes.contains(&position)
            && field
                .join(group.subgraph)
                .is_some_and(|join| meet(self.graph.possible(join), &state.classes[class].types))
    }

    fn is_inline(&self, state: &State, group: usize, node: usize) -> bool {
        if !self.is_present(state, group, state.nodes[node].class) {
            return false;
        }
        let subgraph = state.groups[group].subgraph;
        match self.graph.resolves(subgraph, state.nodes[node].field) {
            Some(join) => join.requires.is_none(),
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
            let begins = match state.groups[group].entry {
                Entry::Entities(begin) | Entry::Reentry(begin) => begin == class,
                Entry::Root => false,
            };
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

impl State {
    fn begin(&mut self, subgraph: SubgraphId, entry: Entry) -> usize {
        self.groups.push(Group {
            subgraph,
            entry,
            nodes: BTreeSet::new(),
            after: BTreeSet::new(),
            inputs: BTreeMap::new(),
        });
        self.groups.len() - 1
    }
}

fn meet(one: &[TypeId], other: &[TypeId]) -> bool {
    one.iter().any(|ty| other.contains(ty))
}
