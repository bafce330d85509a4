//! Calls to a store on behalf of GraphQL requests: their context, memory and slots.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use graphql_service::{
    GraphqlError, MemoryAccount, OutOfMemory, RequestContext, SlotError, Slots, Weight, code,
};

use crate::context::{CallContext, LongWork, ResultMemory};
use crate::error::StoreError;

/// Returns the context of store calls for a request, without memory and long work.
#[must_use]
pub fn call_context(context: &RequestContext) -> CallContext {
    CallContext {
        deadline: context.deadline,
        cancellation: context.cancellation.clone(),
        request_id: context.request_id.clone(),
        accept_language: context.accept_language.clone(),
        trace: None,
        meter: None,
        memory: None,
        long_work: None,
        snapshots: None,
    }
}

/// Longest time that a request in a slot waits for memory.
pub const PATIENCE: Duration = Duration::from_millis(250);

/// The results of a store, as a part of what a request holds.
#[derive(Debug)]
pub struct RequestMemory {
    account: Arc<MemoryAccount>,
    held: AtomicUsize,
    /// The thread may block.
    may_wait: bool,
}

impl RequestMemory {
    /// Counts results in the account of a request. Where the thread may block, it waits for memory for
    /// up to [`PATIENCE`].
    #[must_use]
    pub fn new(context: &RequestContext, may_wait: bool) -> Self {
        RequestMemory {
            account: Arc::clone(&context.memory),
            held: AtomicUsize::new(0),
            may_wait,
        }
    }
}

impl ResultMemory for RequestMemory {
    fn hold(&self, bytes: usize) -> bool {
        let grown = match self.may_wait {
            true => self.account.grow_blocking(bytes, PATIENCE),
            false => self.account.grow(bytes),
        };
        if grown.is_ok() {
            self.held.fetch_add(bytes, Ordering::Relaxed);
        }
        grown.is_ok()
    }

    fn held(&self) -> usize {
        self.held.load(Ordering::Relaxed)
    }

    fn release_to(&self, bytes: usize) {
        let held = self.held.swap(bytes, Ordering::Relaxed);
        self.account.shrink(held.saturating_sub(bytes));
    }
}

impl Drop for RequestMemory {
    fn drop(&mut self) {
        self.release_to(0);
    }
}

/// Returns what a client is told of a failure that is none of the store's own, but one of the request or of the
/// service; `None` for all others.
#[must_use]
pub fn error_of_request(error: &StoreError) -> Option<GraphqlError> {
    Some(match error {
        StoreError::Deadline => {
            GraphqlError::new(code::DEADLINE_EXCEEDED, "the request took too long")
        }
        StoreError::Cancelled => GraphqlError::new(code::CANCELLED, "the request was cancelled"),
        StoreError::OutOfMemory => OutOfMemory.into(),
        StoreError::Overloaded => SlotError::QueueFull.into(),
        _ => return None,
    })
}

/// Terms of a result that are worked on in a slot of medium weight, about 30 milliseconds; more take a long one.
pub const MEDIUM_TERMS: usize = 1 << 15;

/// Runs what a request does between its calls to a store in slots.
#[derive(Debug)]
pub struct InSlots {
    slots: Arc<Slots>,
    deadline: Option<Instant>,
}

impl InSlots {
    /// Runs work in these slots until the deadline of a request.
    #[must_use]
    pub fn new(slots: Arc<Slots>, deadline: Option<Instant>) -> Self {
        InSlots { slots, deadline }
    }
}

#[async_trait]
impl LongWork for InSlots {
    async fn run(&self, terms: usize, work: Box<dyn FnOnce() + Send>) -> Result<(), StoreError> {
        let weight = match terms {
            ..=MEDIUM_TERMS => Weight::Medium,
            _ => Weight::Long,
        };
        let done = self.slots.run(weight, self.deadline, |_| work()).await;
        done.map_err(|error| match error {
            SlotError::QueueFull => StoreError::Overloaded,
            SlotError::Deadline => StoreError::Deadline,
            _ => StoreError::Panicked,
        })
    }
}
