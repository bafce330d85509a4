//! The running search service: its settings, data, engines, and the schema that is bound.

use std::sync::Arc;

use arc_swap::ArcSwapOption;
use graph_store::GraphStore;
use schema_registry::SchemaStore;
use service_runtime::{HealthCache, HostState, LoadProgress, SharedLook};
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;

use super::bound::Bound;
use super::engines::Engines;
use super::job::Job;
use super::kept::Storage;
use super::look::{Found, Look};
use super::options::SearchOptions;

/// The state behind all requests of a search service.
pub struct SearchApp {
    pub(crate) host: HostState,
    pub(crate) options: SearchOptions,
    pub(crate) schemas: Arc<dyn SchemaStore>,
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
}

/// What a search service is made of.
pub struct SearchParts {
    /// What it has whatever it serves.
    pub host: HostState,
    /// The options.
    pub options: SearchOptions,
    /// The stored schemas, which another service in the process may share.
    pub schemas: Arc<dyn SchemaStore>,
    /// The data that are indexed; `None` if no indexes are to be built.
    pub data: Option<Arc<dyn GraphStore>>,
    /// What searches run on.
    pub engines: Engines,
    /// Where the embedded engine keeps its indexes. What is bound is kept by `schemas`.
    pub storage: Storage,
}

impl SearchApp {
    /// Creates a service to which nothing is bound.
    #[must_use]
    pub fn new(parts: SearchParts) -> Self {
        SearchApp {
            health: HealthCache::new(parts.host.options.health_cache),
            looks: SharedLook::default(),
            host: parts.host,
            options: parts.options,
            schemas: parts.schemas,
            engines: parts.engines,
            data: parts.data,
            storage: parts.storage,
            bound: ArcSwapOption::empty(),
            job: ArcSwapOption::empty(),
            changes: Mutex::default(),
            deciding: Mutex::default(),
            not_restored: ArcSwapOption::empty(),
            starting: CancellationToken::new(),
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

    /// Returns the folder in which the embedded engine keeps its indexes, if it keeps them.
    #[must_use]
    pub fn keeps(&self) -> Option<&std::path::Path> {
        match &self.storage {
            Storage::Memory => None,
            Storage::Folder(folder) => Some(folder),
        }
    }

    /// Returns the load of data at the start.
    #[must_use]
    pub fn loading(&self) -> &Arc<LoadProgress> {
        &self.host.loading
    }

    pub(crate) fn bound(&self) -> Option<Arc<Bound>> {
        self.bound.load_full()
    }

    pub(super) fn forget_health(&self) {
        self.health.forget();
    }
}
