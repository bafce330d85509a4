//! Values that are read in chunks while the answer is written.
//!
//! The values of a level that leads to no other level are only needed for writing. If the store
//! returns them synchronously and the answer shows the objects in the order of the level, a chunk
//! is read when its first object is written and dropped after its last one.

use std::ops::Range;
use std::rc::Rc;

use graph_store::StoreError;
use graph_store::query::{Hydrated, ObjectSlice, Objects, TermSlice};

use super::Execution;
use super::fetch::request;
use crate::plan::{LevelId, Output, Plan, RootValue, Typing};

/// Maximum number of objects in a chunk: as many as a store reads in one step.
pub(super) const CHUNK: usize = 1_000;

/// The values of one object.
#[derive(Clone, Copy)]
pub(super) struct Values<'d> {
    pub(super) hydrated: &'d Hydrated,
    /// Position of the object there.
    pub(super) node: usize,
}

impl<'d> Values<'d> {
    pub(super) fn of(self, slot: usize) -> TermSlice<'d> {
        self.hydrated.columns[slot].of(self.node)
    }

    /// Returns the range of the values in their column.
    pub(super) fn range(self, slot: usize) -> Range<usize> {
        self.hydrated.columns[slot].range(self.node)
    }
}

/// The values of a range of objects of a level.
pub(super) struct Chunk {
    /// The position of the first object in the level.
    pub(super) start: usize,
    pub(super) hydrated: Hydrated,
}

/// Returns the bytes that results of the store hold.
fn held(execution: &Execution<'_>) -> usize {
    let memory = execution.context.memory.as_ref();
    memory.map_or(0, |memory| memory.held())
}

/// Releases what was held beyond `bytes`.
fn release_to(execution: &Execution<'_>, bytes: usize) {
    if let Some(memory) = &execution.context.memory {
        memory.release_to(bytes);
    }
}

/// The chunk that is being written of each level, where there is one.
pub(super) struct Chunks {
    chunks: Vec<Option<Rc<Chunk>>>,
    /// What results of the store hold beside the chunks, while there is one chunk at most.
    held: Option<usize>,
}

impl Chunks {
    pub(super) fn new(levels: usize) -> Self {
        Chunks {
            chunks: (0..levels).map(|_| None).collect(),
            held: None,
        }
    }

    /// Returns the chunk of an object; reads it unless it is the current one.
    pub(super) fn of(
        &mut self,
        execution: &Execution<'_>,
        level: LevelId,
        nodes: &Objects,
        node: usize,
    ) -> Result<Rc<Chunk>, StoreError> {
        let position = level.0 as usize;
        let current = &mut self.chunks[position];
        let start = node - node % CHUNK;
        if let Some(chunk) = current
            && chunk.start == start
        {
            return Ok(Rc::clone(chunk));
        }
        // Its memory serves the next one. Chunks of several levels may be there at once; then all of
        // them are counted as long as the longest.
        *current = None;
        if self.chunks.iter().all(Option::is_none) {
            release_to(execution, *self.held.get_or_insert_with(|| held(execution)));
        }
        let current = &mut self.chunks[position];
        let end = nodes.len().min(start + CHUNK);
        let hydrated = read_chunk(execution, position, nodes.slice(start..end))
            .expect("a store that gave the first chunk at once gives all")?;
        let chunk = Rc::new(Chunk { start, hydrated });
        *current = Some(Rc::clone(&chunk));
        Ok(chunk)
    }
}

/// Reads values of a level synchronously, if the store can.
pub(super) fn read_chunk(
    execution: &Execution<'_>,
    level: usize,
    nodes: ObjectSlice<'_>,
) -> Option<Result<Hydrated, StoreError>> {
    let request = request(&execution.plan.levels[level], nodes);
    let local = execution.store.local()?;
    local.hydrate_now(&request, execution.context)
}

/// Returns whether the values of a level may be read in chunks while they are written.
///
/// `reached_once` says for each level up to this one whether each of its objects was reached once.
pub(super) fn can_wait(plan: &Plan, level: usize, reached_once: &[bool]) -> bool {
    let this = &plan.levels[level];
    let by_values_alone = !this.slots.is_empty()
        && this.edges.is_empty()
        && matches!(this.typing, Typing::Static { .. })
        && this.variants.iter().flatten().all(|field| {
            // Aggregates of objects have an edge.
            !matches!(field.value, Output::ValueAggregate(_))
        });
    by_values_alone && is_shown_in_order(plan, level, reached_once)
}

/// Returns whether the answer shows the objects of a level in their order: a single list of objects
/// leads to it, from a level that is itself shown in order.
fn is_shown_in_order(plan: &Plan, level: usize, reached_once: &[bool]) -> bool {
    if !reached_once[level] {
        return false;
    }
    let is_this = |id: LevelId| id.0 as usize == level;
    let mut ways = 0;
    for root in &plan.roots {
        match &root.value {
            RootValue::Objects(objects) if is_this(objects.level) => ways += 1,
            RootValue::Aggregate(aggregate) if is_this(aggregate.objects.level) => return false,
            RootValue::Connection(connection) if connection.levels.iter().copied().any(is_this) => {
                return false;
            }
            RootValue::Entities(entities) if entities.types.iter().any(|ty| is_this(ty.level)) => {
                return false;
            }
            _ => {}
        }
    }
    let mut from = None;
    for (position, parent) in plan.levels[..level].iter().enumerate() {
        for field in parent.variants.iter().flatten() {
            match field.value {
                Output::Objects { edge, .. } if is_this(parent.edges[edge].level) => {
                    ways += 1;
                    from = Some(position);
                }
                Output::Aggregate { edge, .. } if is_this(parent.edges[edge].level) => {
                    return false;
                }
                _ => {}
            }
        }
    }
    match (ways, from) {
        (1, None) => true,
        (1, Some(parent)) => is_shown_in_order(plan, parent, reached_once),
        _ => false,
    }
}
