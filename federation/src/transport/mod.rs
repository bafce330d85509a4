//! How subgraphs are reached: a trait, subgraphs in the same process, and subgraphs over HTTP.

mod allowance;
#[cfg(feature = "http")]
pub mod http;
mod in_process;
mod subscription;
mod traced;

use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use graphql_service::RequestContext;

pub use allowance::Allowance;
pub(crate) use allowance::Together;
pub use in_process::{InProcess, events as events_of_service, request_of};
pub use subscription::{Allowances, SubgraphEvent, SubgraphEvents, SubgraphSubscription};
pub use traced::TracedRequest;

use crate::supergraph::Subgraph;

/// A request to a subgraph.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SubgraphRequest {
    /// JSON text: an object with `query`, and with `variables` where there are any.
    pub body: Bytes,
    /// Whether the operation is a mutation, which must not be sent twice.
    pub is_mutation: bool,
    /// Number of entities requested by their representations; 0 if the request begins at root fields.
    pub representations: usize,
    /// What the answer may hold.
    pub allowance: Arc<Allowance>,
}

impl SubgraphRequest {
    /// Creates a request that belongs to no request of a client, for tests of transports.
    #[must_use]
    pub fn alone(body: impl Into<Bytes>, limit: usize) -> Self {
        SubgraphRequest {
            body: body.into(),
            is_mutation: false,
            representations: 0,
            allowance: Arc::new(Allowance::alone(limit)),
        }
    }
}

/// Sends requests to subgraphs.
#[async_trait]
pub trait SubgraphTransport: Send + Sync + 'static {
    /// Sends a request, and returns the JSON text of the GraphQL response.
    ///
    /// A transport that reads from outside takes what arrives from the request's [`Allowance`] and stops where
    /// that is refused; of others the caller counts the answer when it is complete. The deadline and the
    /// cancellation of the context are observed by the caller too, which drops the future.
    ///
    /// # Errors
    /// When there is no answer, or it is no GraphQL response.
    async fn send(
        &self,
        subgraph: &Subgraph,
        request: SubgraphRequest,
        context: &RequestContext,
    ) -> Result<Bytes, TransportError>;

    /// Begins a subscription, and returns its events.
    ///
    /// The deadline of the context is for the beginning; the caller observes it too, and the cancellation at
    /// all times.
    ///
    /// # Errors
    /// When the subscription cannot begin; [`TransportError::NoSubscriptions`] where the transport has none.
    async fn subscribe(
        &self,
        _subgraph: &Subgraph,
        _subscription: SubgraphSubscription,
        _context: &RequestContext,
    ) -> Result<SubgraphEvents, TransportError> {
        Err(TransportError::NoSubscriptions)
    }
}

/// Why a subgraph did not respond. The messages are shown to clients; causes are not.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TransportError {
    /// The subgraph has no transport.
    #[error("the subgraph is not connected")]
    NotConnected,
    /// The subgraph has no transport for subscriptions.
    #[error("no protocol for its subscriptions is configured")]
    NoSubscriptions,
    /// The subgraph could not be reached, or the connection broke.
    #[error("the connection failed")]
    Connection(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The answer broke off, or its compression is damaged.
    #[error("the response is incomplete or damaged")]
    Broken(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The subgraph took longer than the transport allows.
    #[error("{0} took too long")]
    TimedOut(Phase),
    /// The deadline of the request passed.
    #[error("the deadline passed")]
    Deadline,
    /// The subgraph answered with an HTTP status of failure and without a GraphQL response.
    #[error("the status is {0}")]
    Status(u16),
    /// The answer is not of a media type of GraphQL.
    #[error("the response does not have a GraphQL media type")]
    NotJson,
    /// The answer to a subscription is no stream of events, or does not agree to the protocol of one.
    #[error("it does not offer subscriptions by {0} at this address")]
    NoEvents(&'static str),
    /// The subgraph does not keep to the protocol of subscriptions.
    #[error("it does not keep to the protocol of subscriptions: {0}")]
    Protocol(&'static str),
    /// The subgraph has closed the connection of a subscription.
    #[error("it closed the connection with the code {code}")]
    Closed {
        /// The code of the WebSocket protocol, or of the GraphQL protocol over it.
        code: u16,
        /// What it says; not shown to clients.
        reason: String,
    },
    /// The answer is compressed in a way that was not asked for.
    #[error("the response is encoded in a way that was not requested")]
    Encoding,
    /// Something that is to be passed on cannot be.
    #[error("`{name}` cannot be passed on")]
    Forwarded {
        /// Its name.
        name: String,
    },
    /// The answer is too large.
    #[error("the response is longer than {limit} bytes")]
    TooLarge {
        /// The limit.
        limit: usize,
    },
    /// All answers for one request are too large together.
    #[error("the responses for the request together are longer than {limit} bytes")]
    TooLargeTogether {
        /// The limit.
        limit: usize,
    },
    /// All requests of the process hold what they may.
    #[error("the requests being served hold all memory that they may")]
    OutOfMemory,
}

/// A part of an exchange that has a time-out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Phase {
    /// Connecting to the subgraph.
    Connecting,
    /// The wait for the acknowledgement of a connection for subscriptions.
    Acknowledging,
    /// The wait for the next bytes.
    Silence,
    /// The exchange as a whole.
    Exchange,
}

impl std::fmt::Display for Phase {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Phase::Connecting => "connecting",
            Phase::Acknowledging => "the wait for the acknowledgement",
            Phase::Silence => "the wait for the next bytes",
            Phase::Exchange => "the exchange",
        })
    }
}
