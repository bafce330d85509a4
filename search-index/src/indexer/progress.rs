//! How far a run is, for whoever wants to know while it runs.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use graphql_service::ErrorCode;
use tokio::sync::watch;

use super::error::IndexerError;
use crate::code;
use crate::document::Malformed;

/// Malformed values that are kept of each field.
const EXAMPLES: usize = 5;

/// How far a run is. Reading it costs nothing to the run.
#[derive(Debug, Default)]
pub struct Progress {
    objects: Vec<ObjectProgress>,
    retrying: watch::Sender<Retrying>,
}

/// What is tried again at the moment.
#[derive(Debug, Default)]
struct Retrying {
    /// How many calls have failed and are not done yet.
    calls: usize,
    last: Option<Setback>,
}

/// A failure after which a run continues and retries.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Setback {
    /// How often it has failed so far.
    pub tries: u32,
    /// The code, if the engine or the store is the reason.
    pub code: Option<ErrorCode>,
    /// What went wrong, without addresses and causes.
    pub reason: String,
}

impl Setback {
    pub(super) fn of(error: &IndexerError) -> Self {
        Setback {
            tries: 0,
            code: error.code(),
            reason: error.reason(),
        }
    }

    /// Returns the setback of an engine that has no room for documents.
    pub(super) fn of_refusals() -> Self {
        Setback {
            tries: 0,
            code: Some(code::ENGINE_OVERLOADED),
            reason: "the search engine has no room for documents at the moment".to_owned(),
        }
    }
}

/// How far the index of an object is.
#[derive(Debug, Default)]
pub struct ObjectProgress {
    object: String,
    stage: AtomicU8,
    total: AtomicU64,
    read: AtomicU64,
    written: AtomicU64,
    malformed: AtomicU64,
    rejected: AtomicU64,
    /// When reading began, and when all was written.
    times: Mutex<(Option<Instant>, Option<Instant>)>,
    fields: Mutex<BTreeMap<String, MalformedCount>>,
}

/// Values of a field that cannot be indexed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct MalformedCount {
    /// How many.
    pub count: u64,
    /// The first of them.
    pub examples: Vec<Malformed>,
}

/// The current stage of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stage {
    /// Nothing yet.
    Waiting,
    /// Its values are checked, and nothing is written.
    Checking,
    /// Its documents are read and written.
    Filling,
    /// Its index is compared with the store.
    Verifying,
    /// Its index is complete, and waits for those of others.
    Complete,
    /// Its alias leads to its index.
    Done,
}

const STAGES: [Stage; 6] = [
    Stage::Waiting,
    Stage::Checking,
    Stage::Filling,
    Stage::Verifying,
    Stage::Complete,
    Stage::Done,
];

impl Progress {
    pub(super) fn new<'o>(objects: impl IntoIterator<Item = &'o str>) -> Self {
        let object = |name: &str| ObjectProgress {
            object: name.to_owned(),
            ..ObjectProgress::default()
        };
        Progress {
            objects: objects.into_iter().map(object).collect(),
            retrying: watch::Sender::default(),
        }
    }

    /// Returns why something is tried again at the moment.
    #[must_use]
    pub fn setback(&self) -> Option<Setback> {
        self.retrying.borrow().last.clone()
    }

    /// Waits until something has failed that is tried again; returns why.
    pub async fn until_setback(&self) -> Setback {
        let mut retrying = self.retrying.subscribe();
        loop {
            let last = retrying.borrow_and_update().last.clone();
            if let Some(last) = last {
                return last;
            }
            // The sender is `self`.
            let _ = retrying.changed().await;
        }
    }

    /// Notes that a call has failed which is tried again, for the first time or another.
    pub(super) fn failed(&self, is_first: bool, setback: Setback) {
        self.retrying.send_modify(|retrying| {
            retrying.calls += usize::from(is_first);
            retrying.last = Some(setback);
        });
    }

    /// Notes that a call which had failed is done, or given up.
    pub(super) fn is_over(&self) {
        self.retrying.send_modify(|retrying| {
            retrying.calls -= 1;
            if retrying.calls == 0 {
                retrying.last = None;
            }
        });
    }

    /// Returns the objects, in the order of the schema.
    #[must_use]
    pub fn objects(&self) -> &[ObjectProgress] {
        &self.objects
    }

    pub(super) fn of(&self, object: &str) -> &ObjectProgress {
        let found = self.objects.iter().find(|found| found.object == object);
        found.expect("there is one for each definition")
    }
}

