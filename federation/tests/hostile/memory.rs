//! Measures how much memory the process holds at most while something is done.

use std::alloc::System;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Bytes that the process holds.
fn held() -> usize {
    let stats = ALLOCATOR.stats();
    stats
        .bytes_allocated
        .saturating_sub(stats.bytes_deallocated)
}

/// Looks at the memory of the process again and again.
pub(crate) struct Watch {
    before: usize,
    stopped: Arc<AtomicBool>,
    watcher: JoinHandle<usize>,
}

impl Watch {
    pub(crate) fn start() -> Self {
        let stopped = Arc::new(AtomicBool::new(false));
        let until = Arc::clone(&stopped);
        let watcher = std::thread::spawn(move || {
            let mut most = held();
            while !until.load(Ordering::Relaxed) {
                std::thread::park_timeout(Duration::from_micros(200));
                most = most.max(held());
            }
            most
        });
        Watch {
            before: held(),
            stopped,
            watcher,
        }
    }

    /// Returns by how much the memory grew at most.
    pub(crate) fn stop(self) -> usize {
        self.stopped.store(true, Ordering::Relaxed);
        self.watcher.thread().unpark();
        let most = self.watcher.join().expect("the watcher does not panic");
        most.saturating_sub(self.before)
    }
}
