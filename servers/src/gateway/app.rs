//! The running gateway: its settings, its subgraphs, and the composite schema that is served.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use arc_swap::{ArcSwap, ArcSwapOption};
use federation::transport::http::HttpOptionsError;
use federation::{CallerClaims, Ending, GatewayOptions, OpenSubscriptions};
use service_auth::Verifier;
use service_auth::idp::{IdpClient, IdpError};
use tokio_util::sync::CancellationToken;

use super::composite::{Composite, Recipe};
use super::endpoints::{Endpoints, EndpointsError, Network};
use super::health::Seen;
use super::log_in::{self, IdpIncomplete};
use super::metrics::Metrics;
use super::persisted::{PersistedQueries, TrustedError};
use super::subgraph::{Subgraph, SubgraphsError};
use super::supergraph_file::{SupergraphFile, SupergraphFileError};
use super::traces::{Traces, TracesError};
use crate::config::Settings;
use crate::health_record::HealthCache;
use crate::health_record::HealthRecord;
use crate::resources::Resources;
use crate::search::SharedLook;

/// The state behind all requests of a gateway.
pub struct GatewayApp {
    pub(crate) settings: Settings,
    pub(crate) resources: Resources,
    pub(crate) verifier: Option<Arc<Verifier>>,
    /// Whether requests without a token are refused here, and not by subgraphs alone.
    pub(crate) requires_tokens: bool,
    pub(crate) started: Instant,
    /// The subgraphs; those of a file are known once it is read.
    endpoints: ArcSwap<Endpoints>,
    pub(super) network: Network,
    /// The file of the supergraph, where the subgraphs are not asked for their schemas.
    pub(super) supergraph: Option<Arc<SupergraphFile>>,
    pub(super) idp: Option<IdpClient>,
    pub(super) query: Option<String>,
    pub(crate) persisted: Arc<PersistedQueries>,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) traces: Traces,
    /// The subscriptions that are open, whichever composite schema they began with.
    subscriptions: OpenSubscriptions,
    pub(super) composite: ArcSwapOption<Composite>,
    /// What keeps the subgraphs from being composed.
    pub(super) waits_for: ArcSwap<String>,
    /// What keeps a changed schema from being served.
    stale: ArcSwapOption<String>,
    pub(super) health: HealthCache<HealthRecord>,
    /// What was seen of the subgraphs last.
    pub(super) seen: ArcSwapOption<Seen>,
    /// Looks at them, one at a time.
    pub(super) looks: SharedLook<Arc<Seen>>,
    /// Cancelled when the service ends.
    pub(super) ending: CancellationToken,
    draining: AtomicBool,
}

/// What a gateway is made of.
pub struct GatewayParts {
    /// The settings.
    pub settings: Settings,
    /// Services of this process that are subgraphs, before those that are configured.
    pub local: Vec<Subgraph>,
    /// What verifies tokens; `None` where nobody does.
    pub verifier: Option<Arc<Verifier>>,
    /// Whether requests without a token are refused.
    pub requires_tokens: bool,
    /// Whether the gateway logs in to read the schemas of subgraphs that are not in this process.
    pub logs_in: bool,
    /// What all requests of the process share.
    pub resources: Resources,
    /// The sample query that GraphiQL begins with.
    pub query: Option<String>,
}

