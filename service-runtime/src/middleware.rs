//! What every request passes before the routes of a service: its identifier and log line, the rules for callers, tokens,
//! the answer to a panic, compression.
//!
//! This is one function in place of a layer for each, since every layer of a router costs a request several
//! allocations and copies of its state: `{ __typename }` takes the endpoint alone 8.3 µs in process, with everything here
//! 9.7, and with six layers that do nothing 11.6. What is posted to [`GRAPHQL`] does not come by the router at all.
//!
//! # From a connection to a request
//!
//! A connection is one task (`listener`), with bounds on clients that stall (`connection`, `rejection`). For every request
//! is done here what does not depend on its path, but for what the table of routes says of it. What few
//! requests do is boxed, so that the future of a short request is small: it is moved several times. The route reads
//! the request, negotiates the media type and makes a `graphql_service::RequestContext` with deadline, cancellation,
//! request id, languages and the `Caller` that the token stands for.

use std::convert::Infallible;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use axum::Router;
use axum::extract::Request;
use axum::handler::HandlerWithoutStateExt;
use axum::http::{Extensions, HeaderName, HeaderValue, Method, Uri};
use axum::response::{IntoResponse, Response};
use futures::FutureExt;
use graphql_http::Resources;
use graphql_http::{
    Answered, GraphqlEndpoint, HttpError, RequestId, Sender, code as common, compression,
    request_id,
};
use graphql_service::ErrorCode;
use service_metrics::{OperationMetrics, ServerMetrics, ServerRequest};
use tower_http::normalize_path::NormalizePath;
use tower_service::Service;
use traces::RequestSpan;

use super::callers::Callers;
use super::code;
use super::connection::Connected;
use super::loading::LoadProgress;
use super::mount::{ForwardedPrefix, SlashAtEnd};
use super::not_loaded::data_loading;
use super::state::HostState;
use super::table::{GRAPHQL, Route, Table};
use super::tokens::Tokens;
use super::trusted_proxies::{self, BehindProxy, ClientAddress, TrustedProxies};

/// Adds what all services have in common around their routes: answers to unknown paths and methods,
/// paths with a slash at the end, compression, the answer to a panic, security headers, request
/// identifiers and log lines.
pub fn with_middleware(routes: Router, resources: &Resources) -> Router {
    let stage = InnerStage {
        resources: resources.clone(),
        tokens: Tokens::Unread,
        table: Arc::default(),
        loading: Arc::default(),
        endpoint: None,
        routes: normalized(routes),
        others: None,
    };
    let next = Next::Direct(Arc::new(stage));
    Middleware(Arc::new(OuterStage {
        callers: None,
        recorder: None,
        next,
    }))
    .into_router()
}

/// A service that can be mounted: its routes with everything around them.
///
/// It becomes an axum [`Router`], which a program can nest below any path. What listens for services calls it without that.
#[derive(Clone)]
pub struct ServiceRouter(Arc<Whole>);

struct Whole {
    inner: Inner,
    rows: Arc<[Route]>,
}

enum Inner {
    Middleware(Middleware),
    Router(Router),
}

impl ServiceRouter {
    /// Joins what answers requests with the rows that say what it does.
    pub(crate) fn new(middleware: Middleware, rows: Arc<[Route]>) -> Self {
        let inner = Inner::Middleware(middleware);
        ServiceRouter(Arc::new(Whole { inner, rows }))
    }

    /// Returns the table of its routes; nothing is known of those of a plain `Router`.
    #[must_use]
    pub fn table(&self) -> &[Route] {
        &self.0.rows
    }

    /// Puts something around all that it does.
    #[must_use]
    pub fn within(self, layer: impl FnOnce(Router) -> Router) -> Self {
        let rows = Arc::clone(&self.0.rows);
        let inner = Inner::Router(layer(self.into()));
        ServiceRouter(Arc::new(Whole { inner, rows }))
    }

    /// Answers a request, which came by a connection where no one has noted that before.
    pub(crate) async fn receive(self, mut request: Request, connected: Connected) -> Response {
        match &self.0.inner {
            Inner::Middleware(middleware) => middleware.receive(request, Some(connected)).await,
            Inner::Router(router) => {
                connected.note(request.extensions_mut());
                of(router.clone().call(request).await)
            }
        }
    }
}

