//! Subgraphs over HTTP, as the GraphQL over HTTP specification says.
//!
//! Each request is sent once, to the address that is configured: redirects are not followed, nothing is sent
//! again, and proxies of the environment are left alone. Nothing of a subgraph's headers leaves the transport but
//! for how long its answer may be kept.

mod body;
mod cache;
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
use reqwest::redirect::Policy;
use reqwest::{Client, Response, Url};
use tokio::sync::Semaphore;

pub use headers::OF_THE_CONNECTION;
pub use options::{HttpOptions, HttpOptionsError};

use super::{Phase, SubgraphRequest, SubgraphTransport, TransportError};
use crate::supergraph::{Subgraph, Supergraph};
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
    servers: HashMap<String, Server>,
    options: HttpOptions,
}

/// Where a subgraph is served.
struct Server {
    url: Url,
    exchanges: Semaphore,
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
            let url = url.filter(|url| matches!(url.scheme(), "http" | "https"));
            let url = url.ok_or_else(|| HttpOptionsError::Address(name.to_owned()))?;
            let exchanges = Semaphore::new(options.max_concurrent_requests);
            servers.insert(name.to_owned(), Server { url, exchanges });
        }
        let uses_tls = servers.values().any(|it| it.url.scheme() == "https");
        let tls = tls::config(uses_tls, options.authorities.as_deref());
        let builder = Client::builder()
            .tls_backend_preconfigured(tls.map_err(HttpOptionsError::Tls)?)
            // Requests, and the credentials in them, must not go to another address.
            .redirect(Policy::none())
            .retry(reqwest::retry::never())
            .no_proxy()
            .tcp_nodelay(true)
            .pool_idle_timeout(bound(options.pool_idle_timeout))
            .pool_max_idle_per_host(options.max_idle_connections);
        let builder = match bound(options.connect_timeout) {
            Some(time) => builder.connect_timeout(time),
            None => builder,
        };
        Ok(HttpTransport {
            client: builder.build().map_err(HttpOptionsError::Client)?,
            servers,
            options,
        })
    }

    async fn exchange(
        &self,
        server: &Server,
        request: SubgraphRequest,
        context: &RequestContext,
    ) -> Result<Bytes, TransportError> {
        let headers = headers::outgoing(context)?;
        let permit = server.exchanges.acquire().await;
        let _permit = permit.expect("the semaphore is never closed");
        let sent = self.client.post(server.url.clone());
        let sent = sent.headers(headers).body(request.body).send();
        // The wait to connect has a time-out of its own; what follows it is silence.
        let silence = bound(self.options.idle_timeout);
        let silence = silence.map(|time| time + self.options.connect_timeout);
        let response: Response = within(silence, Phase::Silence, sent)
            .await?
            .map_err(|error| failed(error, TransportError::Connection))?;
        media::check(response.status(), response.headers())?;
        cache::note(&context.freshness, response.headers());
        body::read(
            response,
            &request.allowance,
            bound(self.options.idle_timeout),
        )
        .await
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
        let server = self.servers.get(&subgraph.name);
        let server = server.ok_or(TransportError::NotConnected)?;
        let exchange = self.exchange(server, request, context);
        let exchange = within(
            bound(self.options.request_timeout),
            Phase::Exchange,
            exchange,
        );
        let left = context
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
    match error.is_connect() && error.is_timeout() {
        true => TransportError::TimedOut(Phase::Connecting),
        false => otherwise(Box::new(error.without_url())),
    }
}
