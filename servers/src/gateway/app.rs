//! The running gateway: its settings, its subgraphs, and the composite schema that is served.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use arc_swap::{ArcSwap, ArcSwapOption};
use federation::transport::SubgraphTransport;
use federation::transport::http::{HttpOptionsError, HttpTransport};
use federation::{CallerClaims, Ending, GatewayOptions, OpenSubscriptions};
use reqwest::Url;
use tokio_util::sync::CancellationToken;

use super::client::{Client, ClientError};
use super::composite::{Composite, Recipe};
use super::health::Seen;
use super::log_in::{self, IdpIncomplete};
use super::metrics::Metrics;
use super::persisted::{PersistedQueries, TrustedError};
use super::subgraph::{Source, Subgraph, SubgraphsError};
use super::traces::{Traces, TracesError};
use super::transport::Subgraphs;
use crate::auth::Verifier;
use crate::config::Settings;
use crate::health_record::HealthCache;
use crate::health_record::HealthRecord;
use crate::idp::{IdpClient, IdpError};
use crate::resources::Resources;

/// The state behind all requests of a gateway.
pub struct GatewayApp {
    pub(crate) settings: Settings,
    pub(crate) resources: Resources,
    pub(crate) verifier: Option<Arc<Verifier>>,
    /// Whether requests without a token are refused here, and not by subgraphs alone.
    pub(crate) requires_tokens: bool,
    pub(crate) started: Instant,
    pub(super) subgraphs: Vec<Subgraph>,
    pub(super) client: Client,
    pub(super) transport: Arc<dyn SubgraphTransport>,
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
    pub(super) health: HealthCache<HealthRecord>,
    /// What was seen of the subgraphs last.
    pub(super) seen: ArcSwapOption<Seen>,
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

impl From<ClientError> for SetupError {
    fn from(error: ClientError) -> Self {
        SetupError::Client(error.to_string())
    }
}

impl GatewayApp {
    /// Creates a gateway that has composed nothing yet, and sends nothing.
    ///
    /// # Errors
    /// When there is no subgraph, or what is configured cannot be used.
    pub fn new(parts: GatewayParts) -> Result<Self, SetupError> {
        let settings = parts.settings;
        let mut subgraphs = parts.local;
        let taken: Vec<&str> = subgraphs.iter().map(Subgraph::name).collect();
        let configured = Subgraph::configured(&settings.gateway, &taken)?;
        subgraphs.extend(configured);
        if subgraphs.is_empty() {
            return Err(SubgraphsError::None.into());
        }
        let idp = match parts.logs_in {
            true => {
                let options = log_in::options(&settings.gateway.idp)?;
                Some(IdpClient::new(options)?)
            }
            false => None,
        };
        let remote = subgraphs
            .iter()
            .filter_map(|subgraph| match &subgraph.source {
                Source::Remote(remote) => Some((subgraph.name(), remote)),
                Source::Local(_) => None,
            });
        let addresses = remote.clone().map(|(name, it)| (name, it.address.as_str()));
        let mut options = settings.gateway.exchange.http_options();
        let subscriptions = remote
            .clone()
            .map(|(name, it)| (name.to_owned(), it.subscriptions.clone()));
        options.subscriptions.extend(subscriptions);
        let http = HttpTransport::new(addresses, options)?;
        let urls = remote.flat_map(|(_, it)| {
            let others = it.good_to_go.iter().chain(&it.health);
            std::iter::once(&it.address).chain(others)
        });
        let client = Client::new(urls.collect::<Vec<&Url>>())?;
        let subscriptions = OpenSubscriptions::default();
        let names = subgraphs.iter().map(Subgraph::name);
        let metrics = Arc::new(Metrics::new(names, subscriptions.clone()));
        let slots = Arc::clone(&parts.resources.slots);
        let transport = Subgraphs::new(http, &subgraphs, slots, Arc::clone(&metrics));
        let traces = Traces::new(&settings)?;
        let (persisted, trusted) = (&settings.gateway.persisted, &settings.gateway.trusted);
        let persisted = Arc::new(PersistedQueries::of(persisted, trusted)?);
        Ok(GatewayApp {
            health: HealthCache::new(settings.health_cache),
            settings,
            resources: parts.resources,
            verifier: parts.verifier,
            requires_tokens: parts.requires_tokens,
            started: Instant::now(),
            subgraphs,
            client,
            transport: traces.transport(Arc::new(transport)),
            idp,
            query: parts.query,
            persisted,
            metrics,
            traces,
            subscriptions,
            composite: ArcSwapOption::empty(),
            waits_for: ArcSwap::from_pointee("the gateway is starting".to_owned()),
            seen: ArcSwapOption::empty(),
            ending: CancellationToken::new(),
            draining: AtomicBool::new(false),
        })
    }

    /// Returns the subgraphs.
    #[must_use]
    pub fn subgraphs(&self) -> &[Subgraph] {
        &self.subgraphs
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
        if self.verifier.is_some() {
            options.authorizer = Some(Arc::new(CallerClaims::default()));
        }
        Recipe {
            options,
            mutations: self.settings.gateway.mutations,
            query: self.query.clone(),
        }
    }
}
