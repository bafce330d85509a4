//! Binding and unbinding schemas.

use std::sync::Arc;
use std::time::Duration;

use graph_store::CallContext;
use schema_registry::Checked;
use schema_registry::{Binding, Expected, SchemaStoreError, ServiceKind, StoredSchema};
use search_index::apollo_compiler::ExecutableDocument;
use search_index::engine::{EngineError, IndexState, PhysicalName, index_behind};
use search_index::indexer::{Indexer, IndexerOptions};
use search_index::service::{SearchService, SearchServiceOptions, SearchTarget};
use service_runtime::Example;
use soml_core::Schema;
use tokio::sync::oneshot;

use super::app::SearchApp;
use super::bound::{Bound, BoundParts};
use super::check::{CheckOptions, SearchChecked, Searchable, check};
use super::error::SearchChangeError;
use super::examples::example_queries;
use super::follow::follow;
use super::job::{Job, JobState, Origin};
use super::reach::Reach;
use super::roles::{Shown, not_allowed};
use super::rules::Roles;
use super::run::{Accepted, Run};

/// Time for the engine to say what it has.
const ENGINE_TIME: Duration = Duration::from_secs(10);

impl SearchApp {
    /// Binds a stored schema, replacing the bound one.
    ///
    /// What is bound already answers until the indexes of the new schema are complete, unless its own
    /// never were. `query` is the sample query that GraphiQL begins with. With
    /// `indexer.ignoreMalformed: false` all values are checked first.
    ///
    /// # Errors
    ///
    /// Fails if the schema is unknown, has another revision than `expected` or cannot be searched, if its
    /// roles hide something and no one has allowed searches to show it, if a value is malformed and must not
    /// be, if the engine cannot be reached, and if it cannot be kept what is bound. What is bound does not
    /// change then, and if its indexes were still being built, they are built again.
    pub async fn bind(
        self: &Arc<Self>,
        id: &str,
        expected: &Expected,
        query: Option<&str>,
    ) -> Result<(StoredSchema, Checked), SearchChangeError> {
        let mut begun = self.begin_to_bind(id, expected, query, false).await?;
        begun.accepted().await?;
        tracing::info!(schema = id, "schema bound to the search service");
        Ok((begun.stored, begun.checked))
    }

    /// Prepares to serve a stored schema.
    pub(super) async fn prepare(
        &self,
        stored: &StoredSchema,
        query: Option<&str>,
    ) -> Result<(Arc<Bound>, Checked), SearchChangeError> {
        let (searchable, checked) = self.searchable(&stored.text).await?;
        self.check_roles(&searchable.soml)?;
        let candidate = self.candidate(stored, searchable, query).await?;
        Ok((Arc::new(candidate), checked))
    }

    /// Begins to bind a schema; at the start, only if no one else has decided meanwhile what is bound, or is about to.
    pub(super) async fn begin_to_bind(
        self: &Arc<Self>,
        id: &str,
        expected: &Expected,
        query: Option<&str>,
        is_start: bool,
    ) -> Result<Begun, SearchChangeError> {
        let stored = self.stored(id, expected).await?;
        let (candidate, checked) = self.prepare(&stored, query).await?;
        let origin = if is_start {
            Origin::Start
        } else {
            Origin::User
        };
        let accepted = loop {
            let pending = {
                let _change = self.changes.lock().await;
                // In this order: a bind that was accepted has ended the start before.
                let pending = self.job.load_full().filter(|job| job.is_pending());
                if is_start && self.starting.is_cancelled() {
                    return Err(SearchChangeError::Superseded);
                }
                match pending.filter(|_| is_start) {
                    None => break self.begin(Arc::clone(&candidate), origin).await?,
                    Some(pending) => pending,
                }
            };
            tokio::select! {
                () = pending.ended() => {}
                () = self.starting.cancelled() => {}
            }
        };
        Ok(Begun {
            stored,
            checked,
            candidate,
            accepted,
        })
    }

