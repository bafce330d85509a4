//! Subscriptions of subgraphs over HTTP: as server-sent events, or over WebSockets.

mod parser;
mod sse;
mod websocket;

use std::fmt;
use std::str::FromStr;

use graphql_service::RequestContext;
use reqwest::{Client, Url};

use super::super::{SubgraphEvents, SubgraphSubscription, TransportError};
use super::options::HttpOptions;

/// How the subscriptions of a subgraph are reached.
///
/// ```
/// use federation::transport::http::SubscriptionSource;
///
/// let source: SubscriptionSource = "wss://accounts.internal/subscriptions".parse()?;
/// assert!(matches!(source, SubscriptionSource::WebSocketAt(_)));
/// assert_eq!("sse".parse::<SubscriptionSource>()?, SubscriptionSource::ServerSentEvents);
/// # Ok::<(), federation::transport::http::NotSubscriptionSource>(())
/// ```
#[derive(Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum SubscriptionSource {
    /// As server-sent events of the address that requests are sent to, in the mode of distinct connections.
    #[default]
    ServerSentEvents,
    /// As server-sent events of another address.
    ServerSentEventsAt(Url),
    /// By the protocol `graphql-transport-ws` over WebSockets, at the address that requests are sent to.
    WebSocket,
    /// By that protocol at another address, whose scheme is `ws` or `wss`.
    WebSocketAt(Url),
}

impl FromStr for SubscriptionSource {
    type Err = NotSubscriptionSource;

    fn from_str(text: &str) -> Result<Self, NotSubscriptionSource> {
        match text {
            "sse" => return Ok(SubscriptionSource::ServerSentEvents),
            "ws" => return Ok(SubscriptionSource::WebSocket),
            _ => {}
        }
        let url = Url::parse(text).map_err(|_| NotSubscriptionSource)?;
        match url.scheme() {
            "ws" | "wss" => Ok(SubscriptionSource::WebSocketAt(url)),
            "http" | "https" => Ok(SubscriptionSource::ServerSentEventsAt(url)),
            _ => Err(NotSubscriptionSource),
        }
    }
}

impl fmt::Debug for SubscriptionSource {
    /// Addresses can have credentials in them.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            SubscriptionSource::ServerSentEvents => "ServerSentEvents",
            SubscriptionSource::ServerSentEventsAt(_) => "ServerSentEventsAt(..)",
            SubscriptionSource::WebSocket => "WebSocket",
            SubscriptionSource::WebSocketAt(_) => "WebSocketAt(..)",
        })
    }
}

/// A text does not say how subscriptions are reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`sse`, `ws`, or a URL that begins with ws://, wss://, http:// or https:// is expected")]
pub struct NotSubscriptionSource;

/// Where subscriptions of a subgraph are sent to, and how.
pub(super) struct Source {
    kind: Kind,
    url: Url,
}

#[derive(Clone, Copy)]
enum Kind {
    ServerSentEvents,
    WebSocket,
}

impl Source {
    /// Returns where subscriptions go of a subgraph whose requests are sent to an address.
    pub(super) fn new(source: &SubscriptionSource, requests: &Url) -> Self {
        let (kind, url) = match source {
            SubscriptionSource::ServerSentEvents => (Kind::ServerSentEvents, requests),
            SubscriptionSource::ServerSentEventsAt(url) => (Kind::ServerSentEvents, url),
            SubscriptionSource::WebSocket => (Kind::WebSocket, requests),
            SubscriptionSource::WebSocketAt(url) => (Kind::WebSocket, url),
        };
        let mut url = url.clone();
        // A WebSocket begins as a request of HTTP. Schemes with a host can take each other's place.
        let scheme = match url.scheme() {
            "wss" | "https" => "https",
            _ => "http",
        };
        let _ = url.set_scheme(scheme);
        Source { kind, url }
    }

    /// Returns the address that subscriptions are sent to.
    pub(super) fn url(&self) -> &Url {
        &self.url
    }

    /// Returns whether TLS is used.
    pub(super) fn is_secure(&self) -> bool {
        self.url.scheme() == "https"
    }
}

/// The clients for subscriptions, whose connections are used for nothing else.
pub(super) struct Clients {
    /// For server-sent events.
    pub(super) any: Client,
    /// For WebSockets, which begin with HTTP/1.1.
    pub(super) http1: Client,
}

impl Clients {
    /// Begins a subscription.
    pub(super) async fn subscribe(
        &self,
        source: &Source,
        subscription: SubgraphSubscription,
        context: &RequestContext,
        options: &HttpOptions,
    ) -> Result<SubgraphEvents, TransportError> {
        let url = source.url.clone();
        match source.kind {
            Kind::ServerSentEvents => {
                sse::subscribe(&self.any, url, subscription, context, options).await
            }
            Kind::WebSocket => {
                websocket::subscribe(&self.http1, url, subscription, context, options).await
            }
        }
    }
}
