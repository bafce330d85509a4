//! Sends a request on to a service, and its answer back.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use axum::extract::{OriginalUri, Request};
use axum::http::header::{CONTENT_TYPE, HOST};
use axum::http::{HeaderMap, Method, StatusCode, Uri};
use axum::response::Response;
use graphql_http::body::BodyLimits;
use graphql_http::{HttpError, Relayed, body, code as common};
use outbound::causes;
use reqwest::Url;
use service_runtime::ClientAddress;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, SemaphorePermit};
use tokio_util::sync::CancellationToken;
use tower_http::timeout::TimeoutBody;
use traces::{Exchange, Peer, RequestSpan};
use tracing::Span;

use super::code;
use super::forwarding;
use super::options::UpstreamOptions;
use super::route::{EdgeRoute, RouteTarget};
use super::tunnel::{self, Opening};
use super::upstream::{HostedService, Upstream, UpstreamServer};

/// What answers of all services share.
pub(crate) struct Relay {
    pub(crate) client: reqwest::Client,
    pub(crate) options: UpstreamOptions,
    pub(crate) body: BodyLimits,
    pub(crate) resources: graphql_http::Resources,
    /// WebSockets and streams of events.
    pub(crate) streams: Arc<Semaphore>,
    pub(crate) is_tls: bool,
    /// Whether the edge answers for CORS.
    pub(crate) has_cors: bool,
    pub(crate) ending: CancellationToken,
}

/// A request that can be sent as often as is needed.
struct Repeatable {
    method: Method,
    /// The path that the service sees, with the query.
    target: String,
    headers: HeaderMap,
    body: Bytes,
    /// The span of the request.
    span: Span,
}

/// Why a server has not answered.
enum Failure {
    /// It has not seen the request.
    Unsent,
    /// As many requests wait for it as may.
    Busy,
    /// It has broken the connection off.
    BrokenOff,
    /// It has not begun to answer in time.
    TimedOut,
}

impl Relay {
    /// Sends a request on.
    pub(crate) async fn send(&self, route: &EdgeRoute, mut request: Request) -> Response {
        let client = request.extensions().get::<ClientAddress>();
        let mut relayed = Relayed {
            route: Arc::clone(&route.name),
            server: None,
            client: client.map(|client| client.0),
        };
        let extensions = request.extensions().clone();
        forwarding::describe_client(route, self.is_tls, request.headers_mut(), &extensions);
        let span = RequestSpan::among(&extensions);
        if !span.is_disabled() {
            traces::record_route(&span, request.method(), &format!("{}/*", route.path));
            // A service of this process begins its own span, below that of the edge.
            traces::inject(&span, request.headers_mut());
        }
        let answered = match &route.target {
            RouteTarget::Hosted(service) => self.ask_hosted(route, service, request).await,
            RouteTarget::Servers(upstream) => {
                let server = &mut relayed.server;
                self.ask_servers(route, upstream, request, server).await
            }
        };
        let mut response = answered.unwrap_or_else(axum::response::IntoResponse::into_response);
        if self.has_cors {
            forwarding::remove_cors(response.headers_mut());
        }
        response.extensions_mut().insert(relayed);
        response
    }

    async fn ask_hosted(
        &self,
        route: &EdgeRoute,
        service: &HostedService,
        mut request: Request,
    ) -> Result<Response, HttpError> {
        let original = request.uri().clone();
        if route.strips_path {
            let target = target(route, &original);
            let inner: Uri = target.parse().map_err(|_| HttpError::internal())?;
            *request.uri_mut() = inner;
        }
        request.extensions_mut().insert(OriginalUri(original));
        let waiting = service.waiting.try_acquire().map_err(|_| busy())?;
        let answered = tokio::time::timeout(self.options.response_timeout, service.call(request));
        let response = answered.await.map_err(|_| timed_out())?;
        drop(waiting);
        self.bounded(response)
    }

    async fn ask_servers(
        &self,
        route: &EdgeRoute,
        upstream: &Upstream,
        mut request: Request,
        asked: &mut Option<Arc<str>>,
    ) -> Result<Response, HttpError> {
        let opening = if tunnel::is_asked_for(request.method(), request.headers()) {
            let permit = self.stream()?;
            Some(Opening::of(&mut request, permit, self.ending.clone()))
        } else {
            None
        };
        let method = request.method().clone();
        let target = target(route, request.uri());
        let mut headers = request.headers().clone();
        let span = RequestSpan::among(request.extensions());
        let read = body::read(request, self.body, &self.resources).await?;
        forwarding::remove_of_connection(&mut headers);
        forwarding::remove_of_body(&mut headers);
        if !route.preserves_host {
            headers.remove(HOST);
        }
        if opening.is_some() {
            tunnel::ask_for(&mut headers);
        }
        let repeatable = Repeatable {
            method,
            target,
            headers,
            body: read.text,
            span,
        };
        let response = self.ask_in_turn(upstream, &repeatable, asked).await?;
        // What was read stays counted until a server has all of it.
        drop(read.memory);
        match opening {
            Some(opening) if response.status() == StatusCode::SWITCHING_PROTOCOLS => {
                Ok(opening.join(response))
            }
            _ => {
                let mut response = self.relayed(response);
                forwarding::remove_of_connection(response.headers_mut());
                self.bounded(response)
            }
        }
    }

