//! A record of what a store did for one request.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use serde::Serialize;

/// A record of the steps of one request, filled by the executor and the store.
#[derive(Debug, Default)]
pub struct Trace {
    calls: AtomicU64,
    steps: Mutex<Vec<TraceStep>>,
}

/// One step of a store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct TraceStep {
    /// Kind of work: `query`, `look-ups` or `walks`.
    pub work: &'static str,
    /// The query, if there was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sparql: Option<String>,
    /// How objects were looked up, if they were.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub look_up: Option<LookUp>,
    /// Number of rows, objects or values returned.
    pub rows: usize,
    /// Duration in microseconds.
    pub microseconds: u64,
}

/// How objects were looked up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LookUp {
    /// What candidates were found by: `ids`, `types`, `values`, `references`, `alternatives`, or `instances in order`, of
    /// which no more were tested than a page needs.
    pub by: &'static str,
    /// Number of candidates, for each of which the rest of the condition was tested.
    pub candidates: usize,
}

impl Trace {
    /// Counts one call to the store.
    pub(crate) fn count_call(&self) {
        self.calls.fetch_add(1, Ordering::Relaxed);
    }

    /// Adds a step that began at `start`.
    pub fn record(&self, work: &'static str, sparql: Option<String>, rows: usize, start: Instant) {
        self.push(TraceStep {
            work,
            sparql,
            look_up: None,
            rows,
            microseconds: micros(start.elapsed()),
        });
    }

    /// Adds a step in which objects were looked up, which began at `start`.
    pub fn record_look_up(&self, way: LookUp, rows: usize, start: Instant) {
        self.push(TraceStep {
            work: "look-ups",
            sparql: None,
            look_up: Some(way),
            rows,
            microseconds: micros(start.elapsed()),
        });
    }

    fn push(&self, step: TraceStep) {
        // After a poisoned lock, only this step is missing.
        if let Ok(mut steps) = self.steps.lock() {
            steps.push(step);
        }
    }

    /// Returns the number of calls to the store so far.
    #[must_use]
    pub fn calls(&self) -> u64 {
        self.calls.load(Ordering::Relaxed)
    }

    /// Returns the steps so far.
    #[must_use]
    pub fn steps(&self) -> Vec<TraceStep> {
        self.steps
            .lock()
            .map(|steps| steps.clone())
            .unwrap_or_default()
    }
}

/// Returns a duration in whole microseconds.
#[must_use]
pub fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}
