//! Links the objects of fetched levels to those of the next, between two calls to the store.
//!
//! All of this works on owned data and waits for nothing, so that it can be done on another thread.

use std::sync::Arc;

use foldhash::{HashMap, HashSet};
use graph_store::Windowed;
use graph_store::query::{Hydrated, ObjectRef, Objects};
use soml_core::schema::ObjectId;

use super::fetch::{FetchedConnection, FetchedLevel, FetchedRoot, NOT_AN_OBJECT};
use super::nodes::Nodes;
use crate::plan::{Level, LevelId, Output, Plan, RootConnection, RootEntities, RootValue, Typing};

/// What the store gave for a root field.
pub(super) enum Selected {
    Nothing,
    Count(u64),
    Objects(LevelId, Objects),
    Connection(Windowed, u64),
    /// For each type of the representations, those of its objects that exist.
    Entities(Vec<Objects>),
}

impl Selected {
    /// Returns the number of objects.
    pub(super) fn len(&self) -> usize {
        match self {
            Selected::Nothing | Selected::Count(_) => 0,
            Selected::Objects(_, nodes) => nodes.len(),
            Selected::Connection(windowed, _) => windowed.objects.len(),
            Selected::Entities(nodes) => nodes.iter().map(Objects::len).sum(),
        }
    }
}

/// The values of the objects of a level.
pub(super) struct Values {
    pub(super) hydrated: Hydrated,
    /// They are those of the first chunk.
    pub(super) in_chunks: bool,
}

/// The levels of a plan as far as they are fetched.
pub(super) struct Linker {
    plan: Arc<Plan>,
    /// The objects that were reached so far, for each level of the plan.
    pending: Vec<Nodes>,
    /// The levels that are fetched.
    pub(super) levels: Vec<FetchedLevel>,
    /// For each level that has begun, whether each of its objects was reached once.
    pub(super) reached_once: Vec<bool>,
    /// The objects of the levels behind them, all of one depth, whose values are to be fetched.
    pub(super) begun: Vec<Objects>,
}

impl Linker {
    pub(super) fn new(plan: Arc<Plan>) -> Self {
        let levels = plan.levels.len();
        Linker {
            pending: (0..levels).map(|_| Nodes::default()).collect(),
            levels: Vec::with_capacity(levels),
            reached_once: Vec::with_capacity(levels),
            begun: Vec::new(),
            plan,
        }
    }

    /// Adds the objects of root fields to their levels, and begins the first of these.
    pub(super) fn place(&mut self, selected: Vec<Selected>) -> Vec<FetchedRoot> {
        let pending = &mut self.pending;
        let roots = selected.into_iter().zip(&self.plan.roots);
        let roots = roots.map(|(selected, root)| match (selected, &root.value) {
            (Selected::Count(count), _) => FetchedRoot::Count(count),
            (Selected::Objects(level, nodes), _) => {
                let pending = &mut pending[level.0 as usize];
                FetchedRoot::Objects(pending.reach(nodes.as_slice()))
            }
            (Selected::Connection(windowed, count), RootValue::Connection(connection)) => {
                FetchedRoot::Connection(Box::new(placed(connection, windowed, count, pending)))
            }
            (Selected::Entities(nodes), RootValue::Entities(entities)) => {
                FetchedRoot::Entities(found(entities, nodes, pending))
            }
            _ => FetchedRoot::Nothing,
        });
        let roots = roots.collect();
        self.begin();
        roots
    }

    /// Begins the levels of the next depth, all of whose objects are known.
    fn begin(&mut self) {
        let first = self.levels.len();
        let next = &self.plan.levels[first..];
        let depth = next.first().map(|level| level.depth);
        let together = next.iter().take_while(|level| Some(level.depth) == depth);
        let pending = self.pending[first..].iter_mut();
        for (_, nodes) in together.zip(pending) {
            let nodes = std::mem::take(nodes);
            self.reached_once.push(nodes.are_reached_once());
            self.begun.push(nodes.into_objects());
        }
    }

    /// Returns how many terms are looked at to link the values of the levels that have begun.
    pub(super) fn links(&self, values: &[Values]) -> usize {
        let levels = self.plan.levels[self.levels.len()..].iter().zip(values);
        let links = levels.map(|(level, values)| {
            let columns = &values.hydrated.columns;
            let edges = level.edges.iter().map(|to| columns[to.slot].values.len());
            let typing = match &level.typing {
                Typing::Static { .. } => 0,
                Typing::Stored { slots, .. } => {
                    slots.iter().map(|slot| columns[*slot].values.len()).sum()
                }
            };
            typing + edges.sum::<usize>()
        });
        links.sum()
    }

