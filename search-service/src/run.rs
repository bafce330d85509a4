//! A run that builds the indexes of a schema. While the engine or the store is away the indexer tries again what it
//! is at, as `task.default.retry.*` says; nothing here does. A run that is refused puts back the one that it was to
//! replace. Where other instances could build the same indexes, a run waits for its turn (`turn.rs`).

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use graph_store::CallContext;
use schema_registry::HeldLease;
use search_index::engine::{EngineError, PhysicalName};
use search_index::indexer::{Indexer, IndexerError, Report, Setback};
use search_index::service::SearchTarget;
use service_runtime::with_causes;
use tokio::sync::oneshot;

use super::app::SearchApp;
use super::bound::{Bound, building};
use super::error::SearchChangeError;
use super::job::{Failure, Job, JobState, Origin, sleep};
use super::turn::{RENEWALS, Turn, keep};

/// How often searches are told how far the indexes are.
const TICK: Duration = Duration::from_millis(50);

/// How often something may fail until a bind is refused that waits for its values to be checked. A start goes on.
const TRIES_OF_CHECK: u32 = 3;

/// How work of the indexer ended.
enum Ended<T> {
    Run(Result<T, IndexerError>),
    /// Whoever bound the schema waits to hear whether its values fit, and that is not known soon.
    NotChecked(Setback),
}

/// Receives the outcome of a binding.
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
    pub(super) app: Arc<SearchApp>,
    pub(super) job: Arc<Job>,
    /// Builds the indexes; `None` where others do.
    pub(super) indexer: Option<Indexer>,
    /// Whoever waits to hear that the schema is bound.
    accepted: Option<Accepted>,
}

impl Run {
    pub(super) fn new(
        app: Arc<SearchApp>,
        job: Arc<Job>,
        indexer: Option<Indexer>,
        accepted: Option<Accepted>,
    ) -> Self {
        if let Some(indexer) = &indexer {
            job.candidate.progress.store(indexer.progress());
        }
        Run {
            app,
            job,
            indexer,
            accepted,
        }
    }

    /// Runs to the end.
    pub(super) async fn run(mut self) {
        let _end = EndOnDrop(Arc::clone(&self.job));
        let token = self.job.token.clone();
        // What is bound already, as another instance has bound it, is served whatever its values are.
        let is_strict = self.indexer.is_some() && !self.app.options.ignore_malformed;
        let is_checked_first = is_strict && self.accepted.is_some();
        if !is_checked_first {
            self.accept().await;
        }
        let initial_delay = self.app.options.retry.initial_delay;
        if !sleep(initial_delay, &token).await {
            return self.cancelled().await;
        }
        if is_checked_first {
            match self.check().await {
                Ended::Run(Ok(())) if token.is_cancelled() => return self.cancelled().await,
                Ended::Run(Ok(())) => {}
                Ended::Run(Err(error)) if error.is_cancelled() || token.is_cancelled() => {
                    return self.cancelled().await;
                }
                Ended::Run(Err(error)) => {
                    tracing::error!(error = with_causes(&error), "the indexes cannot be built");
                    return self.refuse(error.into()).await;
                }
                Ended::NotChecked(setback) => {
                    tracing::warn!(reason = setback.reason, "the values cannot be checked");
                    return self.refuse(SearchChangeError::NotChecked(setback)).await;
                }
            }
            if let Err(error) = self.keep_and_accept().await {
                return self.refuse(error).await;
            }
        }
        self.run_accepted(is_checked_first).await;
    }

    /// Builds the indexes of a schema that is bound when it is this instance's turn, or waits until others have.
    async fn run_accepted(mut self, is_checked: bool) {
        let token = self.job.token.clone();
        let mut may_build = true;
        loop {
            let held = match self.turn(may_build).await {
                Turn::Build(held) => held,
                Turn::Serve => return self.complete(None).await,
                Turn::Cancelled => return self.cancelled().await,
            };
            let error = match self.build(held, is_checked).await {
                // What was refused meanwhile is not served.
                Ok(_) if token.is_cancelled() => return self.cancelled().await,
                Ok(report) => return self.complete(Some(report)).await,
                Err(error) => error,
            };
            if token.is_cancelled() {
                return self.cancelled().await;
            }
            self.app.release().await;
            if held.is_some() && (error.is_cancelled() || error.is_outdated()) {
                tracing::warn!("another instance may build the indexes now; this one waits");
                if !sleep(self.app.options.follow_interval, &token).await {
                    return self.cancelled().await;
                }
                continue;
            }
            if error.is_cancelled() {
                return self.cancelled().await;
            }
            tracing::error!(error = with_causes(&error), "the indexes cannot be built");
            let error = Failure::from(&error);
            let is_served = self.job.candidate.is_complete();
            if held.is_none() || is_served {
                return self.finish(JobState::Failed { error });
            }
            // Another instance may do better.
            self.job.set(JobState::Failed { error });
            self.job.candidate.set_failed();
            self.app.forget_health();
            may_build = false;
        }
    }

