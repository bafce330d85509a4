//! How many calls a request has made, for metrics and for the log.

use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

/// Counts the calls of one request, at negligible cost.
#[derive(Debug, Default)]
pub struct Tally {
    calls: AtomicU64,
    kind: AtomicU8,
}

impl Tally {
    /// Counts one call.
    pub fn count_call(&self) {
        self.calls.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns the number of calls so far.
    #[must_use]
    pub fn calls(&self) -> u64 {
        self.calls.load(Ordering::Relaxed)
    }

    /// Notes of what kind the request is, as a number of whoever reads it; 0 is unknown. The first note counts: what a
    /// request asks of other services may be of another kind.
    pub fn note_kind(&self, kind: u8) {
        // Where this fails, whoever was first has said it.
        let _ = self
            .kind
            .compare_exchange(0, kind, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// Returns the kind that was noted.
    #[must_use]
    pub fn kind(&self) -> u8 {
        self.kind.load(Ordering::Relaxed)
    }
}
