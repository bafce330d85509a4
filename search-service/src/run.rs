//! A run that builds the indexes of a schema. While the engine or the store is away the indexer tries again what it
//! is at, as `task.default.retry.*` says; nothing here does. A run that is refused puts back the one that it was to
//! replace.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use graph_store::CallContext;
use search_index::engine::PhysicalName;
use search_index::indexer::{Indexer, IndexerError, Report, Setback};
use search_index::service::Target;
use service_runtime::with_causes;
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use super::app::SearchApp;
use super::bound::{Bound, building};
use super::error::SearchChangeError;
use super::follow::follow;
use super::job::{Failure, Job, JobState};

/// How often searches are told how far the indexes are.
const TICK: Duration = Duration::from_millis(50);

/// How often something may fail until a bind is refused that waits for its values to be checked. A start goes on.
const TRIES_OF_CHECK: u32 = 3;

/// How a run ended.
enum Ended {
    Run(Result<Report, IndexerError>),
    /// Whoever bound the schema waits to hear whether its values fit, and that is not known soon.
    NotChecked(Setback),
}

/// Says that a schema is bound, or why it is not.
pub(super) type Accepted = oneshot::Sender<Result<(), SearchChangeError>>;

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
    /// Why it cannot be kept that the schema is bound.
    not_kept: Option<SearchChangeError>,
}

impl Run {
    pub(super) fn new(
        app: Arc<SearchApp>,
        job: Arc<Job>,
        indexer: Indexer,
        accepted: Option<Accepted>,
    ) -> Self {
        job.candidate.progress.store(indexer.progress());
        Run {
            app,
            job,
            indexer,
            accepted,
            not_kept: None,
        }
    }

    /// Runs to the end.
    pub(super) async fn run(mut self) {
        let _end = EndOnDrop(Arc::clone(&self.job));
        let token = self.job.token.clone();
        let retry = self.app.options.retry.clone();
        if self.app.options.ignore_malformed {
            let bound = accept(&self.app, &self.job, &mut self.accepted).await;
            self.not_kept = bound.err();
        }
        if self.not_kept.is_some() || !sleep(retry.initial_delay, &token).await {
            return self.cancelled().await;
        }
        let error = match self.build().await {
            // What was refused meanwhile is not served.
            Ended::Run(Ok(_)) if token.is_cancelled() => return self.cancelled().await,
            Ended::Run(Ok(report)) => return self.complete(report).await,
            Ended::Run(Err(error)) => error,
            Ended::NotChecked(setback) => {
                tracing::warn!(reason = setback.reason, "the values cannot be checked");
                return self.refuse(SearchChangeError::NotChecked(setback)).await;
            }
        };
        if error.is_cancelled() || token.is_cancelled() {
            return self.cancelled().await;
        }
        tracing::error!(error = with_causes(&error), "the indexes cannot be built");
        if self.accepted.is_some() {
            return self.refuse(error.into()).await;
        }
        let error = Failure::from(&error);
        self.finish(JobState::Failed { error });
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
        let (app, job) = (&self.app, &self.job);
        let (accepted, not_kept) = (&mut self.accepted, &mut self.not_kept);
        let progress = indexer.progress();
        let mut was_set_back = false;
        loop {
            tokio::select! {
                ended = &mut run => {
                    let has_failed = ended.as_ref().is_err_and(|error| !error.is_cancelled());
                    if has_failed && are_checked.load(Ordering::Acquire) {
                        // The values fit; whatever else is wrong is told by the state of the indexes.
                        accept_or_cancel(app, job, accepted, not_kept).await;
                    }
                    return Ended::Run(ended);
                }
                _ = tick.tick() => {
                    let setback = progress.setback();
                    let somebody_waits = accepted.is_some() && not_kept.is_none();
                    if somebody_waits && are_checked.load(Ordering::Acquire) {
                        accept_or_cancel(app, job, accepted, not_kept).await;
                    } else if somebody_waits
                        && !job.is_start
                        && let Some(setback) = &setback
                        && setback.tries >= TRIES_OF_CHECK
                    {
                        return Ended::NotChecked(setback.clone());
                    }
                    candidate.show_progress();
                    if was_set_back != setback.is_some() {
                        was_set_back = !was_set_back;
                        app.forget_health();
                    }
                }
            }
        }
    }

