//! Slots for work that is too long for async workers.
//!
//! Such work runs on threads of its own. There are only as many as the machine has cores for, and
//! work beyond that waits in a queue with a bound, in the order in which it came. Work of three
//! weights has slots of its own each, so that short work never waits behind long work. A job that turns
//! out to be long moves to a slot for long ones, and goes on where it was.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::thread::available_parallelism;
use std::time::Instant;

use async_trait::async_trait;
use tokio::runtime::Handle;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::context::LongWork;
use crate::error::CallError;
use crate::size::{Size, Weight};

/// Slots for blocking work, a number of them for each [`Weight`].
#[derive(Debug)]
pub struct Slots {
    medium: Queue,
    long: Queue,
    background: Queue,
    /// Jobs that wait for a slot for long ones on a thread of their own.
    moving: AtomicUsize,
    max_moving: usize,
    threads: Option<Handle>,
}

#[derive(Debug)]
struct Queue {
    free: Arc<Semaphore>,
    slots: usize,
    waiting: AtomicUsize,
    max_waiting: usize,
}

/// The slot that a job runs in. Cheap to clone; it is free again when the last clone is dropped.
#[derive(Clone, Debug)]
pub struct Slot {
    slots: Arc<Slots>,
    runtime: Handle,
    deadline: Option<Instant>,
    held: Arc<Mutex<Held>>,
}

#[derive(Debug)]
struct Held {
    weight: Weight,
    permit: Option<OwnedSemaphorePermit>,
}

/// Why work was not done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SlotError {
    /// As much work waits already as may wait.
    #[error("too many requests wait for a processor")]
    QueueFull,
    /// The deadline passed before a slot was free.
    #[error("the deadline passed while the request waited for a processor")]
    Deadline,
    /// The work panicked; the panic is in the log.
    #[error("the work panicked")]
    Panicked,
}

impl From<SlotError> for CallError {
    fn from(error: SlotError) -> Self {
        match error {
            SlotError::QueueFull => CallError::Overloaded,
            SlotError::Deadline => CallError::Deadline,
            SlotError::Panicked => CallError::Panicked,
        }
    }
}

/// Runs the long work of a call in slots.
#[derive(Debug)]
pub struct InSlots {
    slots: Arc<Slots>,
    deadline: Option<Instant>,
}

impl InSlots {
    /// Runs work in these slots until a deadline.
    #[must_use]
    pub fn new(slots: Arc<Slots>, deadline: Option<Instant>) -> Self {
        InSlots { slots, deadline }
    }
}

#[async_trait]
impl LongWork for InSlots {
    async fn run(&self, weight: Weight, work: Box<dyn FnOnce() + Send>) -> Result<(), CallError> {
        let done = self.slots.run(weight, self.deadline, |_| work()).await;
        Ok(done?)
    }
}

/// The slots of a process whose embedding program brings none of its own.
static SHARED: LazyLock<Arc<Slots>> = LazyLock::new(|| Arc::new(Slots::new(None, 1_000)));

impl Slots {
    /// Creates slots for `cores` cores, by default those of the machine. Of each weight,
    /// `max_waiting` jobs may wait for a slot.
    #[must_use]
    pub fn new(cores: Option<usize>, max_waiting: usize) -> Self {
        let found = || available_parallelism().map_or(1, usize::from);
        let cores = cores.unwrap_or_else(found).max(1);
        let queue = |slots| Queue {
            free: Arc::new(Semaphore::new(slots)),
            slots,
            waiting: AtomicUsize::new(0),
            max_waiting,
        };
        Slots {
            medium: queue(cores),
            long: queue(cores.div_ceil(2)),
            background: queue(cores.div_ceil(2)),
            moving: AtomicUsize::new(0),
            max_moving: 4 * cores,
            threads: None,
        }
    }

    /// Runs jobs on the blocking threads of `runtime` in place of those of the calling runtime, for
    /// instance because its threads have a lower priority. The runtime need not be driven.
    #[must_use]
    pub fn on_threads_of(mut self, runtime: Handle) -> Self {
        self.threads = Some(runtime);
        self
    }

    /// Returns the slots that all services of the process share unless they are given others.
    #[must_use]
    pub fn shared() -> Arc<Slots> {
        Arc::clone(&SHARED)
    }

    /// Returns how many jobs of a weight can run at the same time.
    #[must_use]
    pub fn of_weight(&self, weight: Weight) -> usize {
        self.queue(weight).slots
    }

    /// Returns how many jobs of a weight have a slot now.
    #[must_use]
    pub fn in_use(&self, weight: Weight) -> usize {
        let queue = self.queue(weight);
        queue.slots.saturating_sub(queue.free.available_permits())
    }

    /// Returns how many jobs of a weight wait.
    #[must_use]
    pub fn waiting(&self, weight: Weight) -> usize {
        self.queue(weight).waiting.load(Ordering::Relaxed)
    }

    fn queue(&self, weight: Weight) -> &Queue {
        match weight {
            Weight::Medium => &self.medium,
            Weight::Long => &self.long,
            Weight::Background => &self.background,
        }
    }

