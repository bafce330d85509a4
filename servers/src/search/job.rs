//! A run that builds the indexes of a schema, tried again while the engine or the store is away.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use graph_store::CallContext;
use search_index::engine::PhysicalName;
use search_index::indexer::{Indexer, IndexerError, Report};
use search_index::service::Target;
use tokio::sync::{oneshot, watch};
use tokio_util::sync::CancellationToken;

use super::app::SearchApp;
use super::bound::{Bound, building};
use super::error::SearchChangeError;

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
}

/// How a run is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum JobState {
    /// It runs, or begins to.
    Running,
    /// It failed, and is tried again.
    Waiting {
        /// Number of tries so far.
        tries: u32,
        /// Why it failed.
        error: Failure,
    },
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
    /// The code, if the engine is the reason.
    pub(super) code: Option<&'static str>,
    /// The error with its causes.
    pub(super) text: String,
}

impl Failure {
    fn of(error: &IndexerError) -> Self {
        let code = match error {
            IndexerError::Engine(error) => Some(error.code().as_str()),
            _ => None,
        };
        Failure {
            code,
            text: described(error),
        }
    }
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
        // The sender is `self`.
        let _ = state.wait_for(|state| *state != JobState::Running).await;
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
        let mut tries = 0;
        loop {
            let error = match self.attempt().await {
                Ok(report) => return self.complete(report).await,
                Err(error) => error,
            };
            if error.is_cancelled() || token.is_cancelled() {
                self.refuse(error);
                return self.finish(JobState::Cancelled);
            }
            let failure = Failure::of(&error);
            if !error.is_transient() || tries == retry.max_retries || self.accepted.is_some() {
                tracing::error!(error = failure.text, "the indexes cannot be built");
                if self.accepted.is_some() {
                    // Nothing has changed, and whoever asked for it hears why.
                    self.app.job.store(None);
                }
                self.refuse(error);
                return self.finish(JobState::Failed { error: failure });
            }
            tries += 1;
            let error = failure;
            tracing::warn!(
                error = error.text,
                tries,
                "building the indexes is tried again"
            );
            self.job.set(JobState::Waiting { tries, error });
            self.app.forget_health();
            if !sleep(retry.delay.0, &token).await {
                return self.finish(JobState::Cancelled);
            }
            self.job.set(JobState::Running);
        }
    }

    /// Builds the indexes once; the schema is bound as soon as its values are known to fit.
    async fn attempt(&mut self) -> Result<Report, IndexerError> {
        let context = CallContext::new().with_cancellation(self.job.token.clone());
        let are_checked = Arc::new(AtomicBool::new(false));
        let checked = Arc::clone(&are_checked);
        let indexer = &self.indexer;
        let run = indexer.run_checked(&context, move || checked.store(true, Ordering::Release));
        let mut run = std::pin::pin!(run);
        let mut tick = tokio::time::interval(TICK);
        let candidate = Arc::clone(&self.job.candidate);
        let (app, job, accepted) = (&self.app, &self.job, &mut self.accepted);
        loop {
            tokio::select! {
                ended = &mut run => {
                    let has_failed = ended.as_ref().is_err_and(|error| !error.is_cancelled());
                    if has_failed && are_checked.load(Ordering::Acquire) {
                        // The values fit; whatever else is wrong is told by the state of the indexes.
                        accept(app, job, accepted).await;
                    }
                    return ended;
                }
                _ = tick.tick() => {
                    if accepted.is_some() && are_checked.load(Ordering::Acquire) {
                        accept(app, job, accepted).await;
                    }
                    candidate.show_progress();
                }
            }
        }
    }

    async fn accept(&mut self) {
        accept(&self.app, &self.job, &mut self.accepted).await;
    }

    fn refuse(&mut self, error: IndexerError) {
        if let Some(accepted) = self.accepted.take() {
            // Nobody waits once the client has gone.
            let _ = accepted.send(Err(error.into()));
        }
    }

    /// Serves the new indexes, and deletes those that they replace when nobody searches them any more.
    async fn complete(mut self, report: Report) {
        let candidate = &self.job.candidate;
        let ready = report
            .objects
            .iter()
            .map(|o| Target::Ready(o.index.clone()));
        candidate.service.set_targets(ready.collect());
        self.app.serve(candidate);
        let documents: Vec<_> = report.objects.iter().map(|o| o.index.to_string()).collect();
        let is_unchanged = report.is_unchanged();
        tracing::info!(
            schema = candidate.id,
            indexes = documents.join(" "),
            is_unchanged,
            "all indexes are ready"
        );
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

/// Serves a schema as far as its indexes are there, and says so to whoever bound it.
async fn accept(app: &SearchApp, job: &Job, accepted: &mut Option<Accepted>) {
    let candidate = &job.candidate;
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