impl From<Router> for ServiceRouter {
    fn from(router: Router) -> Self {
        let inner = Inner::Router(router);
        let rows = Arc::default();
        ServiceRouter(Arc::new(Whole { inner, rows }))
    }
}

impl From<ServiceRouter> for Router {
    fn from(routes: ServiceRouter) -> Self {
        match &routes.0.inner {
            Inner::Middleware(middleware) => middleware.clone().into_router(),
            Inner::Router(router) => router.clone(),
        }
    }
}

/// What a service answers besides the routes of its table.
pub(crate) enum Rest {
    /// GraphQL requests, at [`GRAPHQL`].
    Graphql(Box<GraphqlEndpoint>),
    /// Requests to all other paths.
    OtherPaths(Arc<dyn OtherPaths>),
}

/// The routes of a service with everything that is around them.
#[derive(Clone)]
pub(crate) struct Middleware(Arc<OuterStage>);

impl Middleware {
    /// Adds what all services have in common, the rules for callers, and answers while data are
    /// loaded. `endpoint` comes to the routes, at [`GRAPHQL`].
    pub(crate) fn new(
        (routes, table): (Router, Table),
        rest: Rest,
        host: &HostState,
        tokens: Tokens,
    ) -> Self {
        let (routes, endpoint, others) = match rest {
            Rest::Graphql(endpoint) => {
                let routes = routes.route(GRAPHQL, endpoint.clone().into_routes());
                (routes, Some(*endpoint), None)
            }
            Rest::OtherPaths(others) => (routes, None, Some(others)),
        };
        let table = Arc::new(table);
        let recorder = host
            .metrics
            .are_recorded()
            .then(|| Recorder::new(&host.options.name, &table, others.as_ref()));
        let stage = Arc::new(InnerStage {
            resources: host.resources.clone(),
            tokens,
            table: Arc::clone(&table),
            loading: Arc::clone(&host.loading),
            endpoint,
            routes: normalized(routes),
            others,
        });
        let callers = Arc::new(Callers::of(&host.options));
        // Outside of tokens: preflights have none, and pages can read why theirs is refused.
        let next = match callers.cors() {
            Some(cors) => {
                let answer = move |id: RequestId, request: Request| {
                    let stage = Arc::clone(&stage);
                    async move { stage.answer(request, id, None).await }
                };
                let routes = Router::new().fallback_service(answer.into_service());
                Next::Cors(routes.layer(cors))
            }
            None => Next::Direct(stage),
        };
        Middleware(Arc::new(OuterStage {
            callers: Some(callers),
            recorder,
            next,
        }))
    }

    fn into_router(self) -> Router {
        let receive = move |request: Request| {
            let middleware = self.clone();
            async move { middleware.receive(request, None).await }
        };
        Router::new().fallback_service(receive.into_service())
    }

    /// Answers a request, which came by a connection where no one has noted that before.
    async fn receive(&self, mut request: Request, connected: Option<Connected>) -> Response {
        let OuterStage {
            callers,
            recorder,
            next,
        } = self.0.as_ref();
        let started = Instant::now();
        let recording = recorder
            .as_ref()
            .map(|it| (it, it.begin(&request, started)));
        let ended = |response: &Response, taken| {
            if let Some((recorder, recording)) = recording {
                recorder.end(recording, response, taken);
            }
        };
        let proxies = callers.as_ref().map(|callers| &callers.proxies);
        let connected = match proxies.filter(|proxies| !proxies.is_empty()) {
            Some(proxies) => behind(proxies, &mut request, connected),
            None => connected,
        };
        let answer = |mut request: Request, id| async move {
            let refused = callers
                .as_ref()
                .and_then(|callers| callers.check(&request).err());
            let mut answered = match (refused, next) {
                (Some(error), _) => error.into_response().into(),
                (None, Next::Direct(stage)) => stage.answer(request, id, connected).await,
                (None, Next::Cors(routes)) => {
                    note(request.extensions_mut(), id, connected);
                    Answered::from(of(routes.clone().call(request).await))
                }
            };
            let name = HeaderName::from_static("x-content-type-options");
            let headers = answered.response.headers_mut();
            headers.insert(name, HeaderValue::from_static("nosniff"));
            answered
        };
        request_id::track(request, started, answer, ended).await
    }
}

