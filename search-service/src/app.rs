//! The running search service: its settings, data, engines, and the schema that is bound.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use arc_swap::ArcSwapOption;
use graph_store::GraphStore;
use schema_registry::{BindingState, Lease, SchemaStore};
use service_metrics::table::INDEX_LAG;
use service_metrics::{SharedString, Watch, watch};
use service_runtime::{HealthCache, HostState, LoadProgress, SharedLook};
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;

use super::bound::Bound;
use super::engines::Engines;
use super::followed::DataFollower;
use super::job::Job;
use super::observation::{HealthFindings, Observation};
use super::options::SearchOptions;
use super::refreshed::Refresh;
use super::storage::Storage;

/// The state behind all requests of a search service.
pub struct SearchApp {
    pub(crate) host: HostState,
    pub(crate) options: SearchOptions,
    pub(crate) schemas: Arc<dyn SchemaStore>,
    pub(super) health: HealthCache<HealthFindings>,
    /// What was last seen of the engines.
    pub(super) looks: SharedLook<Arc<Observation>>,
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
    /// Cancelled once someone else decides what is bound than the start of the service.
    pub(super) starting: CancellationToken,
    /// The start of the service has named a schema, and it is not decided yet whether it is bound.
    pub(super) is_naming: AtomicBool,
    /// What is known of the binding that other instances share.
    pub(super) following: Mutex<Following>,
    /// Whoever builds the indexes holds this, where several instances could.
    pub(super) lease: Option<Lease>,
    /// Follows the changes of the data.
    pub(super) follower: Arc<DataFollower>,
    /// Has metrics read how far that is.
    _lag: Watch,
    /// Held while documents of indexes that are searched are written again.
    pub(super) applying: Mutex<()>,
    /// The last comparison of the indexes with the data.
    pub(super) refreshed: ArcSwapOption<Refresh>,
}

/// What is known of a shared binding, so that it is logged once.
#[derive(Default)]
pub(super) struct Following {
    /// What was bound when it was first looked at.
    pub(super) first: Option<BindingState>,
    /// What is bound and cannot be used here.
    pub(super) refused: Option<BindingState>,
    /// Why it is unknown what is bound, or what is bound cannot be used yet.
    pub(super) failure: Option<&'static str>,
    /// Health says why what is bound is not served.
    pub(super) is_told: bool,
}

/// What a search service is made of.
pub struct SearchParts {
    /// State that does not depend on what it serves.
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

/// Returns the name of the lease on the indexes of an application.
pub(super) fn lease_name(application: &str) -> String {
    format!("search-indexes/{application}")
}

impl SearchApp {
    /// Creates a service to which nothing is bound.
    #[must_use]
    pub fn new(parts: SearchParts) -> Self {
        let takes_turns =
            parts.schemas.is_shared() && parts.options.shares_indexes && parts.data.is_some();
        let lease = takes_turns.then(|| {
            let (schemas, options) = (Arc::clone(&parts.schemas), &parts.options);
            let name = lease_name(&parts.host.options.name);
            Lease::new(schemas, name, &options.instance, options.lease_time)
        });
        let follower: Arc<DataFollower> = Arc::default();
        let (watched, service) = (
            Arc::clone(&follower),
            SharedString::from(parts.host.options.name.clone()),
        );
        let lag = watch(move |readings| {
            let seconds = watched.lag().map_or(0.0, |lag| lag.as_secs_f64());
            readings.add(&INDEX_LAG, [service.clone()], seconds);
        });
        SearchApp {
            _lag: lag,
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
            is_naming: AtomicBool::new(false),
            following: Mutex::default(),
            lease,
            follower,
            applying: Mutex::default(),
            refreshed: ArcSwapOption::empty(),
        }
    }

    /// Returns whether a schema is being served.
    #[must_use]
    pub fn has_schema(&self) -> bool {
        self.bound.load().is_some()
    }

    /// Returns whether binding a schema builds its indexes.
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

    /// Returns the application whose indexes others may build as well, if they may.
    pub(super) fn shared_with(&self) -> Option<String> {
        let is_shared = self.options.shares_indexes;
        is_shared.then(|| self.host.options.name.clone())
    }

    pub(super) fn forget_health(&self) {
        self.health.forget();
    }
}
