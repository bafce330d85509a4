//! The span of a request to a subgraph, and the context that the subgraph is asked in.

use graphql_service::RequestContext;
use traces::{Exchange, Peer};

use super::{SubgraphRequest, SubgraphSubscription, TransportError};
use crate::supergraph::Subgraph;

/// A request to a subgraph with its span, where the request of the client has one.
///
/// For transports: what they send is sent in [`TracedRequest::context`], so that spans of the subgraph are below this one.
#[derive(Debug)]
pub struct TracedRequest<'c> {
    exchange: Exchange,
    given: &'c RequestContext,
    own: Option<Box<RequestContext>>,
}

impl<'c> TracedRequest<'c> {
    /// Begins the span of a request. `peer` is absent where the subgraph is in this process.
    #[must_use]
    pub fn query(
        subgraph: &Subgraph,
        request: &SubgraphRequest,
        context: &'c RequestContext,
        peer: Option<Peer<'_>>,
    ) -> Self {
        TracedRequest::begin(&described(subgraph, request), context, peer)
    }

    /// Begins the span of the wait for the answer to an equal request, which was sent for the client's request `leader`.
    pub(crate) fn joined(
        subgraph: &Subgraph,
        request: &SubgraphRequest,
        context: &'c RequestContext,
        leader: &str,
    ) -> Self {
        let described = traces::Subgraph {
            joined: Some(leader),
            ..described(subgraph, request)
        };
        TracedRequest {
            exchange: Exchange::subgraph(&context.call.span, &described, None),
            given: context,
            own: None,
        }
    }

    /// Begins the span of the beginning of a subscription. Its events come for as long as they do.
    #[must_use]
    pub fn subscription(
        subgraph: &Subgraph,
        subscription: &SubgraphSubscription,
        context: &'c RequestContext,
        peer: Option<Peer<'_>>,
    ) -> Self {
        let described = traces::Subgraph {
            name: &subgraph.name,
            operation_type: "subscription",
            body_size: subscription.body.len(),
            representations: 0,
            joined: None,
        };
        TracedRequest::begin(&described, context, peer)
    }

    fn begin(
        described: &traces::Subgraph<'_>,
        given: &'c RequestContext,
        peer: Option<Peer<'_>>,
    ) -> Self {
        let exchange = Exchange::subgraph(&given.call.span, described, peer);
        let own = (!exchange.is_untraced()).then(|| {
            let mut context = Box::new(given.clone());
            context.call.span = if peer.is_some() {
                exchange.span().clone()
            } else {
                // No one else begins the operation of a service that is called without HTTP.
                let operation = traces::operation(exchange.span());
                traces::record_operation(&operation, described.operation_type, None);
                operation
            };
            context
        });
        TracedRequest {
            exchange,
            given,
            own,
        }
    }

    /// Returns the context of the request to the subgraph.
    #[must_use]
    pub fn context(&self) -> &RequestContext {
        self.own.as_deref().unwrap_or(self.given)
    }

    /// Returns the exchange, to note its status.
    pub fn exchange(&mut self) -> &mut Exchange {
        &mut self.exchange
    }

    /// Notes how it ended; `length` is that of the response, where it is known.
    pub fn end<T>(self, outcome: &Result<T, TransportError>, length: Option<usize>) {
        self.ended(outcome.as_ref().err(), length);
    }

    /// Notes how it ended, by its error if there is one.
    pub(crate) fn ended(mut self, error: Option<&TransportError>, length: Option<usize>) {
        if self.exchange.is_untraced() {
            return;
        }
        if let Some(length) = length {
            self.exchange.received(length);
        }
        match error {
            None => self.exchange.succeeded(),
            Some(TransportError::Status(_)) if self.exchange.has_outcome() => {}
            Some(error) => self.exchange.failed(error_type(error)),
        }
    }
}

/// Returns what a span says of a request.
fn described<'a>(subgraph: &'a Subgraph, request: &SubgraphRequest) -> traces::Subgraph<'a> {
    traces::Subgraph {
        name: &subgraph.name,
        operation_type: if request.is_mutation {
            "mutation"
        } else {
            "query"
        },
        body_size: request.body.len(),
        representations: request.representations,
        joined: None,
    }
}

/// Returns what a span says of an error.
fn error_type(error: &TransportError) -> &'static str {
    match error {
        TransportError::NotConnected | TransportError::NoSubscriptions => "not_connected",
        TransportError::Connection(_) => "connection",
        TransportError::Broken(_) => "broken_response",
        TransportError::TimedOut(_) => "timeout",
        TransportError::Deadline => "deadline",
        TransportError::Status(_) => "status",
        TransportError::NotJson | TransportError::NoEvents(_) | TransportError::Encoding => {
            "unexpected_response"
        }
        TransportError::Protocol(_) | TransportError::Closed { .. } => "protocol",
        TransportError::Forwarded { .. } => "not_forwarded",
        TransportError::TooLarge { .. }
        | TransportError::TooLargeTogether { .. }
        | TransportError::OutOfMemory => "too_large",
    }
}