    /// Asks one server after the other, as far as that cannot do anything twice.
    async fn ask_in_turn(
        &self,
        upstream: &Upstream,
        request: &Repeatable,
        asked: &mut Option<Arc<str>>,
    ) -> Result<reqwest::Response, HttpError> {
        let turn = upstream.turn();
        let mut retries = self.options.retries;
        let mut is_busy = false;
        let mut position = 0;
        while let Some(server) = turn.get(position) {
            *asked = Some(Arc::clone(&server.label));
            let address = address(&server.base, &request.target)?;
            let failure = match self.ask(server, address, request).await {
                Ok(response) => {
                    server.answered();
                    return Ok(response);
                }
                Err(failure) => failure,
            };
            let is_broken = !matches!(failure, Failure::Busy);
            if is_broken && server.broke_off(self.options.max_failures) {
                tracing::warn!(
                    server = &*server.label,
                    "a server is skipped: it fails repeatedly"
                );
            }
            match failure {
                Failure::Busy => is_busy = true,
                Failure::Unsent => {}
                Failure::BrokenOff if request.method.is_safe() && retries > 0 => {
                    retries -= 1;
                    // Where there is no other, the same may have closed an idle connection only.
                    if position + 1 == turn.len() {
                        continue;
                    }
                }
                Failure::BrokenOff => {
                    let message = "the service closed the connection before it responded";
                    return Err(HttpError::new(code::UPSTREAM_FAILED, message));
                }
                Failure::TimedOut => return Err(timed_out()),
            }
            position += 1;
        }
        Err(if is_busy { busy() } else { unavailable() })
    }

    /// Asks one server.
    async fn ask(
        &self,
        server: &UpstreamServer,
        address: Url,
        request: &Repeatable,
    ) -> Result<reqwest::Response, Failure> {
        let waiting: SemaphorePermit<'_> =
            server.waiting.try_acquire().map_err(|_| Failure::Busy)?;
        let peer = Peer {
            address: server.base.host_str().unwrap_or_default(),
            port: server.base.port_or_known_default(),
        };
        let mut traced = Exchange::client(&request.span, &request.method, peer);
        let mut headers = request.headers.clone();
        traced.inject(&mut headers);
        let asked = self
            .client
            .request(request.method.clone(), address)
            .headers(headers);
        let asked = if request.body.is_empty() {
            asked
        } else {
            asked.body(request.body.clone())
        };
        let mut call = server.peer.request(&request.method);
        let answered = tokio::time::timeout(self.options.response_timeout, asked.send()).await;
        drop(waiting);
        let error = match answered {
            Ok(Ok(response)) => {
                let status = response.status();
                traced.answered(status);
                if status.is_client_error() || status.is_server_error() {
                    call.refuse(status.as_u16());
                } else {
                    call.succeed();
                }
                return Ok(response);
            }
            Ok(Err(error)) => error,
            Err(_) => {
                call.fail("timeout");
                traced.failed("timeout");
                return Err(Failure::TimedOut);
            }
        };
        traced.failed("connection");
        let failure = if error.is_connect() {
            call.fail("connect");
            Failure::Unsent
        } else {
            call.fail("lost");
            Failure::BrokenOff
        };
        let (server, cause) = (&*server.label, causes(error));
        tracing::warn!(server, cause, "a server has not answered");
        Err(failure)
    }

    /// Returns the answer of a server, whose body may take no longer than is allowed.
    fn relayed(&self, response: reqwest::Response) -> Response {
        let response: axum::http::Response<reqwest::Body> = response.into();
        let timeout: Duration = self.options.idle_timeout;
        response.map(|body| Body::new(TimeoutBody::new(timeout, body)))
    }

    /// Counts the answer among the streams if it is one.
    fn bounded(&self, response: Response) -> Result<Response, HttpError> {
        let is_stream = response.headers().get(CONTENT_TYPE).is_some_and(|kind| {
            kind.as_bytes()
                .to_ascii_lowercase()
                .starts_with(b"text/event-stream")
        });
        if !is_stream {
            return Ok(response);
        }
        let permit = self.stream()?;
        Ok(response.map(|body| {
            Body::new(Counted {
                body,
                _permit: permit,
            })
        }))
    }

    fn stream(&self) -> Result<OwnedSemaphorePermit, HttpError> {
        let permit = Arc::clone(&self.streams).try_acquire_owned();
        permit.map_err(|_| {
            let message = "the maximum number of WebSockets and event streams is reached";
            HttpError::new(common::TOO_MANY_STREAMS, message).soon_over()
        })
    }
}

/// The body of a stream, which is counted as long as it is there.
struct Counted {
    body: Body,
    _permit: OwnedSemaphorePermit,
}

impl HttpBody for Counted {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<http_body::Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> http_body::SizeHint {
        self.body.size_hint()
    }
}

/// Returns the path that the service sees, with the query.
fn target(route: &EdgeRoute, uri: &Uri) -> String {
    let path = route.inner(uri.path());
    match uri.query() {
        Some(query) => format!("{path}?{query}"),
        None => path.to_owned(),
    }
}

/// Returns the address of a path at a server.
fn address(base: &Url, target: &str) -> Result<Url, HttpError> {
    let base = base.as_str().trim_end_matches('/');
    let address = Url::parse(&format!("{base}{target}"));
    address.map_err(|_| HttpError::new(common::REQUEST_MALFORMED, "the path is malformed"))
}

fn busy() -> HttpError {
    let message = "too many requests are waiting for the service";
    HttpError::new(code::UPSTREAM_BUSY, message).soon_over()
}

fn unavailable() -> HttpError {
    let message = "no server of the service can be reached at the moment";
    HttpError::new(code::UPSTREAM_UNAVAILABLE, message).soon_over()
}

fn timed_out() -> HttpError {
    let message = "the service did not begin to respond in time";
    HttpError::new(code::UPSTREAM_TIMEOUT, message)
}
