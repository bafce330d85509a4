//! Spans of HTTP requests: those that are answered, and those that are sent on their behalf.

use http::{HeaderMap, Method, StatusCode};
use tracing::field::Empty;
use tracing::{Level, Span, span};

use crate::span::{TARGET, short};

/// The span of one HTTP request, and how it went.
///
/// It ends when it is dropped. What is dropped without an outcome was cancelled.
#[derive(Debug)]
pub struct Exchange {
    span: Span,
    /// The lowest status that is an error on this side.
    errors: u16,
    has_outcome: bool,
}

/// The server that a request is sent to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Peer<'a> {
    /// Its name or address, without a port.
    pub address: &'a str,
    /// Its port.
    pub port: Option<u16>,
}

/// A request to a subgraph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Subgraph<'a> {
    /// The name of the subgraph.
    pub name: &'a str,
    /// `query`, `mutation` or `subscription`.
    pub operation_type: &'static str,
    /// Bytes of the request.
    pub body_size: usize,
    /// How many entities it asks for by their representations.
    pub representations: usize,
    /// The identifier of the client's request whose equal request this one waits for, if it is not sent itself.
    pub joined: Option<&'a str>,
}

/// The span of a request, in its extensions. Only where there is one.
#[derive(Clone, Debug)]
pub struct RequestSpan(pub Span);

impl Exchange {
    /// Begins the span of a request that is answered, below that of a caller who has sent one along.
    ///
    /// Where it is malformed or given twice, the request begins a trace.
    #[must_use]
    pub fn server(method: &Method, scheme: &'static str, path: &str, headers: &HeaderMap) -> Self {
        let method = method_name(method);
        let span = span!(
            target: TARGET,
            parent: None,
            Level::TRACE,
            "HTTP request",
            otel.name = method,
            otel.kind = "server",
            otel.status_code = Empty,
            http.request.method = method,
            url.scheme = scheme,
            url.path = short(path),
            http.route = Empty,
            http.response.status_code = Empty,
            error.r#type = Empty,
        );
        if !span.is_disabled() {
            continue_trace(&span, headers);
        }
        Exchange::new(span, 500)
    }

    /// Begins the span of a request to some server, below another span. Without that, there is none.
    #[must_use]
    pub fn client(parent: &Span, method: &Method, peer: Peer<'_>) -> Self {
        if parent.is_disabled() {
            return Exchange::untraced();
        }
        parent.in_scope(|| Exchange::client_in_context(method, peer))
    }

    /// Begins the span of a request to some server, below the span that this thread is in. Without that, there is none.
    ///
    /// For what has no context of its own. What runs for a request is in its span, unless it is another task.
    #[must_use]
    pub fn client_in_context(method: &Method, peer: Peer<'_>) -> Self {
        if Span::current().is_disabled() {
            return Exchange::untraced();
        }
        Exchange::sent(span!(
            target: TARGET,
            Level::TRACE,
            "HTTP client request",
            otel.name = method_name(method),
            otel.kind = "client",
            otel.status_code = Empty,
            http.request.method = method_name(method),
            server.address = peer.address,
            server.port = peer.port,
            http.response.status_code = Empty,
            error.r#type = Empty,
        ))
    }

    /// Begins the span of a request to a triple store, below that of an operation. Without that, there is none.
    #[must_use]
    pub fn store(
        parent: &Span,
        system: &'static str,
        operation: &'static str,
        method: &Method,
        peer: Peer<'_>,
    ) -> Self {
        if parent.is_disabled() {
            return Exchange::untraced();
        }
        let name = match peer.port {
            Some(port) => format!("{operation} {}:{port}", peer.address),
            None => format!("{operation} {}", peer.address),
        };
        Exchange::sent(span!(
            target: TARGET,
            parent: parent,
            Level::TRACE,
            "triple store",
            otel.name = name,
            otel.kind = "client",
            otel.status_code = Empty,
            db.system.name = system,
            db.operation.name = operation,
            http.request.method = method_name(method),
            server.address = peer.address,
            server.port = peer.port,
            http.response.status_code = Empty,
            error.r#type = Empty,
        ))
    }

    /// Begins the span of a request to OpenSearch, below that of an operation. Without that, there is none. `index` is
    /// empty for what is about no index.
    #[must_use]
    pub fn engine(
        parent: &Span,
        operation: &str,
        index: &str,
        method: &Method,
        peer: Peer<'_>,
    ) -> Self {
        if parent.is_disabled() {
            return Exchange::untraced();
        }
        let index = short(index);
        Exchange::sent(span!(
            target: TARGET,
            parent: parent,
            Level::TRACE,
            "search engine",
            otel.name = format!("{operation} {index}").trim_end(),
            otel.kind = "client",
            otel.status_code = Empty,
            db.system.name = "opensearch",
            db.operation.name = operation,
            db.collection.name = (!index.is_empty()).then_some(index),
            http.request.method = method_name(method),
            server.address = peer.address,
            server.port = peer.port,
            http.response.status_code = Empty,
            error.r#type = Empty,
        ))
    }