    /// Ends a run that was cancelled.
    async fn cancelled(mut self) {
        match self.not_kept.take() {
            Some(error) => self.refuse(error).await,
            None => self.finish(JobState::Cancelled),
        }
    }

    /// Ends a run whose schema is not bound. What is bound, and builds its indexes, is as it was before.
    async fn refuse(mut self, error: SearchChangeError) {
        let accepted = self.accepted.take();
        {
            // What is put back is seen by whoever decides next, and may unbind it.
            let _decision = self.app.deciding.lock().await;
            self.app.put_back(&self.job);
        }
        self.finish(JobState::Cancelled);
        if let Some(accepted) = accepted {
            // Nobody waits once the client has gone.
            let _ = accepted.send(Err(error));
        }
    }

    /// Serves the new indexes, and deletes those that they replace when nobody searches them any more.
    async fn complete(mut self, report: Report) {
        let app = Arc::clone(&self.app);
        let decision = app.deciding.lock().await;
        if self.job.is_unbound() {
            drop(decision);
            return self.finish(JobState::Cancelled);
        }
        if self.accepted.is_some()
            && let Err(error) = app.keep(&self.job.candidate).await
        {
            drop(decision);
            return self.refuse(error).await;
        }
        let candidate = &self.job.candidate;
        let ready = report
            .objects
            .iter()
            .map(|o| Target::Ready(o.index.clone()));
        candidate.service.set_targets(ready.collect());
        app.serve(candidate);
        note_accepted(&app, &self.job);
        drop(decision);
        follow(&app, candidate);
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
        app.forget_health();
        if let Some(accepted) = self.accepted.take() {
            let _ = accepted.send(Ok(()));
        }
        let context = CallContext::new().with_cancellation(self.job.token.clone());
        if let Err(error) = self.indexer.remove_superseded(&report, &context).await
            && !error.is_cancelled()
        {
            tracing::warn!(error = with_causes(&error), "replaced indexes are left");
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

/// Serves a schema as far as its indexes are there, and says so to whoever bound it, once it is kept over a restart.
async fn accept(
    app: &Arc<SearchApp>,
    job: &Job,
    accepted: &mut Option<Accepted>,
) -> Result<(), SearchChangeError> {
    let candidate = &job.candidate;
    let progress = candidate.progress.load_full();
    let targets = app.existing(candidate).await.unwrap_or_default();
    let targets = (0..candidate.indexes.indexes.len()).map(|at| match targets.get(at) {
        Some(Some(name)) => Target::Ready(PhysicalName::clone(name)),
        _ => building(&progress, at),
    });
    let targets: Vec<Target> = targets.collect();
    let _decision = app.deciding.lock().await;
    if job.is_unbound() {
        return Ok(());
    }
    if accepted.is_some() {
        app.keep(candidate).await?;
    }
    candidate.service.set_targets(targets);
    let is_better = app.bound().is_some_and(|bound| bound.is_complete());
    if candidate.is_complete() || !is_better {
        app.serve(candidate);
    }
    note_accepted(app, job);
    if let Some(accepted) = accepted.take() {
        // Nobody waits once the client has gone.
        let _ = accepted.send(Ok(()));
    }
    Ok(())
}

/// Notes that the schema of a run is bound from now on.
fn note_accepted(app: &SearchApp, job: &Job) {
    if !job.is_start {
        // Before anybody can see it.
        app.starting.cancel();
    }
    job.accept();
}

/// Serves a schema whose values fit; ends its run where that cannot be kept over a restart.
async fn accept_or_cancel(
    app: &Arc<SearchApp>,
    job: &Job,
    accepted: &mut Option<Accepted>,
    not_kept: &mut Option<SearchChangeError>,
) {
    if let Err(error) = accept(app, job, accepted).await {
        job.cancel();
        *not_kept = Some(error);
    }
}

impl SearchApp {
    /// Returns whether indexes of a bound schema were kept of which nobody knows how old they are.
    pub(super) fn may_be_older(&self, bound: &Arc<Bound>) -> bool {
        let job = self.accepted_job();
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

/// Waits; tells whether it was not cancelled meanwhile.
pub(super) async fn sleep(time: Duration, token: &CancellationToken) -> bool {
    tokio::select! {
        () = token.cancelled() => false,
        () = tokio::time::sleep(time) => true,
    }
}
