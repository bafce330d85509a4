//! The span of a request to the gateway.

use std::any::Any;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{Method, StatusCode};
use axum::middleware::Next;
use axum::response::Response;
use graphql_http::TraceId;
use graphql_service::{ObservedOperation, RequestContext, RequestObserver};
use opentelemetry::trace::{Span, SpanBuilder, SpanKind, Status, TraceContextExt};
use opentelemetry::{Context, KeyValue};

use super::pipeline::Pipeline;
use super::propagation;

/// The path of requests that are traced.
const PATH: &str = "/graphql";

/// Characters of the name of an operation that a span has.
const NAME: usize = 128;

/// A request to the gateway, or one of several that came together, and its span.
#[derive(Debug)]
pub(super) struct RequestTrace {
    pub(super) pipeline: Arc<Pipeline>,
    /// The context with the span, which ends with it at the latest.
    pub(super) context: Context,
}

impl RequestTrace {
    /// Returns the trace that a request belongs to.
    pub(super) fn of(context: &RequestContext) -> Option<&Self> {
        let observer: &dyn Any = &**context.observer.as_ref()?;
        observer.downcast_ref()
    }

    /// Begins a span below that of the request. Where that is not sampled, there is none below it either.
    pub(super) fn begin(&self, span: SpanBuilder) -> Option<Context> {
        if !self.is_sampled() {
            return None;
        }
        let span = span.start_with_context(&self.pipeline.tracer, &self.context);
        Some(Context::new().with_span(span))
    }

    pub(super) fn is_sampled(&self) -> bool {
        self.context.span().span_context().is_sampled()
    }

    fn below(&self, span: SpanBuilder) -> Self {
        RequestTrace {
            pipeline: Arc::clone(&self.pipeline),
            context: self.begin(span).unwrap_or_else(|| self.context.clone()),
        }
    }
}

impl RequestObserver for RequestTrace {
    fn operation(&self, operation: ObservedOperation<'_>) {
        if !self.is_sampled() {
            return;
        }
        let operation_type = operation.operation_type.name();
        let name: Option<String> = operation.name.map(|name| name.chars().take(NAME).collect());
        let span = self.context.span();
        span.update_name(match &name {
            Some(name) => format!("{operation_type} {name}"),
            None => operation_type.to_owned(),
        });
        span.set_attribute(KeyValue::new("graphql.operation.type", operation_type));
        if let Some(name) = name {
            span.set_attribute(KeyValue::new("graphql.operation.name", name));
        }
        if let Some((begun, ended)) = operation.planned {
            let planning = SpanBuilder::from_name("plan")
                .with_kind(SpanKind::Internal)
                .with_start_time(begun);
            let mut span = planning.start_with_context(&self.pipeline.tracer, &self.context);
            span.end_with_timestamp(ended);
        }
    }

    fn for_part(self: Arc<Self>) -> Arc<dyn RequestObserver> {
        let part = SpanBuilder::from_name("operation").with_kind(SpanKind::Internal);
        Arc::new(self.below(part))
    }
}

/// Traces a request, if it is one for GraphQL.
pub(super) async fn trace(
    State(pipeline): State<Arc<Pipeline>>,
    mut request: Request,
    next: Next,
) -> Response {
    let is_graphql = request.uri().path().trim_end_matches('/') == PATH;
    if !is_graphql || !matches!(*request.method(), Method::GET | Method::POST) {
        return next.run(request).await;
    }
    let trace = Arc::new(RequestTrace {
        context: begin(&pipeline, &request),
        pipeline,
    });
    let id = trace.context.span().span_context().trace_id();
    let extensions = request.extensions_mut();
    extensions.insert(TraceId(id.to_string()));
    extensions.insert(Arc::clone(&trace) as Arc<dyn RequestObserver>);
    let ending = Ending(Some(trace));
    let response = next.run(request).await;
    ending.answered(response.status());
    response
}

/// Begins the span of a request, below that of its caller if it has sent one along.
fn begin(pipeline: &Pipeline, request: &Request) -> Context {
    let caller = propagation::of_caller(request.headers());
    let method = match *request.method() {
        Method::GET => "GET",
        _ => "POST",
    };
    // The name until the operation is known.
    let span = SpanBuilder::from_name(format!("{method} {PATH}"))
        .with_kind(SpanKind::Server)
        .with_attributes([
            KeyValue::new("http.request.method", method),
            KeyValue::new("http.route", PATH),
            KeyValue::new("url.path", PATH),
            KeyValue::new("url.scheme", "http"),
        ]);
    let span = span.start_with_context(&pipeline.tracer, &caller);
    Context::new().with_span(span)
}

/// Ends the span of a request, also of one that nobody waits for any more.
struct Ending(Option<Arc<RequestTrace>>);

impl Ending {
    fn answered(mut self, status: StatusCode) {
        let Some(trace) = self.0.take() else { return };
        let span = trace.context.span();
        let status_code = KeyValue::new("http.response.status_code", i64::from(status.as_u16()));
        span.set_attribute(status_code);
        if status.is_server_error() {
            span.set_attribute(KeyValue::new("error.type", status.as_str().to_owned()));
            span.set_status(Status::error(""));
        }
        span.end();
    }
}

impl Drop for Ending {
    fn drop(&mut self) {
        let Some(trace) = self.0.take() else { return };
        let span = trace.context.span();
        span.set_attribute(KeyValue::new("error.type", "cancelled"));
        span.end();
    }
}
