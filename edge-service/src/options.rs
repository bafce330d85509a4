//! What the edge is told: its routes, and the bounds that hold for all of them.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use outbound::Addresses;
use service_runtime::{HostNames, Route};

use super::rate::Rate;
use super::upstream::Hosted;

/// Options that apply to all routes.
#[derive(Clone, Debug)]
pub struct EdgeOptions {
    /// Requests that come from one address; without tokens, and with those that are refused, too.
    pub address_rate: Option<Rate>,
    /// Requests of one caller, by the name that its token has.
    pub caller_rate: Option<Rate>,
    /// Maximum size of the body of a request, in bytes.
    pub max_body_bytes: usize,
    /// Maximum number of WebSockets and streams of events; `None` for three quarters of the connections.
    pub max_streams: Option<usize>,
    /// How requests are sent to services behind the edge.
    pub upstream: UpstreamOptions,
}

/// How requests are sent to services behind the edge.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UpstreamOptions {
    /// Maximum time to connect to a server; zero disables the timeout.
    pub connect_timeout: Duration,
    /// Maximum time until a server begins to answer; zero disables the timeout.
    pub response_timeout: Duration,
    /// Maximum time without a byte of an answer; zero disables the timeout.
    pub idle_timeout: Duration,
    /// Maximum number of requests that wait for one server to begin to answer.
    pub max_waiting: usize,
    /// How often a request is sent again that a server has broken off, if it only reads. One that no server has seen is
    /// sent to the next in any case.
    pub retries: u32,
    /// Number of requests in a row that a server breaks off before it is left out; 0 never leaves one out for them.
    pub max_failures: u32,
    /// Pause between two checks of a server, at least 100 ms.
    pub check_interval: Duration,
    /// Maximum time for a check, at least 100 ms.
    pub check_timeout: Duration,
}

impl Default for EdgeOptions {
    fn default() -> Self {
        let rate = NonZeroU32::new(1_000).map(Rate::per_second);
        EdgeOptions {
            address_rate: rate,
            caller_rate: rate,
            max_body_bytes: 8 << 20,
            max_streams: None,
            upstream: UpstreamOptions::default(),
        }
    }
}

impl Default for UpstreamOptions {
    fn default() -> Self {
        UpstreamOptions {
            connect_timeout: Duration::from_secs(3),
            // Longer than services take for a request, so that they say themselves what took too long.
            response_timeout: Duration::from_secs(75),
            idle_timeout: Duration::from_secs(300),
            max_waiting: 256,
            retries: 1,
            max_failures: 5,
            check_interval: Duration::from_secs(5),
            check_timeout: Duration::from_secs(2),
        }
    }
}

impl UpstreamOptions {
    /// Returns them with timeouts that never come in place of those of zero.
    pub(crate) fn with_endless_timeouts(&self) -> Self {
        let mut options = self.clone();
        for timeout in [
            &mut options.connect_timeout,
            &mut options.response_timeout,
            &mut options.idle_timeout,
        ] {
            if timeout.is_zero() {
                *timeout = ENDLESS;
            }
        }
        // Checks without a pause would be all that servers do.
        options.check_interval = options.check_interval.max(SHORTEST_CHECK);
        options.check_timeout = options.check_timeout.max(SHORTEST_CHECK);
        options
    }
}

/// As good as no timeout, and within what timers can count.
const ENDLESS: Duration = Duration::from_secs(10 * 365 * 24 * 3_600);

/// Shortest pause between checks, and shortest time for one.
const SHORTEST_CHECK: Duration = Duration::from_millis(100);

/// A route: which requests it takes, and where they go.
#[derive(Clone)]
pub struct RouteOptions {
    /// Its name, in health records and log lines.
    pub name: String,
    /// The names in `Host` that it is for; for any if there are none.
    pub hosts: HostNames,
    /// The path at and below which it takes requests, such as `/objects`; `/` for all.
    pub path: String,
    /// Whether the path of the route is removed before a request is forwarded.
    pub strips_path: bool,
    /// Where its requests go.
    pub target: Target,
    /// Who may use it.
    pub access: RouteAccess,
    /// Which paths below its own need no token.
    pub public: Vec<Route>,
    /// Whether a WebSocket may be opened without a token, which the service then demands in `connection_init`.
    pub allows_late_token: bool,
    /// Whether the service is sent the `Host` that the client sent; otherwise that of its own address.
    pub preserves_host: bool,
    /// Requests of all callers together.
    pub rate: Option<Rate>,
    /// The path of the health check of its servers, below their addresses. Without one they are connected to.
    pub health: Option<String>,
}

/// Where the requests of a route go.
#[derive(Clone)]
pub enum Target {
    /// Servers of one service, of which each can answer every request.
    Servers(Addresses),
    /// A service of this process.
    Hosted(Arc<dyn Hosted>),
}

/// Who may use a route, where the edge looks at tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RouteAccess {
    /// Whoever has a valid token.
    #[default]
    Token,
    /// Everyone.
    Public,
}

impl RouteOptions {
    /// Makes a route for all that is at and below a path, with a token, as the path is.
    ///
    /// What the contract of services makes public needs no token: `/__health`, `/__gtg`, `/__trouble` and `/__about`.
    #[must_use]
    pub fn new(name: &str, path: &str, target: Target) -> Self {
        RouteOptions {
            name: name.to_owned(),
            hosts: HostNames::default(),
            path: path.to_owned(),
            strips_path: false,
            target,
            access: RouteAccess::Token,
            public: service_runtime::state_rows(),
            allows_late_token: false,
            preserves_host: true,
            rate: None,
            health: Some("/__health".to_owned()),
        }
    }

    /// Removes the path of the route before a request is forwarded.
    #[must_use]
    pub fn stripped(mut self) -> Self {
        self.strips_path = true;
        self
    }

    /// Sets which paths below the route's own need no token.
    #[must_use]
    pub fn with_public(mut self, public: Vec<Route>) -> Self {
        self.public = public;
        self
    }

    /// Lets WebSockets be opened without a token.
    #[must_use]
    pub fn allowing_late_tokens(mut self) -> Self {
        self.allows_late_token = true;
        self
    }
}
