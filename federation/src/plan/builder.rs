//! One candidate plan: groups grow as each field finds its place.

use std::collections::BTreeSet;
use std::rc::Rc;

use apollo_compiler::executable::OperationType;

use super::choices::Choices;
use super::fetch_candidates::{Inputs, WaveDeadline};
use super::fetch_group::{FetchGroup, GroupEntry, GroupId};
use super::lower_bound::LowerBound;
use super::reach_cache::{ReachCache, Reached};
use super::schedule::{min_requests, schedule};
use crate::graph::Graph;
use crate::hash::HashMap;
use crate::operation::{ClassId, Full, NodeId, Tree};
use crate::supergraph::{FieldJoin, SubgraphId, TypeId};

/// Why there is no plan this way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum PlanFailure {
    /// The field has no place; its coordinate.
    Impossible(String),
    /// The tree is too large.
    Full,
    /// A better plan is known already.
    Worse,
}

impl From<Full> for PlanFailure {
    fn from(_: Full) -> Self {
        PlanFailure::Full
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
#[derive(Clone)]
pub(super) struct PlanBuilder<'s> {
    pub(super) graph: Graph<'s>,
    pub(super) reach_cache: Rc<ReachCache<'s>>,
    pub(super) lower_bound: Rc<LowerBound>,
    pub(super) operation: OperationType,
    pub(super) tree: Tree,
    pub(super) groups: Vec<FetchGroup>,
    pub(super) choices: Choices,
    /// The groups that fetch a field.
    pub(super) fetched: HashMap<NodeId, Vec<GroupId>>,
    /// Leaves that need no place of their own: where their objects are, they can be had.
    pub(super) later: BTreeSet<NodeId>,
    /// The groups that begin at the root.
    pub(super) roots: Vec<GroupId>,
    /// The groups that begin at a class.
    pub(super) entered: HashMap<ClassId, Vec<GroupId>>,
    /// The groups whose fields are given values from contexts, at a class: no other field may join them, since
    /// they are asked for once for each value.
    pub(super) contextual: HashMap<ClassId, Vec<GroupId>>,
    /// The inputs with values from contexts that have a place, by the class above and what is taken there.
    pub(super) taken: HashMap<(ClassId, usize), Inputs>,
    /// The groups that tell the types of the values of a field.
    pub(super) typed: HashMap<NodeId, GroupId>,
    /// The fields whose values have types that stay unknown.
    pub(super) untold: BTreeSet<NodeId>,
    /// The fields whose types cannot stay unknown, below the uppermost one for which that is tried.
    pub(super) told: BTreeSet<NodeId>,
    /// What is being entered by a key: nothing that this waits for enters it.
    pub(super) entering: Vec<(ClassId, SubgraphId)>,
    /// What is being given what it requires.
    pub(super) computing: Vec<NodeId>,
    /// What everything waits for that begins now, in a mutation.
    pub(super) barrier: BTreeSet<GroupId>,
    /// Where the objects of classes can be present, as long as it is known; then it is for all classes above.
    pub(super) reached: HashMap<ClassId, Reached>,
    pub(super) best: Option<Cost>,
    /// Candidates are complete before this wave.
    last: u32,
    /// Whether its groups have surely the best waves.
    pub(super) is_exact: bool,
    /// How often a group waits for another one.
    edges: usize,
    /// The number of fields in all requests.
    fields: usize,
    /// How many will be added at least.
    open: usize,
    /// How many of them clients did not ask for, by the class of their objects.
    added: HashMap<ClassId, usize>,
    /// What building has cost so far, about; not a time, so that plans do not depend on the machine.
    pub(super) steps: usize,
}

/// What candidates have in common.
pub(super) struct SearchContext<'c, 's> {
    pub(super) reach_cache: &'c Rc<ReachCache<'s>>,
    pub(super) lower_bound: &'c Rc<LowerBound>,
    pub(super) operation: OperationType,
    pub(super) tree: &'c Tree,
}

impl<'s> PlanBuilder<'s> {
    /// Begins a candidate that is complete before the wave `last`, and better than the best one so far.
    pub(super) fn new(
        context: &SearchContext<'_, 's>,
        choices: Choices,
        last: u32,
        best: Option<Cost>,
    ) -> Self {
        PlanBuilder {
            graph: context.reach_cache.graph,
            reach_cache: Rc::clone(context.reach_cache),
            lower_bound: Rc::clone(context.lower_bound),
            operation: context.operation,
            tree: context.tree.clone(),
            groups: Vec::new(),
            choices,
            fetched: HashMap::default(),
            later: BTreeSet::new(),
            roots: Vec::new(),
            entered: HashMap::default(),
            contextual: HashMap::default(),
            taken: HashMap::default(),
            typed: HashMap::default(),
            untold: BTreeSet::new(),
            told: BTreeSet::new(),
            entering: Vec::new(),
            computing: Vec::new(),
            barrier: BTreeSet::new(),
            reached: HashMap::default(),
            best,
            last,
            is_exact: true,
            edges: 0,
            fields: 0,
            open: context.lower_bound.cost().fields,
            added: context.lower_bound.added.clone(),
            steps: 0,
        }
    }

