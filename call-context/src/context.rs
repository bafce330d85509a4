//! The context of a call: its deadline, cancellation, trace, meter, and where its long work runs.

use std::any::Any;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use futures::channel::oneshot;
use tokio_util::sync::CancellationToken;
use tracing::Span;

use crate::error::CallError;
use crate::size::{Size, Weight};
use crate::tally::Tally;
use crate::trace::Trace;

/// The context of a call to a store or an engine.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CallContext {
    /// When to give up.
    pub deadline: Option<Instant>,
    /// Cancelled when the client disconnects.
    pub cancellation: CancellationToken,
    /// Identifier of the request, for logs and for servers that are queried on its behalf.
    pub request_id: String,
    /// Languages that the client accepts, best first.
    pub accept_language: Vec<String>,
    /// Records the steps of the store, when a trace is wanted.
    pub trace: Option<Arc<Trace>>,
    /// Counts the calls, where someone wants to know.
    pub tally: Option<Arc<Tally>>,
    /// Counts the work of a store that blocks its thread, and stops it at the limit.
    pub meter: Option<Arc<Meter>>,
    /// Counts the memory of results.
    pub memory: Option<Arc<dyn ResultMemory>>,
    /// Runs what is too long for the thread that polls a store that waits for others.
    pub long_work: Option<Arc<dyn LongWork>>,
    /// Holds the snapshots that the calls of one request read.
    pub snapshots: Option<Arc<Snapshots>>,
    /// The span of the operation, the parent of the spans of calls; [`Span::none`] without traces.
    pub span: Span,
}

impl Default for CallContext {
    fn default() -> Self {
        CallContext {
            deadline: None,
            cancellation: CancellationToken::default(),
            request_id: String::new(),
            accept_language: Vec::new(),
            trace: None,
            tally: None,
            meter: None,
            memory: None,
            long_work: None,
            snapshots: None,
            span: Span::none(),
        }
    }
}

/// Where work runs that is too long for the thread of an asynchronous task.
///
/// A store that waits for others has nothing to do while it waits, and much to do at once when a large
/// result has arrived. It hands such work on by [`CallContext::run_sized`], and must not wait for anything
/// in it.
#[async_trait]
pub trait LongWork: fmt::Debug + Send + Sync {
    /// Runs `work` on another thread, and returns when it is done.
    ///
    /// # Errors
    /// [`CallError::Overloaded`] when too much work waits already, [`CallError::Deadline`] when the
    /// deadline passes before it begins, and [`CallError::Panicked`] when it panics.
    async fn run(&self, weight: Weight, work: Box<dyn FnOnce() + Send>) -> Result<(), CallError>;
}

/// The memory that results of a store take, as whoever asks the store counts it.
///
/// A store calls [`CallContext::hold`] while a result grows. The memory is released by whoever asked,
/// once the result is no longer needed.
pub trait ResultMemory: fmt::Debug + Send + Sync {
    /// Holds `bytes` more; returns `false` when there is no room for them.
    fn hold(&self, bytes: usize) -> bool;

    /// Returns the bytes that are held.
    fn held(&self) -> usize;

    /// Releases all but `bytes`.
    fn release_to(&self, bytes: usize);
}

impl CallContext {
    /// Creates a context without deadline, trace or meter.
    #[must_use]
    pub fn new() -> Self {
        CallContext::default()
    }

    /// Sets the deadline.
    #[must_use]
    pub fn with_deadline(mut self, deadline: Instant) -> Self {
        self.deadline = Some(deadline);
        self
    }

    /// Sets how long the call may take, counted from now.
    #[must_use]
    pub fn with_timeout(self, timeout: Duration) -> Self {
        match Instant::now().checked_add(timeout) {
            Some(deadline) => self.with_deadline(deadline),
            None => self,
        }
    }

    /// Sets the token that is cancelled when the client disconnects.
    #[must_use]
    pub fn with_cancellation(mut self, cancellation: CancellationToken) -> Self {
        self.cancellation = cancellation;
        self
    }

    /// Sets the identifier of the request.
    #[must_use]
    pub fn with_request_id(mut self, request_id: impl Into<String>) -> Self {
        self.request_id = request_id.into();
        self
    }

    /// Sets the languages that the client accepts, best first.
    #[must_use]
    pub fn with_accept_language(mut self, languages: Vec<String>) -> Self {
        self.accept_language = languages;
        self
    }

