//! A run that builds the indexes of a schema, as others see it.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use arc_swap::ArcSwapOption;
use search_index::indexer::{IndexerError, Setback};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::bound::Bound;
use super::error::{SearchChangeError, code_of};

/// A run that builds the indexes of a schema.
pub(super) struct Job {
    /// What is served when the run has ended.
    pub(super) candidate: Arc<Bound>,
    pub(super) token: CancellationToken,
    state: watch::Sender<JobState>,
    /// True once the run has ended.
    pub(super) ended: watch::Sender<bool>,
    /// Some indexes were kept of which no one knows whether the data have changed since.
    pub(super) may_be_older: AtomicBool,
    pub(super) origin: Origin,
    /// Its schema is bound, whatever becomes of its indexes.
    is_accepted: AtomicBool,
    /// Its schema was unbound while it ran: nothing of it is served any more.
    is_unbound: AtomicBool,
    /// The last run whose schema was bound, until this one is accepted.
    replaced: ArcSwapOption<Job>,
    /// Whom it waits for.
    waits: watch::Sender<Option<Waiting>>,
}

/// Who has begun a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// The start of the service.
    Start,
    /// A user.
    User,
    /// Another instance has bound the schema.
    Followed,
}

/// What a run waits for: another instance builds the indexes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Waiting {
    /// What that instance is called, where it is known.
    pub(super) instance: Option<String>,
}

impl fmt::Display for Waiting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.instance {
            Some(instance) => write!(
                f,
                "waiting for the instance `{instance}`, which builds the indexes"
            ),
            None => f.write_str("waiting for another instance to build the indexes"),
        }
    }
}

/// How a run is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum JobState {
    /// It runs, or begins to; it may wait for the engine or the store.
    Running,
    /// It failed for good.
    Failed {
        /// Why.
        error: Failure,
    },
    /// It was cancelled.
    Cancelled,
    /// All indexes are there.
    Done,
}

/// Why a run failed, for operators.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Failure {
    pub(super) code: &'static str,
    /// What went wrong, without addresses and causes.
    pub(super) reason: String,
    /// How often it has failed so far.
    pub(super) tries: u32,
}

impl From<&IndexerError> for Failure {
    fn from(error: &IndexerError) -> Self {
        Failure {
            code: code_of(error),
            reason: error.reason(),
            tries: 1,
        }
    }
}

impl From<Setback> for Failure {
    fn from(setback: Setback) -> Self {
        let tries = setback.tries;
        let error = SearchChangeError::NotChecked(setback.clone());
        Failure {
            code: error.code(),
            reason: setback.reason,
            tries,
        }
    }
}

impl Job {
    /// Creates a run whose schema is not bound yet.
    pub(super) fn new(candidate: Arc<Bound>, origin: Origin, replaced: Option<Arc<Job>>) -> Self {
        Job {
            candidate,
            token: CancellationToken::new(),
            state: watch::Sender::new(JobState::Running),
            ended: watch::Sender::new(false),
            may_be_older: AtomicBool::new(false),
            origin,
            is_accepted: AtomicBool::new(false),
            is_unbound: AtomicBool::new(false),
            replaced: ArcSwapOption::new(replaced),
            waits: watch::Sender::new(None),
        }
    }

    /// Creates a run in place of one that was ended, whose schema is bound.
    pub(super) fn again(ended: &Job) -> Self {
        let job = Job::new(Arc::clone(&ended.candidate), ended.origin, None);
        job.is_accepted.store(true, Ordering::Release);
        job
    }

    /// Returns whether the schema is bound, whatever becomes of its indexes.
    pub(super) fn is_accepted(&self) -> bool {
        self.is_accepted.load(Ordering::Acquire)
    }

    /// Returns whether a user waits to hear that the schema is bound.
    pub(super) fn is_pending(&self) -> bool {
        self.origin == Origin::User && !self.is_accepted() && !*self.ended.borrow()
    }

    /// Returns whether the service has begun it when it started.
    pub(super) fn is_start(&self) -> bool {
        self.origin == Origin::Start
    }

    /// Notes whom the run waits for, or that it goes on.
    pub(super) fn wait_for(&self, waiting: Option<Waiting>) {
        self.waits.send_if_modified(|now| {
            let is_new = *now != waiting;
            *now = waiting;
            is_new
        });
    }

    /// Returns whom the run waits for.
    pub(super) fn waiting(&self) -> Option<Waiting> {
        self.waits.borrow().clone()
    }

    /// Notes that the schema is bound from now on.
    pub(super) fn accept(&self) {
        self.is_accepted.store(true, Ordering::Release);
        self.replaced.store(None);
    }

    /// Returns the run that this one is to replace.
    pub(super) fn replaced(&self) -> Option<Arc<Job>> {
        self.replaced.load_full()
    }

    /// Returns the run that this one was to replace, once.
    pub(super) fn take_replaced(&self) -> Option<Arc<Job>> {
        self.replaced.swap(None)
    }

    /// Forgets the run that this one is to replace, if it is of a schema.
    pub(super) fn forget_replaced(&self, id: &str) {
        if self.replaced().is_some_and(|job| job.candidate.id == id) {
            self.replaced.store(None);
        }
    }

    pub(super) fn cancel(&self) {
        self.token.cancel();
    }

    /// Ends the run, and has nothing of it be served any more; only while it is decided what is bound.
    pub(super) fn unbind(&self) {
        self.is_unbound.store(true, Ordering::Release);
        self.cancel();
    }

    pub(super) fn is_unbound(&self) -> bool {
        self.is_unbound.load(Ordering::Acquire)
    }

    /// Waits until the run has ended.
    pub(super) async fn ended(&self) {
        let mut ended = self.ended.subscribe();
        // The sender is `self`.
        let _ = ended.wait_for(|ended| *ended).await;
    }

    /// Waits until all indexes are there, or it is known that they are not to be soon.
    pub(super) async fn settled(&self) {
        let (mut state, mut waits) = (self.state.subscribe(), self.waits.subscribe());
        let progress = self.candidate.progress.load_full();
        tokio::select! {
            // The sender is `self`.
            _ = state.wait_for(|state| *state != JobState::Running) => {}
            _ = progress.until_setback() => {}
            _ = waits.wait_for(Option::is_some) => {}
        }
    }

    /// Returns why the run tries something again at the moment.
    pub(super) fn setback(&self) -> Option<Failure> {
        let is_running = *self.state.borrow() == JobState::Running;
        let progress = self.candidate.progress.load();
        is_running
            .then(|| progress.setback())
            .flatten()
            .map(Failure::from)
    }

    /// Returns why indexes are not built, or not built yet.
    pub(super) fn failure(&self) -> Option<Failure> {
        match &*self.state.borrow() {
            JobState::Failed { error } => return Some(error.clone()),
            JobState::Running => {}
            JobState::Cancelled | JobState::Done => return None,
        }
        self.setback()
    }

    pub(super) fn state(&self) -> watch::Ref<'_, JobState> {
        self.state.borrow()
    }

    pub(super) fn set(&self, state: JobState) {
        self.state.send_replace(state);
    }
}

/// Waits; returns whether it was not cancelled meanwhile.
pub(super) async fn sleep(time: Duration, token: &CancellationToken) -> bool {
    tokio::select! {
        () = token.cancelled() => false,
        () = tokio::time::sleep(time) => true,
    }
}