    /// Runs `job` on a thread of its own once a slot is free. The job is handed its slot.
    ///
    /// Dropping the future takes a waiting job out of the queue. A job that runs keeps its slot
    /// until it ends, so it should check its own cancellation. Must be called within a Tokio runtime.
    ///
    /// # Errors
    /// When the job cannot wait, waited in vain, or panicked.
    pub async fn run<T: Send + 'static>(
        self: &Arc<Self>,
        weight: Weight,
        deadline: Option<Instant>,
        job: impl FnOnce(Slot) -> T + Send + 'static,
    ) -> Result<T, SlotError> {
        let permit = self.queue(weight).acquire(deadline).await?;
        // Freed by the job, since the future may be gone before that is done.
        let slot = Slot {
            slots: Arc::clone(self),
            runtime: Handle::current(),
            deadline,
            held: Arc::new(Mutex::new(Held {
                weight,
                permit: Some(permit),
            })),
        };
        let threads = self.threads.as_ref().unwrap_or(&slot.runtime).clone();
        let running = threads.spawn_blocking(move || catch_unwind(AssertUnwindSafe(|| job(slot))));
        match running.await {
            Ok(Ok(done)) => Ok(done),
            Ok(Err(panic)) => {
                let message = panic_message(panic.as_ref());
                tracing::error!(message, "work on a thread of its own panicked");
                Err(SlotError::Panicked)
            }
            // Only a runtime that shuts down drops a job.
            Err(_) => Err(SlotError::Panicked),
        }
    }
}

impl Slots {
    /// Runs work of a size: at once on this thread where that is short or no Tokio runtime runs it, else in a slot, as
    /// [`Slots::run`] does.
    ///
    /// # Errors
    /// Those of [`Slots::run`].
    pub async fn run_sized<T: Send + 'static>(
        self: &Arc<Self>,
        size: Size,
        deadline: Option<Instant>,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, SlotError> {
        match size.weight().filter(|_| Handle::try_current().is_ok()) {
            Some(weight) => Box::pin(self.run(weight, deadline, |_| work())).await,
            None => Ok(work()),
        }
    }
}

impl Slot {
    /// Moves the job to a slot for [`Weight::Long`], and blocks its thread until one is free. Does
    /// nothing when the job has such a slot.
    ///
    /// # Errors
    /// When too many jobs wait like that, or the deadline passes; the job has no slot then and must end.
    pub fn move_to_long(&self) -> Result<(), SlotError> {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        if held.weight == Weight::Long {
            return Ok(());
        }
        let _position = Waiting::join(&self.slots.moving, self.slots.max_moving)?;
        held.permit = None;
        let acquired = self.slots.long.acquire(self.deadline);
        held.permit = Some(self.runtime.block_on(acquired)?);
        held.weight = Weight::Long;
        Ok(())
    }
}

impl Queue {
    async fn acquire(&self, deadline: Option<Instant>) -> Result<OwnedSemaphorePermit, SlotError> {
        match Arc::clone(&self.free).try_acquire_owned() {
            Ok(permit) => Ok(permit),
            Err(_) => self.wait(deadline).await,
        }
    }

    async fn wait(&self, deadline: Option<Instant>) -> Result<OwnedSemaphorePermit, SlotError> {
        let _position = Waiting::join(&self.waiting, self.max_waiting)?;
        let acquired = Arc::clone(&self.free).acquire_owned();
        let acquired = match deadline {
            Some(deadline) => tokio::time::timeout_at(deadline.into(), acquired)
                .await
                .map_err(|_| SlotError::Deadline)?,
            None => acquired.await,
        };
        Ok(acquired.expect("the semaphore is never closed"))
    }
}

/// A position in a queue; left when dropped.
struct Waiting<'q>(&'q AtomicUsize);

