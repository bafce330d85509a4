//! The running service: settings, data, stored schemas, and the bound schema.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use arc_swap::ArcSwapOption;
use graph_store::GraphStore;
use object_engine::ObjectService;
use tokio::sync::Mutex;

use crate::config::Settings;
use crate::first_query::first_query;
use crate::health_record::HealthCache;
use crate::schema::{Checked, UsableSchema, check_with};
use crate::schema_store::{SchemaStore, SchemaStoreError, StoredSchema};

/// The state behind all requests.
pub struct App {
    pub(crate) settings: Settings,
    pub(crate) store: Arc<dyn GraphStore>,
    pub(crate) schemas: Arc<dyn SchemaStore>,
    pub(crate) health: HealthCache,
    pub(crate) started: Instant,
    bound: ArcSwapOption<Bound>,
    /// Held while a schema is stored, replaced, removed or bound, so that what is bound is always
    /// what is stored. Requests never wait for it.
    changes: Mutex<()>,
    draining: AtomicBool,
}

/// A schema that is being served.
pub(crate) struct Bound {
    pub(crate) id: String,
    pub(crate) label: Option<String>,
    pub(crate) service: ObjectService,
    pub(crate) first_query: String,
}

/// Why a schema could not be stored or bound.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SchemaChangeError {
    /// The document has errors.
    #[error("the schema has errors")]
    Invalid(Box<Checked>),
    /// The identifier in the document is another one.
    #[error("the document has the identifier `{found}`, expected `{expected}`")]
    IdMismatch {
        /// What was asked for.
        expected: String,
        /// What the document says.
        found: String,
    },
    /// The schema is bound.
    #[error("the schema is bound; unbind it first")]
    Bound,
    /// The schema store failed or refused the change.
    #[error(transparent)]
    Store(#[from] SchemaStoreError),
}

impl App {
    /// Creates a service without any schema.
    #[must_use]
    pub fn new(
        settings: Settings,
        store: Arc<dyn GraphStore>,
        schemas: Arc<dyn SchemaStore>,
    ) -> Self {
        App {
            health: HealthCache::new(settings.health_cache),
            settings,
            store,
            schemas,
            started: Instant::now(),
            bound: ArcSwapOption::empty(),
            changes: Mutex::default(),
            draining: AtomicBool::new(false),
        }
    }

    /// Checks and stores a new document; returns it with its diagnostics.
    ///
    /// # Errors
    ///
    /// Fails when the document has errors or its identifier is taken.
    pub async fn store_schema(
        &self,
        text: &str,
    ) -> Result<(StoredSchema, Checked), SchemaChangeError> {
        let (usable, checked) = self.usable(text)?;
        let _change = self.changes.lock().await;
        Ok((self.schemas.create(&usable.id, text).await?, checked))
    }

    /// Replaces a stored document; if it is bound, the new version is bound.
    ///
    /// # Errors
    ///
    /// Fails when the document has errors, has another identifier, or has changed since the
    /// `expected` revision; nothing changes then.
    pub async fn replace_schema(
        &self,
        id: &str,
        text: &str,
        expected: Option<&str>,
    ) -> Result<(StoredSchema, Checked), SchemaChangeError> {
        let (usable, checked) = self.usable(text)?;
        let _change = self.changes.lock().await;
        if self.schemas.get(id).await?.is_none() {
            return Err(SchemaStoreError::NotFound.into());
        }
        if usable.declares_id && usable.id != id {
            return Err(SchemaChangeError::IdMismatch {
                expected: id.to_owned(),
                found: usable.id,
            });
        }
        let renewed = match self.bound() {
            Some(bound) if bound.id == id => Some(self.prepare(id, &usable, None).await),
            _ => None,
        };
        let stored = self.schemas.replace(id, text, expected).await?;
        if let Some(bound) = renewed {
            self.swap(Some(bound));
        }
        Ok((stored, checked))
    }

    /// Removes a stored document.
    ///
    /// # Errors
    ///
    /// Fails when the schema is bound, unknown, or has changed since the `expected` revision.
    pub async fn remove_schema(
        &self,
        id: &str,
        expected: Option<&str>,
    ) -> Result<(), SchemaChangeError> {
        let _change = self.changes.lock().await;
        if self.is_bound(id) {
            return Err(SchemaChangeError::Bound);
        }
        Ok(self.schemas.remove(id, expected).await?)
    }

    /// Binds a stored schema, replacing the bound one.
    ///
    /// `query` is the sample query in GraphiQL; without one, it is generated.
    ///
    /// # Errors
    ///
    /// Fails if the schema is unknown or has errors; the bound schema does not change then.
    pub async fn bind(
        &self,
        id: &str,
        query: Option<&str>,
    ) -> Result<(StoredSchema, Checked), SchemaChangeError> {
        let _change = self.changes.lock().await;
        let stored = self
            .schemas
            .get(id)
            .await?
            .ok_or(SchemaStoreError::NotFound)?;
        let (usable, checked) = self.usable(&stored.text)?;
        let bound = self.prepare(id, &usable, query).await;
        self.swap(Some(bound));
        tracing::info!(
            schema = id,
            types = usable.soml.objects.len(),
            "schema bound"
        );
        Ok((stored, checked))
    }

    /// Unbinds a schema; does nothing when it is not the one that is bound.
    ///
    /// # Errors
    ///
    /// Fails when the schema is unknown.
    pub async fn unbind(&self, id: &str) -> Result<(), SchemaChangeError> {
        let _change = self.changes.lock().await;
        self.schemas
            .get(id)
            .await?
            .ok_or(SchemaStoreError::NotFound)?;
        if self.is_bound(id) {
            self.swap(None);
            tracing::info!(schema = id, "schema unbound");
        }
        Ok(())
    }

    /// Tells whether the schema named `id` is the one being served.
    #[must_use]
    pub fn is_bound(&self, id: &str) -> bool {
        self.bound().is_some_and(|bound| bound.id == id)
    }

    /// Tells whether a schema is being served.
    #[must_use]
    pub fn has_schema(&self) -> bool {
        self.bound().is_some()
    }

    /// Makes the readiness probe fail from now on.
    pub fn drain(&self) {
        self.draining.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_draining(&self) -> bool {
        self.draining.load(Ordering::Relaxed)
    }

    pub(crate) fn bound(&self) -> Option<Arc<Bound>> {
        self.bound.load_full()
    }

    async fn prepare(&self, id: &str, usable: &UsableSchema, query: Option<&str>) -> Bound {
        let options = self.settings.service_options();
        let (soml, store) = (Arc::clone(&usable.soml), Arc::clone(&self.store));
        // The store may make an index for it.
        let made = tokio::task::spawn_blocking(move || ObjectService::new(soml, store, options));
        let service = made
            .await
            .expect("making a service does not panic")
            .expect("the check made the same API from the same schema");
        Bound {
            id: id.to_owned(),
            label: usable.soml.metadata.label.clone(),
            first_query: query.map_or_else(|| first_query(service.api()), str::to_owned),
            service,
        }
    }

    /// Checks a document for the API that this service serves.
    pub(crate) fn check(&self, text: &str) -> Checked {
        check_with(text, &self.settings.service_options().api)
    }

    fn usable(&self, text: &str) -> Result<(UsableSchema, Checked), SchemaChangeError> {
        let checked = self.check(text);
        match checked.schema.clone() {
            Some(usable) => Ok((usable, checked)),
            None => Err(SchemaChangeError::Invalid(Box::new(checked))),
        }
    }

    fn swap(&self, bound: Option<Bound>) {
        self.bound.store(bound.map(Arc::new));
        self.health.forget();
    }
}