    /// Begins the span of a request to a subgraph, below that of an operation. Without that, there is none. `peer` is
    /// absent where the subgraph is in the same process.
    #[must_use]
    pub fn subgraph(parent: &Span, subgraph: &Subgraph<'_>, peer: Option<Peer<'_>>) -> Self {
        if parent.is_disabled() {
            return Exchange::untraced();
        }
        let name = short(subgraph.name);
        let body_size = subgraph.body_size as u64;
        let representations = subgraph.representations as u64;
        Exchange::sent(span!(
            target: TARGET,
            parent: parent,
            Level::TRACE,
            "subgraph",
            otel.name = format!("subgraph {name}"),
            otel.kind = if peer.is_some() { "client" } else { "internal" },
            otel.status_code = Empty,
            graphql.subgraph.name = name,
            graphql.subgraph.representations = (representations > 0).then_some(representations),
            graphql.subgraph.joined = subgraph.joined.map(short),
            graphql.operation.r#type = subgraph.operation_type,
            http.request.method = peer.map(|_| "POST"),
            http.request.body.size = peer.map(|_| body_size),
            server.address = peer.map(|peer| peer.address),
            server.port = peer.and_then(|peer| peer.port),
            http.response.status_code = Empty,
            http.response.body.size = Empty,
            error.r#type = Empty,
        ))
    }

    /// An exchange without a span.
    #[must_use]
    pub fn untraced() -> Self {
        Exchange::sent(Span::none())
    }

    fn sent(span: Span) -> Self {
        Exchange::new(span, 400)
    }

    fn new(span: Span, errors: u16) -> Self {
        Exchange {
            span,
            errors,
            has_outcome: false,
        }
    }

    /// Returns its span.
    #[must_use]
    pub fn span(&self) -> &Span {
        &self.span
    }

    /// Returns whether there is no span.
    #[must_use]
    pub fn is_untraced(&self) -> bool {
        self.span.is_disabled()
    }

    /// Names the route that answers a request, such as `/items/{id}`.
    pub fn route(&self, method: &Method, route: &str) {
        record_route(&self.span, method, route);
    }

    /// Writes the context of the trace to the headers of the request, in place of any other that is there. Without
    /// a span, and without the feature `opentelemetry`, the headers stay as they are.
    pub fn inject(&self, headers: &mut HeaderMap) {
        inject(&self.span, headers);
    }

    /// Returns the headers that carry the context of the trace.
    #[must_use]
    pub fn headers(&self) -> HeaderMap {
        let mut headers = HeaderMap::new();
        self.inject(&mut headers);
        headers
    }

    /// Notes the status of the response.
    pub fn answered(&mut self, status: StatusCode) {
        self.has_outcome = true;
        if self.is_untraced() {
            return;
        }
        self.span
            .record("http.response.status_code", status.as_u16());
        if status.as_u16() >= self.errors {
            self.fail(status.as_str());
        }
    }

    /// Notes the length of the body of the response.
    pub fn received(&self, bytes: usize) {
        if !self.is_untraced() {
            self.span.record("http.response.body.size", bytes as u64);
        }
    }

    /// Returns whether something was noted of how it went.
    #[must_use]
    pub fn has_outcome(&self) -> bool {
        self.has_outcome
    }

    /// Notes that the exchange succeeded, where it has no status.
    pub fn succeeded(&mut self) {
        self.has_outcome = true;
    }

    /// Notes why there is no usable response, by one of a few words such as `timeout`.
    pub fn failed(&mut self, error_type: &'static str) {
        self.has_outcome = true;
        self.fail(error_type);
    }

    fn fail(&self, error_type: &str) {
        self.span.record("error.type", error_type);
        self.span.record("otel.status_code", "ERROR");
    }
}

impl Drop for Exchange {
    /// Notes that no one waits for the outcome any more.
    fn drop(&mut self) {
        if !self.has_outcome && !self.is_untraced() {
            self.span.record("error.type", "cancelled");
        }
    }
}

impl RequestSpan {
    /// Returns the span among the extensions of a request; where there is none, one that is nothing.
    #[must_use]
    pub fn among(extensions: &http::Extensions) -> Span {
        let found = extensions.get::<RequestSpan>();
        found.map_or_else(Span::none, |found| found.0.clone())
    }
}

/// Writes the context of a span to the headers of a request, in place of any other that is there. Without a span, and
/// without the feature `opentelemetry`, the headers stay as they are.
pub fn inject(span: &Span, headers: &mut HeaderMap) {
    if span.is_disabled() {
        return;
    }
    #[cfg(feature = "opentelemetry")]
    crate::context::inject(span, headers);
    #[cfg(not(feature = "opentelemetry"))]
    let _ = headers;
}

/// Returns the identifier of the trace that a span belongs to, as 32 hexadecimal digits.
#[must_use]
pub fn trace_id(span: &Span) -> Option<String> {
    if span.is_disabled() {
        return None;
    }
    #[cfg(feature = "opentelemetry")]
    return crate::context::trace_id(span);
    #[cfg(not(feature = "opentelemetry"))]
    None
}

fn continue_trace(span: &Span, headers: &HeaderMap) {
    #[cfg(feature = "opentelemetry")]
    crate::context::continue_trace(span, headers);
    #[cfg(not(feature = "opentelemetry"))]
    let _ = (span, headers);
}

/// Names the route that answers the request of a span, such as `/items/{id}`.
pub fn record_route(span: &Span, method: &Method, route: &str) {
    if span.is_disabled() {
        return;
    }
    span.record("http.route", route);
    let name = format!("{} {route}", method_name(method));
    #[cfg(feature = "opentelemetry")]
    crate::context::rename(span, name);
    #[cfg(not(feature = "opentelemetry"))]
    span.record("otel.name", name);
}

/// Returns the name of a method; `_OTHER` for those that no one knows, which a caller can make up.
fn method_name(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::POST => "POST",
        Method::PUT => "PUT",
        Method::DELETE => "DELETE",
        Method::HEAD => "HEAD",
        Method::OPTIONS => "OPTIONS",
        Method::PATCH => "PATCH",
        Method::CONNECT => "CONNECT",
        Method::TRACE => "TRACE",
        _ => "_OTHER",
    }
}
