//! Requests to a cluster: which node gets them, and when they are sent again.

use std::time::Duration;

use graph_store::CallContext;
use reqwest::Client as HttpClient;

use super::exchange::{Exchange, Repeat, Reply, Request, within};
use super::failure::Failure;
use super::node::Nodes;
use super::options::{OpenSearchOptions, OptionsError, bound};

/// Idle connections are closed before servers do it: a request sent on a connection that is being closed
/// is lost.
const IDLE: Duration = Duration::from_secs(30);

/// Longest delay before a request is sent again.
const LONGEST_DELAY: Duration = Duration::from_secs(10);

/// A client of a cluster.
#[derive(Debug)]
pub(super) struct Client {
    http: HttpClient,
    nodes: Nodes,
    options: OpenSearchOptions,
}

impl Client {
    pub(super) fn new(options: OpenSearchOptions) -> Result<Self, OptionsError> {
        options.validate()?;
        let mut addresses = options.addresses.urls().iter();
        let is_used = addresses.any(|address| address.scheme() == "https");
        let tls = outbound::tls::config(is_used, options.authorities.as_deref())
            .map_err(|error| OptionsError::Tls(error.into()))?;
        let builder = outbound::client(tls)
            .tcp_nodelay(true)
            .pool_idle_timeout(IDLE)
            .pool_max_idle_per_host(options.max_connections);
        let builder = match bound(options.access_timeout) {
            Some(time) => builder.connect_timeout(time),
            None => builder,
        };
        let http = builder.build();
        Ok(Client {
            http: http.map_err(|error| OptionsError::Client(error.into()))?,
            nodes: Nodes::new(&options),
            options,
        })
    }

    pub(super) fn options(&self) -> &OpenSearchOptions {
        &self.options
    }

    /// Sends a request, again where it may be; returns a successful answer.
    pub(super) async fn run(
        &self,
        request: Request<'_>,
        context: &CallContext,
    ) -> Result<Reply, Failure> {
        let timeout = request.timeout.or(bound(self.options.request_timeout));
        let request = Request { timeout, ..request };
        within(context, self.tries(&request, context)).await
    }

    async fn tries(&self, request: &Request<'_>, context: &CallContext) -> Result<Reply, Failure> {
        let mut tried = Vec::new();
        loop {
            let (at, node) = self.nodes.choose(&tried);
            if !tried.is_empty() {
                let wanted = node.put_off_for().min(LONGEST_DELAY);
                tokio::time::sleep(self.delay(tried.len()).max(wanted)).await;
            }
            let exchange = Exchange {
                client: &self.http,
                options: &self.options,
                node,
                context,
            };
            let failure = match exchange.run(request).await {
                Ok(reply) => {
                    node.set_back();
                    return Ok(reply);
                }
                Err(failure) => failure,
            };
            match failure.is_outage() && !failure.is_of_shards() {
                true => node.set_aside(&failure),
                false if failure.said().is_some() => node.set_back(),
                false => {}
            }
            if let Some(time) = failure.retry_after() {
                node.put_off(time);
            }
            tried.push(at);
            let is_everywhere = (0..self.nodes.len()).all(|at| tried.contains(&at));
            let is_repeatable = match request.repeat {
                // What all nodes leave unanswered would take as long again.
                Repeat::Always if failure.is_slow() => !is_everywhere,
                Repeat::Always => failure.is_undone() || failure.is_outage(),
                Repeat::IfUndone => failure.is_undone(),
            };
            if !is_repeatable || tried.len() > self.options.max_retries as usize {
                return Err(failure);
            }
            tracing::debug!(%failure, "a request to the search engine is sent again");
        }
    }

    /// Returns how long to wait before a request is sent that was sent `tries` times: not at all while
    /// there is a node that it was not sent to.
    fn delay(&self, tries: usize) -> Duration {
        let Some(rounds) = tries.checked_sub(self.nodes.len()) else {
            return Duration::ZERO;
        };
        let factor = 2_u32.saturating_pow(u32::try_from(rounds).unwrap_or(u32::MAX));
        let delay = self.options.retry_interval.saturating_mul(factor);
        delay.min(LONGEST_DELAY)
    }
}
