//! Subgraphs over HTTP, as the GraphQL over HTTP specification says.
//!
//! Each request is sent once, to the address that is configured: redirects are not followed, nothing is sent
//! again, and proxies of the environment are left alone. Nothing of a subgraph's headers leaves the transport but
//! for how long its answer may be kept.

mod body;
mod cache;
mod events;
mod headers;
mod media;
mod options;
mod tls;

use std::collections::HashMap;
use std::fmt;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use bytes::Bytes;
use graphql_service::RequestContext;
use reqwest::{Client, ClientBuilder, RequestBuilder, Response, StatusCode, Url};
use rustls::ClientConfig;
use tokio::sync::Semaphore;
use traces::Peer;

pub use events::{NotSubscriptionSource, SubscriptionSource};
pub use headers::{OF_THE_CONNECTION, OF_THE_TRANSPORT};
pub use options::{HttpOptions, HttpOptionsError};

use super::{
    Phase, SubgraphEvents, SubgraphRequest, SubgraphSubscription, SubgraphTransport, TracedRequest,
    TransportError,
};
use crate::supergraph::{Subgraph, Supergraph};
use events::{Clients, Source};
use options::bound;

/// Sends requests to subgraphs over HTTP.
///
/// Connections are kept and shared, HTTP/2 is used where a server offers it under TLS, and answers may be
/// compressed with gzip. Dropping a pending request closes its exchange.
///
/// Every request has the headers of [`RequestContext::forwarded`] but those that belong to one connection or
/// describe a body, and `X-Request-ID` where the context has an identifier. `Cache-Control` of an answer is noted in
/// [`RequestContext::freshness`].
pub struct HttpTransport {
    client: Client,
    streaming: Clients,
    servers: HashMap<String, Server>,
    options: HttpOptions,
}

/// Where a subgraph is served.
struct Server {
    url: Url,
    exchanges: Semaphore,
    subscriptions: Source,
}

impl HttpTransport {
    /// Creates a transport to the addresses that a supergraph has for its subgraphs.
    ///
    /// # Errors
    /// When a subgraph has no valid address, or the options cannot be used.
    pub fn of(supergraph: &Supergraph, options: HttpOptions) -> Result<Self, HttpOptionsError> {
        let subgraphs = supergraph.subgraphs().iter();
        HttpTransport::new(subgraphs.map(|it| (&*it.name, &*it.url)), options)
    }

    /// Creates a transport to subgraphs by name and address.
    ///
    /// ```
    /// use federation::transport::http::{HttpOptions, HttpTransport};
    ///
    /// let addresses = [("accounts", "http://accounts.internal/graphql")];
    /// let transport = HttpTransport::new(addresses, HttpOptions::default())?;
    /// # Ok::<(), federation::transport::http::HttpOptionsError>(())
    /// ```
    ///
    /// # Errors
    /// When an address is not valid, or the options cannot be used.
    pub fn new<'a>(
        addresses: impl IntoIterator<Item = (&'a str, &'a str)>,
        options: HttpOptions,
    ) -> Result<Self, HttpOptionsError> {
        options.validate()?;
        let mut servers = HashMap::new();
        for (name, address) in addresses {
            let url = Url::parse(address).ok();
            let url = url
                .filter(|url| matches!(url.scheme(), "http" | "https"))
                .ok_or_else(|| HttpOptionsError::Address(name.to_owned()))?;
            let exchanges = Semaphore::new(options.max_concurrent_requests);
            let source = options.subscriptions.get(name).cloned();
            let server = Server {
                subscriptions: Source::new(&source.unwrap_or_default(), &url),
                url,
                exchanges,
            };
            servers.insert(name.to_owned(), server);
        }
        let mut named = options.subscriptions.keys();
        if let Some(unknown) = named.find(|name| !servers.contains_key(*name)) {
            return Err(HttpOptionsError::Unknown(unknown.clone()));
        }
        let is_secure = |it: &Server| it.url.scheme() == "https" || it.subscriptions.is_secure();
        let uses_tls = servers.values().any(is_secure);
        let tls =
            tls::config(uses_tls, options.authorities.as_deref()).map_err(HttpOptionsError::Tls)?;
        let client = |builder: ClientBuilder| builder.build().map_err(HttpOptionsError::Client);
        let streaming = |tls| {
            // What has no end has no time-out: whether the other side is there is asked below HTTP.
            let builder = builder(tls, &options).tcp_keepalive(bound(options.ping_interval));
            builder.pool_max_idle_per_host(0)
        };
        Ok(HttpTransport {
            client: client(builder(&tls, &options))?,
            streaming: Clients {
                any: client(streaming(&tls))?,
                http1: client(streaming(&tls::http1_only(&tls)).http1_only())?,
            },
            servers,
            options,
        })
    }

    async fn exchange(
        &self,
        server: &Server,
        request: SubgraphRequest,
        context: &RequestContext,
        head: impl FnOnce(StatusCode),
    ) -> Result<Bytes, TransportError> {
        let headers = headers::outgoing(context)?;
        let permit = server.exchanges.acquire().await;
        let _permit = permit.expect("the semaphore is never closed");
        let sent = self
            .client
            .post(server.url.clone())
            .headers(headers)
            .body(request.body);
        let response = answered(sent, &self.options).await?;
        head(response.status());
        media::check(response.status(), response.headers())?;
        cache::note(&context.freshness, response.headers());
        headers::note_sequences(context, response.headers());
        body::read(
            response,
            &request.allowance,
            bound(self.options.idle_timeout),
        )
        .await
    }
}

