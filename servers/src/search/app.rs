//! The running search service: its settings, data, engines, and the schema that is bound.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use arc_swap::ArcSwapOption;
use graph_store::GraphStore;
use graphql_service::{Caller, SlotError, Weight};
use schema_registry::{SchemaStore, SchemaStoreError};
use service_auth::Verifier;
use service_auth::rights::Manager;
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;

use super::bound::Bound;
use super::engines::Engines;
use super::job::Job;
use super::kept::Storage;
use super::look::Look;
use super::shared_look::SharedLook;
use super::state::Found;
use crate::app::manager;
use crate::config::Settings;
use crate::health_record::HealthCache;
use crate::loading::LoadProgress;
use crate::resources::Resources;

/// The state behind all requests of a search service.
pub struct SearchApp {
    pub(crate) settings: Settings,
    pub(crate) schemas: Arc<dyn SchemaStore>,
    pub(crate) verifier: Option<Arc<Verifier>>,
    pub(crate) resources: Resources,
    pub(crate) loading: Arc<LoadProgress>,
    pub(crate) started: Instant,
    pub(super) health: HealthCache<Found>,
    /// What was last seen of the engines.
    pub(super) looks: SharedLook<Arc<Look>>,
    pub(super) engines: Engines,
    /// The data that are indexed; `None` where no indexes are built.
    pub(super) data: Option<Arc<dyn GraphStore>>,
    pub(super) storage: Storage,
    pub(super) bound: ArcSwapOption<Bound>,
    /// The last run that builds indexes.
    pub(super) job: ArcSwapOption<Job>,
    /// Held while what is bound, or what builds it, changes. Requests never wait for it.
    pub(super) changes: Mutex<()>,
    /// Held while a run makes its schema the one that is bound, or an unbind makes it nothing.
    pub(super) deciding: Mutex<()>,
    /// Why what was bound when the service ended is not bound.
    pub(super) not_restored: ArcSwapOption<String>,
    /// Cancelled once somebody else decides what is bound than the start of the service.
    pub(super) starting: CancellationToken,
    draining: AtomicBool,
}

/// What a search service is made of.
pub struct SearchParts {
    /// The settings.
    pub settings: Settings,
    /// The stored schemas, which another service in the process may share.
    pub schemas: Arc<dyn SchemaStore>,
    /// The data that are indexed; `None` if no indexes are to be built.
    pub data: Option<Arc<dyn GraphStore>>,
    /// What searches run on.
    pub engines: Engines,
    /// Where the embedded engine keeps its indexes. What is bound is kept by `schemas`.
    pub storage: Storage,
    /// What verifies tokens; `None` where requests need none.
    pub verifier: Option<Arc<Verifier>>,
    /// What all requests of the process share.
    pub resources: Resources,
    /// The load of data at the start.
    pub loading: Arc<LoadProgress>,
}

impl SearchApp {
    /// Creates a service to which nothing is bound.
    #[must_use]
    pub fn new(parts: SearchParts) -> Self {
        SearchApp {
            health: HealthCache::new(parts.settings.health_cache),
            looks: SharedLook::default(),
            settings: parts.settings,
            schemas: parts.schemas,
            verifier: parts.verifier,
            resources: parts.resources,
            loading: parts.loading,
            started: Instant::now(),
            engines: parts.engines,
            data: parts.data,
            storage: parts.storage,
            bound: ArcSwapOption::empty(),
            job: ArcSwapOption::empty(),
            changes: Mutex::default(),
            deciding: Mutex::default(),
            not_restored: ArcSwapOption::empty(),
            starting: CancellationToken::new(),
            draining: AtomicBool::new(false),
        }
    }

    /// Tells whether a schema is being served.
    #[must_use]
    pub fn has_schema(&self) -> bool {
        self.bound.load().is_some()
    }

    /// Tells whether binding a schema builds its indexes.
    #[must_use]
    pub fn builds_indexes(&self) -> bool {
        self.data.is_some()
    }

    /// Makes the readiness probe fail from now on, and ends the run that builds indexes.
    pub fn drain(&self) {
        self.draining.store(true, Ordering::Relaxed);
        self.starting.cancel();
        if let Some(job) = self.job.load_full() {
            job.cancel();
        }
    }

    /// Waits until a run that was cancelled has cleaned up.
    pub async fn ended(&self) {
        if let Some(job) = self.job.load_full() {
            job.ended().await;
        }
    }

    /// Returns the folder in which the embedded engine keeps its indexes, if it keeps them.
    #[must_use]
    pub fn keeps(&self) -> Option<&std::path::Path> {
        match &self.storage {
            Storage::Memory => None,
            Storage::Folder(folder) => Some(folder),
        }
    }

    pub(crate) fn is_draining(&self) -> bool {
        self.draining.load(Ordering::Relaxed)
    }

    pub(crate) fn bound(&self) -> Option<Arc<Bound>> {
        self.bound.load_full()
    }

    /// Returns what the sender of a request may manage.
    pub(crate) async fn manager(
        &self,
        caller: Option<&Caller>,
    ) -> Result<Manager, SchemaStoreError> {
        if self.verifier.is_none() {
            return Ok(Manager::of_everything());
        }
        let admin = &self.settings.security.schema_admin_role;
        manager(self.schemas.as_ref(), admin, caller).await
    }

    /// Does work with a schema, which may take seconds, once there is a slot for it.
    pub(crate) async fn in_slot<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, SlotError> {
        let deadline = Instant::now() + self.settings.request_timeout;
        let slots = &self.resources.slots;
        slots
            .run(Weight::Background, Some(deadline), move |_| work())
            .await
    }

    pub(super) fn forget_health(&self) {
        self.health.forget();
    }
}
