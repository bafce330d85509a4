//! A run that builds the indexes of a schema. While the engine or the store is away the indexer tries again what it
//! is at, as `task.default.retry.*` says; nothing here does.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use graph_store::CallContext;
use search_index::engine::PhysicalName;
use search_index::indexer::{Indexer, IndexerError, Report, Setback};
use search_index::service::Target;
use tokio::sync::{oneshot, watch};
use tokio_util::sync::CancellationToken;

use super::app::SearchApp;
use super::bound::{Bound, building};
use super::error::{SearchChangeError, code_of};
use super::follow::follow;

/// How often searches are told how far the indexes are.
const TICK: Duration = Duration::from_millis(50);

/// A run that builds the indexes of a schema.
pub(super) struct Job {
    /// What is served when the run has ended.
    pub(super) candidate: Arc<Bound>,
    token: CancellationToken,
    state: watch::Sender<JobState>,
    /// True once the run has ended.
    ended: watch::Sender<bool>,
    /// Some indexes were kept of which nobody knows whether the data have changed since.
    may_be_older: AtomicBool,
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

/// How a run ended.
enum Ended {
    Run(Result<Report, IndexerError>),
    /// Whoever bound the schema waits to hear whether its values fit, and that is not known soon.
    NotChecked(Setback),
}

/// Says that a schema is bound, or why it is not.
pub(super) type Accepted = oneshot::Sender<Result<(), SearchChangeError>>;

impl Job {
    pub(super) fn new(candidate: Arc<Bound>) -> Self {
        Job {
            candidate,
            token: CancellationToken::new(),
            state: watch::Sender::new(JobState::Running),
            ended: watch::Sender::new(false),
            may_be_older: AtomicBool::new(false),
        }
    }

    pub(super) fn cancel(&self) {
        self.token.cancel();
    }

    /// Waits until the run has ended.
    pub(super) async fn ended(&self) {
        let mut ended = self.ended.subscribe();
        // The sender is `self`.
        let _ = ended.wait_for(|ended| *ended).await;
    }

