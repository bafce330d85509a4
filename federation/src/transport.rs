//! How subgraphs are reached: a trait, and subgraphs that run in the same process.

use std::collections::HashMap;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use graphql_service::{Limits, Request, RequestContext, Service};

use crate::supergraph::Subgraph;

/// A request to a subgraph.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SubgraphRequest {
    /// JSON text: an object with `query`, and with `variables` where there are any.
    pub body: Bytes,
    /// Whether the operation is a mutation, which must not be sent twice.
    pub is_mutation: bool,
    /// Maximum size of the answer, in bytes.
    pub limit: usize,
}

/// Sends requests to subgraphs.
#[async_trait]
pub trait SubgraphTransport: Send + Sync + 'static {
    /// Sends a request, and returns the JSON text of the GraphQL response.
    ///
    /// The deadline and the cancellation of the context are observed by the caller too, which drops the
    /// future.
    ///
    /// # Errors
    /// When there is no answer, or it is no GraphQL response.
    async fn send(
        &self,
        subgraph: &Subgraph,
        request: SubgraphRequest,
        context: &RequestContext,
    ) -> Result<Bytes, TransportError>;
}

/// Why a subgraph gave no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TransportError {
    /// There is no way to the subgraph.
    #[error("the subgraph is not connected")]
    NotConnected,
    /// The subgraph could not be reached, or the connection broke.
    #[error("the connection failed")]
    Connection(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The subgraph answered with an HTTP status of failure and without a GraphQL response.
    #[error("the status is {0}")]
    Status(u16),
    /// The answer is not of a media type of GraphQL.
    #[error("the answer is not JSON")]
    NotJson,
    /// The answer is too large.
    #[error("the answer is longer than {limit} bytes")]
    TooLarge {
        /// The limit.
        limit: usize,
    },
}

/// Subgraphs that run in the same process, by name.
#[derive(Default)]
pub struct InProcess {
    subgraphs: HashMap<String, Connected>,
}

/// What stands for a subgraph.
enum Connected {
    Service(Arc<dyn Service>),
    Function(Box<Answer>),
}

/// Answers a request with the JSON of a GraphQL response.
type Answer = dyn Fn(&Request) -> serde_json::Value + Send + Sync;

impl InProcess {
    /// Creates a transport without subgraphs.
    #[must_use]
    pub fn new() -> Self {
        InProcess::default()
    }

    /// Adds a subgraph under its name in the supergraph.
    #[must_use]
    pub fn with(mut self, name: impl Into<String>, service: Arc<dyn Service>) -> Self {
        self.subgraphs
            .insert(name.into(), Connected::Service(service));
        self
    }

    /// Adds a function that answers for a subgraph; it should not take long, since it is called on the
    /// thread of the request.
    #[must_use]
    pub fn with_function(
        mut self,
        name: impl Into<String>,
        answer: impl Fn(&Request) -> serde_json::Value + Send + Sync + 'static,
    ) -> Self {
        self.subgraphs
            .insert(name.into(), Connected::Function(Box::new(answer)));
        self
    }
}

#[async_trait]
impl SubgraphTransport for InProcess {
    async fn send(
        &self,
        subgraph: &Subgraph,
        request: SubgraphRequest,
        context: &RequestContext,
    ) -> Result<Bytes, TransportError> {
        let connected = self
            .subgraphs
            .get(&subgraph.name)
            .ok_or(TransportError::NotConnected)?;
        // Representations are as many as an answer is long; the limit on the answer bounds them.
        let limits = Limits::default().variable_values(usize::MAX);
        let parsed = Request::from_json(&request.body, &limits);
        let parsed = parsed.map_err(|error| TransportError::Connection(Box::new(error)))?;
        let body = match connected {
            Connected::Service(service) => service
                .respond(parsed, context.clone())
                .await
                .body
                .to_bytes(),
            Connected::Function(answer) => answer(&parsed).to_string().into(),
        };
        if body.len() > request.limit {
            return Err(TransportError::TooLarge {
                limit: request.limit,
            });
        }
        Ok(body)
    }
}