    /// Unbinds a schema; does nothing when it is not the one that is bound, or is to be bound. Its indexes stay.
    ///
    /// A schema that was bound in its place, and whose indexes are still being built, stays bound.
    ///
    /// # Errors
    ///
    /// Fails when the schema is unknown, or has another revision than `expected`, and if it cannot be kept that nothing
    /// is bound.
    pub async fn unbind(
        self: &Arc<Self>,
        id: &str,
        expected: &Expected,
    ) -> Result<(), SearchChangeError> {
        let _change = self.changes.lock().await;
        let is_bound = self.bound().is_some_and(|bound| bound.id == id);
        let is_kept = self.is_kept(id).await;
        let job = self.job.load_full().filter(|job| job.candidate.id == id);
        match self.stored(id, expected).await {
            // What is bound may have been removed from where schemas are stored.
            Err(SchemaStoreError::NotFound) if is_bound || is_kept => {}
            stored => drop(stored?),
        }
        if !is_bound && !is_kept && job.is_none() {
            return Ok(());
        }
        let is_starting = job.is_some_and(|job| job.is_start() && !job.is_accepted());
        let ended = self.end_job(Some(id)).await;
        let decision = self.deciding.lock().await;
        // It may have been accepted at the last moment.
        let is_bound = self.bound().is_some_and(|bound| bound.id == id);
        let is_kept = self.is_kept(id).await;
        if is_kept && let Err(error) = self.keep_unbound(id).await {
            if let Some(ended) = ended {
                self.resume(ended);
            }
            return Err(error.into());
        }
        let job = self.job.load_full();
        if let Some(job) = &job {
            job.forget_replaced(id);
        }
        // A bind that was refused meanwhile may have begun another run of it.
        let unbound = job.filter(|job| job.candidate.id == id);
        if let Some(job) = &unbound {
            job.unbind();
            self.put_back(job);
        }
        if is_kept || is_bound {
            // Only what was bound later, and is being built, is left.
            let next = self.accepted_job().map(|job| Arc::clone(&job.candidate));
            self.bound.store(next);
            self.host.schema_changed();
        }
        if is_kept || is_bound || is_starting {
            // In this order: the start says why it goes on only until it is ended.
            self.starting.cancel();
            self.not_restored.store(None);
        }
        drop(decision);
        if let Some(job) = unbound {
            job.ended().await;
        }
        self.forget_health();
        tracing::info!(schema = id, "schema unbound from the search service");
        Ok(())
    }

    /// Returns whether a schema is the one that was bound last, which a restart would bind. Another one may still
    /// answer until its indexes are complete.
    async fn is_kept(&self, id: &str) -> bool {
        match self.schemas.binding(ServiceKind::Search).await {
            Ok(Binding::Schema(kept)) => kept == id,
            Ok(Binding::Nothing) => false,
            Err(SchemaStoreError::Missing { id: lost, .. }) => lost == id,
            // The store does not say.
            Ok(Binding::Unknown) | Err(_) => {
                let last = self.accepted_job().map(|job| Arc::clone(&job.candidate));
                last.or_else(|| self.bound())
                    .is_some_and(|last| last.id == id)
            }
        }
    }

    /// Keeps over a restart that a schema is not bound any more.
    async fn keep_unbound(&self, id: &str) -> Result<(), SchemaStoreError> {
        let service = ServiceKind::Search;
        if self.schemas.is_shared() {
            // Another instance may have bound something else a moment ago.
            self.schemas.unbind(service, id).await.map(drop)
        } else {
            self.schemas.set_binding(service, None).await
        }
    }

    /// Keeps over a restart that a schema is bound.
    pub(super) async fn keep(&self, bound: &Bound) -> Result<(), SearchChangeError> {
        Ok(self
            .schemas
            .set_binding(ServiceKind::Search, Some(&bound.id))
            .await?)
    }

    /// Serves a schema from now on.
    pub(super) fn serve(self: &Arc<Self>, bound: &Arc<Bound>) {
        let before = self.bound.swap(Some(Arc::clone(bound)));
        if before.is_none_or(|before| !Arc::ptr_eq(&before, bound)) {
            self.host.schema_changed();
        }
        self.not_restored.store(None);
        self.forget_health();
        follow(self, bound);
    }

