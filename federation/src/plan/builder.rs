//! One candidate plan: groups grow as each field finds its place.

use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

use apollo_compiler::executable::OperationType;

use super::choices::Choices;
use super::group::{Entry, Group, GroupId};
use crate::graph::{Graph, Waves};
use crate::operation::{Class, ClassId, Full, NodeId, Tree};
use crate::supergraph::{FieldJoin, FieldSet, Selected, SubgraphId, TypeId};

/// Why there is no plan this way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Fail {
    /// The field has no place; its coordinate.
    Impossible(String),
    /// The tree is too large.
    Full,
    /// A better plan is known already.
    Worse,
}

impl From<Full> for Fail {
    fn from(_: Full) -> Self {
        Fail::Full
    }
}

/// What plans are compared by, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct Cost {
    /// The longest chain of requests that wait for each other.
    pub waves: usize,
    /// The requests.
    pub fetches: usize,
    /// The fields in all requests.
    pub fields: usize,
}

/// Builds one candidate.
pub(super) struct Builder<'s> {
    pub(super) graph: Graph<'s>,
    pub(super) operation: OperationType,
    pub(super) tree: Tree,
    pub(super) groups: Vec<Group>,
    pub(super) choices: Choices,
    /// The groups that fetch a field.
    pub(super) fetched: HashMap<NodeId, Vec<GroupId>>,
    /// The groups that begin at the root.
    roots: Vec<GroupId>,
    /// The groups that begin at a class.
    pub(super) entered: HashMap<ClassId, Vec<GroupId>>,
    /// The groups whose fields are given values from contexts, at a class: no other field may join them, since
    /// they are asked for once for each value.
    pub(super) contextual: HashMap<ClassId, Vec<GroupId>>,
    /// The groups that tell the types of the values of a field.
    pub(super) typed: HashMap<NodeId, GroupId>,
    /// What everything waits for that begins now, in a mutation.
    barrier: BTreeSet<GroupId>,
    /// What is known of classes, for as long as no group has changed.
    reached: HashMap<ClassId, Rc<Waves>>,
    best: Option<Cost>,
    /// What building has cost so far, about; not a time, so that plans do not depend on the machine.
    pub(super) steps: usize,
}

impl<'s> Builder<'s> {
    pub(super) fn new(
        graph: Graph<'s>,
        operation: OperationType,
        tree: Tree,
        choices: Choices,
        best: Option<Cost>,
    ) -> Self {
        Builder {
            graph,
            operation,
            tree,
            groups: Vec::new(),
            choices,
            fetched: HashMap::new(),
            roots: Vec::new(),
            entered: HashMap::new(),
            contextual: HashMap::new(),
            typed: HashMap::new(),
            barrier: BTreeSet::new(),
            reached: HashMap::new(),
            best,
            steps: 0,
        }
    }

    /// Finds a place for everything that the operation needs.
    pub(super) fn run(&mut self) -> Result<Cost, Fail> {
        let root = Tree::ROOT;
        if self.operation == OperationType::Mutation {
            for node in self.tree.class(root).nodes.clone() {
                self.place(node, u32::MAX)?;
                self.below(node)?;
                self.barrier = (0..self.groups.len()).collect();
                self.reached.clear();
            }
        } else {
            self.class(root)?;
        }
        let cost = self.cost();
        if self.best.is_some_and(|best| best <= cost) {
            return Err(Fail::Worse);
        }
        Ok(cost)
    }

    /// Returns the failure of a field that has no place.
    pub(super) fn impossible(&self, node: NodeId) -> Fail {
        let field = self.graph.supergraph().field(self.tree.node(node).field);
        let parent = self.graph.supergraph().ty(field.parent);
        Fail::Impossible(format!("{}.{}", parent.name, field.name))
    }

    pub(super) fn cost(&self) -> Cost {
        let requests = self
            .groups
            .iter()
            .enumerate()
            .map(|(id, group)| self.request_of(id, group));
        let requests: BTreeSet<_> = requests.collect();
        Cost {
            waves: self
                .groups
                .iter()
                .map(|group| group.wave as usize + 1)
                .max()
                .unwrap_or(0),
            fetches: requests.len(),
            fields: self.groups.iter().map(|group| group.nodes.len()).sum(),
        }
    }

    /// Returns what tells the request of a group from others: entities of one subgraph that can be
    /// asked for at the same time share one.
    pub(super) fn request_of(
        &self,
        id: GroupId,
        group: &Group,
    ) -> (u32, SubgraphId, Option<GroupId>) {
        let alone = match group.entry {
            Entry::Entities { .. } => None,
            _ => Some(id),
        };
        (group.wave, group.subgraph, alone)
    }

