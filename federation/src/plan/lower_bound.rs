//! The lower bound of the cost of the plans of an operation: what each of them costs at least, whatever is chosen.

use std::collections::BTreeSet;
use std::rc::Rc;

use apollo_compiler::executable::OperationType;
use apollo_compiler::{Name, Node, ast};

use super::builder::{Cost, meet};
use super::reach_cache::{ReachCache, Reached};
use super::schedule::min_requests;
use crate::graph::{Graph, Waves};
use crate::hash::HashMap;
use crate::operation::{ClassId, NodeId, Tree};
use crate::supergraph::{
    FieldId, FieldJoin, FieldSet, Selected, SubgraphId, Supergraph, TypeId, TypeKind,
};

/// What all plans of an operation have in common, and what any of them costs at least.
#[derive(Debug)]
pub(super) struct LowerBound {
    /// The number of fields that clients asked for; what planning adds to the tree comes behind them.
    asked: usize,
    /// Whether each of them is fetched in every plan.
    is_certain: Vec<bool>,
    /// What any plan costs at least.
    cost: Cost,
    /// The waves of any plan are at least so many.
    pub(super) waves: usize,
    /// The requests of any plan are at least so many; there may be more of those that are known.
    pub(super) requests: usize,
    /// The subgraphs that are asked at the root in every plan.
    pub(super) roots: BTreeSet<SubgraphId>,
    /// The requests behind the first wave that are in every plan.
    pub(super) fetches: Vec<CertainFetch>,
    /// How many fields that clients did not ask for are needed of the objects of classes.
    pub(super) added: HashMap<ClassId, usize>,
}

/// A request that is in every plan, behind the first wave.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct CertainFetch {
    pub(super) subgraph: SubgraphId,
    /// It is not earlier.
    pub(super) earliest: u32,
    /// So many waves come behind it at least.
    pub(super) behind: u32,
}

/// A field that every plan fetches.
struct CertainField {
    /// The subgraphs that fetch it where they are led to its object.
    plain: Vec<SubgraphId>,
    /// How many waves come behind it at least.
    behind: u32,
    /// What is below it is not complete before this wave.
    last: u32,
    /// The number of requests behind the one at the root, at least.
    requests: usize,
}

impl LowerBound {
    pub(super) fn new(reach_cache: &ReachCache<'_>, tree: &Tree, operation: OperationType) -> Self {
        let mut lower_bound = LowerBound {
            asked: tree.len(),
            is_certain: vec![false; tree.len()],
            cost: Cost {
                waves: 0,
                fetches: 0,
                fields: 0,
            },
            waves: 0,
            requests: 0,
            roots: BTreeSet::new(),
            fetches: Vec::new(),
            added: HashMap::default(),
        };
        let graph = reach_cache.optimistic();
        let supergraph = graph.supergraph();
        let mut builder = LowerBoundBuilder {
            reach_cache,
            graph,
            tree,
            query: supergraph.root(OperationType::Query),
            lower_bound: &mut lower_bound,
        };
        let mut waves = Waves::nowhere(supergraph.subgraphs().len());
        for join in &supergraph.ty(tree.class(Tree::ROOT).ty()).joins {
            waves.lower(join.subgraph, 0);
        }
        let fetched = builder.class(Tree::ROOT, &waves, true);
        lower_bound.fetches.sort_unstable();
        lower_bound.fetches.dedup();
        if operation == OperationType::Mutation {
            (lower_bound.waves, lower_bound.requests) = in_series(&fetched);
            if fetched.len() > 1 {
                // What begins at the root comes later too.
                lower_bound.fetches.clear();
            }
        }
        lower_bound.set_cost();
        lower_bound
    }

    /// Returns whether clients asked for a field.
    pub(super) fn is_asked(&self, node: NodeId) -> bool {
        node.index() < self.asked
    }

    /// Returns whether every plan fetches a field, since clients asked for it.
    pub(super) fn is_certain(&self, node: NodeId) -> bool {
        self.is_certain.get(node.index()).copied().unwrap_or(false)
    }

    /// Returns what any plan costs at least.
    pub(super) fn cost(&self) -> Cost {
        self.cost
    }

    fn set_cost(&mut self) {
        let waves = u32::try_from(self.waves).unwrap_or(u32::MAX);
        let certain = self.is_certain.iter().filter(|is_certain| **is_certain);
        self.cost = Cost {
            waves: self.waves,
            fetches: min_requests(&[], self, waves),
            fields: certain.count() + self.added.values().sum::<usize>(),
        };
    }
}

/// Returns how many waves and requests the fields of a mutation take at least: each waits for all that is
/// below the one before, and neighbours share a request where nothing is.
fn in_series(fields: &[CertainField]) -> (usize, usize) {
    let (mut waves, mut requests) = (0, 0);
    let mut open: Option<Vec<SubgraphId>> = None;
    for field in fields {
        let mut common = open.take().unwrap_or_default();
        common.retain(|subgraph| field.plain.contains(subgraph));
        if common.is_empty() {
            waves += 1;
            requests += 1;
            common.clone_from(&field.plain);
        }
        waves += field.last as usize;
        requests += field.requests;
        open = (field.last == 0).then_some(common);
    }
    (waves, requests)
}