impl ObjectProgress {
    /// Returns the GraphQL name of the object.
    #[must_use]
    pub fn object(&self) -> &str {
        &self.object
    }

    /// Returns what is done at the moment.
    #[must_use]
    pub fn stage(&self) -> Stage {
        STAGES[usize::from(self.stage.load(Ordering::Acquire))]
    }

    /// Returns the number of objects; 0 while they are not counted.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.total.load(Ordering::Relaxed)
    }

    /// Returns how many documents were read.
    #[must_use]
    pub fn read(&self) -> u64 {
        self.read.load(Ordering::Relaxed)
    }

    /// Returns how many documents the engine took.
    #[must_use]
    pub fn written(&self) -> u64 {
        self.written.load(Ordering::Relaxed)
    }

    /// Returns how many values cannot be indexed.
    #[must_use]
    pub fn malformed(&self) -> u64 {
        self.malformed.load(Ordering::Relaxed)
    }

    /// Returns how many documents the engine did not take because of a value.
    #[must_use]
    pub fn rejected(&self) -> u64 {
        self.rejected.load(Ordering::Relaxed)
    }

    /// Returns the values that cannot be indexed, by the full name of the field.
    #[must_use]
    pub fn malformed_fields(&self) -> BTreeMap<String, MalformedCount> {
        self.fields().clone()
    }

    /// Returns how long it has taken so far.
    #[must_use]
    pub fn time(&self) -> Duration {
        match *self.times() {
            (Some(begun), Some(ended)) => ended - begun,
            (Some(begun), None) => begun.elapsed(),
            (None, _) => Duration::ZERO,
        }
    }

    /// Returns the number of documents that are written in a second.
    #[must_use]
    pub fn rate(&self) -> f64 {
        let seconds = self.time().as_secs_f64();
        #[expect(clippy::cast_precision_loss, reason = "a rate for people")]
        let written = self.written() as f64;
        if seconds > 0.0 {
            written / seconds
        } else {
            0.0
        }
    }

    /// Estimates how long writing the rest takes; `None` until something is written.
    #[must_use]
    pub fn estimate(&self) -> Option<Duration> {
        let rate = self.rate();
        let done = self.written() + self.rejected();
        #[expect(clippy::cast_precision_loss, reason = "an estimate")]
        let left = self.total().saturating_sub(done) as f64;
        (rate > 0.0).then(|| Duration::try_from_secs_f64(left / rate).unwrap_or(Duration::MAX))
    }

    pub(super) fn enter(&self, stage: Stage) {
        let at = STAGES.iter().position(|other| *other == stage);
        let at = at.and_then(|at| u8::try_from(at).ok());
        self.stage
            .store(at.expect("there are six"), Ordering::Release);
        let mut times = self.times();
        match stage {
            Stage::Filling => *times = (Some(Instant::now()), None),
            Stage::Complete => times.1 = Some(Instant::now()),
            Stage::Waiting | Stage::Checking | Stage::Verifying | Stage::Done => {}
        }
    }

    /// Begins to count, from nothing.
    pub(super) fn begin(&self, stage: Stage, total: u64) {
        let counts = [&self.read, &self.written, &self.malformed, &self.rejected];
        for count in counts {
            count.store(0, Ordering::Relaxed);
        }
        self.fields().clear();
        self.total.store(total, Ordering::Relaxed);
        self.enter(stage);
    }

    pub(super) fn add_read(&self, documents: usize) {
        self.read.fetch_add(documents as u64, Ordering::Relaxed);
    }

    pub(super) fn add_written(&self, documents: usize) {
        self.written.fetch_add(documents as u64, Ordering::Relaxed);
    }

    pub(super) fn add_rejected(&self) {
        self.rejected.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn add_malformed(&self, malformed: &[Malformed]) {
        if malformed.is_empty() {
            return;
        }
        self.malformed
            .fetch_add(malformed.len() as u64, Ordering::Relaxed);
        let mut fields = self.fields();
        for value in malformed {
            let field = fields.entry(value.path.clone()).or_default();
            field.count += 1;
            if field.examples.len() < EXAMPLES {
                field.examples.push(value.clone());
            }
        }
    }

    fn times(&self) -> MutexGuard<'_, (Option<Instant>, Option<Instant>)> {
        self.times.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn fields(&self) -> MutexGuard<'_, BTreeMap<String, MalformedCount>> {
        self.fields.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
