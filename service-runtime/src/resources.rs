//! How much the requests of a process share, after the machine and its options.

use std::sync::{Arc, LazyLock};

use graphql_http::Resources;
use graphql_service::Slots;
use tokio::runtime::{Builder, Handle, Runtime};

use super::memory;

/// How much the niceness of threads for long work is raised, so that async workers come first: with
/// them wait connections, health checks and all short requests.
#[cfg(target_os = "linux")]
const NICENESS: i32 = 5;

/// Whose blocking threads run the jobs of slots. Nothing else runs on it.
static THREADS: LazyLock<Option<Runtime>> = LazyLock::new(|| {
    let mut threads = Builder::new_current_thread();
    threads.thread_name("slot").on_thread_start(lower_priority);
    threads.build().ok()
});

/// How much requests may share.
#[derive(Clone, Debug)]
pub struct ResourceOptions {
    /// Memory that all requests together may hold, in bytes; `None` for a quarter of what the process has.
    pub memory: Option<u64>,
    /// Number of requests that run off the async workers at a time; `None` for the number of cores.
    pub slots: Option<u64>,
    /// Maximum number of requests that wait for a slot.
    pub queue: usize,
}

impl Default for ResourceOptions {
    fn default() -> Self {
        ResourceOptions {
            memory: None,
            slots: None,
            queue: 1_000,
        }
    }
}

/// Creates what all requests share.
#[must_use]
pub fn resources(options: &ResourceOptions) -> Resources {
    let quarter = || memory::available() / 4;
    let budget = options.memory.unwrap_or_else(quarter);
    let budget = usize::try_from(budget).unwrap_or(usize::MAX);
    let cores = options.slots.and_then(|slots| usize::try_from(slots).ok());
    Resources::new(budget, of_low_priority(Slots::new(cores, options.queue)))
}

/// Lets the jobs of slots run on threads of a low priority.
#[must_use]
pub fn of_low_priority(slots: Slots) -> Arc<Slots> {
    Arc::new(match threads() {
        Some(threads) => slots.on_threads_of(threads),
        None => slots,
    })
}

fn threads() -> Option<Handle> {
    THREADS.as_ref().map(|runtime| runtime.handle().clone())
}

/// Lets other threads go before the current one. On systems other than Linux a process has only one
/// priority.
fn lower_priority() {
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{getpriority_process, setpriority_process};
        // On Linux each thread has a priority of its own. Where it cannot be changed, none is lost.
        let lowered = getpriority_process(None)
            .and_then(|niceness| setpriority_process(None, niceness + NICENESS));
        if let Err(error) = lowered {
            tracing::debug!(%error, "the priority of a thread cannot be lowered");
        }
    }
}