    /// Checks a document, and makes something of the result before others have their turn.
    pub(crate) async fn check<T: Send + 'static>(
        &self,
        text: &Arc<str>,
        then: impl FnOnce(SearchChecked) -> T + Send + 'static,
    ) -> Result<T, SearchChangeError> {
        let context = CallContext::new().with_timeout(ENGINE_TIME);
        let info = self.engines.written.info(&context).await?;
        let options = CheckOptions {
            mapping: self.options.mapping(info.analyzers),
            federation: self.options.federation,
            obeys_roles: self.obeys_roles(),
        };
        let text = Arc::clone(text);
        let work = move || then(check(&text, &options));
        Ok(self.host.in_slot(work).await?)
    }

    /// Returns the indexes that the engine has of a schema as it is, in the order of its definitions.
    pub(super) async fn existing(
        &self,
        bound: &Bound,
    ) -> Result<Vec<Option<PhysicalName>>, EngineError> {
        let context = CallContext::new().with_timeout(ENGINE_TIME);
        let states = self.engines.searched.indexes(&context).await?;
        Ok(self.existing_of(bound, &states))
    }

    /// Returns those of the indexes of an engine that are of a schema as it is, in the order of its definitions.
    pub(super) fn existing_of(
        &self,
        bound: &Bound,
        states: &[IndexState],
    ) -> Vec<Option<PhysicalName>> {
        let application = &self.host.options.name;
        let definitions = bound.indexes.indexes.iter();
        let existing =
            definitions.map(|definition| index_behind(definition, states, application).cloned());
        existing.collect()
    }

    pub(super) async fn stored(
        &self,
        id: &str,
        expected: &Expected,
    ) -> Result<StoredSchema, SchemaStoreError> {
        let stored = self
            .schemas
            .get(id)
            .await?
            .ok_or(SchemaStoreError::NotFound)?;
        expected.compare(&stored.revision)?;
        Ok(stored)
    }

    async fn searchable(
        &self,
        text: &Arc<str>,
    ) -> Result<(Searchable, Checked), SearchChangeError> {
        let checked = self.check(text, |checked| checked).await?;
        match checked.searchable {
            Some(searchable) => Ok((searchable, checked.checked)),
            None => Err(SearchChangeError::Invalid(Box::new(checked.checked))),
        }
    }

    async fn candidate(
        &self,
        stored: &StoredSchema,
        searchable: Searchable,
        query: Option<&str>,
    ) -> Result<Bound, SearchChangeError> {
        let ignores_roles = self.warn_of_roles(&searchable.soml);
        let (id, revision) = (stored.id.clone(), stored.revision.clone());
        let engine = Arc::clone(&self.engines.searched);
        let options = self.search_options(searchable.roles.as_ref());
        let query = query.map(str::to_owned);
        let make = move || {
            let Searchable {
                soml,
                indexes,
                api,
                roles,
            } = searchable;
            let mut examples = example_queries(&api);
            // In a subgraph, objects of hits have less than it may ask for.
            let is_valid = |query: &String| {
                ExecutableDocument::parse_and_validate(api.schema(), query, "query.graphql").is_ok()
            };
            if let Some(query) = query.filter(is_valid) {
                let title = "Start";
                examples.insert(0, Example { title, query });
            }
            let targets = vec![SearchTarget::Missing; indexes.indexes.len()];
            Bound::new(BoundParts {
                id,
                revision,
                service: SearchService::new(api, engine, targets, options),
                examples,
                soml,
                indexes,
                roles,
                ignores_roles,
            })
        };
        Ok(self.host.in_slot(make).await?)
    }

    /// Returns how searches are answered that obey some roles.
    pub(super) fn search_options(&self, roles: Option<&Roles>) -> SearchServiceOptions {
        let options = self.options.service(&self.host.options.limits);
        let options = options
            .with_slots(Arc::clone(&self.host.resources.slots))
            .with_shared_with(self.shared_with())
            .with_reach(Arc::new(Reach::of(self)));
        match roles {
            Some(roles) => options.with_rules(Arc::new(roles.clone())),
            None => options,
        }
    }

    /// Returns whether searches obey the roles of schemas: there are callers whose roles are known, and it is not turned off.
    fn obeys_roles(&self) -> bool {
        self.options.obeys_roles && self.host.verifier.is_some()
    }

    /// Begins to build the indexes of a schema in place of what is being built, or serves those that
    /// are there where none are built.
    async fn begin(
        self: &Arc<Self>,
        candidate: Arc<Bound>,
        origin: Origin,
    ) -> Result<oneshot::Receiver<Result<(), SearchChangeError>>, SearchChangeError> {
        let (accepted, receiver) = oneshot::channel();
        let existing = if self.has_runs() {
            Vec::new()
        } else {
            self.existing(&candidate).await?
        };
        let is_checked_first = self.data.is_some() && !self.options.ignore_malformed;
        // Where values are checked first, the run keeps it as soon as they are known to fit.
        if !is_checked_first {
            self.keep(&candidate).await?;
        }
        let replaced = self.end_job(None).await.and_then(accepted_of);
        if !self.has_runs() {
            let targets = existing
                .into_iter()
                .map(|name| name.map_or(SearchTarget::Missing, SearchTarget::Ready));
            candidate.service.set_targets(targets.collect());
            if origin != Origin::Start {
                self.starting.cancel();
            }
            self.serve(&candidate);
            self.job.store(None);
            // The receiver is still there.
            let _ = accepted.send(Ok(()));
            return Ok(receiver);
        }
        self.run(Job::new(candidate, origin, replaced), Some(accepted));
        Ok(receiver)
    }

    /// Returns whether a schema that is bound has a run: one that builds its indexes, or waits until others have.
    fn has_runs(&self) -> bool {
        self.data.is_some() || self.schemas.is_shared()
    }

    /// Ends the run that builds indexes, if it is of a schema where one is named.
    pub(super) async fn end_job(&self, of: Option<&str>) -> Option<Arc<Job>> {
        loop {
            let job = self.job.load_full()?;
            if of.is_some_and(|id| job.candidate.id != id) {
                return None;
            }
            job.cancel();
            job.ended().await;
            // A run that is refused puts back the one before.
            let now = self.job.load_full();
            if now.is_none_or(|now| Arc::ptr_eq(&now, &job)) {
                return Some(job);
            }
        }
    }

    /// Returns the last run whose schema was bound, also while another one checks its values.
    pub(super) fn accepted_job(&self) -> Option<Arc<Job>> {
        self.job.load_full().and_then(accepted_of)
    }

    /// Puts back what a run was to replace that has ended and was not accepted.
    pub(super) fn put_back(self: &Arc<Self>, ended: &Job) {
        match ended.take_replaced() {
            Some(replaced) => self.resume(replaced),
            None => self.job.store(None),
        }
    }

    /// Goes on with a run that was ended for another one, if its schema was bound.
    fn resume(self: &Arc<Self>, job: Arc<Job>) {
        if !job.is_accepted() {
            return self.put_back(&job);
        }
        let is_cancelled = *job.state() == JobState::Cancelled;
        if self.has_runs() && is_cancelled {
            self.run(Job::again(&job), None);
        } else {
            self.job.store(Some(job));
        }
    }

    /// Returns what writes the indexes of a schema; `None` where none are built.
    pub(super) fn indexer(&self, of: &Bound, options: IndexerOptions) -> Option<Indexer> {
        let data = Arc::clone(self.data.as_ref()?);
        let (soml, indexes) = (Arc::clone(&of.soml), Arc::clone(&of.indexes));
        let engine = Arc::clone(&self.engines.written);
        Some(Indexer::new(soml, indexes, data, engine, options))
    }

    /// Builds indexes in the background.
    pub(super) fn run(self: &Arc<Self>, job: Job, accepted: Option<Accepted>) {
        let mut options = self.options.indexer(&self.host.options.name);
        // Only a user takes hours of a store that does not say whether its data have changed.
        options.rebuild_unknown &= job.origin == Origin::User;
        let indexer = self.indexer(&job.candidate, options);
        let job = Arc::new(job);
        self.job.store(Some(Arc::clone(&job)));
        let run = Run::new(Arc::clone(self), Arc::clone(&job), indexer, accepted);
        drop(tokio::spawn(run.run()));
        if self.host.is_draining() {
            job.cancel();
        }
    }
}