    /// Checks all values, for whoever waits to hear whether they fit.
    async fn check(&self) -> Ended<()> {
        let context = CallContext::new().with_cancellation(self.job.token.clone());
        let check = async {
            match &self.indexer {
                Some(indexer) => indexer.check(&context).await,
                None => Ok(()),
            }
        };
        self.watch(check, !self.job.is_start()).await
    }

    /// Builds the indexes, for as long as the lease is held where there is one.
    async fn build(
        &mut self,
        held: Option<HeldLease>,
        is_checked: bool,
    ) -> Result<Report, IndexerError> {
        let token = self.job.token.child_token();
        let context = CallContext::new().with_cancellation(token.clone());
        let indexer = self
            .indexer
            .as_mut()
            .expect("only a run that builds has a turn");
        indexer.set_lease(held.map_or(0, |held| held.number));
        let this = &*self;
        let indexer = this.indexer.as_ref().expect("it is there");
        let run = async {
            if !is_checked {
                indexer.check(&context).await?;
            }
            indexer.build(&context).await
        };
        let keeping = async {
            if let (Some(lease), Some(held)) = (&this.app.lease, held) {
                keep(lease, held).await;
                tracing::warn!("the lease on the indexes is lost; building them ends");
                token.cancel();
            }
            std::future::pending().await
        };
        let ended = tokio::select! {
            ended = this.watch(run, false) => ended,
            never = keeping => never,
        };
        match ended {
            Ended::Run(ended) => ended,
            Ended::NotChecked(_) => unreachable!("nobody waits for it"),
        }
    }

    /// Waits for the indexer, and tells searches meanwhile how far it is.
    async fn watch<T>(
        &self,
        work: impl Future<Output = Result<T, IndexerError>>,
        gives_up: bool,
    ) -> Ended<T> {
        let mut work = std::pin::pin!(work);
        let mut tick = tokio::time::interval(TICK);
        let candidate = &self.job.candidate;
        let progress = candidate.progress.load_full();
        let mut was_set_back = false;
        loop {
            tokio::select! {
                ended = &mut work => return Ended::Run(ended),
                _ = tick.tick() => {
                    let setback = progress.setback();
                    if let Some(setback) = setback.as_ref().filter(|_| gives_up)
                        && setback.tries >= TRIES_OF_CHECK
                    {
                        return Ended::NotChecked(setback.clone());
                    }
                    candidate.show_progress();
                    if was_set_back != setback.is_some() {
                        was_set_back = !was_set_back;
                        self.app.forget_health();
                    }
                }
            }
        }
    }

    /// Serves a schema that is kept as bound as far as its indexes are there, and says so to whoever bound it.
    async fn accept(&mut self) {
        let targets = self.known().await;
        let app = Arc::clone(&self.app);
        let _decision = app.deciding.lock().await;
        self.show_decided(targets);
        self.tell_accepted();
    }

    /// Keeps over a restart that the schema is bound, and serves it.
    async fn keep_and_accept(&mut self) -> Result<(), SearchChangeError> {
        let targets = self.known().await;
        let app = Arc::clone(&self.app);
        let _decision = app.deciding.lock().await;
        if self.job.is_unbound() {
            return Ok(());
        }
        app.keep(&self.job.candidate).await?;
        self.show_decided(targets);
        self.tell_accepted();
        Ok(())
    }

    fn tell_accepted(&mut self) {
        if self.job.is_unbound() {
            return;
        }
        if let Some(accepted) = self.accepted.take() {
            // No one waits once the client has gone.
            let _ = accepted.send(Ok(()));
        }
    }

    /// Returns the indexes that are there, and how far the others are.
    async fn existing(&self) -> Result<Vec<SearchTarget>, EngineError> {
        let existing = self.app.existing(&self.job.candidate).await?;
        Ok(self.targets_of(existing))
    }

    /// Returns the same as far as the engine says it.
    async fn known(&self) -> Vec<SearchTarget> {
        let none = vec![None; self.job.candidate.indexes.indexes.len()];
        let existing = self.app.existing(&self.job.candidate).await;
        self.targets_of(existing.unwrap_or(none))
    }

    fn targets_of(&self, existing: Vec<Option<PhysicalName>>) -> Vec<SearchTarget> {
        let progress = self.job.candidate.progress.load();
        let existing = existing.into_iter().enumerate();
        let targets = existing
            .map(|(at, name)| name.map_or_else(|| building(&progress, at), SearchTarget::Ready));
        targets.collect()
    }

    /// Searches some indexes, and serves the schema if nothing better answers.
    async fn show(&self, targets: Vec<SearchTarget>) {
        let _decision = self.app.deciding.lock().await;
        self.show_decided(targets);
    }

    /// The same, while it is decided what is bound.
    fn show_decided(&self, targets: Vec<SearchTarget>) {
        let (app, candidate) = (&self.app, &self.job.candidate);
        if self.job.is_unbound() {
            return;
        }
        candidate.service.set_targets(targets);
        let is_better = app.bound().is_some_and(|bound| bound.is_complete());
        if candidate.is_complete() || !is_better {
            app.serve(candidate);
        }
        self.note_accepted();
    }