    /// Waits until all indexes are there, or it is known that they are not to be soon.
    pub(super) async fn settled(&self) {
        let mut state = self.state.subscribe();
        let progress = self.candidate.progress.load_full();
        tokio::select! {
            // The sender is `self`.
            _ = state.wait_for(|state| *state != JobState::Running) => {}
            _ = progress.until_setback() => {}
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

    fn set(&self, state: JobState) {
        self.state.send_replace(state);
    }
}

/// Marks the end of a run, however it ends.
struct EndOnDrop(Arc<Job>);

impl Drop for EndOnDrop {
    fn drop(&mut self) {
        self.0.ended.send_replace(true);
    }
}

/// A run and who waits for it.
pub(super) struct Run {
    app: Arc<SearchApp>,
    job: Arc<Job>,
    indexer: Indexer,
    /// Whoever waits to hear that the schema is bound.
    accepted: Option<Accepted>,
}

impl Run {
    pub(super) fn new(
        app: Arc<SearchApp>,
        job: Arc<Job>,
        indexer: Indexer,
        accepted: Accepted,
    ) -> Self {
        job.candidate.progress.store(indexer.progress());
        Run {
            app,
            job,
            indexer,
            accepted: Some(accepted),
        }
    }

    /// Runs to the end.
    pub(super) async fn run(mut self) {
        let _end = EndOnDrop(Arc::clone(&self.job));
        let token = self.job.token.clone();
        let retry = self.app.settings.search.retry.clone();
        if self.app.settings.search.ignore_malformed {
            self.accept().await;
        }
        if !sleep(retry.initial_delay.0, &token).await {
            return self.finish(JobState::Cancelled);
        }
        let error = match self.build().await {
            // What was refused meanwhile is not served.
            Ended::Run(Ok(_)) if token.is_cancelled() => {
                return self.finish(JobState::Cancelled);
            }
            Ended::Run(Ok(report)) => return self.complete(report).await,
            Ended::Run(Err(error)) => error,
            Ended::NotChecked(setback) => {
                tracing::warn!(reason = setback.reason, "the values cannot be checked");
                self.app.job.store(None);
                self.refuse(SearchChangeError::NotChecked(setback));
                return self.finish(JobState::Cancelled);
            }
        };
        if error.is_cancelled() || token.is_cancelled() {
            self.refuse(error.into());
            return self.finish(JobState::Cancelled);
        }
        tracing::error!(error = described(&error), "the indexes cannot be built");
        let failure = Failure::from(&error);
        if self.accepted.is_some() {
            // Nothing has changed, and whoever asked for it hears why.
            self.app.job.store(None);
        }
        self.refuse(error.into());
        self.finish(JobState::Failed { error: failure });
    }

    /// Builds the indexes; the schema is bound as soon as its values are known to fit.
    async fn build(&mut self) -> Ended {
        let context = CallContext::new().with_cancellation(self.job.token.clone());
        let are_checked = Arc::new(AtomicBool::new(false));
        let checked = Arc::clone(&are_checked);
        let indexer = &self.indexer;
        let run = indexer.run_checked(&context, move || checked.store(true, Ordering::Release));
        let mut run = std::pin::pin!(run);
        let mut tick = tokio::time::interval(TICK);
        let candidate = Arc::clone(&self.job.candidate);
        let (app, job, accepted) = (&self.app, &self.job, &mut self.accepted);
        let progress = indexer.progress();
        let mut was_set_back = false;
        loop {
            let somebody_waits = accepted.is_some() && !are_checked.load(Ordering::Acquire);
            tokio::select! {
                ended = &mut run => {
                    let has_failed = ended.as_ref().is_err_and(|error| !error.is_cancelled());
                    if has_failed && are_checked.load(Ordering::Acquire) {
                        // The values fit; whatever else is wrong is told by the state of the indexes.
                        accept(app, job, accepted).await;
                    }
                    return Ended::Run(ended);
                }
                setback = progress.until_setback(), if somebody_waits => {
                    return Ended::NotChecked(setback);
                }
                _ = tick.tick() => {
                    if accepted.is_some() && are_checked.load(Ordering::Acquire) {
                        accept(app, job, accepted).await;
                    }
                    candidate.show_progress();
                    if was_set_back != progress.setback().is_some() {
                        was_set_back = !was_set_back;
                        app.forget_health();
                    }
                }
            }
        }
    }

    async fn accept(&mut self) {
        accept(&self.app, &self.job, &mut self.accepted).await;
    }

    fn refuse(&mut self, error: SearchChangeError) {
        if let Some(accepted) = self.accepted.take() {
            // Nobody waits once the client has gone.
            let _ = accepted.send(Err(error));
        }
    }

    /// Serves the new indexes, and deletes those that they replace when nobody searches them any more.
    async fn complete(mut self, report: Report) {
        if !is_kept(&self.app, &self.job, &mut self.accepted).await {
            return self.finish(JobState::Cancelled);
        }
        let candidate = &self.job.candidate;
        let ready = report
            .objects
            .iter()
            .map(|o| Target::Ready(o.index.clone()));
        candidate.service.set_targets(ready.collect());
        self.app.serve(candidate);
        follow(&self.app, candidate);
        let documents: Vec<_> = report.objects.iter().map(|o| o.index.to_string()).collect();
        let is_unchanged = report.is_unchanged();
        tracing::info!(
            schema = candidate.id,
            indexes = documents.join(" "),
            is_unchanged,
            "all indexes are ready"
        );
        if report.objects.iter().any(|object| object.may_be_older) {
            self.job.may_be_older.store(true, Ordering::Release);
            tracing::warn!(
                schema = candidate.id,
                "the store does not say whether its data have changed since the indexes were built; \
                 bind the schema again to build them anew"
            );
        }
        self.job.set(JobState::Done);
        self.app.forget_health();
        if let Some(accepted) = self.accepted.take() {
            let _ = accepted.send(Ok(()));
        }
        let context = CallContext::new().with_cancellation(self.job.token.clone());
        if let Err(error) = self.indexer.remove_superseded(&report, &context).await
            && !error.is_cancelled()
        {
            tracing::warn!(error = described(&error), "replaced indexes are left");
        }
    }

    fn finish(mut self, state: JobState) {
        // Whoever still waits hears that something else came in between.
        drop(self.accepted.take());
        if let JobState::Failed { .. } = &state {
            self.job.candidate.set_failed();
        }
        self.job.set(state);
        self.app.forget_health();
    }
}

/// Keeps over a restart what is about to be served, where somebody waits for that. Returns whether that was possible;
/// otherwise the run is cancelled, and whoever waits hears why.
async fn is_kept(app: &SearchApp, job: &Job, accepted: &mut Option<Accepted>) -> bool {
    let Some(waiting) = accepted.take() else {
        return true;
    };
    match app.keep(&job.candidate).await {
        Ok(()) => {
            *accepted = Some(waiting);
            true
        }
        Err(error) => {
            job.cancel();
            app.job.store(None);
            // Nobody waits once the client has gone.
            let _ = waiting.send(Err(error));
            false
        }
    }
}

/// Serves a schema as far as its indexes are there, and says so to whoever bound it.
async fn accept(app: &SearchApp, job: &Job, accepted: &mut Option<Accepted>) {
    let candidate = &job.candidate;
    if !is_kept(app, job, accepted).await {
        return;
    }
    let progress = candidate.progress.load_full();
    let targets = app.existing(candidate).await.unwrap_or_default();
    let targets = (0..candidate.indexes.indexes.len()).map(|at| match targets.get(at) {
        Some(Some(name)) => Target::Ready(PhysicalName::clone(name)),
        _ => building(&progress, at),
    });
    candidate.service.set_targets(targets.collect());
    let is_better = app.bound().is_some_and(|bound| bound.is_complete());
    if candidate.is_complete() || !is_better {
        app.serve(candidate);
    }
    if let Some(accepted) = accepted.take() {
        let _ = accepted.send(Ok(()));
    }
}

impl SearchApp {
    /// Returns whether indexes of a bound schema were kept of which nobody knows how old they are.
    pub(super) fn may_be_older(&self, bound: &Arc<Bound>) -> bool {
        let job = self.job.load_full();
        job.is_some_and(|job| {
            Arc::ptr_eq(&job.candidate, bound) && job.may_be_older.load(Ordering::Acquire)
        })
    }

    /// Returns whether indexes are being built.
    pub(super) fn is_building(&self) -> bool {
        let job = self.job.load_full();
        job.is_some_and(|job| *job.state() == JobState::Running)
    }
}

impl Bound {
    /// Says of indexes that were to be built that there are none.
    fn set_failed(&self) {
        let targets = self.service.targets();
        let targets = targets.iter().map(|target| match target {
            Target::Building { .. } => Target::Missing,
            other => other.clone(),
        });
        self.service.set_targets(targets.collect());
    }
}

/// Returns an error with its causes, for logs and operators.
pub(super) fn described(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text.push_str(&format!(": {cause}"));
        source = cause.source();
    }
    text
}

/// Waits; tells whether it was not cancelled meanwhile.
pub(super) async fn sleep(time: Duration, token: &CancellationToken) -> bool {
    tokio::select! {
        () = token.cancelled() => false,
        () = tokio::time::sleep(time) => true,
    }
}
