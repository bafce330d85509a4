//! What all requests of a process share: memory, and slots for work that is too long for async workers.

use std::sync::Arc;

use graphql_service::{MemoryBudget, Slots};

/// The part of the memory budget that request bodies may hold together.
const BODIES: usize = 4;

/// What all requests share. Cheap to clone; clones share everything.
#[derive(Clone, Debug)]
pub struct Resources {
    /// Memory of bodies, results of stores and unsent responses.
    pub memory: MemoryBudget,
    /// The part of it for bodies, so that clients that only send cannot keep others from being answered.
    pub bodies: MemoryBudget,
    /// Slots for work of more than about a millisecond.
    pub slots: Arc<Slots>,
}

impl Resources {
    /// Creates resources of `memory` bytes.
    #[must_use]
    pub fn new(memory: usize, slots: Arc<Slots>) -> Self {
        let memory = MemoryBudget::new(memory);
        Resources {
            bodies: memory.part(memory.limit() / BODIES),
            memory,
            slots,
        }
    }
}

impl Default for Resources {
    /// Creates resources without a limit on memory, with the slots of the process.
    fn default() -> Self {
        Resources::new(usize::MAX, Slots::shared())
    }
}
