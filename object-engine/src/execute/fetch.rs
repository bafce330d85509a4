//! Fetches the levels of a plan, parents first, all levels of one depth together.

use std::collections::{HashMap, HashSet};

use foldhash::fast::RandomState;
use futures::future::{try_join, try_join_all};
use graph_store::query::{Hydrated, HydrationRequest, ObjectRef};
use graph_store::{StoreError, Windowed};
use indexmap::IndexSet;
use oxrdf::Term;
use soml_core::schema::ObjectId;

use super::Execution;
use super::chunks::{CHUNK, can_wait, read_chunk};
use crate::plan::{Level, LevelId, Output, RootConnection, RootEntities, RootValue, Typing};

/// Everything that a plan needs from the store.
pub(crate) struct Fetched {
    /// What each root field gives.
    pub(super) roots: Vec<FetchedRoot>,
    /// Levels in the order of the plan.
    pub(super) levels: Vec<FetchedLevel>,
}

/// The result of a root field.
pub(super) enum FetchedRoot {
    /// No stored data.
    Nothing,
    /// Objects, as positions in their level.
    Objects(Vec<u32>),
    /// A number of objects.
    Count(u64),
    /// The objects of a window.
    Connection(Box<FetchedConnection>),
    /// For each representation, its level and position there, if the object exists.
    Entities(Vec<Option<(LevelId, u32)>>),
}

/// The objects of a connection.
pub(super) struct FetchedConnection {
    pub(super) windowed: Windowed,
    /// For each level of the connection, the positions of the objects in it.
    pub(super) positions: Vec<Vec<u32>>,
    /// Number of objects, whatever the window; counted only if requested.
    pub(super) count: u64,
}

/// The objects of a level and their values.
#[derive(Default)]
pub(super) struct FetchedLevel {
    pub(super) nodes: Vec<ObjectRef>,
    /// Concrete type of each object; empty if it is the same for all.
    pub(super) objects: Vec<Option<ObjectId>>,
    /// The values of all objects, or of the first chunk.
    pub(super) hydrated: Hydrated,
    /// Whether further chunks are read while they are written.
    pub(super) in_chunks: bool,
    /// For each edge and each value of its slot: the position of the object in the next level.
    pub(super) targets: Vec<Vec<u32>>,
}

/// Marks a value in [`FetchedLevel::targets`] that is not an object.
pub(super) const NOT_AN_OBJECT: u32 = u32::MAX;

/// Objects of a level under construction.
#[derive(Default)]
struct Nodes {
    distinct: IndexSet<ObjectRef, RandomState>,
    /// How often objects were reached.
    reached: usize,
}

impl Nodes {
    /// Returns the position of an object in the level.
    fn position(&mut self, node: ObjectRef) -> u32 {
        self.reached += 1;
        let (position, _) = self.distinct.insert_full(node);
        u32::try_from(position).expect("a level holds fewer than 2^32 objects")
    }
}

pub(super) async fn fetch(execution: &Execution<'_>) -> Result<Fetched, StoreError> {
    let plan = execution.plan;
    let mut pending: Vec<Nodes> = plan.levels.iter().map(|_| Nodes::default()).collect();
    let roots = select_roots(execution, &mut pending).await?;
    let mut levels: Vec<FetchedLevel> = Vec::with_capacity(plan.levels.len());
    // For each level, whether each of its objects was reached once.
    let mut reached_once = Vec::with_capacity(plan.levels.len());
    while levels.len() < plan.levels.len() {
        let first = levels.len();
        let depth = plan.levels[first].depth;
        let together: Vec<&Level> = plan.levels[first..]
            .iter()
            .take_while(|level| level.depth == depth)
            .collect();
        let mut started = Vec::with_capacity(together.len());
        let beginning = pending.iter_mut().enumerate().skip(first);
        for (position, nodes) in beginning.take(together.len()) {
            let nodes = std::mem::take(nodes);
            reached_once.push(nodes.reached == nodes.distinct.len());
            let nodes: Vec<ObjectRef> = nodes.distinct.into_iter().collect();
            let chunk = if execution.in_chunks
                && nodes.len() > CHUNK
                && can_wait(plan, position, &reached_once)
            {
                read_chunk(execution, position, &nodes[..CHUNK])
            } else {
                None
            };
            started.push((nodes, chunk.transpose()?));
        }
        let fetches =
            together
                .iter()
                .zip(&started)
                .map(async |(level, (nodes, chunk))| match chunk {
                    Some(_) => Ok(None),
                    None => hydrate(execution, level, nodes).await.map(Some),
                });
        let hydrated = try_join_all(fetches).await?;
        for ((level, (nodes, chunk)), whole) in together.into_iter().zip(started).zip(hydrated) {
            let in_chunks = chunk.is_some();
            let hydrated = chunk.or(whole).expect("a level is read whole or in chunks");
            let objects = concrete_types(level, nodes.len(), &hydrated);
            let targets = follow_edges(level, &objects, &hydrated, &mut pending);
            levels.push(FetchedLevel {
                nodes,
                objects,
                hydrated,
                in_chunks,
                targets,
            });
        }
    }
    Ok(Fetched { roots, levels })
}

