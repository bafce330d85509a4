//! Subgraphs that run in the same process.

use std::collections::HashMap;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use futures::stream::{self, StreamExt};
use graphql_service::{Event, Limits, Replies, Reply, Request, RequestContext, Service};

use super::{
    Allowances, SubgraphEvent, SubgraphEvents, SubgraphRequest, SubgraphSubscription,
    SubgraphTransport, TracedRequest, TransportError,
};
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

    fn connected(&self, subgraph: &Subgraph) -> Result<&Connected, TransportError> {
        let connected = self.subgraphs.get(&subgraph.name);
        connected.ok_or(TransportError::NotConnected)
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
        let connected = self.connected(subgraph)?;
        let parsed = request_of(&request.body)?;
        context.freshness.note(None);
        let body = match connected {
            Connected::Service(service) => {
                let traced = TracedRequest::query(subgraph, &request, context, None);
                let response = service.respond(parsed, traced.context().clone()).await;
                traced.end(&Ok(()), None);
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

    async fn subscribe(
        &self,
        subgraph: &Subgraph,
        subscription: SubgraphSubscription,
        context: &RequestContext,
    ) -> Result<SubgraphEvents, TransportError> {
        let Connected::Service(service) = self.connected(subgraph)? else {
            return Err(TransportError::NoSubscriptions);
        };
        let request = request_of(&subscription.body)?;
        let traced = TracedRequest::subscription(subgraph, &subscription, context, None);
        let replies = service.stream(request, traced.context().clone()).await;
        traced.end(&Ok(()), None);
        Ok(events(replies, subscription.allowances))
    }
}

/// Returns the replies of a service in this process as the events of a subgraph.
///
/// A single reply, such as that a service has no subscriptions, is the only event.
pub fn events(replies: Replies, allowances: Allowances) -> SubgraphEvents {
    let event = move |reply: Reply| allowances.event(reply.into_response().body.to_bytes());
    match replies {
        Replies::Several(events) => events
            .map(move |next| match next {
                Event::Next(reply) => event(reply),
                Event::Error(errors) => event(Reply::Refused(errors)),
            })
            .boxed(),
        Replies::One(reply) => {
            let only: Result<SubgraphEvent, TransportError> = event(reply);
            stream::iter([only]).boxed()
        }
    }
}

/// Reads the body of a request for a service in this process. Representations are as many as an answer is long; the
/// limit on the answer bounds them.
///
/// # Errors
/// When it is no GraphQL request, which those of a gateway are.
pub fn request_of(body: &[u8]) -> Result<Request, TransportError> {
    let limits = Limits::default().variable_values(usize::MAX);
    let parsed = Request::from_json(body, &limits);
    parsed.map_err(|error| TransportError::Connection(Box::new(error)))
}
