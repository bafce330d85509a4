//! Fetches the levels of a plan, parents first, all levels of one depth together.

use std::future::Future;
use std::sync::Arc;

use call_context::Size;
use futures::future::{try_join, try_join_all};
use graph_store::query::{Column, Hydrated, HydrationRequest, ObjectSlice, Objects};
use graph_store::{StoreError, Windowed};
use soml_core::schema::ObjectId;

use super::Execution;
use super::chunks::{CHUNK, can_wait, read_chunk};
use super::link::{Linker, Selected, Values};
use super::prefetch::Prefetch;
use crate::plan::{Level, LevelId, RootConnection, RootValue};

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
    pub(super) nodes: Objects,
    /// Concrete type of each object; empty if it is the same for all.
    pub(super) objects: Vec<Option<ObjectId>>,
    /// The values of all objects, or of the first chunk.
    pub(super) hydrated: Hydrated,
    /// Whether further chunks are read while they are written.
    pub(super) in_chunks: bool,
    /// Whether each object was reached once.
    pub(super) reached_once: bool,
    /// For each edge and each value of its slot: the position of the object in the next level.
    pub(super) targets: Vec<Vec<u32>>,
}

/// Marks a value in [`FetchedLevel::targets`] that is not an object.
pub(super) const NOT_AN_OBJECT: u32 = u32::MAX;

pub(super) async fn fetch(execution: &Execution<'_>) -> Result<Fetched, StoreError> {
    let context = execution.context;
    let mut linker = Linker::new(Arc::clone(execution.plan));
    let prefetch = Prefetch::new(execution);
    let selected = select_roots(execution, &prefetch).await?;
    let size = selected.iter().map(Selected::len).sum();
    let place = move || {
        let roots = linker.place(selected);
        (linker, roots)
    };
    let (mut linker, roots) = context.run_sized(Size::Terms(size), place).await?;
    while !linker.begun.is_empty() {
        linker = fetch_depth(execution, &prefetch, linker).await?;
    }
    let levels = linker.levels;
    Ok(Fetched { roots, levels })
}

/// Fetches the values of the levels that have begun, and begins those that they lead to.
async fn fetch_depth(
    execution: &Execution<'_>,
    prefetch: &Prefetch<'_>,
    mut linker: Linker,
) -> Result<Linker, StoreError> {
    let plan = execution.plan;
    let first = linker.levels.len();
    let mut started = Vec::with_capacity(linker.begun.len());
    for (position, nodes) in (first..).zip(&linker.begun) {
        let waits = execution.in_chunks
            && nodes.len() > CHUNK
            && can_wait(plan, position, &linker.reached_once);
        let chunk = if waits {
            read_chunk(execution, position, nodes.slice(0..CHUNK))
        } else {
            None
        };
        started.push(chunk.transpose()?);
    }
    let levels = (first..).zip(&linker.begun);
    let fetches = levels
        .zip(started)
        .map(async |((position, nodes), chunk)| match chunk {
            Some(hydrated) => Ok(Values {
                hydrated,
                in_chunks: true,
            }),
            None => prefetch
                .hydrate(position, nodes)
                .await
                .map(|hydrated| Values {
                    hydrated,
                    in_chunks: false,
                }),
        });
    let values = all(execution, fetches).await?;
    let size = linker.links(&values);
    let link = move || {
        linker.link(values);
        linker
    };
    Ok(execution.context.run_sized(Size::Terms(size), link).await?)
}

/// Asks the store for what each root field needs first.
async fn select_roots(
    execution: &Execution<'_>,
    prefetch: &Prefetch<'_>,
) -> Result<Vec<Selected>, StoreError> {
    let (store, context) = (execution.store, execution.context);
    let selections = execution.plan.roots.iter().map(async |root| {
        Ok::<_, StoreError>(match &root.value {
            RootValue::Introspection | RootValue::Service(_) => Selected::Nothing,
            RootValue::Count(selection) => Selected::Count(store.count(selection, context).await?),
            RootValue::Objects(objects) => {
                let nodes = prefetch.select(objects).await?;
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
                Selected::Connection(windowed, count)
            }
            RootValue::Entities(entities) => {
                let types = entities.types.iter();
                let selections = types.map(|ty| prefetch.select(ty));
                Selected::Entities(try_join_all(selections).await?)
            }
        })
    });
    all(execution, selections).await
}

/// Asks the store several things: at once where it waits for others, else one after the other.
async fn all<T, F: Future<Output = Result<T, StoreError>>>(
    execution: &Execution<'_>,
    asked: impl Iterator<Item = F>,
) -> Result<Vec<T>, StoreError> {
    if execution.store.local().is_none() {
        return try_join_all(asked).await;
    }
    let mut answers = Vec::with_capacity(asked.size_hint().0);
    for one in asked {
        answers.push(one.await?);
    }
    Ok(answers)
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

/// Reads the values of the objects of one level.
pub(super) async fn hydrate(
    execution: &Execution<'_>,
    level: &Level,
    nodes: &Objects,
) -> Result<Hydrated, StoreError> {
    if nodes.is_empty() || level.slots.is_empty() {
        let columns = level.slots.iter().map(|_| Column::with_capacity(0));
        return Ok(Hydrated {
            columns: columns.collect(),
        });
    }
    let request = request(level, nodes.as_slice());
    execution.store.hydrate(&request, execution.context).await
}

/// Returns the request for the values of some objects of a level.
pub(super) fn request<'a>(level: &'a Level, nodes: ObjectSlice<'a>) -> HydrationRequest<'a> {
    HydrationRequest {
        nodes,
        slots: &level.slots,
        dataset: &level.dataset,
    }
}