/// Takes requests in: each under an identifier, and only those of callers that are allowed.
struct OuterStage {
    callers: Option<Arc<Callers>>,
    recorder: Option<Recorder>,
    next: Next,
}

/// Records requests by the rows of the table of routes.
struct Recorder {
    server: ServerMetrics,
    operations: OperationMetrics,
    table: Arc<Table>,
    endpoint: Option<usize>,
    /// What answers requests to other paths, with the position of its first route.
    others: Option<(Arc<dyn OtherPaths>, usize)>,
}

impl Recorder {
    fn new(service: &str, table: &Arc<Table>, others: Option<&Arc<dyn OtherPaths>>) -> Self {
        let service = service.to_owned();
        let mut routes: Vec<String> = table.row_paths().map(str::to_owned).collect();
        let others = others.map(|others| (Arc::clone(others), routes.len()));
        if let Some((others, _)) = &others {
            routes.extend(others.route_paths());
        }
        Recorder {
            server: ServerMetrics::new(service.clone(), routes),
            operations: OperationMetrics::new(service),
            table: Arc::clone(table),
            endpoint: table.position(GRAPHQL),
            others,
        }
    }

    fn begin(&self, request: &Request, started: Instant) -> ServerRequest {
        let path = request.uri().path();
        // What nearly all requests are for is not looked up.
        let route = if path == GRAPHQL {
            self.endpoint
        } else {
            self.table.position(path)
        };
        let of_others = || {
            let (others, first) = self.others.as_ref()?;
            Some(first + others.route_of(request)?)
        };
        let route = route.or_else(of_others);
        self.server.begin_at(request.method(), route, started)
    }

    /// Records how a request was answered; errors within a response to GraphQL are counted where it is made.
    fn end(&self, recording: ServerRequest, response: &Response, taken: Duration) {
        recording.end_after(response.status(), taken);
        if let Some(code) = response.extensions().get::<ErrorCode>() {
            self.operations.errors(code.as_str(), 1);
        }
    }
}

enum Next {
    Direct(Arc<InnerStage>),
    Cors(Router),
}

/// Has the routes answer those whose token allows it.
struct InnerStage {
    resources: Resources,
    tokens: Tokens,
    table: Arc<Table>,
    /// While it runs, what needs the data is refused.
    loading: Arc<LoadProgress>,
    /// What nearly all requests are for: they spare the way through the routes.
    endpoint: Option<GraphqlEndpoint>,
    routes: NormalizePath<Router>,
    /// What answers requests to other paths than those of the table.
    others: Option<Arc<dyn OtherPaths>>,
}

/// Answers requests to the paths that no row of the table of routes has, such as a proxy does.
///
/// No one has looked at their tokens before.
#[async_trait]
pub trait OtherPaths: Send + Sync + 'static {
    /// Answers a request. Its extensions have its [`RequestId`], and its [`ClientAddress`] where that is known.
    async fn answer(&self, request: Request) -> Response;

    /// Returns the paths of its routes as requests are counted by them. There must be a bounded number of them.
    fn route_paths(&self) -> Vec<String> {
        Vec::new()
    }

    /// Returns the position of the route of a request among [`OtherPaths::route_paths`].
    fn route_of(&self, _request: &Request) -> Option<usize> {
        None
    }
}

