//! Binding and unbinding schemas.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use graph_store::CallContext;
use search_index::apollo_compiler::ExecutableDocument;
use search_index::engine::{EngineError, PhysicalName};
use search_index::indexer::Indexer;
use search_index::service::{SearchService, Target};
use soml_core::access::Rights;
use tokio::sync::oneshot;

use super::app::SearchApp;
use super::bound::{Bound, BoundParts};
use super::check::{SearchChecked, Searchable, check};
use super::error::SearchChangeError;
use super::examples::example_queries;
use super::job::{Job, Run};
use super::kept::{Kept, Storage};
use super::options::{indexer_options, mapping_options, service_options};
use crate::example_queries::Example;
use crate::schema::Checked;
use crate::schema_store::{Expected, SchemaStoreError, StoredSchema};

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
    /// Fails if the schema is unknown, has another revision than `expected` or cannot be searched, if
    /// a value is malformed and must not be, and if the engine cannot be reached. What is bound does
    /// not change then.
    pub async fn bind(
        self: &Arc<Self>,
        id: &str,
        expected: &Expected,
        query: Option<&str>,
    ) -> Result<(StoredSchema, Checked), SearchChangeError> {
        let bound = self
            .bind_unless_cancelled(id, expected, query, false)
            .await?;
        self.starting.cancel();
        Ok(bound)
    }

    /// Binds a schema; at the start, only if nobody else has decided meanwhile what is bound.
    pub(super) async fn bind_unless_cancelled(
        self: &Arc<Self>,
        id: &str,
        expected: &Expected,
        query: Option<&str>,
        is_start: bool,
    ) -> Result<(StoredSchema, Checked), SearchChangeError> {
        let stored = self.stored(id, expected).await?;
        let (searchable, checked) = self.searchable(&stored.text).await?;
        self.warn_of_roles(&searchable);
        let candidate = self.candidate(&stored, searchable, query).await?;
        let accepted = {
            let _change = self.changes.lock().await;
            if is_start && self.starting.is_cancelled() {
                return Err(SearchChangeError::Superseded);
            }
            self.begin(Arc::new(candidate)).await?
        };
        // Dropped by a run that is cancelled before it is known whether the values fit.
        accepted
            .await
            .map_err(|_| SearchChangeError::Superseded)??;
        self.keep(&stored).await;
        tracing::info!(schema = id, "schema bound to the search service");
        Ok((stored, checked))
    }

    /// Unbinds a schema; does nothing when it is not the one that is bound. Its indexes stay.
    ///
    /// # Errors
    ///
    /// Fails when the schema is unknown, or has another revision than `expected`.
    pub async fn unbind(&self, id: &str, expected: &Expected) -> Result<(), SearchChangeError> {
        let _change = self.changes.lock().await;
        let is_bound = self.bound().is_some_and(|bound| bound.id == id);
        let job = self.job.load_full().filter(|job| job.candidate.id == id);
        match self.stored(id, expected).await {
            // What is bound may have been removed from where schemas are stored.
            Err(SchemaStoreError::NotFound) if is_bound => {}
            stored => drop(stored?),
        }
        if let Some(job) = &job {
            job.cancel();
            job.ended().await;
            self.job.store(None);
        }
        if is_bound || job.is_some() {
            self.starting.cancel();
            if is_bound {
                self.bound.store(None);
            }
            self.forget_health();
            self.on_disk(Storage::clear).await;
            tracing::info!(schema = id, "schema unbound from the search service");
        }
        Ok(())
    }

    /// Serves a schema from now on.
    pub(super) fn serve(&self, bound: &Arc<Bound>) {
        self.bound.store(Some(Arc::clone(bound)));
        self.forget_health();
    }

    /// Checks a document, and makes something of the result before others have their turn.
    pub(crate) async fn check<T: Send + 'static>(
        &self,
        text: &Arc<str>,
        then: impl FnOnce(SearchChecked) -> T + Send + 'static,
    ) -> Result<T, SearchChangeError> {
        let context = CallContext::new().with_timeout(ENGINE_TIME);
        let info = self.engines.written.info(&context).await?;
        let options = mapping_options(&self.settings, info.analyzers);
        let (text, federation) = (Arc::clone(text), self.settings.search.federation);
        let work = move || then(check(&text, &options, federation));
        Ok(self.in_slot(work).await?)
    }

    /// Returns the indexes that the engine has of a schema as it is, in the order of its definitions.
    pub(super) async fn existing(
        &self,
        bound: &Bound,
    ) -> Result<Vec<Option<PhysicalName>>, EngineError> {
        let context = CallContext::new().with_timeout(ENGINE_TIME);
        let states = self.engines.searched.indexes(&context).await?;
        let application = &self.settings.name;
        let definitions = bound.indexes.indexes.iter();
        let existing = definitions.map(|definition| {
            let alias = definition.alias();
            let mut found = states.iter().filter(|state| {
                let is_ours = state.mark.as_ref().is_some_and(|mark| {
                    mark.application == *application && mark.fingerprint == definition.fingerprint
                });
                is_ours && state.aliases.contains(&alias)
            });
            found.next().map(|state| state.name.clone())
        });
        Ok(existing.collect())
    }

    async fn stored(
        &self,
        id: &str,
        expected: &Expected,
    ) -> Result<StoredSchema, SchemaStoreError> {
        let stored = self.schemas.get(id).await?;
        let stored = stored.ok_or(SchemaStoreError::NotFound)?;
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
        let (id, revision) = (stored.id.clone(), stored.revision.clone());
        let engine = Arc::clone(&self.engines.searched);
        let options = service_options(&self.settings).with_slots(Arc::clone(&self.resources.slots));
        let query = query.map(str::to_owned);
        let make = move || {
            let Searchable { soml, indexes, api } = searchable;
            let mut examples = example_queries(&api);
            // In a subgraph, objects of hits have less than it may ask for.
            let is_valid = |query: &String| {
                ExecutableDocument::parse_and_validate(api.schema(), query, "query.graphql").is_ok()
            };
            if let Some(query) = query.filter(is_valid) {
                let title = "Start";
                examples.insert(0, Example { title, query });
            }
            let targets = vec![Target::Missing; indexes.indexes.len()];
            Bound::new(BoundParts {
                id,
                revision,
                service: SearchService::new(api, engine, targets, options),
                examples,
                soml,
                indexes,
            })
        };
        Ok(self.in_slot(make).await?)
    }

    /// Begins to build the indexes of a schema in place of what is being built, or serves those that
    /// are there where none are built.
    async fn begin(
        self: &Arc<Self>,
        candidate: Arc<Bound>,
    ) -> Result<oneshot::Receiver<Result<(), SearchChangeError>>, SearchChangeError> {
        let (accepted, receiver) = oneshot::channel();
        let existing = match &self.data {
            None => self.existing(&candidate).await?,
            Some(_) => Vec::new(),
        };
        if let Some(job) = self.job.load_full() {
            job.cancel();
            job.ended().await;
        }
        let Some(data) = &self.data else {
            let targets = existing.into_iter();
            let targets = targets.map(|name| name.map_or(Target::Missing, Target::Ready));
            candidate.service.set_targets(targets.collect());
            self.serve(&candidate);
            self.job.store(None);
            // The receiver is still there.
            let _ = accepted.send(Ok(()));
            return Ok(receiver);
        };
        let indexer = Indexer::new(
            Arc::clone(&candidate.soml),
            Arc::clone(&candidate.indexes),
            Arc::clone(data),
            Arc::clone(&self.engines.written),
            indexer_options(&self.settings),
        );
        let job = Arc::new(Job::new(candidate));
        self.job.store(Some(Arc::clone(&job)));
        let run = Run::new(Arc::clone(self), job, indexer, accepted);
        drop(tokio::spawn(run.run()));
        Ok(receiver)
    }

    /// Keeps what is bound over a restart, unless another schema has been bound meanwhile.
    async fn keep(&self, stored: &StoredSchema) {
        let _change = self.changes.lock().await;
        let job = self.job.load_full();
        let latest = job.map(|job| Arc::clone(&job.candidate));
        let is_latest = latest
            .or_else(|| self.bound())
            .is_some_and(|bound| bound.id == stored.id && bound.revision == stored.revision);
        if !is_latest {
            return;
        }
        let kept = Kept {
            id: stored.id.clone(),
            revision: stored.revision.clone(),
            text: stored.text.to_string(),
        };
        self.on_disk(move |storage| storage.write(&kept)).await;
    }

    /// Does what may wait for a disk.
    async fn on_disk(&self, work: impl FnOnce(&Storage) -> io::Result<()> + Send + 'static) {
        let storage = self.storage.clone();
        let done = tokio::task::spawn_blocking(move || work(&storage)).await;
        if let Err(error) = done.unwrap_or_else(|panic| Err(io::Error::other(panic))) {
            tracing::error!(%error, "what is bound cannot be kept; a restart binds something else");
        }
    }

    /// Tells whether searches show what roles of the schema may not read, which nobody has decided.
    pub(super) fn ignores_roles(&self, soml: &soml_core::Schema) -> bool {
        let is_asked = self.verifier.is_some() && !self.settings.search.says_about_roles;
        let denies = || {
            let rights = Arc::new(Rights::new(soml));
            let roles = soml.rbac.roles.iter().map(|role| role.name.as_str());
            let reads = |role: &str| rights.of([role]).reads_everything();
            !soml.rbac.roles.is_empty() && !roles.into_iter().all(reads)
        };
        is_asked && denies()
    }

    fn warn_of_roles(&self, searchable: &Searchable) {
        if self.ignores_roles(&searchable.soml) {
            tracing::warn!(
                "the schema denies some roles to read something, and searches do not: \
                 `search.rbac.enabled` is not built yet. Set it to `false` to say that this is known"
            );
        }
    }
}