    /// Finds a place for everything that the operation needs, and the waves of all groups.
    pub(super) fn run(&mut self) -> Result<Cost, PlanFailure> {
        let root = Tree::ROOT;
        let deadline = WaveDeadline::of_clients(self.last);
        if self.operation == OperationType::Mutation {
            for node in self.tree.class(root).nodes.clone() {
                self.place(node, deadline)?;
                self.below(node)?;
                self.barrier = (0..self.groups.len()).collect();
                self.reached.clear();
            }
        } else {
            self.class(root)?;
        }
        for node in std::mem::take(&mut self.later) {
            if !self.fetched.contains_key(&node) {
                self.place(node, deadline)?;
            }
        }
        let schedule = schedule(&self.groups, &self.lower_bound);
        self.is_exact = schedule.is_minimal;
        let cost = Cost {
            waves: waves(&self.groups),
            fetches: schedule.requests,
            fields: self.fields,
        };
        if self.best.is_some_and(|best| best <= cost) {
            return Err(PlanFailure::Worse);
        }
        for (group, wave) in self.groups.iter_mut().zip(schedule.waves) {
            group.wave = wave;
        }
        Ok(cost)
    }

    /// Returns the failure of a field that has no place.
    pub(super) fn impossible(&self, node: NodeId) -> PlanFailure {
        let field = self.graph.supergraph().field(self.tree.node(node).field);
        let parent = self.graph.supergraph().ty(field.parent);
        PlanFailure::Impossible(format!("{}.{}", parent.name, field.name))
    }

    /// Returns what tells the request of a group from others: entities of one subgraph that are asked for
    /// in the same wave share one.
    pub(super) fn request_of(
        &self,
        id: GroupId,
        group: &FetchGroup,
    ) -> (u32, SubgraphId, Option<GroupId>) {
        let alone = match group.entry {
            GroupEntry::Entities { .. } => None,
            _ => Some(id),
        };
        (group.wave, group.subgraph, alone)
    }

    /// Finds places for the fields of a class that clients asked for.
    pub(super) fn class(&mut self, class: ClassId) -> Result<(), PlanFailure> {
        let mut nodes = self.tree.class(class).nodes.clone();
        nodes.retain(|node| self.lower_bound.is_asked(*node));
        self.steps += 1 + nodes.len();
        // What is available comes first, then what needs no more than a key: later fields find the groups
        // of earlier ones.
        let present = self.presences(class);
        nodes.sort_by_cached_key(|node| {
            let field = self.tree.node(*node).field;
            let is_here = present.iter().any(|group| self.is_inline(*group, *node));
            let is_plain = self.graph.resolvers(field).any(FieldJoin::is_plain);
            (!is_here, !is_plain)
        });
        for node in &nodes {
            if self.fetched.contains_key(node) {
                continue;
            }
            // No plan is better for a leaf that has a request of its own, or is put where something else
            // may not need it.
            let is_leaf = self.tree.node(*node).is_leaf;
            let mut present = self.presences(class).into_iter();
            if is_leaf && present.any(|group| self.is_inline(group, *node)) {
                self.later.insert(*node);
            } else {
                self.place(*node, WaveDeadline::of_clients(self.last))?;
            }
        }
        for node in nodes {
            self.below(node)?;
        }
        Ok(())
    }

    fn below(&mut self, node: NodeId) -> Result<(), PlanFailure> {
        if self.without_types(node)? {
            return Ok(());
        }
        if self.needs_types(node) {
            self.tell_types(node, WaveDeadline::of_clients(self.last))?;
        }
        for class in self.tree.node(node).classes.clone() {
            if !self.presences(class).is_empty() {
                self.class(class)?;
            }
        }
        Ok(())
    }

