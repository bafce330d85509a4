//! The running object service: data, stored schemas, and the bound schema.

use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwapOption;
use graph_store::{GraphStore, WriteStore};
use graphql_gen::typesystem::ApiOptions;
use graphql_service::{SlotError, Slots};
use object_engine::{ObjectService, ServiceOptions};
use schema_registry::{
    Checked, Expected, SchemaIdError, SchemaStore, SchemaStoreError, ServiceKind, StoredSchema,
    UsableSchema, check_id, check_with, put,
};
use service_auth::Verifier;
use service_auth::identity::Provider;
use service_runtime::{Example, HealthCache, HostState, LoadProgress, PrintedSdl, SdlCell};
use tokio::sync::{Mutex, Semaphore};

use super::examples::example_queries;
use super::findings::HealthFindings;
use super::folder::Backups;

/// Dumps of the data that are made at once: each holds a thread, and the data as they were when it began.
const MAX_DUMPS: usize = 2;

/// The options of an object service.
#[derive(Clone, Debug)]
pub struct AppOptions {
    /// How the bound schema is served. Slots, roles and whether there are mutations are set by the service.
    pub service: ServiceOptions,
    /// When mutations are served, where the schema allows it.
    pub mutations: Mutations,
    /// How long records of changes are kept; `None` keeps them.
    pub retention: Option<Duration>,
    /// Maximum number of stored schemas.
    pub max_schemas: usize,
    /// Maximum size of all stored schemas in bytes.
    pub max_schema_bytes: usize,
    /// Time for the store to answer a health check, where that is longer than others have.
    pub store_check_time: Duration,
    /// Time for a store of schemas to answer a health check, where that is longer than others have.
    pub schemas_check_time: Duration,
    /// How often it is looked what is bound, where other processes share the stored schemas.
    pub follow_interval: Duration,
}

/// When mutations are served.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mutations {
    /// Never.
    Never,
    /// While the store can be written to.
    #[default]
    IfWritable,
    /// Always: where the store cannot be written to now, they are refused.
    Always,
}

impl Mutations {
    /// Returns whether they are served over a store.
    #[must_use]
    pub fn are_served(self, store: &dyn GraphStore) -> bool {
        match self {
            Mutations::Never => false,
            Mutations::IfWritable => store.writer().is_some(),
            Mutations::Always => true,
        }
    }
}

impl Default for AppOptions {
    fn default() -> Self {
        AppOptions {
            service: ServiceOptions::default(),
            mutations: Mutations::default(),
            retention: None,
            max_schemas: 1_000,
            max_schema_bytes: 64 << 20,
            store_check_time: Duration::ZERO,
            schemas_check_time: Duration::ZERO,
            follow_interval: Duration::from_secs(2),
        }
    }
}

/// The state behind all requests.
pub struct App {
    pub(crate) host: HostState,
    pub(crate) options: AppOptions,
    pub(crate) store: Arc<dyn GraphStore>,
    pub(crate) schemas: Arc<dyn SchemaStore>,
    pub(crate) health: HealthCache<HealthFindings>,
    pub(crate) provider: Option<Arc<Provider>>,
    /// Where data and schemas are in a folder, the backups of it.
    pub(crate) backups: Option<Arc<Backups>>,
    /// Permits for dumps of the data.
    pub(crate) dumps: Arc<Semaphore>,
    /// Held while it is found out whether there is room for changes.
    pub(crate) room_checks: Arc<Semaphore>,
    bound: ArcSwapOption<Bound>,
    /// Why what is bound in a shared store is not what is served.
    pub(crate) not_followed: ArcSwapOption<String>,
    /// Held while a schema is stored, replaced, removed or bound, so that what is bound is always
    /// what is stored. Requests never wait for it.
    pub(crate) changes: Mutex<()>,
}

/// A schema that is being served.
pub(crate) struct Bound {
    pub(crate) id: String,
    /// The revision of the stored document.
    pub(crate) revision: String,
    pub(crate) label: Option<String>,
    pub(crate) service: Arc<ObjectService>,
    /// Sample queries in GraphiQL, the one to begin with first.
    pub(crate) examples: Vec<Example>,
    sdl: SdlCell,
}

impl Bound {
    /// Returns whether the schema lets clients ask for plans.
    pub(crate) fn may_explain(&self) -> bool {
        self.service.api().soml().config.enable_graphql_explain
    }

    /// Returns the API as a document in the GraphQL schema definition language.
    ///
    /// # Errors
    /// When it is asked for the first time and there is no slot for printing it.
    pub(crate) async fn sdl(&self, slots: &Arc<Slots>) -> Result<PrintedSdl, SlotError> {
        let service = Arc::clone(&self.service);
        self.sdl.get(slots, move || service.api().sdl()).await
    }
}