async fn select_roots(
    execution: &Execution<'_>,
    pending: &mut [Nodes],
) -> Result<Vec<FetchedRoot>, StoreError> {
    let (store, context) = (execution.store, execution.context);
    let selections = execution.plan.roots.iter().map(async |root| {
        Ok::<_, StoreError>(match &root.value {
            RootValue::Introspection | RootValue::Service(_) => Selected::Nothing,
            RootValue::Count(selection) => Selected::Count(store.count(selection, context).await?),
            RootValue::Objects(objects) => {
                let nodes = store.select(&objects.selection, context).await?;
                Selected::Objects(objects.level, nodes)
            }
            RootValue::Aggregate(aggregate) if aggregate.aggregation.is_count() => {
                let selection = &aggregate.objects.selection;
                Selected::Count(store.count(selection, context).await?)
            }
            RootValue::Aggregate(aggregate) => {
                let objects = &aggregate.objects;
                let nodes = store.select(&objects.selection, context).await?;
                Selected::Objects(objects.level, nodes)
            }
            RootValue::Connection(connection) => {
                let (windowed, count) = window(execution, connection).await?;
                Selected::Connection(connection, windowed, count)
            }
            RootValue::Entities(entities) => {
                let types = entities.types.iter();
                let selections = types.map(|ty| store.select(&ty.selection, context));
                Selected::Entities(entities, try_join_all(selections).await?)
            }
        })
    });
    let selected = try_join_all(selections).await?;
    let roots = selected.into_iter().map(|selected| match selected {
        Selected::Nothing => FetchedRoot::Nothing,
        Selected::Count(count) => FetchedRoot::Count(count),
        Selected::Objects(level, nodes) => {
            let pending = &mut pending[level.0 as usize];
            let positions = nodes.into_iter().map(|node| pending.position(node));
            FetchedRoot::Objects(positions.collect())
        }
        Selected::Connection(connection, windowed, count) => {
            FetchedRoot::Connection(Box::new(placed(connection, windowed, count, pending)))
        }
        Selected::Entities(entities, nodes) => {
            FetchedRoot::Entities(found(entities, nodes, pending))
        }
    });
    Ok(roots.collect())
}

/// Fetches the objects of a connection and their number, as far as requested.
async fn window(
    execution: &Execution<'_>,
    connection: &RootConnection,
) -> Result<(Windowed, u64), StoreError> {
    let (store, context) = (execution.store, execution.context);
    let selection = &connection.selection;
    let windowed = async {
        match &connection.window {
            None => Ok(Windowed::default()),
            Some(window) => store.select_window(selection, window, context).await,
        }
    };
    let count = async {
        if !connection.count {
            return Ok(0);
        }
        store.count(selection, context).await
    };
    try_join(windowed, count).await
}

/// Adds the objects of a connection to its levels.
fn placed(
    connection: &RootConnection,
    windowed: Windowed,
    count: u64,
    pending: &mut [Nodes],
) -> FetchedConnection {
    let levels = connection.levels.iter();
    let positions = levels.map(|level| {
        let pending = &mut pending[level.0 as usize];
        let objects = windowed.objects.iter();
        objects
            .map(|object| pending.position(object.id.clone()))
            .collect()
    });
    FetchedConnection {
        positions: positions.collect(),
        windowed,
        count,
    }
}

/// The result of the store for a root field.
enum Selected<'p> {
    Nothing,
    Count(u64),
    Objects(LevelId, Vec<ObjectRef>),
    Connection(&'p RootConnection, Windowed, u64),
    Entities(&'p RootEntities, Vec<Vec<ObjectRef>>),
}

/// Returns the position of the object of each representation.
fn found(
    entities: &RootEntities,
    nodes: Vec<Vec<ObjectRef>>,
    pending: &mut [Nodes],
) -> Vec<Option<(LevelId, u32)>> {
    let known: Vec<HashSet<ObjectRef>> = nodes
        .into_iter()
        .map(|nodes| nodes.into_iter().collect())
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

async fn hydrate(
    execution: &Execution<'_>,
    level: &Level,
    nodes: &[ObjectRef],
) -> Result<Hydrated, StoreError> {
    if nodes.is_empty() || level.slots.is_empty() {
        let mut hydrated = Hydrated::default();
        for _ in &level.slots {
            hydrated
                .columns
                .push(graph_store::query::Column::with_capacity(0));
        }
        return Ok(hydrated);
    }
    let request = request(level, nodes);
    execution.store.hydrate(&request, execution.context).await
}

/// Returns the request for the values of some objects of a level.
pub(super) fn request<'a>(level: &'a Level, nodes: &'a [ObjectRef]) -> HydrationRequest<'a> {
    HydrationRequest {
        nodes,
        slots: &level.slots,
        dataset: &level.dataset,
    }
}

fn concrete_types(level: &Level, nodes: usize, hydrated: &Hydrated) -> Vec<Option<ObjectId>> {
    let Typing::Stored { slots, index, .. } = &level.typing else {
        return Vec::new();
    };
    (0..nodes)
        .map(|node| {
            let types = slots.iter().enumerate().flat_map(|(property, &slot)| {
                hydrated.columns[slot]
                    .of(node)
                    .iter()
                    .filter_map(move |term| match term {
                        Term::NamedNode(ty) => Some((property, ty)),
                        _ => None,
                    })
            });
            index.resolve(types)
        })
        .collect()
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
            let mut targets = Vec::with_capacity(column.values.len());
            for node in 0..column.offsets.len() - 1 {
                let follows = match (&used, objects.get(node)) {
                    (Some(used), Some(object)) => {
                        object.is_some_and(|object| used[&object].contains(&edge))
                    }
                    _ => true,
                };
                targets.extend(column.range(node).map(|value| {
                    let object = follows.then(|| column.object(value)).flatten();
                    object.map_or(NOT_AN_OBJECT, |object| nodes.position(object))
                }));
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
