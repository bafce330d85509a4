//! Subgraphs that run in the same process.

use std::collections::HashMap;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use graphql_service::{Limits, Request, RequestContext, Service};

use super::{SubgraphRequest, SubgraphTransport, TransportError};
use crate::supergraph::Subgraph;

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
        context.freshness.note(None);
        let body = match connected {
            Connected::Service(service) => {
                let response = service.respond(parsed, context.clone()).await;
                request.allowance.take(response.body.len())?;
                response.body.to_bytes()
            }
            Connected::Function(answer) => {
                let text = answer(&parsed).to_string();
                request.allowance.take(text.len())?;
                text.into()
            }
        };
        Ok(body)
    }
}