/// Why a schema could not be stored or bound.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SchemaChangeError {
    /// The document has errors.
    #[error("the schema has errors")]
    Invalid(Box<Checked>),
    /// The identifier in the document is not the expected one.
    #[error("the document has the identifier `{found}`, expected `{expected}`")]
    IdMismatch {
        /// What was asked for.
        expected: String,
        /// What the document says.
        found: String,
    },
    /// The identifier in the document cannot name a stored schema.
    #[error("{error}; {}", .error.help)]
    IdInvalid {
        /// What is wrong with it.
        error: SchemaIdError,
    },
    /// The stored schemas would be more, or larger, than the settings allow.
    #[error("{bound}; remove a schema that is no longer needed")]
    Full {
        /// The bound, for people.
        bound: String,
    },
    /// The sender of the request has no right to the change.
    #[error("the roles of the caller do not permit this")]
    Forbidden,
    /// There is no slot for the work.
    #[error(transparent)]
    Busy(#[from] SlotError),
    /// The schema store failed or refused the change.
    #[error(transparent)]
    Store(#[from] SchemaStoreError),
}

impl App {
    /// Creates a service without any schema.
    #[must_use]
    pub fn new(
        host: HostState,
        options: AppOptions,
        store: Arc<dyn GraphStore>,
        schemas: Arc<dyn SchemaStore>,
    ) -> Self {
        App {
            health: HealthCache::new(host.options.health_cache),
            host,
            options,
            store,
            schemas,
            provider: None,
            backups: None,
            dumps: Arc::new(Semaphore::new(MAX_DUMPS)),
            room_checks: Arc::new(Semaphore::new(1)),
            bound: ArcSwapOption::empty(),
            not_followed: ArcSwapOption::empty(),
            changes: Mutex::default(),
        }
    }

    /// Returns whether users can log in here.
    #[must_use]
    pub fn has_provider(&self) -> bool {
        self.provider.is_some()
    }

    /// Lets users log in to a provider of tokens at `/api/login`.
    #[must_use]
    pub fn with_provider(mut self, provider: Arc<Provider>) -> Self {
        self.provider = Some(provider);
        self
    }

    /// Makes every request need a token that `verifier` accepts.
    #[must_use]
    pub fn with_verifier(mut self, verifier: Verifier) -> Self {
        self.host.verifier = Some(Arc::new(verifier));
        self
    }

    /// Lets callers who may manage everything make backups.
    #[must_use]
    pub fn with_backups(mut self, backups: Backups) -> Self {
        self.backups = Some(Arc::new(backups));
        self
    }

    /// Returns the store of the data.
    #[must_use]
    pub fn store(&self) -> &Arc<dyn GraphStore> {
        &self.store
    }

    /// Checks and stores a new document; returns it with its diagnostics.
    ///
    /// # Errors
    ///
    /// Fails when the document has errors, when its identifier is taken or can name no schema, and
    /// when there is no room.
    pub async fn store_schema(
        &self,
        text: &str,
    ) -> Result<(StoredSchema, Checked), SchemaChangeError> {
        self.store_schema_if(text, |_| true).await
    }

    /// Stores a new document like [`App::store_schema`] if it has an identifier that `may_store` allows.
    ///
    /// # Errors
    ///
    /// Fails as [`App::store_schema`] does, and when the identifier is not allowed.
    pub async fn store_schema_if(
        &self,
        text: &str,
        may_store: impl Fn(&str) -> bool + Send,
    ) -> Result<(StoredSchema, Checked), SchemaChangeError> {
        let text: Arc<str> = text.into();
        let _change = self.changes.lock().await;
        let (usable, checked) = self.usable(&text).await?;
        check_id(&usable.id).map_err(|error| SchemaChangeError::IdInvalid { error })?;
        if !may_store(&usable.id) {
            return Err(SchemaChangeError::Forbidden);
        }
        self.check_room(&usable.id, text.len()).await?;
        Ok((self.schemas.create(&usable.id, text).await?, checked))
    }

    /// Stores a checked document, in place of the one with its identifier if there is one, and binds it.
    ///
    /// `query` is the sample query that GraphiQL begins with, before those that are generated.
    ///
    /// # Errors
    ///
    /// Fails as [`App::store_schema`] does, except when the identifier is taken.
    pub async fn serve_schema(
        &self,
        usable: &UsableSchema,
        text: &str,
        query: Option<&str>,
    ) -> Result<(), SchemaChangeError> {
        let id = &usable.id;
        check_id(id).map_err(|error| SchemaChangeError::IdInvalid { error })?;
        let _change = self.changes.lock().await;
        let stored = match self.schemas.get(id).await? {
            Some(stored) if *stored.text == *text => stored,
            stored => {
                self.check_room(id, text.len()).await?;
                if stored.is_some() {
                    tracing::info!(schema = id, "replacing the stored schema");
                }
                put(self.schemas.as_ref(), id, text.into()).await?
            }
        };
        self.bind_checked(&stored, usable, query).await
    }

    /// Checks that a document would be within the bounds of what is stored.
    async fn check_room(&self, id: &str, bytes: usize) -> Result<(), SchemaChangeError> {
        let entries = self.schemas.list().await?;
        let others = entries.iter().filter(|entry| entry.id != id);
        let (count, sum) = others.fold((0_usize, 0_usize), |(count, sum), entry| {
            (count + 1, sum.saturating_add(entry.bytes))
        });
        let (schemas, total) = (self.options.max_schemas, self.options.max_schema_bytes);
        let bound = if count >= schemas {
            format!("there can be {schemas} stored schemas (`soml.storage.maxSchemas`)")
        } else if sum.saturating_add(bytes) > total {
            format!("stored schemas can take {total} bytes (`soml.storage.maxBytes`)")
        } else {
            return Ok(());
        };
        Err(SchemaChangeError::Full { bound })
    }

    /// Replaces a stored document; if it is bound, the new version is bound.
    ///
    /// # Errors
    ///
    /// Fails when the document has errors, has another identifier, does not fit, or has another
    /// revision than `expected`; nothing changes then.
    pub async fn replace_schema(
        &self,
        id: &str,
        text: &str,
        expected: &Expected,
    ) -> Result<(StoredSchema, Checked), SchemaChangeError> {
        let text: Arc<str> = text.into();
        let _change = self.changes.lock().await;
        let (usable, checked) = self.usable(&text).await?;
        if self.schemas.get(id).await?.is_none() {
            return Err(SchemaStoreError::NotFound.into());
        }
        if usable.declares_id && usable.id != id {
            return Err(SchemaChangeError::IdMismatch {
                expected: id.to_owned(),
                found: usable.id,
            });
        }
        self.check_room(id, text.len()).await?;
        let renewed = match self.bound() {
            Some(bound) if bound.id == id => Some(self.prepare(id, "", &usable, None).await?),
            _ => None,
        };
        let stored = self.schemas.replace(id, text, expected).await?;
        if let Some(mut bound) = renewed {
            bound.revision.clone_from(&stored.revision);
            self.swap(Some(bound));
        }
        Ok((stored, checked))
    }

    /// Removes a stored document.
    ///
    /// # Errors
    ///
    /// Fails when the schema is bound, unknown, or has another revision than `expected`.
    pub async fn remove_schema(
        &self,
        id: &str,
        expected: &Expected,
    ) -> Result<(), SchemaChangeError> {
        let _change = self.changes.lock().await;
        if self.is_bound(id) {
            let service = ServiceKind::Objects;
            return Err(SchemaStoreError::Bound { service }.into());
        }
        Ok(self.schemas.remove(id, expected).await?)
    }

    /// Binds a stored schema if it has an `expected` revision, replacing the bound one.
    ///
    /// `query` is the sample query that GraphiQL begins with, before those that are generated.
    ///
    /// # Errors
    ///
    /// Fails if the schema is unknown, has another revision, or has errors; the bound schema does not change then.
    pub async fn bind(
        &self,
        id: &str,
        expected: &Expected,
        query: Option<&str>,
    ) -> Result<(StoredSchema, Checked), SchemaChangeError> {
        let _change = self.changes.lock().await;
        let stored = self.stored(id, expected).await?;
        let (usable, checked) = self.usable(&stored.text).await?;
        self.bind_checked(&stored, &usable, query).await?;
        Ok((stored, checked))
    }

    /// Binds the schema that was bound when the service ended, once it is checked again.
    ///
    /// # Errors
    ///
    /// Fails when the schema store does, or no slot is free in time.
    pub async fn bind_again(
        &self,
        stored: &StoredSchema,
        usable: &UsableSchema,
    ) -> Result<(), SchemaChangeError> {
        let _change = self.changes.lock().await;
        let bound = self.prepare(&stored.id, &stored.revision, usable, None);
        self.serve(bound.await?, usable);
        Ok(())
    }

    /// Binds a stored schema, while no one else changes any.
    async fn bind_checked(
        &self,
        stored: &StoredSchema,
        usable: &UsableSchema,
        query: Option<&str>,
    ) -> Result<(), SchemaChangeError> {
        let id = &stored.id;
        let bound = self.prepare(id, &stored.revision, usable, query).await?;
        let service = ServiceKind::Objects;
        self.schemas.set_binding(service, Some(id)).await?;
        self.serve(bound, usable);
        Ok(())
    }

    pub(crate) fn serve(&self, bound: Bound, usable: &UsableSchema) {
        let types = usable.soml.objects.len();
        tracing::info!(schema = bound.id, types, "schema bound");
        self.swap(Some(bound));
    }

    /// Unbinds a schema; does nothing when it is not the one that is bound.
    ///
    /// # Errors
    ///
    /// Fails when the schema is unknown, or has another revision than `expected`.
    pub async fn unbind(&self, id: &str, expected: &Expected) -> Result<(), SchemaChangeError> {
        let _change = self.changes.lock().await;
        self.stored(id, expected).await?;
        let (service, is_bound) = (ServiceKind::Objects, self.is_bound(id));
        if self.schemas.is_shared() {
            // Another process may have bound it a moment ago.
            self.schemas.unbind(service, id).await?;
        } else if is_bound {
            self.schemas.set_binding(service, None).await?;
        }
        if is_bound {
            self.swap(None);
            tracing::info!(schema = id, "schema unbound");
        }
        Ok(())
    }

    /// Returns whether the schema named `id` is the one being served.
    #[must_use]
    pub fn is_bound(&self, id: &str) -> bool {
        self.bound().is_some_and(|bound| bound.id == id)
    }

    /// Returns whether mutations are served, where the schema allows it.
    #[must_use]
    pub fn writes(&self) -> bool {
        self.options.mutations.are_served(self.store.as_ref())
    }

    /// Returns whether what is written survives the end of the process.
    #[must_use]
    pub fn keeps_writes(&self) -> bool {
        let writer = self.store.writer();
        writer.is_some_and(WriteStore::is_durable)
    }

    /// Returns which parts of the API of a schema are served.
    #[must_use]
    pub fn api_options(&self) -> ApiOptions {
        self.service_options().api
    }

    /// Returns whether a schema is being served.
    #[must_use]
    pub fn has_schema(&self) -> bool {
        self.bound().is_some()
    }

    /// Returns the load of data at the start.
    #[must_use]
    pub fn loading(&self) -> &Arc<LoadProgress> {
        &self.host.loading
    }

    /// Ends the load of data, so that requests are answered from now on.
    pub fn loaded(&self) {
        self.host.loading.end();
        self.health.forget();
    }

    /// Returns the name of the schema that is being served, and what serves it.
    #[must_use]
    pub fn bound_schema(&self) -> Option<(String, Arc<ObjectService>)> {
        let bound = self.bound()?;
        Some((bound.id.clone(), Arc::clone(&bound.service)))
    }

    pub(crate) fn bound(&self) -> Option<Arc<Bound>> {
        self.bound.load_full()
    }

    pub(crate) async fn prepare(
        &self,
        id: &str,
        revision: &str,
        usable: &UsableSchema,
        query: Option<&str>,
    ) -> Result<Bound, SlotError> {
        let options = self.service_options();
        let (api, store) = (Arc::clone(&usable.api), Arc::clone(&self.store));
        let query = query.map(str::to_owned);
        // The store may make an index for it.
        let make = move || {
            let service = ObjectService::with_api(api, store, options);
            let mut examples = example_queries(service.api());
            if let Some(query) = query {
                let title = "Start";
                examples.insert(0, Example { title, query });
            }
            (service, examples)
        };
        let (service, examples) = self.host.in_slot(make).await?;
        Ok(Bound {
            id: id.to_owned(),
            revision: revision.to_owned(),
            label: usable.soml.metadata.label.clone(),
            examples,
            service: Arc::new(service),
            sdl: SdlCell::default(),
        })
    }

    async fn stored(
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

    /// Returns the options of the object service. It enforces the roles of callers where requests need a
    /// token.
    fn service_options(&self) -> ServiceOptions {
        let options = self.options.service.clone();
        let api = options.api.clone().with_mutations(self.writes());
        options
            .with_slots(Arc::clone(&self.host.resources.slots))
            .with_roles_enforced(self.host.verifier.is_some())
            .with_api(api)
    }

    /// Checks a document for the API that this service serves, and makes something of the result
    /// before others have their turn: whoever waits holds no generated API.
    pub(crate) async fn check<T: Send + 'static>(
        &self,
        text: &Arc<str>,
        then: impl FnOnce(Checked) -> T + Send + 'static,
    ) -> Result<T, SlotError> {
        let (text, options) = (Arc::clone(text), self.api_options());
        let check = move || then(check_with(&text, &options));
        self.host.in_slot(check).await
    }

    pub(crate) async fn usable(
        &self,
        text: &Arc<str>,
    ) -> Result<(UsableSchema, Checked), SchemaChangeError> {
        let mut checked = self.check(text, |checked| checked).await?;
        match checked.schema.take() {
            Some(usable) => Ok((usable, checked)),
            None => Err(SchemaChangeError::Invalid(Box::new(checked))),
        }
    }

    pub(crate) fn swap(&self, bound: Option<Bound>) {
        self.bound.store(bound.map(Arc::new));
        self.not_followed.store(None);
        self.host.schema_changed();
        self.health.forget();
    }
}
