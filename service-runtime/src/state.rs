//! What every running service has, whatever it serves.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use graphql_http::Resources;
use graphql_service::{Caller, SlotError, Weight};
use schema_registry::{SchemaStore, SchemaStoreError};
use service_auth::Verifier;
use service_auth::rights::{Manager, SchemaRights};
use tokio::sync::watch;

use super::loading::{LoadProgress, LoadState};
use super::loggers::Loggers;
use super::metrics::Metrics;
use super::options::HostOptions;
use super::resources::{ResourceOptions, resources};

/// What every running service has.
pub struct HostState {
    /// Its options.
    pub options: HostOptions,
    /// What all requests share.
    pub resources: Resources,
    /// What verifies tokens; `None` where no one does.
    pub verifier: Option<Arc<Verifier>>,
    /// The load of data at the start.
    pub loading: Arc<LoadProgress>,
    /// What becomes of metrics.
    pub metrics: Metrics,
    /// The duration from which on an operation is logged as slow.
    pub slow_operations: Option<Duration>,
    /// The levels of the log, where administrators may change them.
    pub loggers: Option<Arc<dyn Loggers>>,
    started: Instant,
    draining: AtomicBool,
    /// How often another schema was bound, or none.
    schemas: watch::Sender<u64>,
}

impl Default for HostState {
    fn default() -> Self {
        HostState::new(
            HostOptions::default(),
            resources(&ResourceOptions::default()),
        )
    }
}

impl HostState {
    /// Begins to count the time of a service.
    #[must_use]
    pub fn new(options: HostOptions, resources: Resources) -> Self {
        HostState {
            options,
            resources,
            verifier: None,
            loading: Arc::default(),
            metrics: Metrics::Off,
            slow_operations: None,
            loggers: None,
            started: Instant::now(),
            draining: AtomicBool::new(false),
            schemas: watch::Sender::new(0),
        }
    }

    /// Requires a token accepted by the verifier for every request; no token without a verifier.
    #[must_use]
    pub fn with_verifier(mut self, verifier: Option<Arc<Verifier>>) -> Self {
        self.verifier = verifier;
        self
    }

    /// Follows a load of data that another service began.
    #[must_use]
    pub fn with_loading(mut self, loading: Arc<LoadProgress>) -> Self {
        self.loading = loading;
        self
    }

    /// Records metrics, or shows them, too.
    #[must_use]
    pub fn with_metrics(mut self, metrics: Metrics) -> Self {
        self.metrics = metrics;
        self
    }

    /// Logs operations as slow that take at least as long.
    #[must_use]
    pub fn with_slow_operations(mut self, threshold: Option<Duration>) -> Self {
        self.slow_operations = threshold;
        self
    }

    /// Lets administrators change the levels of the log.
    #[must_use]
    pub fn with_loggers(mut self, loggers: Option<Arc<dyn Loggers>>) -> Self {
        self.loggers = loggers;
        self
    }

    /// Returns when the service began.
    #[must_use]
    pub fn started(&self) -> Instant {
        self.started
    }

    /// Returns how far the data are, while they are being loaded.
    #[must_use]
    pub fn load_state(&self) -> Option<LoadState> {
        self.loading.state()
    }

    /// Makes the readiness probe fail from now on.
    pub fn drain(&self) {
        self.draining.store(true, Ordering::Relaxed);
    }

    /// Returns whether the service is to end.
    #[must_use]
    pub fn is_draining(&self) -> bool {
        self.draining.load(Ordering::Relaxed)
    }

    /// Lets those know who [follow](HostState::schema_changes) it that another schema is served, or none.
    pub fn schema_changed(&self) {
        self.schemas.send_modify(|count| *count += 1);
    }

    /// Returns what changes whenever another schema is served, or none.
    #[must_use]
    pub fn schema_changes(&self) -> watch::Receiver<u64> {
        self.schemas.subscribe()
    }

    /// Does work with a schema, which may take seconds, once there is a slot for it.
    ///
    /// # Errors
    /// When no slot is free within the time of a request.
    pub async fn in_slot<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, SlotError> {
        let deadline = Instant::now() + self.options.request_timeout;
        let slots = &self.resources.slots;
        slots
            .run(Weight::Background, Some(deadline), move |_| work())
            .await
    }

    /// Returns what the sender of a request may manage of stored schemas: everything where requests need no token.
    ///
    /// # Errors
    /// When the schemas cannot be read.
    pub async fn manager(
        &self,
        schemas: &dyn SchemaStore,
        caller: Option<&Caller>,
    ) -> Result<Manager, SchemaStoreError> {
        if self.verifier.is_none() {
            return Ok(Manager::of_everything());
        }
        let rights = schemas.rights().await?.and_then(|stored| {
            // It was read before it was stored.
            SchemaRights::read(&stored.text).ok().map(Arc::new)
        });
        Ok(Manager::new(caller, &self.options.admin_role, rights))
    }
}