/// Returns a run if its schema was bound, and otherwise the one that it was to replace.
pub(super) fn accepted_of(job: Arc<Job>) -> Option<Arc<Job>> {
    if job.is_accepted() {
        Some(job)
    } else {
        job.replaced()
    }
}

/// A bind that has begun.
pub(super) struct Begun {
    stored: StoredSchema,
    checked: Checked,
    candidate: Arc<Bound>,
    accepted: oneshot::Receiver<Result<(), SearchChangeError>>,
}

impl Begun {
    /// Waits until the schema is bound, or will not be.
    pub(super) async fn accepted(&mut self) -> Result<(), SearchChangeError> {
        // Dropped by a run that is cancelled before it is known whether the values fit.
        let accepted = (&mut self.accepted).await;
        accepted.unwrap_or(Err(SearchChangeError::Superseded))
    }

    /// Waits until the schema is bound, or will not be, or that takes longer since something has failed and is tried
    /// again.
    pub(super) async fn accepted_soon(&mut self) -> Result<(), SearchChangeError> {
        let progress = self.candidate.progress.load_full();
        tokio::select! {
            biased;
            accepted = self.accepted() => accepted,
            setback = progress.until_setback() => Err(SearchChangeError::NotChecked(setback)),
        }
    }
}

impl SearchApp {
    /// Refuses a schema that hides something while no one has allowed that searches show it.
    pub(super) fn check_roles(&self, soml: &Schema) -> Result<(), SearchChangeError> {
        match not_allowed(soml, &self.options, self.host.verifier.is_some()) {
            None => Ok(()),
            Some(shown) => Err(SearchChangeError::RolesIgnored(Box::new(shown))),
        }
    }

    /// Warns of what searches over a schema show although its roles hide it, unless someone has said that this is
    /// known. Returns whether there is such a thing.
    pub(super) fn warn_of_roles(&self, soml: &Schema) -> bool {
        let is_asked =
            self.host.verifier.is_some() && !self.options.obeys_roles && !self.options.knows_hidden;
        let shown = is_asked
            .then(|| Shown::of(soml, &self.options.super_roles))
            .flatten();
        if let Some(shown) = &shown {
            tracing::warn!(
                "{shown}. `search.rbac.enabled=true` hides it; `false` says that this is known"
            );
        }
        shown.is_some()
    }
}
