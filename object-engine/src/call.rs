//! Converts request contexts to store contexts, and store failures to errors that clients see.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use graph_store::{CallContext, LongWork, ResultMemory, StoreError};
use graphql_service::{
    GraphqlError, MemoryAccount, RequestContext, SlotError, Slots, Weight, code as shared,
};

use crate::code;

/// Returns the context of store calls for a request.
pub(crate) fn call_context(context: &RequestContext) -> CallContext {
    let mut call = CallContext::new()
        .with_cancellation(context.cancellation.clone())
        .with_request_id(context.request_id.clone())
        .with_accept_language(context.accept_language.clone());
    call.deadline = context.deadline;
    call
}

/// Longest time that a request in a slot waits for memory.
pub(crate) const PATIENCE: Duration = Duration::from_millis(250);

/// The results of the store, as a part of what the request holds.
#[derive(Debug)]
pub(crate) struct StoreMemory {
    account: Arc<MemoryAccount>,
    held: AtomicUsize,
    /// The thread may block.
    may_wait: bool,
}

impl StoreMemory {
    pub(crate) fn new(context: &RequestContext, may_wait: bool) -> Self {
        StoreMemory {
            account: Arc::clone(&context.memory),
            held: AtomicUsize::new(0),
            may_wait,
        }
    }
}

impl ResultMemory for StoreMemory {
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

impl Drop for StoreMemory {
    fn drop(&mut self) {
        self.release_to(0);
    }
}

/// Terms of a result that are worked on in a slot of medium weight, about 30 milliseconds.
const MEDIUM_TERMS: usize = 1 << 15;

/// Runs what a request does between its calls to a store in slots.
#[derive(Debug)]
pub(crate) struct InSlots {
    slots: Arc<Slots>,
    deadline: Option<Instant>,
}

impl InSlots {
    pub(crate) fn new(slots: Arc<Slots>, deadline: Option<Instant>) -> Self {
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

/// Returns the error of a request that there is no memory for.
pub(crate) fn out_of_memory() -> GraphqlError {
    let message = "the requests being served hold all memory that they may";
    GraphqlError::new(shared::OVERLOADED, message)
}

/// Returns the error of a request that got no slot.
pub(crate) fn slot_error(error: SlotError) -> GraphqlError {
    let code = match error {
        SlotError::QueueFull => shared::OVERLOADED,
        SlotError::Deadline => shared::DEADLINE_EXCEEDED,
        _ => return GraphqlError::new(shared::INTERNAL, "the service failed"),
    };
    GraphqlError::new(code, error.to_string())
}

/// Returns what a client is told of a failure of the store; the rest goes into the log.
pub(crate) fn store_error(error: &StoreError, request_id: &str) -> GraphqlError {
    let failed = |code, message| GraphqlError::of_failure(code, message, error, request_id);
    match error {
        StoreError::Deadline => {
            GraphqlError::new(shared::DEADLINE_EXCEEDED, "the request took too long")
        }
        StoreError::Cancelled => GraphqlError::new(shared::CANCELLED, "the request was cancelled"),
        StoreError::Unsupported(what) => GraphqlError::new(code::STORE_UNSUPPORTED, what.clone()),
        StoreError::RegexTooLarge => GraphqlError::new(
            code::LIMIT_REGEX,
            "the regular expression needs more memory than allowed",
        ),
        StoreError::ResultTooLarge { limit } => GraphqlError::new(
            code::LIMIT_STORE_RESULT,
            "a result of the store is larger than allowed",
        )
        .with("limit", *limit),
        StoreError::OutOfMemory => out_of_memory(),
        StoreError::Overloaded => slot_error(SlotError::QueueFull),
        StoreError::Conflict => GraphqlError::new(
            code::WRITE_CONFLICT,
            "other writers kept changing the same data; nothing was written, and the request can be repeated",
        ),
        StoreError::NotIsolated(what) => GraphqlError::new(code::STORE_NOT_ISOLATED, what.clone()),
        StoreError::OutcomeUnknown(_) => failed(
            code::WRITE_OUTCOME_UNKNOWN,
            "it is unknown whether the mutation was written",
        ),
        StoreError::Unavailable(_) => {
            failed(code::STORE_UNAVAILABLE, "the store cannot be reached")
        }
        StoreError::Failed(_) => failed(code::STORE_FAILED, "the store failed"),
        // The request is executed again where it may take longer, so nothing went wrong.
        StoreError::Metered(_) => GraphqlError::new(shared::INTERNAL, "the service failed"),
        _ => failed(shared::INTERNAL, "the service failed"),
    }
}
