//! Errors of stores.

use call_context::{CallError, MeterExceeded};

/// An error of a store. Its message may contain addresses and never leaves the process.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The deadline of the request passed.
    #[error("the deadline passed")]
    Deadline,
    /// The request was cancelled.
    #[error("the request was cancelled")]
    Cancelled,
    /// The work exceeds the limit of its meter; only [`CallContext::spend`](crate::CallContext::spend) leads to this.
    #[error(transparent)]
    Metered(#[from] MeterExceeded),
    /// The store cannot do what is requested; the message is fit for clients.
    #[error("{0}")]
    Unsupported(String),
    /// A regular expression needs more memory than allowed.
    #[error("a regular expression is too large")]
    RegexTooLarge,
    /// A result of the store is larger than allowed.
    #[error("a result of the store is larger than {limit} bytes")]
    ResultTooLarge {
        /// The limit, in bytes.
        limit: u64,
    },
    /// There is no memory for a result now; see [`CallContext::hold`](crate::CallContext::hold).
    #[error("there is no memory for a result of the store")]
    OutOfMemory,
    /// Too much work waits for a processor already; see [`LongWork`](call_context::LongWork).
    #[error("too many requests wait for a processor")]
    Overloaded,
    /// Work on a result panicked; the panic is in the log.
    #[error("work on a result of the store panicked")]
    Panicked,
    /// The store cannot be reached.
    #[error("the store cannot be reached")]
    Unavailable(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// Another transaction changed what this one has read; nothing was written, and it can be repeated.
    #[error("another transaction changed the same data")]
    Conflict,
    /// The store does not keep concurrent writers apart, or is known not to; the message is fit for
    /// clients.
    #[error("{0}")]
    NotIsolated(String),
    /// There is no room on the disk of the store: nothing was written, and what is there is read.
    #[error("there is no room on the disk of the store")]
    DiskFull(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The answer to a commit was lost, and whether it was carried out could not be found out.
    #[error("it is unknown whether the transaction was committed")]
    OutcomeUnknown(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The store failed on a valid query.
    #[error("the store failed")]
    Failed(#[source] Box<dyn std::error::Error + Send + Sync>),
}

impl From<CallError> for StoreError {
    fn from(error: CallError) -> Self {
        match error {
            CallError::Deadline => StoreError::Deadline,
            CallError::Cancelled => StoreError::Cancelled,
            CallError::Metered(exceeded) => StoreError::Metered(exceeded),
            CallError::OutOfMemory => StoreError::OutOfMemory,
            CallError::Overloaded => StoreError::Overloaded,
            // There may be other ones in later versions.
            _ => StoreError::Panicked,
        }
    }
}

impl StoreError {
    /// Returns why a call ended that did not fail by the fault of the store, but by that of the request or of the service;
    /// `None` for all others.
    #[must_use]
    pub fn of_call(&self) -> Option<CallError> {
        Some(match self {
            StoreError::Deadline => CallError::Deadline,
            StoreError::Cancelled => CallError::Cancelled,
            StoreError::OutOfMemory => CallError::OutOfMemory,
            StoreError::Overloaded => CallError::Overloaded,
            _ => return None,
        })
    }
}