    /// Notes that the schema is bound from now on.
    fn note_accepted(&self) {
        if !self.job.is_start() {
            // Before anyone can see it.
            self.app.starting.cancel();
        }
        self.job.accept();
    }

    /// Searches the indexes that are there; returns whether all are.
    pub(super) async fn look(&self) -> bool {
        let candidate = &self.job.candidate;
        let bound = self.app.bound();
        let is_served = bound.is_some_and(|bound| Arc::ptr_eq(&bound, candidate));
        if is_served && candidate.is_complete() {
            return self.app.follow_aliases(candidate).await;
        }
        let Ok(targets) = self.existing().await else {
            return false;
        };
        let is_ready = |target: &SearchTarget| matches!(target, SearchTarget::Ready(_));
        let is_complete = targets.iter().all(is_ready);
        if targets != **candidate.service.targets() {
            self.show(targets).await;
        }
        is_complete
    }

    /// Ends a run that was cancelled.
    async fn cancelled(self) {
        self.app.release().await;
        let waits = self.job.is_accepted() && self.job.waiting().is_some();
        if waits && !self.job.is_unbound() && !self.app.host.is_draining() {
            // Whoever has built this schema deletes the indexes of the one before.
            self.look().await;
        }
        self.finish(JobState::Cancelled);
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
            // No one waits once the client has gone.
            let _ = accepted.send(Err(error));
        }
    }

    /// Serves the new indexes, and deletes those that they replace when no one searches them any more. Without a report
    /// others have built them, and they are served.
    async fn complete(self, report: Option<Report>) {
        let app = Arc::clone(&self.app);
        let candidate = &self.job.candidate;
        let Some(report) = report else {
            self.job.set(JobState::Done);
            app.forget_health();
            return;
        };
        {
            let _decision = app.deciding.lock().await;
            if !self.job.is_unbound() {
                let ready = report
                    .objects
                    .iter()
                    .map(|object| SearchTarget::Ready(object.index.clone()));
                candidate.service.set_targets(ready.collect());
                app.serve(candidate);
                self.note_accepted();
            }
        }
        app.release().await;
        if self.job.is_unbound() {
            return self.finish(JobState::Cancelled);
        }
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
                "the store cannot tell whether its data have changed since the indexes were built; \
                 bind the schema again to rebuild them"
            );
        }
        self.job.set(JobState::Done);
        app.forget_health();
        let context = CallContext::new().with_cancellation(self.job.token.clone());
        if let Some(indexer) = &self.indexer
            && let Err(error) = indexer.remove_superseded(&report, &context).await
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
        self.job.wait_for(None);
        self.job.set(state);
        self.app.forget_health();
    }
}

impl Run {
    /// Waits until the run may build, or others have built everything. What others have built so far is searched
    /// meanwhile. A run that may not build waits for others.
    async fn turn(&self, may_build: bool) -> Turn {
        let may_build = may_build && self.indexer.is_some();
        let lease = self.app.lease.as_ref().filter(|_| may_build);
        if may_build && lease.is_none() {
            return Turn::Build(None);
        }
        let options = &self.app.options;
        // Whoever waits for a lease has to look more often than it ends.
        let interval = match lease {
            Some(lease) => options.follow_interval.min(lease.lasts() / RENEWALS),
            None => options.follow_interval,
        };
        while !self.job.token.is_cancelled() {
            if let Some(lease) = lease
                && let Some(held) = self.app.take(lease).await
            {
                self.job.wait_for(None);
                return Turn::Build(Some(held));
            }
            let is_complete = self.look().await;
            // What a user binds is built from the data as they are then.
            if is_complete && (lease.is_none() || self.job.origin != Origin::User) {
                self.job.wait_for(None);
                return Turn::Serve;
            }
            self.job.wait_for(Some(self.app.waiting().await));
            self.app.forget_health();
            if !sleep(interval, &self.job.token).await {
                break;
            }
        }
        Turn::Cancelled
    }
}

impl SearchApp {
    /// Returns whether indexes of a bound schema were kept of which no one knows how old they are.
    pub(super) fn may_be_older(&self, bound: &Arc<Bound>) -> bool {
        let job = self.accepted_job();
        job.is_some_and(|job| {
            Arc::ptr_eq(&job.candidate, bound) && job.may_be_older.load(Ordering::Acquire)
        })
    }

    /// Returns whether indexes are being built here.
    pub(super) fn is_writing(&self) -> bool {
        let job = self.job.load_full();
        let waits = job.is_some_and(|job| job.waiting().is_some());
        self.is_building() && !waits
    }

    /// Returns whether indexes are being built, here or by another instance.
    pub(super) fn is_building(&self) -> bool {
        let job = self.job.load_full();
        job.is_some_and(|job| *job.state() == JobState::Running)
    }
}

impl Bound {
    /// Marks indexes that were to be built as missing.
    fn set_failed(&self) {
        let targets = self.service.targets();
        let targets = targets.iter().map(|target| match target {
            SearchTarget::Building { .. } => SearchTarget::Missing,
            other => other.clone(),
        });
        self.service.set_targets(targets.collect());
    }
}
