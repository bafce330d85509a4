//! Settings of the HTTP transport.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use super::events::SubscriptionSource;

/// Settings of an [`HttpTransport`](super::HttpTransport). A time of zero disables a time-out.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct HttpOptions {
    /// Maximum time to connect, with TLS.
    pub connect_timeout: Duration,
    /// Maximum time without a byte from a subgraph, the wait to connect and the wait for the head of an answer included.
    /// Between the events of a subscription there is no such time; see [`ping_interval`](Self::ping_interval).
    pub idle_timeout: Duration,
    /// Maximum time of one exchange, the wait for its turn included. The deadline of a request holds beside it.
    pub request_timeout: Duration,
    /// For how long a connection is kept that no one uses. Shorter than servers keep them: what is sent on a
    /// connection that is being closed is lost.
    pub pool_idle_timeout: Duration,
    /// Maximum number of connections to one server that are kept while no one uses them.
    pub max_idle_connections: usize,
    /// Maximum number of exchanges with one subgraph at a time; others wait for their turn.
    pub max_concurrent_requests: usize,
    /// How the subscriptions of subgraphs are reached, by name; as server-sent events at the same address where
    /// nothing is said.
    pub subscriptions: BTreeMap<String, SubscriptionSource>,
    /// How often a subgraph with open subscriptions is pinged; if it does not answer before the next ping, the
    /// subscriptions fail. Zero disables pings.
    pub ping_interval: Duration,
    /// Certificate authorities to trust in addition to those of the system, as PEM.
    pub authorities: Option<Vec<u8>>,
}

impl Default for HttpOptions {
    fn default() -> Self {
        HttpOptions {
            connect_timeout: Duration::from_secs(5),
            idle_timeout: Duration::from_secs(30),
            request_timeout: Duration::from_secs(60),
            pool_idle_timeout: Duration::from_secs(10),
            max_idle_connections: 100,
            max_concurrent_requests: 1_000,
            subscriptions: BTreeMap::new(),
            ping_interval: Duration::from_secs(30),
            authorities: None,
        }
    }
}

impl HttpOptions {
    pub(super) fn validate(&self) -> Result<(), HttpOptionsError> {
        match self.max_concurrent_requests {
            0 => Err(HttpOptionsError::NoRequests),
            // The bound of the semaphore.
            many if many > tokio::sync::Semaphore::MAX_PERMITS => Err(HttpOptionsError::NoRequests),
            _ => Ok(()),
        }
    }
}

impl fmt::Debug for HttpOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpOptions")
            .field("connect_timeout", &self.connect_timeout)
            .field("idle_timeout", &self.idle_timeout)
            .field("request_timeout", &self.request_timeout)
            .field("pool_idle_timeout", &self.pool_idle_timeout)
            .field("max_idle_connections", &self.max_idle_connections)
            .field("max_concurrent_requests", &self.max_concurrent_requests)
            .field("subscriptions", &self.subscriptions)
            .field("ping_interval", &self.ping_interval)
            .field("authorities", &self.authorities.is_some())
            .finish()
    }
}

/// Why the HTTP transport cannot be set up.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HttpOptionsError {
    /// A subgraph has no address, or it is not one of HTTP. Addresses are not shown: they may have credentials.
    #[error("the subgraph `{0}` has no valid address; an http:// or https:// URL is expected")]
    Address(String),
    /// Subscriptions of a subgraph are configured that is not there.
    #[error("subscriptions are configured for `{0}`, which is not a subgraph")]
    Unknown(String),
    /// No request could be sent, or more than can be counted.
    #[error(
        "`max_concurrent_requests` must be at least 1 and at most {}",
        tokio::sync::Semaphore::MAX_PERMITS
    )]
    NoRequests,
    /// Certificates cannot be loaded.
    #[error("TLS cannot be set up")]
    Tls(#[source] rustls::Error),
    /// The client cannot be set up.
    #[error("the HTTP client cannot be set up")]
    Client(#[source] reqwest::Error),
}

/// Returns the limit for a time-out; `None` if it is zero.
pub(super) fn bound(timeout: Duration) -> Option<Duration> {
    (!timeout.is_zero()).then_some(timeout)
}
