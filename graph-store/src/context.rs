//! What surrounds a call to a store: who waits for it, how long, and what is recorded of it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tokio_util::sync::CancellationToken;

use crate::error::{MeterExceeded, StoreError};
use crate::trace::Trace;

/// What surrounds a call to a store.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct CallContext {
    /// Moment after which nobody waits any more.
    pub deadline: Option<Instant>,
    /// Cancelled when the client goes away.
    pub cancellation: CancellationToken,
    /// Identifier of the request, for logs and for servers that are asked on its behalf.
    pub request_id: String,
    /// Languages that the client accepts, best first.
    pub accept_language: Vec<String>,
    /// Filled with the steps that the store takes, when somebody wants to know them.
    pub trace: Option<Arc<Trace>>,
    /// Counts the work of a store that blocks its thread, and ends it when it gets too long.
    pub meter: Option<Arc<Meter>>,
}

impl CallContext {
    /// Creates a context without deadline, trace and meter.
    #[must_use]
    pub fn new() -> Self {
        CallContext::default()
    }

    /// Sets the moment after which nobody waits any more.
    #[must_use]
    pub fn with_deadline(mut self, deadline: Instant) -> Self {
        self.deadline = Some(deadline);
        self
    }

    /// Sets how long the call may take from now on.
    #[must_use]
    pub fn with_timeout(self, timeout: Duration) -> Self {
        match Instant::now().checked_add(timeout) {
            Some(deadline) => self.with_deadline(deadline),
            None => self,
        }
    }

    /// Sets what is cancelled when the client goes away.
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

    /// Sets the record that is filled with the steps of the store.
    #[must_use]
    pub fn with_trace(mut self, trace: Arc<Trace>) -> Self {
        self.trace = Some(trace);
        self
    }

    /// Sets the meter that counts the work of a store that blocks its thread.
    #[must_use]
    pub fn with_meter(mut self, meter: Arc<Meter>) -> Self {
        self.meter = Some(meter);
        self
    }

    /// Counts one call to the store in the trace; stores call it for each step that they take.
    pub fn count_call(&self) {
        if let Some(trace) = &self.trace {
            trace.count_call();
        }
    }

    /// Checks that somebody still waits for the answer.
    ///
    /// # Errors
    /// When the deadline has passed or the request was cancelled.
    pub fn check(&self) -> Result<(), StoreError> {
        if self.cancellation.is_cancelled() {
            return Err(StoreError::Cancelled);
        }
        if self
            .deadline
            .is_some_and(|deadline| Instant::now() >= deadline)
        {
            return Err(StoreError::Deadline);
        }
        Ok(())
    }

    /// Counts work, and checks that somebody still waits for the answer.
    ///
    /// # Errors
    /// As [`CallContext::check`], and [`StoreError::Metered`] beyond the limit of the meter.
    pub fn spend(&self, work: u32) -> Result<(), StoreError> {
        self.check()?;
        let Some(meter) = &self.meter else {
            return Ok(());
        };
        meter.spent.fetch_add(u64::from(work), Ordering::Relaxed);
        if meter.is_over() {
            return Err(MeterExceeded::new().into());
        }
        Ok(())
    }
}

/// Counts work, in quads that are read and objects that are written, up to a limit.
#[derive(Debug)]
pub struct Meter {
    spent: AtomicU64,
    limit: u64,
}

impl Meter {
    /// Creates a meter that runs up to `limit`.
    #[must_use]
    pub fn new(limit: u64) -> Self {
        Meter {
            spent: AtomicU64::new(0),
            limit,
        }
    }

    /// Returns the work so far.
    #[must_use]
    pub fn spent(&self) -> u64 {
        self.spent.load(Ordering::Relaxed)
    }

    /// Tells whether there was more work than the limit allows.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.spent() > self.limit
    }
}