impl InnerStage {
    /// Answers a request, compressed; where that panics, says so.
    async fn answer(
        &self,
        mut request: Request,
        id: RequestId,
        connected: Option<Connected>,
    ) -> Answered {
        self.trace_route(&request);
        if let Some(others) = &self.others
            && !self.table.has(request.uri().path())
        {
            note(request.extensions_mut(), id, connected);
            let answered = AssertUnwindSafe(others.answer(request))
                .catch_unwind()
                .await;
            return answered.unwrap_or_else(panicked).into();
        }
        let sender = match self.tokens.admit(&mut request, &self.table).await {
            Ok(sender) => sender,
            Err(error) => return error.into_response().into(),
        };
        if let Some(state) = self.loading.state()
            && self
                .table
                .needs_data(request.method(), request.uri().path())
        {
            return data_loading(&state).into();
        }
        let answered = async {
            match &self.endpoint {
                Some(endpoint) if is_posted_to(&request, GRAPHQL) => {
                    let answered = endpoint.post(id, sender, request).await;
                    answered.unwrap_or_else(|error| error.into_response().into())
                }
                // Apart, as all that few requests do: so what is moved for the others stays small.
                _ => Box::pin(self.routed(request, id, sender, connected))
                    .await
                    .into(),
            }
        };
        let answered = AssertUnwindSafe(answered).catch_unwind().await;
        answered.unwrap_or_else(|panic| panicked(panic).into())
    }

    /// Names the route in the span of the request, where it has one.
    fn trace_route(&self, request: &Request) {
        if let Some(RequestSpan(span)) = request.extensions().get()
            && let Some(route) = self.table.path_of(request.method(), request.uri().path())
        {
            traces::record_route(span, request.method(), route);
        }
    }

    async fn routed(
        &self,
        mut request: Request,
        id: RequestId,
        sender: Sender,
        connected: Option<Connected>,
    ) -> Response {
        let path = request.uri().path();
        let has_slash = path.len() > 1 && path.ends_with('/');
        let extensions = request.extensions_mut();
        note(extensions, id, connected);
        sender.note(extensions);
        if has_slash {
            extensions.insert(SlashAtEnd);
        }
        let mut routes = self.routes.clone();
        let routed = async |request| of(routes.call(request).await);
        compression::answered(&self.resources, request, routed).await
    }
}

/// Chooses the route without a slash at the end of a path: outside of the router, since that chooses it before any layer of its own.
fn normalized(routes: Router) -> NormalizePath<Router> {
    let routes = routes
        .fallback(not_found)
        .method_not_allowed_fallback(method_not_allowed);
    NormalizePath::trim_trailing_slash(routes)
}

/// Takes what a trusted proxy says of a request.
fn behind(
    proxies: &TrustedProxies,
    request: &mut Request,
    connected: Option<Connected>,
) -> Option<Connected> {
    let client = connected.as_ref().map(|connected| connected.client);
    let ClientAddress(peer) = client.or_else(|| request.extensions().get().copied())?;
    if !proxies.contains(peer) {
        return connected;
    }
    request.extensions_mut().insert(BehindProxy);
    if let Some(prefix) = trusted_proxies::prefix(request.headers()) {
        let prefix = ForwardedPrefix(prefix.to_owned());
        request.extensions_mut().insert(prefix);
    }
    let client = ClientAddress(proxies.client(peer, request.headers()));
    request.extensions_mut().insert(client);
    connected.map(|connected| Connected {
        client,
        ..connected
    })
}

/// Makes the request id and the connection available to handlers.
fn note(extensions: &mut Extensions, id: RequestId, connected: Option<Connected>) {
    extensions.insert(id);
    if let Some(connected) = connected {
        connected.note(extensions);
    }
}

fn is_posted_to(request: &Request, path: &str) -> bool {
    request.method() == Method::POST && request.uri().path() == path
}

fn of(response: Result<Response, Infallible>) -> Response {
    response.unwrap_or_else(|never| match never {})
}

async fn not_found(uri: Uri) -> HttpError {
    HttpError::new(
        code::PATH_NOT_FOUND,
        format!("the path {} does not exist", uri.path()),
    )
}

async fn method_not_allowed() -> HttpError {
    HttpError::new(
        common::METHOD_NOT_ALLOWED,
        "the path does not support this method",
    )
}

fn panicked(panic: Box<dyn std::any::Any + Send>) -> Response {
    let message = panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("no message");
    tracing::error!(message, "a request panicked");
    HttpError::internal().into_response()
}
