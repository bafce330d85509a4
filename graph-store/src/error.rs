//! How stores fail.

/// A failure of a store. Its text may name addresses and never leaves the process.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The deadline of the request passed.
    #[error("the deadline passed")]
    Deadline,
    /// The request was cancelled.
    #[error("the request was cancelled")]
    Cancelled,
    /// The work exceeds the limit of its meter; only [`CallContext::spend`] gives this.
    ///
    /// [`CallContext::spend`]: crate::CallContext::spend
    #[error(transparent)]
    Metered(#[from] MeterExceeded),
    /// The store cannot do what is asked for; the text is fit for clients.
    #[error("{0}")]
    Unsupported(String),
    /// A regular expression needs more memory than allowed.
    #[error("a regular expression is too large")]
    RegexTooLarge,
    /// A result of the store is larger than allowed.
    #[error("a result of the store is larger than {limit} bytes")]
    ResultTooLarge {
        /// The bound, in bytes.
        limit: u64,
    },
    /// The store cannot be reached.
    #[error("the store cannot be reached")]
    Unavailable(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The store failed on a valid query.
    #[error("the store failed")]
    Failed(#[source] Box<dyn std::error::Error + Send + Sync>),
}

/// There was more work than a [`Meter`](crate::Meter) allows: it is to be done again on another thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the work is too long for this thread")]
pub struct MeterExceeded(());

impl MeterExceeded {
    pub(crate) fn new() -> Self {
        MeterExceeded(())
    }
}
