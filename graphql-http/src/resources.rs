//! What all requests of a process share: memory, and slots for work that is too long for async workers.

use std::sync::Arc;

use graphql_service::{MemoryBudget, Slots, Weight};
use service_metrics::table::{MEMORY_HELD, MEMORY_LIMIT, SLOTS_IN_USE, SLOTS_LIMIT, SLOTS_WAITING};
use service_metrics::{Watch, watch};

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
    /// Has metrics read how much of them is in use.
    _watch: Watch,
}

impl Resources {
    /// Creates resources of `memory` bytes.
    #[must_use]
    pub fn new(memory: usize, slots: Arc<Slots>) -> Self {
        let memory = MemoryBudget::new(memory);
        Resources {
            bodies: memory.part(memory.limit() / BODIES),
            _watch: watch_use(&memory, &slots),
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

const WEIGHTS: [(Weight, &str); 3] = [
    (Weight::Medium, "medium"),
    (Weight::Long, "long"),
    (Weight::Background, "background"),
];

fn watch_use(memory: &MemoryBudget, slots: &Arc<Slots>) -> Watch {
    let (memory, slots) = (memory.clone(), Arc::clone(slots));
    watch(move |readings| {
        for (weight, name) in WEIGHTS {
            let counts = [
                (&SLOTS_IN_USE, slots.in_use(weight)),
                (&SLOTS_LIMIT, slots.of_weight(weight)),
                (&SLOTS_WAITING, slots.waiting(weight)),
            ];
            for (metric, count) in counts {
                readings.add(metric, [name.into()], count as f64);
            }
        }
        readings.add(&MEMORY_HELD, [], memory.held() as f64);
        readings.add(&MEMORY_LIMIT, [], memory.limit() as f64);
    })
}
