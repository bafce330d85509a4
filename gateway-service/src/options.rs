//! The options of a gateway.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use federation::GatewayLimits;
use federation::transport::http::{HttpOptions, SubscriptionSource};
use graphql_http::{PersistedOptions, SubscriptionOptions, TrustedOptions};
use reqwest::Url;
use reqwest::header::{AUTHORIZATION, HeaderName};

/// The options of a gateway.
#[derive(Clone, Debug)]
pub struct GatewayAppOptions {
    /// The subgraphs by their numbers.
    pub subgraphs: BTreeMap<u32, SubgraphOptions>,
    /// The file of a composed supergraph, in place of schemas of subgraphs.
    pub supergraph_file: Option<PathBuf>,
    /// Headers of clients that subgraphs are sent.
    pub forward_headers: Vec<HeaderName>,
    /// How long answers may be kept that say nothing of it.
    pub cache_max_age: Duration,
    /// Pause between checks of the subgraphs.
    pub dwell: Duration,
    /// Pause between looks for other schemas of the subgraphs; no one looks where it is zero.
    pub poll_interval: Duration,
    /// Whether a changed schema of a service in this process is served immediately.
    pub follow_bindings: bool,
    /// Whether mutations of the subgraphs are served.
    pub mutations: bool,
    /// Whether types that no operation can reach are left out of the schema.
    pub prune: bool,
    /// Limits on plans and subgraphs.
    pub limits: GatewayLimits,
    /// Time-outs and bounds of requests to subgraphs.
    pub exchange: ExchangeOptions,
    /// Whether equal queries to a subgraph that are in flight at the same time are sent once.
    pub share_subgraph_requests: bool,
    /// Whether equal queries of clients that are in flight at the same time are executed once.
    pub share_client_requests: bool,
    /// Whether entities that subgraphs have already returned within an operation are reused.
    pub entity_memo: bool,
    /// Names of subgraphs whose entities are always fetched again.
    pub entity_memo_except: Vec<String>,
    /// Queries that clients bring and name.
    pub persisted: PersistedOptions,
    /// Operations that a file lists.
    pub trusted: TrustedOptions,
    /// Maximum number of requests in one body; batches are refused where it is zero.
    pub batch: usize,
    /// Subscriptions of clients.
    pub subscriptions: SubscriptionOptions,
    /// How far clocks may differ where a token ends a stream.
    pub leeway: Duration,
    /// Whether pages ask for a token, though the gateway itself demands none.
    pub expects_tokens: bool,
}

impl Default for GatewayAppOptions {
    fn default() -> Self {
        GatewayAppOptions {
            subgraphs: BTreeMap::new(),
            supergraph_file: None,
            forward_headers: vec![HeaderName::from_static("x-request-id"), AUTHORIZATION],
            cache_max_age: Duration::ZERO,
            dwell: Duration::from_secs(10),
            poll_interval: Duration::ZERO,
            follow_bindings: true,
            mutations: true,
            prune: false,
            limits: GatewayLimits::default(),
            exchange: ExchangeOptions::default(),
            share_subgraph_requests: true,
            share_client_requests: false,
            entity_memo: true,
            entity_memo_except: Vec::new(),
            persisted: PersistedOptions::default(),
            trusted: TrustedOptions::default(),
            batch: 0,
            subscriptions: SubscriptionOptions::default(),
            leeway: Duration::from_secs(60),
            expects_tokens: false,
        }
    }
}

impl GatewayAppOptions {
    /// Returns what is said of subgraphs, by their numbers. Of some nothing may be left.
    pub(super) fn given(&self) -> impl Iterator<Item = (u32, &SubgraphOptions)> + Clone {
        let all = self.subgraphs.iter().map(|(number, it)| (*number, it));
        all.filter(|(_, it)| **it != SubgraphOptions::default())
    }
}

/// Options of a subgraph.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SubgraphOptions {
    /// Its GraphQL endpoint.
    pub address: Option<Url>,
    /// Its good-to-go check.
    pub good_to_go: Option<Url>,
    /// Its health record.
    pub health: Option<Url>,
    /// Its name.
    pub name: Option<String>,
    /// How its subscriptions are reached.
    pub subscriptions: SubscriptionSource,
}

/// Time-outs and bounds of requests to subgraphs.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ExchangeOptions {
    /// Maximum time to connect.
    pub connect_timeout: Duration,
    /// Maximum time without a byte, until the head of an answer too.
    pub idle_timeout: Duration,
    /// Maximum time of one exchange.
    pub request_timeout: Duration,
    /// Maximum number of exchanges with one subgraph at a time.
    pub max_concurrent_requests: usize,
    /// How often a subgraph with open subscriptions is pinged
    ///.
    pub ping_interval: Duration,
    /// Whether clients see traces of the stack in errors of subgraphs.
    pub stacktraces: bool,
}

impl Default for ExchangeOptions {
    fn default() -> Self {
        let options = HttpOptions::default();
        ExchangeOptions {
            connect_timeout: options.connect_timeout,
            idle_timeout: options.idle_timeout,
            request_timeout: options.request_timeout,
            max_concurrent_requests: options.max_concurrent_requests,
            ping_interval: options.ping_interval,
            stacktraces: false,
        }
    }
}

impl ExchangeOptions {
    /// Returns the options of the HTTP transport.
    #[must_use]
    pub fn http_options(&self) -> HttpOptions {
        let mut options = HttpOptions::default();
        options.connect_timeout = self.connect_timeout;
        options.idle_timeout = self.idle_timeout;
        options.request_timeout = self.request_timeout;
        options.max_concurrent_requests = self.max_concurrent_requests;
        options.ping_interval = self.ping_interval;
        options
    }
}