    /// Finds places for the fields of a class that clients asked for.
    fn class(&mut self, class: ClassId) -> Result<(), Fail> {
        let mut nodes = self.tree.class(class).nodes.clone();
        self.steps += 1 + nodes.len();
        // What is at hand comes first, then what needs no more than a key: later fields find the groups
        // of earlier ones.
        let present = self.presences(class);
        nodes.sort_by_cached_key(|node| {
            let field = self.tree.node(*node).field;
            let is_here = present.iter().any(|group| self.is_inline(*group, *node));
            let is_plain = self.graph.resolvers(field).any(FieldJoin::is_plain);
            (!is_here, !is_plain)
        });
        for node in &nodes {
            self.place(*node, u32::MAX)?;
        }
        self.prune()?;
        for node in nodes {
            self.below(node)?;
        }
        Ok(())
    }

    fn below(&mut self, node: NodeId) -> Result<(), Fail> {
        if self.needs_types(node) {
            self.tell_types(node)?;
        }
        for class in self.tree.node(node).classes.clone() {
            if !self.presences(class).is_empty() {
                self.class(class)?;
            }
        }
        Ok(())
    }

    /// Stops when the candidate has become worse than what is known: it only grows.
    fn prune(&self) -> Result<(), Fail> {
        let is_worse = self.best.is_some_and(|best| {
            let cost = self.cost();
            (cost.waves, cost.fetches) > (best.waves, best.fetches) && cost.waves >= best.waves
        });
        if is_worse { Err(Fail::Worse) } else { Ok(()) }
    }

    /// Returns the groups in which the objects of a class are present.
    pub(super) fn presences(&self, class: ClassId) -> Vec<GroupId> {
        let mut all: Vec<GroupId> = self.entered.get(&class).cloned().unwrap_or_default();
        let Class {
            position, types, ..
        } = self.tree.class(class);
        let Some(position) = position else {
            // A mutation is carried out field by field: only the last group may still grow, and only as
            // long as nothing follows it.
            let is_open = |id: &GroupId| {
                self.operation != OperationType::Mutation || id + 1 == self.groups.len()
            };
            return self.roots.iter().copied().filter(is_open).collect();
        };
        let field = self
            .graph
            .supergraph()
            .field(self.tree.node(*position).field);
        for group in self.fetched.get(position).into_iter().flatten() {
            if let Some(join) = field.join(self.groups[*group].subgraph)
                && meet(self.graph.possible(join), types)
            {
                all.push(*group);
            }
        }
        all
    }

    /// Returns whether a group can fetch a field where it has the object already.
    pub(super) fn is_inline(&self, group: GroupId, node: NodeId) -> bool {
        let subgraph = self.groups[group].subgraph;
        let field = self.tree.node(node).field;
        if !self.is_alike(group, node) {
            return false;
        }
        match self.graph.resolves(subgraph, field) {
            Some(join) => join.is_plain() || self.groups[group].nodes.contains(&node),
            None => self.is_provided(group, node),
        }
    }

    /// Returns whether a subgraph resolves a field on this path alone.
    fn is_provided(&self, group: GroupId, node: NodeId) -> bool {
        let subgraph = self.groups[group].subgraph;
        let supergraph = self.graph.supergraph();
        if supergraph
            .field(self.tree.node(node).field)
            .join(subgraph)
            .is_none()
        {
            return false;
        }
        let mut path = vec![node];
        loop {
            let class = self.tree.node(path[path.len() - 1]).class;
            let Some(above) = self.tree.class(class).position else {
                return false;
            };
            if self.groups[group].entry.classes().contains(&class)
                || !self.groups[group].nodes.contains(&above)
            {
                return false;
            }
            let join = supergraph.field(self.tree.node(above).field).join(subgraph);
            if let Some(provides) = join.and_then(|join| join.provides.as_ref())
                && self.names(provides, &path)
            {
                return true;
            }
            path.push(above);
        }
    }

    /// Returns whether a field set has the path; its last step comes first.
    fn names(&self, set: &FieldSet, path: &[NodeId]) -> bool {
        let Some((node, rest)) = path.split_last() else {
            return true;
        };
        let node = self.tree.node(*node);
        let ty = self.tree.class(node.class).ty();
        set.of(self.graph.supergraph(), ty)
            .iter()
            .any(|selected| match selected {
                Selected::Field { name, inner, .. } => {
                    *name == node.name && self.names(inner, rest)
                }
                _ => false,
            })
    }

    /// Returns the wave after which the objects of a class can be present in each subgraph.
    pub(super) fn waves(&mut self, class: ClassId) -> Rc<Waves> {
        if let Some(known) = self.reached.get(&class) {
            return Rc::clone(known);
        }
        let supergraph = self.graph.supergraph();
        let mut waves = Waves::nowhere(supergraph.subgraphs().len());
        for group in self.presences(class) {
            waves.lower(self.groups[group].subgraph, self.groups[group].wave);
        }
        let ty = self.tree.class(class).ty();
        match self.tree.class(class).position {
            None => {
                let start = self.after_barrier();
                for join in &supergraph.ty(ty).joins {
                    waves.lower(join.subgraph, start);
                }
            }
            Some(position) => {
                for (subgraph, wave) in self.ways_from_above(class, position) {
                    waves.lower(subgraph, wave);
                }
                if self.is_query(ty) {
                    let first = self
                        .presences(class)
                        .into_iter()
                        .map(|id| self.groups[id].wave)
                        .min();
                    for join in &supergraph.ty(ty).joins {
                        waves.lower(join.subgraph, first.unwrap_or_default() + 1);
                    }
                }
            }
        }
        let known = supergraph.ty(ty).joins.len();
        self.steps += 1 + known * known / 4;
        self.graph.spread(ty, &mut waves);
        let waves = Rc::new(waves);
        self.reached.insert(class, Rc::clone(&waves));
        waves
    }

