//! Errors of stores.

use call_context::CallError;

/// An error of a store. Its message may contain addresses and never leaves the process.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The call ended by the fault of the request or of the service, not of the store.
    #[error(transparent)]
    Call(#[from] CallError),
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
    /// The store cannot be reached.
    #[error("the store cannot be reached")]
    Unavailable(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// Another transaction changed what this one has read; nothing was written, and it can be repeated.
    #[error("another transaction changed the same data")]
    Conflict,
    /// The server of the transaction failed before the commit; nothing was written, and the transaction can be repeated,
    /// on another server.
    #[error("the transaction ended with the server that it was begun on")]
    Interrupted(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The store does not keep concurrent writers apart, or is known not to; the message is fit for
    /// clients.
    #[error("{0}")]
    NotIsolated(String),
    /// There is no room on the disk of the store: nothing was written, and what is there is read.
    #[error("the disk of the store is full")]
    DiskFull(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The answer to a commit was lost, and whether it was carried out could not be found out.
    #[error("it is unknown whether the transaction was committed")]
    OutcomeUnknown(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The store failed on a valid query.
    #[error("the store failed")]
    Failed(#[source] Box<dyn std::error::Error + Send + Sync>),
}