    /// Sets the trace that records the steps of the store.
    #[must_use]
    pub fn with_trace(mut self, trace: Arc<Trace>) -> Self {
        self.trace = Some(trace);
        self
    }

    /// Sets what counts the calls.
    #[must_use]
    pub fn with_tally(mut self, tally: Arc<Tally>) -> Self {
        self.tally = Some(tally);
        self
    }

    /// Sets the meter that counts the work of a store that blocks its thread.
    #[must_use]
    pub fn with_meter(mut self, meter: Arc<Meter>) -> Self {
        self.meter = Some(meter);
        self
    }

    /// Sets what counts the memory of results.
    #[must_use]
    pub fn with_memory(mut self, memory: Arc<dyn ResultMemory>) -> Self {
        self.memory = Some(memory);
        self
    }

    /// Sets where work runs that is too long for the thread that polls the store.
    #[must_use]
    pub fn with_long_work(mut self, long_work: Arc<dyn LongWork>) -> Self {
        self.long_work = Some(long_work);
        self
    }

    /// Sets what holds the snapshots, so that all calls of a request read the same one of each store that has snapshots.
    #[must_use]
    pub fn with_snapshots(mut self, snapshots: Arc<Snapshots>) -> Self {
        self.snapshots = Some(snapshots);
        self
    }

    /// Sets the parent span of calls.
    #[must_use]
    pub fn with_span(mut self, span: Span) -> Self {
        self.span = span;
        self
    }

    /// Returns the snapshot that calls to `store` read: the one that the first of them has read, where
    /// [`CallContext::snapshots`] keeps it, else that of `current`.
    pub fn snapshot<S: ?Sized, T: Any + Send + Sync>(
        &self,
        store: &S,
        current: impl FnOnce() -> Arc<T>,
    ) -> Arc<T> {
        match &self.snapshots {
            Some(snapshots) => snapshots.of(store, current),
            None => current(),
        }
    }

    /// Runs work of a size: here if it is short or no other place is set, else there.
    ///
    /// Work that is run elsewhere goes on when the future is dropped, so it should
    /// [check](CallContext::check) from time to time that the request is still live.
    ///
    /// # Errors
    /// Those of [`LongWork::run`].
    pub async fn run_sized<T: Send + 'static>(
        &self,
        size: Size,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, CallError> {
        match size.weight() {
            Some(weight) => self.run_weighed(weight, work).await,
            None => Ok(work()),
        }
    }

    /// Runs work of a weight elsewhere, or here if no other place is set.
    ///
    /// # Errors
    /// Those of [`LongWork::run`].
    pub async fn run_weighed<T: Send + 'static>(
        &self,
        weight: Weight,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, CallError> {
        let Some(elsewhere) = &self.long_work else {
            return Ok(work());
        };
        let (done, result) = oneshot::channel();
        let work = move || {
            // No one waits any more when this fails.
            let _ = done.send(work());
        };
        elsewhere.run(weight, Box::new(work)).await?;
        result.await.map_err(|_| CallError::Panicked)
    }

    /// Returns whether equal calls in this context and in a different one have the same results, so that one of them can
    /// be made for both.
    ///
    /// Deadline, cancellation and identifier of the request make no difference. Contexts that are
    /// [exclusive](CallContext::is_exclusive) are never interchangeable.
    #[must_use]
    pub fn is_interchangeable(&self, other: &Self) -> bool {
        // Exhaustive, so that a new field does not compile before it is compared or left out on purpose.
        let CallContext {
            deadline: _,
            cancellation: _,
            request_id: _,
            tally: _,
            span: _,
            accept_language,
            trace: _,
            meter: _,
            memory: _,
            long_work: _,
            snapshots: _,
        } = self;
        *accept_language == other.accept_language && !self.is_exclusive() && !other.is_exclusive()
    }

    /// Returns whether something records, bounds or moves the calls of this request, so that they cannot be made for
    /// others too.
    #[must_use]
    pub fn is_exclusive(&self) -> bool {
        self.trace.is_some()
            || self.meter.is_some()
            || self.memory.is_some()
            || self.long_work.is_some()
            || self.snapshots.is_some()
    }

    /// Counts one call to the store; stores call it for each of their steps.
    pub fn count_call(&self) {
        if let Some(tally) = &self.tally {
            tally.count_call();
        }
        if let Some(trace) = &self.trace {
            trace.count_call();
        }
    }