/// A field with its arguments.
type FieldKey = (Name, Vec<Node<ast::Argument>>);

/// Walks the tree of an operation, and adds to its lower bound.
struct LowerBoundBuilder<'l, 's> {
    reach_cache: &'l ReachCache<'s>,
    graph: Graph<'s>,
    tree: &'l Tree,
    /// The root type of queries, which can be begun at anywhere.
    query: Option<TypeId>,
    lower_bound: &'l mut LowerBound,
}

impl<'s> LowerBoundBuilder<'_, 's> {
    /// Looks at what is asked of the objects of a class. `is_certain` says whether they are present in
    /// every plan.
    fn class(&mut self, class: ClassId, waves: &Waves, is_certain: bool) -> Vec<CertainField> {
        let ty = self.tree.class(class).ty();
        let spread = self.reach_cache.spread(self.graph, ty, waves);
        let reached = Reached {
            likely: Rc::clone(&spread),
            least: spread,
        };
        let mut fetched = Vec::new();
        let mut needed: Vec<Vec<&'s FieldJoin>> = Vec::new();
        for node in &self.tree.class(class).nodes {
            let field = self.tree.node(*node).field;
            let resolvers = self.resolvers(ty, field, &reached);
            if resolvers.is_empty() {
                continue;
            }
            let known = self.lower_bound.fetches.len();
            let (behind, below) = self.below(*node, &resolvers, is_certain);
            if is_certain {
                let last = below.max(self.certain(*node, &resolvers, behind));
                let requests = match class {
                    Tree::ROOT => self.requests_since(known),
                    _ => 0,
                };
                let joins: Vec<&FieldJoin> = resolvers.into_iter().map(|(_, join)| join).collect();
                let plain = joins.iter().filter(|join| join.is_plain());
                fetched.push(CertainField {
                    plain: plain.map(|join| join.subgraph).collect(),
                    behind,
                    last,
                    requests: requests.max(last as usize),
                });
                needed.push(joins);
            }
        }
        if is_certain {
            self.added(class, needed, &reached);
        }
        fetched
    }

    /// Returns how many requests are needed at least for what was noted behind others.
    fn requests_since(&self, known: usize) -> usize {
        let fetches = self.lower_bound.fetches[known..].iter();
        let subgraphs: BTreeSet<SubgraphId> = fetches.map(|fetch| fetch.subgraph).collect();
        subgraphs.len()
    }

    /// Returns who can resolve a field, and after which waves at the earliest.
    fn resolvers(
        &self,
        ty: TypeId,
        field: FieldId,
        reached: &Reached,
    ) -> Vec<(u32, &'s FieldJoin)> {
        let joins = self.graph.resolvers(field);
        let resolvers = joins.filter_map(|join| {
            let wave = self.reach_cache.resolved(ty, field, join.subgraph, reached);
            Some((wave.least?, join))
        });
        resolvers.collect()
    }

    /// Notes a field that every plan fetches. Returns the wave before which it and what must come behind it
    /// are not complete.
    fn certain(&mut self, node: NodeId, resolvers: &[(u32, &FieldJoin)], behind: u32) -> u32 {
        let earliest = resolvers.iter().map(|(wave, _)| *wave).min().unwrap_or(0);
        let lower_bound = &mut *self.lower_bound;
        lower_bound.is_certain[node.index()] = true;
        lower_bound.waves = lower_bound.waves.max((earliest + behind) as usize + 1);
        let is_root = self.tree.node(node).class == Tree::ROOT;
        if let [(_, only)] = resolvers {
            let subgraph = only.subgraph;
            if is_root {
                lower_bound.roots.insert(subgraph);
            } else if earliest > 0 {
                lower_bound.fetches.push(CertainFetch {
                    subgraph,
                    earliest,
                    behind,
                });
            }
        }
        earliest + behind
    }

    /// Looks at what is below a field. Returns how many waves come behind it at least, and the wave before
    /// which what is below is not complete.
    fn below(
        &mut self,
        node: NodeId,
        resolvers: &[(u32, &FieldJoin)],
        is_certain: bool,
    ) -> (u32, u32) {
        let supergraph = self.graph.supergraph();
        let (mut behind, mut last) = (0, 0);
        // Where types may stay unknown, the first class stands for the others.
        let is_untold = self.tree.node(node).is_uniform
            && resolvers
                .iter()
                .any(|(_, join)| self.graph.untyped(join).is_some());
        for (position, class) in self.tree.node(node).classes.iter().enumerate() {
            let mut waves = Waves::nowhere(supergraph.subgraphs().len());
            let mut is_always = is_certain && !(is_untold && position > 0);
            let types = &self.tree.class(*class).types;
            for (wave, join) in resolvers {
                let is_there = meet(self.graph.possible(join), types);
                is_always &= is_there;
                if is_there {
                    waves.lower(join.subgraph, *wave);
                }
            }
            let Some(first) = waves.first() else {
                continue;
            };
            if self.query == Some(self.tree.class(*class).ty()) {
                for join in &supergraph.ty(self.tree.class(*class).ty()).joins {
                    waves.lower(join.subgraph, first + 1);
                }
            }
            for below in self.class(*class, &waves, is_always) {
                // What no subgraph fetches together is not in the same wave.
                let mut joins = resolvers.iter().map(|(_, join)| join.subgraph);
                let is_apart = !joins.any(|subgraph| below.plain.contains(&subgraph));
                behind = behind.max(below.behind + u32::from(is_apart));
                last = last.max(below.last);
            }
        }
        (behind, last)
    }

    /// Counts the fields of a class that clients did not ask for and every plan needs: what fields require
    /// that only one subgraph resolves, and the smallest key. `needed` has who can resolve what is asked for.
    fn added(&mut self, class: ClassId, mut needed: Vec<Vec<&'s FieldJoin>>, reached: &Reached) {
        let ty = self.tree.class(class).ty();
        let supergraph = self.graph.supergraph();
        let mut required: HashMap<FieldKey, usize> = HashMap::default();
        let mut position = 0;
        while let Some(joins) = needed.get(position) {
            position += 1;
            if let [only] = joins.as_slice()
                && let Some(requires) = &only.requires
            {
                for (asked, size) in self.unasked(class, requires) {
                    let field = supergraph.field_id(ty, &asked.0);
                    if required.insert(asked, size).is_none()
                        && let Some(field) = field
                    {
                        let resolvers = self.resolvers(ty, field, reached).into_iter();
                        needed.push(resolvers.map(|(_, join)| join).collect());
                    }
                }
            }
        }
        let mut known: HashMap<(SubgraphId, bool), usize> = HashMap::default();
        let keys = needed.iter().map(|joins| {
            let sizes = joins.iter().map(|join| {
                let (subgraph, is_given) = (join.subgraph, !join.is_plain());
                *known
                    .entry((subgraph, is_given))
                    .or_insert_with(|| self.key(class, subgraph, is_given, &required))
            });
            sizes.min().unwrap_or(0)
        });
        let keys = keys.max().unwrap_or(0);
        let added = required.values().sum::<usize>() + keys;
        if added > 0 {
            self.lower_bound.added.insert(class, added);
        }
    }

    /// Returns how many fields of a key are needed at least, beside those that are known to be needed, for a
    /// subgraph to resolve a field that is given something or nothing.
    fn key(
        &self,
        class: ClassId,
        subgraph: SubgraphId,
        is_given: bool,
        known: &HashMap<FieldKey, usize>,
    ) -> usize {
        let ty = self.tree.class(class).ty();
        let Some(position) = self.tree.class(class).position else {
            return 0;
        };
        let mut leading = self.graph.resolvers(self.tree.node(position).field);
        let is_led = leading.any(|leading| leading.subgraph == subgraph);
        if (is_led && !is_given) || self.query == Some(ty) {
            return 0;
        }
        let keys = self.graph.keys(ty, subgraph);
        let sizes = keys.map(|key| {
            let fields = self
                .unasked(class, &key.fields)
                .into_iter()
                .filter(|(asked, _)| !known.contains_key(asked));
            fields.map(|(_, size)| size).sum()
        });
        sizes.min().unwrap_or(0)
    }

    /// Returns the fields of a set that clients did not ask for, each with how many it is with those below.
    fn unasked(&self, class: ClassId, set: &FieldSet) -> HashMap<FieldKey, usize> {
        let class = self.tree.class(class);
        let supergraph = self.graph.supergraph();
        let mut unasked = HashMap::default();
        for selected in set.of(supergraph, class.ty()) {
            let Selected::Field {
                name,
                arguments,
                inner,
            } = selected
            else {
                continue;
            };
            let is_asked = class.nodes.iter().any(|node| {
                let node = self.tree.node(*node);
                node.is_leaf && node.name == name && node.arguments == arguments
            });
            if inner.is_empty() && is_asked {
                continue;
            }
            let field = supergraph.field_id(class.ty(), &name);
            let below = field.map_or(0, |field| size(supergraph, field, &inner));
            unasked.insert((name, arguments), 1 + below);
        }
        unasked
    }
}

/// Returns the number of fields of a set that are needed of every value of a field.
fn size(supergraph: &Supergraph, field: FieldId, set: &FieldSet) -> usize {
    let ty = supergraph.field(field).inner;
    if supergraph.ty(ty).kind != TypeKind::Object {
        return 0;
    }
    let mut fields = HashMap::default();
    for selected in set.of(supergraph, ty) {
        if let Selected::Field {
            name,
            arguments,
            inner,
        } = selected
        {
            let field = supergraph.field_id(ty, &name);
            let below = field.map_or(0, |field| size(supergraph, field, &inner));
            fields.insert((name, arguments), 1 + below);
        }
    }
    fields.values().sum()
}
