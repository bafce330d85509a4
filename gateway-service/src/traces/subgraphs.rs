//! The spans of requests to subgraphs, and the context that these are sent along.

use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use federation::supergraph::Subgraph;
use federation::transport::{
    SubgraphEvents, SubgraphRequest, SubgraphSubscription, SubgraphTransport, TransportError,
};
use graphql_service::RequestContext;
use opentelemetry::trace::{SpanBuilder, SpanKind, Status, TraceContextExt};
use opentelemetry::{Context, KeyValue};

use super::propagation;
use super::request::RequestTrace;
use crate::metrics::outcome_name;

/// A transport of which requests are traced, where the request of the client is.
pub(super) struct Traced(pub(super) Arc<dyn SubgraphTransport>);

#[async_trait]
impl SubgraphTransport for Traced {
    async fn send(
        &self,
        subgraph: &Subgraph,
        request: SubgraphRequest,
        context: &RequestContext,
    ) -> Result<Bytes, TransportError> {
        let Some(trace) = RequestTrace::of(context) else {
            return self.0.send(subgraph, request, context).await;
        };
        let operation_type = match request.is_mutation {
            true => "mutation",
            false => "query",
        };
        let exchange = Exchange::begin(trace, subgraph, operation_type, request.body.len());
        let representations = i64::try_from(request.representations).unwrap_or(i64::MAX);
        exchange.note("graphql.subgraph.representations", representations);
        let context = exchange.context(trace, context);
        let answer = self.0.send(subgraph, request, &context).await;
        if let Ok(answer) = &answer {
            exchange.note("graphql.subgraph.received_bytes", length(answer.len()));
        }
        exchange.end(answer.as_ref().map(|_| ()));
        answer
    }

    async fn subscribe(
        &self,
        subgraph: &Subgraph,
        subscription: SubgraphSubscription,
        context: &RequestContext,
    ) -> Result<SubgraphEvents, TransportError> {
        let Some(trace) = RequestTrace::of(context) else {
            return self.0.subscribe(subgraph, subscription, context).await;
        };
        let length = subscription.body.len();
        let exchange = Exchange::begin(trace, subgraph, "subscription", length);
        let context = exchange.context(trace, context);
        // The span is about the beginning; events come for as long as they do.
        let begun = self.0.subscribe(subgraph, subscription, &context).await;
        exchange.end(begun.as_ref().map(|_| ()));
        begun
    }
}

/// An exchange with a subgraph, and its span where the request is sampled.
struct Exchange(Option<Context>);

impl Exchange {
    fn begin(
        trace: &RequestTrace,
        subgraph: &Subgraph,
        operation_type: &'static str,
        bytes: usize,
    ) -> Self {
        if !trace.is_sampled() {
            return Exchange(None);
        }
        let span = SpanBuilder::from_name(format!("subgraph {}", subgraph.name))
            .with_kind(SpanKind::Client)
            .with_attributes([
                KeyValue::new("graphql.subgraph.name", subgraph.name.clone()),
                KeyValue::new("graphql.operation.type", operation_type),
                KeyValue::new("graphql.subgraph.sent_bytes", length(bytes)),
            ]);
        Exchange(trace.begin(span))
    }

    /// Returns the context that the subgraph is asked in: what becomes of the request is for nobody else to say.
    fn context(&self, trace: &RequestTrace, context: &RequestContext) -> RequestContext {
        let span = self.0.as_ref().unwrap_or(&trace.context);
        let forwarded = propagation::forwarded(&context.forwarded, span);
        let mut context = context.clone().with_forwarded(forwarded);
        context.observer = None;
        context
    }

    fn note(&self, name: &'static str, value: i64) {
        if let Some(context) = &self.0 {
            context.span().set_attribute(KeyValue::new(name, value));
        }
    }

    fn end(mut self, outcome: Result<(), &TransportError>) {
        self.finish(Some(outcome));
    }

    fn finish(&mut self, outcome: Option<Result<(), &TransportError>>) {
        let Some(context) = self.0.take() else { return };
        let (span, name) = (context.span(), outcome_name(outcome));
        span.set_attribute(KeyValue::new("graphql.subgraph.outcome", name));
        if let Some(Err(error)) = outcome {
            span.set_attribute(KeyValue::new("error.type", name));
            if let TransportError::Status(status) = error {
                let status = i64::from(*status);
                span.set_attribute(KeyValue::new("http.response.status_code", status));
            }
            // Clients are shown the same text; causes are in the log.
            span.set_status(Status::error(error.to_string()));
        }
        span.end();
    }
}

impl Drop for Exchange {
    /// Ends the span of an exchange that nobody waits for any more.
    fn drop(&mut self) {
        self.finish(None);
    }
}

fn length(bytes: usize) -> i64 {
    i64::try_from(bytes).unwrap_or(i64::MAX)
}
