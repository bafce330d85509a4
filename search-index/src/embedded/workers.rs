//! Threads of the engine, for work that would hold up whoever waits for it.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use call_context::CallError;
use futures::channel::oneshot;

use super::error::failed;
use crate::engine::EngineError;

type Job = Box<dyn FnOnce() + Send>;

/// A number of threads, and a queue of work for them. Work that waits is still done when the last owner
/// is gone, and then the threads end.
#[derive(Debug)]
pub(super) struct Workers {
    queue: Arc<Queue>,
}

#[derive(Default)]
struct Queue {
    state: Mutex<State>,
    changed: Condvar,
    max_waiting: usize,
}

#[derive(Default)]
struct State {
    jobs: VecDeque<Job>,
    is_closed: bool,
}

impl Workers {
    /// Starts threads for work, of which so much may wait.
    pub(super) fn new(name: &str, threads: usize, max_waiting: usize) -> Result<Self, EngineError> {
        let queue = Arc::new(Queue {
            max_waiting,
            ..Queue::default()
        });
        let workers = Workers {
            queue: Arc::clone(&queue),
        };
        for _ in 0..threads {
            let queue = Arc::clone(&queue);
            let builder = thread::Builder::new().name(name.to_owned());
            builder.spawn(move || queue.work()).map_err(failed)?;
        }
        Ok(workers)
    }

    /// Runs work on one of the threads. It is done even if the future is dropped.
    ///
    /// # Errors
    /// [`CallError::Overloaded`] when too much work waits already, and [`CallError::Panicked`].
    pub(super) async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, CallError> {
        let (done, result) = oneshot::channel();
        self.queue.push(Box::new(move || {
            // A panic drops the sender, which is what whoever waits notices.
            if let Ok(value) = catch_unwind(AssertUnwindSafe(work)) {
                let _ = done.send(value);
            }
        }))?;
        result.await.map_err(|_| CallError::Panicked)
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        self.queue.lock().is_closed = true;
        self.queue.changed.notify_all();
    }
}

impl Queue {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn push(&self, job: Job) -> Result<(), CallError> {
        let mut state = self.lock();
        if state.jobs.len() >= self.max_waiting {
            return Err(CallError::Overloaded);
        }
        state.jobs.push_back(job);
        drop(state);
        self.changed.notify_one();
        Ok(())
    }

    fn work(&self) {
        while let Some(job) = self.next() {
            job();
        }
    }

    /// Waits for work; `None` when there will be none any more.
    fn next(&self) -> Option<Job> {
        let mut state = self.lock();
        loop {
            if let Some(job) = state.jobs.pop_front() {
                return Some(job);
            }
            if state.is_closed {
                return None;
            }
            state = self
                .changed
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl std::fmt::Debug for Queue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let waiting = self.lock().jobs.len();
        f.debug_struct("Queue")
            .field("waiting", &waiting)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::time::Duration;

    use call_context::CallError;
    use futures::executor::block_on;
    use futures::future::join;

    use super::Workers;

    #[test]
    fn work_is_done_and_a_panic_costs_one_job() {
        let workers = Workers::new("test", 1, 10).expect("threads");
        let panicked = block_on(workers.run(|| panic!("on purpose")));
        assert!(matches!(panicked, Err::<(), _>(CallError::Panicked)));
        assert!(matches!(block_on(workers.run(|| 7)), Ok(7)));
    }

    #[test]
    fn work_beyond_the_bound_is_refused() {
        let workers = Workers::new("test", 1, 1).expect("threads");
        let (started, starts) = mpsc::channel();
        let (end, ended) = mpsc::channel::<()>();
        let busy = workers.run(move || {
            started.send(()).expect("somebody waits");
            let _ = ended.recv();
        });
        let others = async {
            let start = starts.recv_timeout(Duration::from_secs(60));
            start.expect("the first job starts");
            let waits = workers.run(|| 1);
            let refused = async {
                let refused = workers.run(|| 2).await;
                drop(end);
                refused
            };
            join(waits, refused).await
        };
        let (_, (waited, refused)) = block_on(join(busy, others));
        assert!(matches!(waited, Ok(1)));
        assert!(matches!(refused, Err(CallError::Overloaded)));
    }
}