    pub(super) fn is_query(&self, ty: TypeId) -> bool {
        self.graph.supergraph().root(OperationType::Query) == Some(ty)
    }

    pub(super) fn after_barrier(&self) -> u32 {
        let waves = self
            .barrier
            .iter()
            .map(|group| self.groups[*group].wave + 1);
        waves.max().unwrap_or(0)
    }

    /// Returns the subgraphs that can fetch the field which leads to a class once more, and after which
    /// wave they have done so.
    pub(super) fn ways_from_above(
        &mut self,
        class: ClassId,
        position: NodeId,
    ) -> Vec<(SubgraphId, u32)> {
        let above = self.tree.node(position).class;
        let is_root = self.tree.class(above).position.is_none();
        if is_root && self.operation == OperationType::Mutation {
            // It would be carried out twice.
            return Vec::new();
        }
        let supergraph = self.graph.supergraph();
        let field = supergraph.field(self.tree.node(position).field);
        let fetched = self
            .fetched
            .get(&position)
            .and_then(|groups| groups.first());
        let first = fetched.and_then(|group| field.join(self.groups[*group].subgraph));
        let expected: Option<&[TypeId]> = first.map(|join| self.graph.possible(join));
        let waves = self.waves(above);
        let types = &self.tree.class(class).types;
        let ways = self
            .graph
            .resolvers(self.tree.node(position).field)
            .filter_map(|join: &FieldJoin| {
                let possible = self.graph.possible(join);
                // Where subgraphs know different types, only one of them is asked.
                let is_same = expected.is_none_or(|expected| expected == possible);
                let is_way = join.is_plain() && is_same && meet(possible, types);
                waves
                    .get(join.subgraph)
                    .filter(|_| is_way)
                    .map(|wave| (join.subgraph, wave))
            });
        ways.collect()
    }

    /// Adds a group.
    pub(super) fn begin(
        &mut self,
        subgraph: SubgraphId,
        entry: Entry,
        after: BTreeSet<GroupId>,
    ) -> GroupId {
        let id = self.groups.len();
        for class in entry.classes() {
            self.entered.entry(*class).or_default().push(id);
        }
        if matches!(entry, Entry::Root) {
            self.roots.push(id);
        }
        let after: BTreeSet<GroupId> = after.union(&self.barrier).copied().collect();
        let wave = after
            .iter()
            .map(|group| self.groups[*group].wave + 1)
            .max()
            .unwrap_or(0);
        self.groups.push(Group {
            subgraph,
            entry,
            nodes: BTreeSet::new(),
            after,
            wave,
        });
        self.reached.clear();
        id
    }

    /// Fetches a field in a group.
    pub(super) fn add(&mut self, group: GroupId, node: NodeId) {
        if self.groups[group].nodes.insert(node) {
            self.fetched.entry(node).or_default().push(group);
            if !self.tree.node(node).is_leaf {
                self.reached.clear();
            }
        }
    }

    /// Lets a group wait for others.
    pub(super) fn wait(&mut self, group: GroupId, after: &BTreeSet<GroupId>) {
        self.groups[group].after.extend(after);
        loop {
            let late = |id: &GroupId| {
                let after = &self.groups[*id].after;
                let wave = after
                    .iter()
                    .map(|before| self.groups[*before].wave + 1)
                    .max();
                wave.filter(|wave| *wave > self.groups[*id].wave)
            };
            let Some((id, wave)) = (0..self.groups.len()).find_map(|id| Some((id, late(&id)?)))
            else {
                break;
            };
            self.groups[id].wave = wave;
        }
        self.reached.clear();
    }

    /// Returns whether a group waits for another one, directly or not, or is it.
    pub(super) fn waits_for(&self, group: GroupId, other: GroupId) -> bool {
        let mut seen = BTreeSet::from([group]);
        let mut open = vec![group];
        while let Some(group) = open.pop() {
            if group == other {
                return true;
            }
            let after = self.groups[group].after.iter().copied();
            // What waits for another group is in a later wave.
            let after = after.filter(|before| self.groups[*before].wave >= self.groups[other].wave);
            open.extend(after.filter(|before| seen.insert(*before)));
        }
        false
    }
}

/// Returns whether two ascending lists have something in common.
pub(super) fn meet(one: &[TypeId], other: &[TypeId]) -> bool {
    let (small, large) = if one.len() < other.len() {
        (one, other)
    } else {
        (other, one)
    };
    small.iter().any(|ty| large.binary_search(ty).is_ok())
}