    /// Stops when no plan that this becomes is better than what is known.
    pub(super) fn bound(&mut self) -> Result<(), PlanFailure> {
        let Some(best) = self.best else {
            return Ok(());
        };
        let waves = self.lower_bound.waves.max(waves(&self.groups));
        if waves < best.waves {
            return Ok(());
        }
        self.steps += 1 + (self.groups.len() + self.edges) / 2;
        let latest = u32::try_from(best.waves).unwrap_or(u32::MAX);
        let least = Cost {
            waves,
            fetches: min_requests(&self.groups, &self.lower_bound, latest).max(waves),
            fields: self.fields + self.open,
        };
        if least >= best {
            Err(PlanFailure::Worse)
        } else {
            Ok(())
        }
    }

    /// Returns whether a group is complete in time.
    pub(super) fn in_time(
        &self,
        group: GroupId,
        deadline: WaveDeadline,
    ) -> Result<GroupId, PlanFailure> {
        if self.groups[group].wave < deadline.hard {
            Ok(group)
        } else {
            Err(PlanFailure::Worse)
        }
    }

    /// Adds a group.
    pub(super) fn begin(
        &mut self,
        subgraph: SubgraphId,
        entry: GroupEntry,
        after: BTreeSet<GroupId>,
    ) -> GroupId {
        let id = self.groups.len();
        for class in entry.classes() {
            self.entered.entry(*class).or_default().push(id);
        }
        if matches!(entry, GroupEntry::Root) {
            self.roots.push(id);
        }
        let after: BTreeSet<GroupId> = after.union(&self.barrier).copied().collect();
        let wave = after
            .iter()
            .map(|group| self.groups[*group].wave + 1)
            .max()
            .unwrap_or(0);
        // Entities may yet be given what comes later, or wait for others.
        let is_fixed = !matches!(entry, GroupEntry::Entities { .. })
            && after.iter().all(|before| self.groups[*before].is_fixed);
        self.edges += after.len();
        self.steps += after.len() / 4;
        self.groups.push(FetchGroup {
            is_fixed,
            subgraph,
            entry,
            nodes: BTreeSet::new(),
            after,
            wave,
        });
        match &self.groups[id].entry {
            // In a mutation, only the last group has the root object.
            _ if self.operation == OperationType::Mutation => self.reached.clear(),
            GroupEntry::Root => self.reached.clear(),
            entry => forget(&mut self.reached, &self.tree, entry.classes()),
        }
        id
    }

    /// Fetches a field in a group.
    pub(super) fn add(&mut self, group: GroupId, node: NodeId) {
        if self.groups[group].nodes.insert(node) {
            let fetched = self.fetched.entry(node).or_default();
            let is_first = fetched.is_empty();
            fetched.push(group);
            self.fields += 1;
            if is_first {
                self.close(node);
            }
            forget(&mut self.reached, &self.tree, &self.tree.node(node).classes);
        }
    }

    /// Counts a field that is no longer missing.
    fn close(&mut self, node: NodeId) {
        if self.lower_bound.is_asked(node) {
            self.open -= usize::from(self.lower_bound.is_certain(node));
            return;
        }
        // What is needed of objects that clients did not ask for counts where those are needed.
        let mut class = self.tree.node(node).class;
        while let Some(position) = self.tree.class(class).position
            && !self.lower_bound.is_asked(position)
        {
            class = self.tree.node(position).class;
        }
        if let Some(added) = self.added.get_mut(&class)
            && *added > 0
        {
            *added -= 1;
            self.open -= 1;
        }
    }

    /// Lets a group wait for others.
    pub(super) fn wait(&mut self, group: GroupId, after: &BTreeSet<GroupId>) {
        self.groups[group].after.extend(after);
        self.steps += (self.groups.len() + self.edges) / 4;
        let mut is_later = false;
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
            is_later = true;
        }
        if is_later {
            self.reached.clear();
        }
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

/// Forgets where the objects of classes can be present, and those below.
fn forget(reached: &mut HashMap<ClassId, Reached>, tree: &Tree, classes: &[ClassId]) {
    for class in classes {
        if reached.remove(class).is_some() {
            for node in &tree.class(*class).nodes {
                forget(reached, tree, &tree.node(*node).classes);
            }
        }
    }
}

/// Returns the number of waves of groups.
fn waves(groups: &[FetchGroup]) -> usize {
    let waves = groups.iter().map(|group| group.wave as usize + 1);
    waves.max().unwrap_or(0)
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