    /// Takes in the values of the levels that have begun, and begins those of the next depth.
    pub(super) fn link(&mut self, values: Vec<Values>) {
        let plan = Arc::clone(&self.plan);
        let begun = std::mem::take(&mut self.begun);
        for (nodes, values) in begun.into_iter().zip(values) {
            let level = &plan.levels[self.levels.len()];
            let Values {
                hydrated,
                in_chunks,
            } = values;
            let objects = concrete_types(level, nodes.len(), &hydrated);
            let targets = follow_edges(level, &objects, &hydrated, &mut self.pending);
            self.levels.push(FetchedLevel {
                reached_once: self.reached_once[self.levels.len()],
                nodes,
                objects,
                hydrated,
                in_chunks,
                targets,
            });
        }
        self.begin();
    }
}

/// Adds the objects of a connection to its levels.
fn placed(
    connection: &RootConnection,
    windowed: Windowed,
    count: u64,
    pending: &mut [Nodes],
) -> FetchedConnection {
    let levels = connection.levels.iter();
    let positions =
        levels.map(|level| pending[level.0 as usize].reach(windowed.objects.as_slice()));
    FetchedConnection {
        positions: positions.collect(),
        windowed,
        count,
    }
}

/// Returns the position of the object of each representation.
fn found(
    entities: &RootEntities,
    nodes: Vec<Objects>,
    pending: &mut [Nodes],
) -> Vec<Option<(LevelId, u32)>> {
    let known: Vec<HashSet<ObjectRef>> = nodes
        .into_iter()
        .map(|nodes| nodes.into_refs().into_iter().collect())
        .collect();
    let representations = entities.representations.iter().map(|representation| {
        let (ty, id) = representation.as_ref()?;
        let level = entities.types[*ty].level;
        let nodes = &mut pending[level.0 as usize];
        known[*ty]
            .contains(id)
            .then(|| (level, nodes.position(id.clone())))
    });
    representations.collect()
}

fn concrete_types(level: &Level, nodes: usize, hydrated: &Hydrated) -> Vec<Option<ObjectId>> {
    let Typing::Stored { slots, index, .. } = &level.typing else {
        return Vec::new();
    };
    let columns = slots.iter().map(|slot| &hydrated.columns[*slot]);
    let mut resolver = index.resolver(columns.collect());
    (0..nodes).map(|node| resolver.resolve(node)).collect()
}

/// Adds the objects that the edges of a level lead to, to their levels.
fn follow_edges(
    level: &Level,
    objects: &[Option<ObjectId>],
    hydrated: &Hydrated,
    pending: &mut [Nodes],
) -> Vec<Vec<u32>> {
    let used = edge_users(level);
    level
        .edges
        .iter()
        .enumerate()
        .map(|(edge, to)| {
            let column = &hydrated.columns[to.slot];
            let nodes = &mut pending[to.level.0 as usize];
            nodes.expect(column.values.as_slice());
            let mut targets = Vec::with_capacity(column.values.len());
            for node in 0..column.offsets.len() - 1 {
                let follows = match (&used, objects.get(node)) {
                    (Some(used), Some(object)) => {
                        object.is_some_and(|object| used[&object].contains(&edge))
                    }
                    _ => true,
                };
                let values = column.of(node);
                if follows {
                    nodes.reach_values(values, &mut targets)
                } else {
                    targets.extend(values.iter().map(|_| NOT_AN_OBJECT))
                }
            }
            targets
        })
        .collect()
}

/// Returns the edges that objects of each type follow; `None` when all follow all.
fn edge_users(level: &Level) -> Option<HashMap<ObjectId, Vec<usize>>> {
    let Typing::Stored { variants, .. } = &level.typing else {
        return None;
    };
    if level.edges.is_empty() {
        return None;
    }
    let edges: Vec<Vec<usize>> = level
        .variants
        .iter()
        .map(|fields| {
            let edges = fields.iter().filter_map(|field| match field.value {
                Output::Objects { edge, .. } | Output::Aggregate { edge, .. } => Some(edge),
                _ => None,
            });
            edges.collect()
        })
        .collect();
    Some(
        variants
            .iter()
            .map(|(object, &variant)| (*object, edges[variant].clone()))
            .collect(),
    )
}