/// Why a gateway cannot be set up.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SetupError {
    /// The subgraphs are not configured well.
    #[error(transparent)]
    Subgraphs(#[from] SubgraphsError),
    /// The file of a supergraph is not configured well.
    #[error(transparent)]
    Supergraph(#[from] SupergraphFileError),
    /// What a log-in needs is not configured.
    #[error(transparent)]
    Idp(#[from] IdpIncomplete),
    /// The identity provider cannot be asked.
    #[error(transparent)]
    IdpClient(#[from] IdpError),
    /// The file of trusted documents cannot be used.
    #[error(transparent)]
    Trusted(#[from] TrustedError),
    /// Requests to subgraphs cannot be set up.
    #[error("requests to subgraphs cannot be set up")]
    Transport(#[from] HttpOptionsError),
    /// Traces cannot be sent as they are configured.
    #[error(transparent)]
    Traces(#[from] TracesError),
    /// Requests of the gateway itself cannot be set up.
    #[error("requests to subgraphs cannot be set up: {0}")]
    Client(String),
}

impl From<EndpointsError> for SetupError {
    fn from(error: EndpointsError) -> Self {
        match error {
            EndpointsError::Transport(error) => SetupError::Transport(error),
            EndpointsError::Client(error) => SetupError::Client(error.to_string()),
        }
    }
}

impl GatewayApp {
    /// Creates a gateway that has composed nothing yet, and sends nothing.
    ///
    /// # Errors
    /// When there is no subgraph, or what is configured cannot be used.
    pub fn new(parts: GatewayParts) -> Result<Self, SetupError> {
        let settings = parts.settings;
        let supergraph = SupergraphFile::configured(&settings.gateway)?;
        let mut subgraphs = parts.local;
        match &supergraph {
            Some(_) if !subgraphs.is_empty() => return Err(SupergraphFileError::NotAlone.into()),
            Some(_) => {}
            None => {
                let taken: Vec<&str> = subgraphs.iter().map(Subgraph::name).collect();
                let configured = Subgraph::configured(&settings.gateway, &taken)?;
                subgraphs.extend(configured);
                if subgraphs.is_empty() {
                    return Err(SubgraphsError::None.into());
                }
            }
        }
        // Schemas from a file need no token.
        let idp = match parts.logs_in && supergraph.is_none() {
            true => {
                let options = log_in::options(&settings.gateway.idp)?;
                Some(IdpClient::new(options)?)
            }
            false => None,
        };
        let subscriptions = OpenSubscriptions::default();
        let names = subgraphs.iter().map(Subgraph::name);
        let metrics = Arc::new(Metrics::new(names, subscriptions.clone()));
        let traces = Traces::new(&settings)?;
        let network = Network {
            exchange: settings.gateway.exchange.clone(),
            slots: Arc::clone(&parts.resources.slots),
            metrics: Arc::clone(&metrics),
            traces: traces.clone(),
        };
        let endpoints = network.endpoints(subgraphs)?;
        let (persisted, trusted) = (&settings.gateway.persisted, &settings.gateway.trusted);
        let persisted = Arc::new(PersistedQueries::of(persisted, trusted)?);
        Ok(GatewayApp {
            health: HealthCache::new(settings.health_cache),
            settings,
            resources: parts.resources,
            verifier: parts.verifier,
            requires_tokens: parts.requires_tokens,
            started: Instant::now(),
            endpoints: ArcSwap::from_pointee(endpoints),
            network,
            supergraph,
            idp,
            query: parts.query,
            persisted,
            metrics,
            traces,
            subscriptions,
            composite: ArcSwapOption::empty(),
            waits_for: ArcSwap::from_pointee("the gateway is starting".to_owned()),
            stale: ArcSwapOption::empty(),
            seen: ArcSwapOption::empty(),
            looks: SharedLook::default(),
            ending: CancellationToken::new(),
            draining: AtomicBool::new(false),
        })
    }

    /// Returns the subgraphs; none while the file that names them is not read.
    #[must_use]
    pub fn subgraphs(&self) -> Vec<Subgraph> {
        self.endpoints.load().subgraphs.clone()
    }

    /// Returns the file of the supergraph, where the gateway serves one.
    #[must_use]
    pub fn supergraph_file(&self) -> Option<&Path> {
        self.supergraph.as_ref().map(|file| file.path())
    }

    pub(super) fn endpoints(&self) -> Arc<Endpoints> {
        self.endpoints.load_full()
    }

    /// Takes other subgraphs for those of the gateway.
    pub(super) fn connect(&self, endpoints: Arc<Endpoints>) {
        let names = endpoints.subgraphs.iter().map(Subgraph::name);
        self.metrics.count(names);
        let before = self.endpoints.swap(Arc::clone(&endpoints));
        if !Arc::ptr_eq(&before, &endpoints) {
            // Nobody has looked at these yet.
            self.seen.store(None);
        }
    }

    /// Says what keeps a changed schema from being served; nothing does where it is absent.
    pub(super) fn set_stale(&self, why: Option<String>) {
        self.stale.store(why.map(Arc::new));
    }

    /// Returns what keeps a changed schema from being served.
    pub(super) fn stale(&self) -> Option<Arc<String>> {
        self.stale.load_full()
    }

    /// Tells whether there is a composite schema.
    #[must_use]
    pub fn is_composed(&self) -> bool {
        self.composite.load().is_some()
    }

    /// Makes the readiness probe fail from now on, and ends what runs beside requests.
    pub fn drain(&self) {
        self.draining.store(true, Ordering::Relaxed);
        self.ending.cancel();
        if let Some(composite) = self.composite.load().as_ref() {
            composite.gateway.end_subscriptions(Ending::Shutdown);
        }
    }

    /// Returns what is cancelled when the service ends.
    pub(crate) fn ending(&self) -> &CancellationToken {
        &self.ending
    }

    pub(crate) fn is_draining(&self) -> bool {
        self.draining.load(Ordering::Relaxed)
    }

    pub(crate) fn composite(&self) -> Option<Arc<Composite>> {
        self.composite.load_full()
    }

    /// Returns why there is no composite schema yet.
    pub(crate) fn waits_for(&self) -> Arc<String> {
        self.waits_for.load_full()
    }

    pub(super) fn recipe(&self) -> Recipe {
        let mut options = GatewayOptions::default();
        options.limits = self.settings.limits.clone();
        options.gateway_limits = self.settings.gateway.limits.clone();
        options.slots = Arc::clone(&self.resources.slots);
        options.subscriptions = self.subscriptions.clone();
        options.subgraph_stacktraces = self.settings.gateway.exchange.stacktraces;
        if self.verifier.is_some() {
            options.authorizer = Some(Arc::new(CallerClaims::default()));
        }
        Recipe {
            options,
            mutations: self.settings.gateway.mutations,
            prune: self.settings.gateway.prune,
            query: self.query.clone(),
        }
    }
}
