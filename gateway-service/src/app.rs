//! The running gateway: its settings, its subgraphs, and the composite schema that is served.

use std::path::Path;
use std::sync::Arc;

use arc_swap::{ArcSwap, ArcSwapOption};
use federation::transport::http::HttpOptionsError;
use federation::{CallerClaims, GatewayOptions, OpenSubscriptions};
use graphql_http::{PersistedQueries, TrustedError};
use service_auth::idp::{IdpClient, IdpError, IdpOptions};
use service_runtime::{HealthCache, HealthRecord, HostState, SharedLook};
use tokio_util::sync::CancellationToken;

use super::composite::{Composite, Recipe};
use super::endpoints::{Endpoints, EndpointsError, Network};
use super::metrics::Metrics;
use super::options::GatewayAppOptions;
use super::seen::Seen;
use super::subgraph::{Subgraph, SubgraphsError};
use super::supergraph_file::{SupergraphFile, SupergraphFileError};

/// The state behind all requests of a gateway.
pub struct GatewayApp {
    pub(crate) host: HostState,
    pub(crate) options: GatewayAppOptions,
    /// Whether requests without a token are refused here, and not by subgraphs alone.
    pub(crate) requires_tokens: bool,
    /// The subgraphs; those of a file are known once it is read.
    endpoints: ArcSwap<Endpoints>,
    pub(super) network: Network,
    /// The file of the supergraph, where the subgraphs are not asked for their schemas.
    pub(super) supergraph: Option<Arc<SupergraphFile>>,
    pub(super) idp: Option<IdpClient>,
    pub(super) query: Option<String>,
    pub(crate) persisted: Arc<PersistedQueries>,
    pub(crate) metrics: Arc<Metrics>,
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
}

/// What a gateway is made of.
pub struct GatewayParts {
    /// State that does not depend on what it serves. Where it verifies tokens, these are also passed on.
    pub host: HostState,
    /// The options.
    pub options: GatewayAppOptions,
    /// Services of this process that are subgraphs, before those that are configured.
    pub local: Vec<Subgraph>,
    /// Whether requests without a token are refused.
    pub requires_tokens: bool,
    /// How the gateway logs in to read the schemas of subgraphs that are not in this process, if it does.
    pub log_in: Option<IdpOptions>,
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
    /// The identity provider cannot be asked.
    #[error(transparent)]
    IdpClient(#[from] IdpError),
    /// The file of trusted documents cannot be used.
    #[error(transparent)]
    Trusted(#[from] TrustedError),
    /// Requests to subgraphs cannot be set up.
    #[error("requests to subgraphs cannot be set up")]
    Transport(#[from] HttpOptionsError),
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
        let (host, options) = (parts.host, parts.options);
        let supergraph = SupergraphFile::configured(&options)?;
        let mut subgraphs = parts.local;
        match &supergraph {
            Some(_) if !subgraphs.is_empty() => return Err(SupergraphFileError::NotAlone.into()),
            Some(_) => {}
            None => {
                let taken: Vec<&str> = subgraphs.iter().map(Subgraph::name).collect();
                let configured = Subgraph::configured(&options, &taken)?;
                subgraphs.extend(configured);
                if subgraphs.is_empty() {
                    return Err(SubgraphsError::None.into());
                }
            }
        }
        // Schemas from a file need no token.
        let log_in = parts.log_in.filter(|_| supergraph.is_none());
        let idp = log_in.map(IdpClient::new).transpose()?;
        let subscriptions = OpenSubscriptions::default();
        let names = subgraphs.iter().map(Subgraph::name);
        let metrics = Arc::new(Metrics::new(
            &host.options.name,
            names,
            subscriptions.clone(),
        ));
        let network = Network {
            exchange: options.exchange.clone(),
            slots: Arc::clone(&host.resources.slots),
            metrics: Arc::clone(&metrics),
        };
        let endpoints = network.endpoints(subgraphs)?;
        let persisted = Arc::new(PersistedQueries::of(&options.persisted, &options.trusted)?);
        Ok(GatewayApp {
            health: HealthCache::new(host.options.health_cache),
            host,
            options,
            requires_tokens: parts.requires_tokens,
            endpoints: ArcSwap::from_pointee(endpoints),
            network,
            supergraph,
            idp,
            query: parts.query,
            persisted,
            metrics,
            subscriptions,
            composite: ArcSwapOption::empty(),
            waits_for: ArcSwap::from_pointee("the gateway is starting".to_owned()),
            stale: ArcSwapOption::empty(),
            seen: ArcSwapOption::empty(),
            looks: SharedLook::default(),
            ending: CancellationToken::new(),
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
            // No one has looked at these yet.
            self.seen.store(None);
        }
    }

    /// Sets why a changed schema is not served; `None` if nothing prevents it.
    pub(super) fn set_stale(&self, why: Option<String>) {
        self.stale.store(why.map(Arc::new));
    }

    /// Returns what keeps a changed schema from being served.
    pub(super) fn stale(&self) -> Option<Arc<String>> {
        self.stale.load_full()
    }

    /// Returns whether there is a composite schema.
    #[must_use]
    pub fn is_composed(&self) -> bool {
        self.composite.load().is_some()
    }

    /// Returns what is cancelled when the service ends.
    pub(crate) fn ending(&self) -> &CancellationToken {
        &self.ending
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
        options.limits = self.host.options.limits.clone();
        options.gateway_limits = self.options.limits.clone();
        options.slots = Arc::clone(&self.host.resources.slots);
        options.subscriptions = self.subscriptions.clone();
        options.subgraph_stacktraces = self.options.exchange.stacktraces;
        options.sharing.subgraph_requests = self.options.share_subgraph_requests;
        options.sharing.client_requests = self.options.share_client_requests;
        options.entity_memo.is_enabled = self.options.entity_memo;
        options.entity_memo.except = self.options.entity_memo_except.as_slice().into();
        options.savings = Some(Arc::clone(&self.metrics) as _);
        if self.host.verifier.is_some() {
            options.authorizer = Some(Arc::new(CallerClaims::default()));
        }
        Recipe {
            options,
            mutations: self.options.mutations,
            prune: self.options.prune,
            query: self.query.clone(),
        }
    }
}
