//! What became of spans, and a word in the log about those that are lost.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;

/// Pause between two lines about spans that are lost.
const INTERVAL: Duration = Duration::from_secs(60);

/// What became of spans.
#[derive(Debug, Default)]
pub(super) struct Counts {
    /// Spans that are in the queue or on the way to the collector.
    waiting: AtomicUsize,
    sent: AtomicU64,
    /// Spans for which the queue had no room.
    dropped: AtomicU64,
    /// Spans that the collector did not take, or that did not reach it.
    failed: AtomicU64,
    /// Spans that the collector has answered for, and not kept.
    rejected: AtomicU64,
    /// Why spans were not taken, most recently.
    reason: Mutex<String>,
    lost: Notify,
}

/// How many spans were lost in which way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Lost {
    dropped: u64,
    failed: u64,
    rejected: u64,
}

impl Counts {
    /// Takes a place in a queue of `length` spans; if there is none, the span is dropped.
    pub(super) fn enqueue(&self, length: usize) -> bool {
        if self.waiting.fetch_add(1, Ordering::Relaxed) < length {
            return true;
        }
        self.waiting.fetch_sub(1, Ordering::Relaxed);
        self.dropped.fetch_add(1, Ordering::Relaxed);
        self.lost.notify_one();
        false
    }

    /// Counts spans that have left the queue, and whether they were sent.
    pub(super) fn dequeue(&self, spans: usize, is_sent: bool) {
        let count = if is_sent { &self.sent } else { &self.failed };
        count.fetch_add(spans as u64, Ordering::Relaxed);
        self.waiting.fetch_sub(spans, Ordering::Relaxed);
        if !is_sent {
            self.lost.notify_one();
        }
    }

    /// Counts spans that the collector has rejected.
    pub(super) fn reject(&self, spans: u64, why: &str) {
        self.rejected.fetch_add(spans, Ordering::Relaxed);
        self.explain(format!("the collector rejects them: {why:?}"));
        self.lost.notify_one();
    }

    /// Keeps why spans are not taken.
    pub(super) fn explain(&self, reason: String) {
        *self.reason.lock().unwrap_or_else(PoisonError::into_inner) = reason;
    }

    /// Logs what is lost, at once and then after each interval in which something was.
    pub(super) async fn watch(&self) {
        let mut said = Lost::default();
        loop {
            self.lost.notified().await;
            said = self.report(said);
            tokio::time::sleep(INTERVAL).await;
        }
    }

    /// Logs what is lost in the end, with what will not be sent any more.
    pub(super) fn end(&self) {
        let left = self.waiting.load(Ordering::Relaxed);
        let [(_, sent), (_, dropped), (_, failed), (_, rejected)] = self.outcomes();
        if left > 0 {
            tracing::warn!(spans = left, "spans were not sent before the end");
        }
        if dropped + failed + rejected > 0 {
            tracing::warn!(
                dropped,
                failed,
                rejected,
                sent,
                "spans were lost since the start"
            );
        }
    }

    /// Logs what is lost beyond what was `said`; returns what was said then.
    fn report(&self, said: Lost) -> Lost {
        let lost = self.lost();
        if lost != said {
            let reason = self.reason.lock().unwrap_or_else(PoisonError::into_inner);
            tracing::warn!(
                dropped = lost.dropped - said.dropped,
                failed = lost.failed - said.failed,
                rejected = lost.rejected - said.rejected,
                reason = reason.as_str(),
                "spans were lost"
            );
        }
        lost
    }

    fn lost(&self) -> Lost {
        Lost {
            dropped: self.dropped.load(Ordering::Relaxed),
            failed: self.failed.load(Ordering::Relaxed),
            rejected: self.rejected.load(Ordering::Relaxed),
        }
    }

    /// Returns how many spans have met with which outcome.
    pub(super) fn outcomes(&self) -> [(&'static str, u64); 4] {
        let Lost {
            dropped,
            failed,
            rejected,
        } = self.lost();
        let sent = self.sent.load(Ordering::Relaxed).saturating_sub(rejected);
        [
            ("sent", sent),
            ("dropped", dropped),
            ("failed", failed),
            ("rejected", rejected),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_counted_by_what_became_of_them() {
        let counts = Counts::default();
        let taken = (0..5).filter(|_| counts.enqueue(3)).count();
        assert_eq!(taken, 3);
        counts.dequeue(2, true);
        counts.reject(1, "too old");
        counts.dequeue(1, false);
        assert!(counts.enqueue(1), "there is room again");
        let expected = [("sent", 1), ("dropped", 2), ("failed", 1), ("rejected", 1)];
        assert_eq!(counts.outcomes(), expected);
    }

    #[test]
    fn what_was_said_is_not_said_again() {
        let counts = Counts::default();
        counts.enqueue(0);
        let said = counts.report(Lost::default());
        assert_eq!(said.dropped, 1);
        assert_eq!(counts.report(said), said);
    }
}