impl HttpTransport {
    /// Waits for an exchange until its time-out, and until the deadline of its request.
    async fn in_time(
        &self,
        exchange: impl Future<Output = Result<Bytes, TransportError>>,
        context: &RequestContext,
    ) -> Result<Bytes, TransportError> {
        let exchange = within(
            bound(self.options.request_timeout),
            Phase::Exchange,
            exchange,
        );
        let left = context
            .call
            .deadline
            .map(|deadline| deadline.saturating_duration_since(Instant::now()));
        match left {
            None => exchange.await?,
            Some(left) => match tokio::time::timeout(left, exchange).await {
                Ok(answer) => answer?,
                Err(_) => Err(TransportError::Deadline),
            },
        }
    }
}

impl fmt::Debug for HttpTransport {
    /// Addresses can have credentials in them.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut names: Vec<&String> = self.servers.keys().collect();
        names.sort();
        f.debug_struct("HttpTransport")
            .field("subgraphs", &names)
            .finish_non_exhaustive()
    }
}

#[async_trait]
impl SubgraphTransport for HttpTransport {
    async fn send(
        &self,
        subgraph: &Subgraph,
        request: SubgraphRequest,
        context: &RequestContext,
    ) -> Result<Bytes, TransportError> {
        let server = self
            .servers
            .get(&subgraph.name)
            .ok_or(TransportError::NotConnected)?;
        let mut traced = TracedRequest::query(subgraph, &request, context, peer(&server.url));
        let mut status = None;
        let context = traced.context();
        let exchange = self.exchange(server, request, context, |head| status = Some(head));
        let answer = self.in_time(exchange, context).await;
        if let Some(status) = status {
            traced.exchange().answered(status);
        }
        traced.end(&answer, answer.as_ref().ok().map(Bytes::len));
        answer
    }

    async fn subscribe(
        &self,
        subgraph: &Subgraph,
        subscription: SubgraphSubscription,
        context: &RequestContext,
    ) -> Result<SubgraphEvents, TransportError> {
        let server = self
            .servers
            .get(&subgraph.name)
            .ok_or(TransportError::NotConnected)?;
        let source = &server.subscriptions;
        let peer = peer(source.url());
        let traced = TracedRequest::subscription(subgraph, &subscription, context, peer);
        let begun = self
            .streaming
            .subscribe(source, subscription, traced.context(), &self.options)
            .await;
        traced.end(&begun, None);
        begun
    }
}

/// Returns what a span says of the server at an address.
fn peer(url: &Url) -> Option<Peer<'_>> {
    Some(Peer {
        address: url.host_str()?,
        port: url.port_or_known_default(),
    })
}

/// Returns what all clients have in common.
fn builder(tls: &ClientConfig, options: &HttpOptions) -> ClientBuilder {
    let builder = outbound::client(tls.clone())
        .tcp_nodelay(true)
        .pool_idle_timeout(bound(options.pool_idle_timeout))
        .pool_max_idle_per_host(options.max_idle_connections);
    match bound(options.connect_timeout) {
        Some(time) => builder.connect_timeout(time),
        None => builder,
    }
}

/// Sends a request, and waits for the head of the answer. The wait to connect is a part of that, and has a time-out of
/// its own, too.
async fn answered(
    request: RequestBuilder,
    options: &HttpOptions,
) -> Result<Response, TransportError> {
    let silence = bound(options.idle_timeout);
    let answer = within(silence, Phase::Silence, request.send()).await?;
    answer.map_err(|error| failed(error, TransportError::Connection))
}

/// Waits for something until a time-out, where there is one.
async fn within<T>(
    timeout: Option<Duration>,
    phase: Phase,
    future: impl Future<Output = T>,
) -> Result<T, TransportError> {
    match timeout {
        None => Ok(future.await),
        Some(time) => tokio::time::timeout(time, future)
            .await
            .map_err(|_| TransportError::TimedOut(phase)),
    }
}

/// Makes an error of one of the client, without the address.
fn failed(
    error: reqwest::Error,
    otherwise: fn(Box<dyn std::error::Error + Send + Sync>) -> TransportError,
) -> TransportError {
    if error.is_connect() && error.is_timeout() {
        TransportError::TimedOut(Phase::Connecting)
    } else {
        otherwise(Box::new(error.without_url()))
    }
}
