//! Why a call ends that is not the fault of whoever is called.

/// Why a call ends early.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CallError {
    /// The deadline of the request passed.
    #[error("the deadline passed")]
    Deadline,
    /// The request was cancelled.
    #[error("the request was cancelled")]
    Cancelled,
    /// The work exceeds the limit of its [`Meter`](crate::Meter): repeat it on another thread. Only
    /// [`CallContext::spend`](crate::CallContext::spend) returns this.
    #[error("the work is too long for this thread")]
    Metered,
    /// There is no memory for a result now; see [`CallContext::hold`](crate::CallContext::hold).
    #[error("there is no memory for a result")]
    OutOfMemory,
    /// Too much work waits for a processor already; see [`LongWork`](crate::LongWork).
    #[error("too many requests wait for a processor")]
    Overloaded,
    /// Work on a result panicked; the panic is in the log.
    #[error("work on a result panicked")]
    Panicked,
}