    /// Checks that the request is still live.
    ///
    /// # Errors
    /// When the deadline has passed or the request was cancelled.
    pub fn check(&self) -> Result<(), CallError> {
        if self.cancellation.is_cancelled() {
            return Err(CallError::Cancelled);
        }
        if self
            .deadline
            .is_some_and(|deadline| Instant::now() >= deadline)
        {
            return Err(CallError::Deadline);
        }
        Ok(())
    }

    /// Counts `bytes` that a result has grown by; an estimate is enough.
    ///
    /// # Errors
    /// [`CallError::OutOfMemory`] when there is no room for them.
    pub fn hold(&self, bytes: usize) -> Result<(), CallError> {
        match &self.memory {
            Some(memory) if bytes > 0 && !memory.hold(bytes) => Err(CallError::OutOfMemory),
            _ => Ok(()),
        }
    }

    /// Counts work, and checks that the request is still live.
    ///
    /// # Errors
    /// Those of [`CallContext::check`], and [`CallError::Metered`] beyond the limit of the meter.
    pub fn spend(&self, work: u32) -> Result<(), CallError> {
        self.check()?;
        let Some(meter) = &self.meter else {
            return Ok(());
        };
        meter.spent.fetch_add(u64::from(work), Ordering::Relaxed);
        if meter.is_over() && !meter.extend() {
            return Err(CallError::Metered);
        }
        Ok(())
    }
}

/// The snapshots that the calls of one request read: one of each store that has snapshots.
///
/// They are released with this.
#[derive(Default)]
pub struct Snapshots {
    /// By the address of the store, which outlives the request.
    known: Mutex<Vec<(usize, Arc<dyn Any + Send + Sync>)>>,
}

impl Snapshots {
    /// Creates a holder without snapshots.
    #[must_use]
    pub fn new() -> Self {
        Snapshots::default()
    }

    fn of<S: ?Sized, T: Any + Send + Sync>(
        &self,
        store: &S,
        current: impl FnOnce() -> Arc<T>,
    ) -> Arc<T> {
        let address = std::ptr::from_ref(store).addr();
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let found = known
            .iter()
            .filter(|(store, _)| *store == address)
            // A store that wraps one has its address.
            .find_map(|(_, snapshot)| Arc::clone(snapshot).downcast().ok());
        found.unwrap_or_else(|| {
            let snapshot = current();
            known.push((address, Arc::clone(&snapshot) as _));
            snapshot
        })
    }
}

impl fmt::Debug for Snapshots {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Snapshots").finish_non_exhaustive()
    }
}

/// Counts work, in quads read and objects written, up to a limit.
pub struct Meter {
    spent: AtomicU64,
    limit: AtomicU64,
    extension: Option<Extension>,
}

/// Asked at the limit of a meter whether work may go on without one.
type Extension = Box<dyn Fn() -> bool + Send + Sync>;

impl Meter {
    /// Creates a meter that runs up to `limit`.
    #[must_use]
    pub fn new(limit: u64) -> Self {
        Meter {
            spent: AtomicU64::new(0),
            limit: AtomicU64::new(limit),
            extension: None,
        }
    }

    /// Sets what is called at the limit, on the thread that works: it may block, and returns whether
    /// work goes on, without a limit from then on.
    #[must_use]
    pub fn with_extension(mut self, extension: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        self.extension = Some(Box::new(extension));
        self
    }

    fn extend(&self) -> bool {
        let is_extended = self.extension.as_ref().is_some_and(|extension| extension());
        if is_extended {
            self.limit.store(u64::MAX, Ordering::Relaxed);
        }
        is_extended
    }

    /// Returns the work so far.
    #[must_use]
    pub fn spent(&self) -> u64 {
        self.spent.load(Ordering::Relaxed)
    }

    /// Returns whether the work has exceeded the limit.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.spent() > self.limit.load(Ordering::Relaxed)
    }
}

impl fmt::Debug for Meter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Meter")
            .field("spent", &self.spent)
            .field("limit", &self.limit)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_store_and_the_one_that_it_wraps_have_a_snapshot_each() {
        struct Wrapping(u8);

        let snapshots = Arc::new(Snapshots::new());
        let context = CallContext::new().with_snapshots(snapshots);
        let store = Wrapping(0);
        let of_inner = |number: u8| context.snapshot(&store.0, || Arc::new(number));
        let of_outer = |text: &'static str| context.snapshot(&store, || Arc::new(text));
        assert_eq!((*of_inner(1), *of_outer("first")), (1, "first"));
        assert_eq!((*of_inner(2), *of_outer("second")), (1, "first"));
    }
}