impl<'q> Waiting<'q> {
    fn join(waiting: &'q AtomicUsize, most: usize) -> Result<Self, SlotError> {
        let joined = waiting.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |waiting| {
            (waiting < most).then_some(waiting + 1)
        });
        match joined {
            Ok(_) => Ok(Waiting(waiting)),
            Err(_) => Err(SlotError::QueueFull),
        }
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

fn panic_message(panic: &(dyn std::any::Any + Send)) -> &str {
    panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("no message")
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::sync::mpsc;
    use std::time::Duration;

    use futures::poll;

    use super::*;

    /// How long a test waits for what must happen, on a busy machine too.
    const PATIENCE: Duration = Duration::from_secs(60);

    /// Occupies the only slot of a weight until the returned sender is dropped.
    async fn occupied(slots: &Arc<Slots>, weight: Weight) -> mpsc::Sender<()> {
        let (end, ended) = mpsc::channel::<()>();
        let (start, started) = tokio::sync::oneshot::channel();
        let slots = Arc::clone(slots);
        tokio::spawn(async move {
            let job = move |slot: Slot| {
                let _slot = slot;
                start.send(()).unwrap();
                let _ = ended.recv();
            };
            slots.run(weight, None, job).await
        });
        let started = tokio::time::timeout(PATIENCE, started).await;
        started.expect("a slot is free").unwrap();
        end
    }

    #[tokio::test]
    async fn no_more_jobs_run_at_once_than_there_are_slots() {
        let slots = Arc::new(Slots::new(Some(2), 100));
        let first = occupied(&slots, Weight::Medium).await;
        let second = occupied(&slots, Weight::Medium).await;
        let (running, peak) = (Arc::new(AtomicUsize::new(2)), Arc::new(AtomicUsize::new(0)));
        let jobs = (0..20).map(|_| {
            let (slots, running, peak) = (slots.clone(), running.clone(), peak.clone());
            async move {
                let job = move |_: Slot| {
                    let now = running.fetch_add(1, Ordering::SeqCst) + 1;
                    peak.fetch_max(now, Ordering::SeqCst);
                    std::thread::sleep(Duration::from_millis(2));
                    running.fetch_sub(1, Ordering::SeqCst);
                };
                slots.run(Weight::Medium, None, job).await
            }
        });
        let mut jobs = pin!(futures::future::join_all(jobs));
        assert!(poll!(&mut jobs).is_pending());
        assert_eq!(slots.waiting(Weight::Medium), 20);
        for end in [first, second] {
            running.fetch_sub(1, Ordering::SeqCst);
            drop(end);
        }
        assert!(jobs.await.iter().all(Result::is_ok));
        let peak = peak.load(Ordering::SeqCst);
        assert!((1..=2).contains(&peak), "{peak}");
    }

    #[tokio::test]
    async fn a_full_queue_refuses_and_a_deadline_ends_the_wait() {
        let slots = Arc::new(Slots::new(Some(1), 1));
        let _busy = occupied(&slots, Weight::Long).await;
        {
            let mut waiting = pin!(slots.run(Weight::Long, None, |_| ()));
            assert!(poll!(&mut waiting).is_pending());
            assert_eq!(slots.waiting(Weight::Long), 1);
            let refused = slots.run(Weight::Long, None, |_| ()).await;
            assert_eq!(refused, Err(SlotError::QueueFull));
        }
        let soon = Instant::now() + Duration::from_millis(50);
        let waited = slots.run(Weight::Long, Some(soon), |_| ()).await;
        assert_eq!(waited, Err(SlotError::Deadline));
        assert_eq!(slots.waiting(Weight::Long), 0);
    }

    #[tokio::test]
    async fn short_work_never_waits_behind_long_work() {
        let slots = Arc::new(Slots::new(Some(1), 10));
        let _long = occupied(&slots, Weight::Long).await;
        let _background = occupied(&slots, Weight::Background).await;
        assert_eq!(slots.run(Weight::Medium, None, |_| 7).await, Ok(7));
    }

    #[tokio::test]
    async fn a_job_that_turns_out_long_leaves_its_slot_to_others() {
        let slots = Arc::new(Slots::new(Some(1), 10));
        let end = occupied(&slots, Weight::Long).await;
        let (start, started) = tokio::sync::oneshot::channel();
        let long = slots.run(Weight::Medium, None, |slot| {
            start.send(()).unwrap();
            slot.move_to_long()
        });
        let others = async {
            started.await.unwrap();
            let other = slots.run(Weight::Medium, None, |_| 7).await;
            drop(end);
            other
        };
        assert_eq!(tokio::join!(long, others), (Ok(Ok(())), Ok(7)));
        assert_eq!(slots.run(Weight::Long, None, |_| 7).await, Ok(7));
    }

    #[test]
    fn jobs_run_on_the_threads_of_the_runtime_that_is_named() {
        let named = tokio::runtime::Builder::new_current_thread()
            .thread_name("of-the-slots")
            .build()
            .unwrap();
        let calling = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build()
            .unwrap();
        let slots = Slots::new(Some(1), 1).on_threads_of(named.handle().clone());
        let name = |_: Slot| std::thread::current().name().map(str::to_owned);
        let ran = calling.block_on(Arc::new(slots).run(Weight::Medium, None, name));
        assert_eq!(ran.unwrap().as_deref(), Some("of-the-slots"));
    }

    #[tokio::test]
    async fn a_panic_costs_one_job_and_no_slot() {
        let slots = Arc::new(Slots::new(Some(1), 10));
        let panicked = slots
            .run(Weight::Medium, None, |_| panic!("on purpose"))
            .await;
        assert_eq!(panicked, Err::<(), _>(SlotError::Panicked));
        assert_eq!(slots.run(Weight::Medium, None, |_| 7).await, Ok(7));
    }

    #[tokio::test]
    async fn whoever_stops_waiting_leaves_the_queue() {
        let slots = Arc::new(Slots::new(Some(1), 1));
        let _busy = occupied(&slots, Weight::Medium).await;
        {
            let mut waiting = pin!(slots.run(Weight::Medium, None, |_| ()));
            assert!(poll!(&mut waiting).is_pending());
            assert_eq!(slots.waiting(Weight::Medium), 1);
            assert_eq!(slots.in_use(Weight::Medium), 1);
        }
        assert_eq!(slots.waiting(Weight::Medium), 0);
    }
}
