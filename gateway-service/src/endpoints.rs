//! The subgraphs of a composite schema, and how they are reached.

use std::sync::Arc;

use federation::transport::SubgraphTransport;
use federation::transport::http::{HttpOptionsError, HttpTransport};
use graphql_service::Slots;
use reqwest::Url;

use super::client::{Client, ClientError};
use super::metrics::Metrics;
use super::options::ExchangeOptions;
use super::subgraph::{Source, Subgraph};
use super::transport::Subgraphs;

/// Subgraphs that can be called.
pub(super) struct Endpoints {
    pub(super) subgraphs: Vec<Subgraph>,
    /// Sends requests of the gateway itself.
    pub(super) client: Client,
    /// Sends what requests of clients ask for.
    pub(super) transport: Arc<dyn SubgraphTransport>,
}

/// What calls to all subgraphs have in common, whatever schema is served.
#[derive(Clone)]
pub(super) struct Network {
    pub(super) exchange: ExchangeOptions,
    pub(super) slots: Arc<Slots>,
    pub(super) metrics: Arc<Metrics>,
}

/// Why subgraphs cannot be called.
#[derive(Debug, thiserror::Error)]
pub(super) enum EndpointsError {
    #[error("requests to subgraphs cannot be set up")]
    Transport(#[from] HttpOptionsError),
    #[error("requests to subgraphs cannot be set up: {0}")]
    Client(#[from] ClientError),
}

impl Network {
    /// Creates the clients that call some subgraphs. Nothing is sent yet.
    pub(super) fn endpoints(&self, subgraphs: Vec<Subgraph>) -> Result<Endpoints, EndpointsError> {
        let remote = subgraphs
            .iter()
            .filter_map(|subgraph| match &subgraph.source {
                Source::Remote(remote) => Some((subgraph.name(), remote)),
                Source::Local(_) => None,
            });
        let addresses = remote.clone().map(|(name, it)| (name, it.address.as_str()));
        let mut options = self.exchange.http_options();
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
        let (slots, metrics) = (Arc::clone(&self.slots), Arc::clone(&self.metrics));
        let transport = Subgraphs::new(http, &subgraphs, slots, metrics);
        Ok(Endpoints {
            transport: Arc::new(transport),
            subgraphs,
            client,
        })
    }
}

impl Endpoints {
    /// Returns whether these are subgraphs behind the same addresses, under the same names.
    pub(super) fn are(&self, others: &[Subgraph]) -> bool {
        let is_same = |(one, other): (&Subgraph, &Subgraph)| {
            one.name == other.name
                && match (&one.source, &other.source) {
                    (Source::Remote(one), Source::Remote(other)) => one == other,
                    (Source::Local(one), Source::Local(other)) => Arc::ptr_eq(one, other),
                    _ => false,
                }
        };
        self.subgraphs.len() == others.len() && self.subgraphs.iter().zip(others).all(is_same)
    }

    /// Logs the name and address of each subgraph.
    pub(super) fn log(&self) {
        for subgraph in &self.subgraphs {
            let (name, place) = (subgraph.name(), subgraph.place());
            tracing::info!(subgraph = name, place, "a subgraph");
        }
    }
}
