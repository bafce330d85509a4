//! What every request passes before the routes of a service: its identifier and log line, the rules for callers, tokens,
//! the answer to a panic, compression.
//!
//! This is one function in place of a layer for each, since every layer of a router costs a request several
//! allocations and copies of its state. What is posted to [`GRAPHQL`] does not come by the router at all.

use std::convert::Infallible;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

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
use tower_http::normalize_path::NormalizePath;
use tower_service::Service;

use super::authentication::Tokens;
use super::callers::Callers;
use super::code;
use super::gate::Gate;
use super::listener::Connected;
use super::state::HostState;

/// Where services answer GraphQL requests.
pub(crate) const GRAPHQL: &str = "/graphql";

/// Adds what all services have in common around their routes: answers to unknown paths and methods,
/// paths with a slash at the end, compression, the answer to a panic, security headers, request
/// identifiers and log lines.
pub fn with_middleware(routes: Router, resources: &Resources) -> Router {
    let answering = Answering::new(routes, None, resources, Tokens::Unread, None);
    let (callers, inside) = (None, Inside::Alone(answering));
    Front(Arc::new(Receiving { callers, inside })).into_router()
}

/// The routes of a service with everything that is around them.
#[derive(Clone)]
pub(crate) struct Front(Arc<Receiving>);

impl Front {
    /// Adds what all services have in common, the rules for callers, and answers while data are
    /// loaded. `endpoint` comes to the routes, at [`GRAPHQL`].
    pub(crate) fn new(
        (routes, endpoint): (Router, GraphqlEndpoint),
        host: &HostState,
        tokens: Tokens,
        gate: Option<Gate>,
    ) -> Self {
        let routes = routes.route(GRAPHQL, endpoint.clone().into_routes());
        let answering = Answering::new(routes, Some(endpoint), &host.resources, tokens, gate);
        let callers = Arc::new(Callers::of(&host.options));
        // Outside of tokens: preflights have none, and pages can read why theirs is refused.
        let inside = match callers.cors() {
            Some(cors) => {
                let answer = move |id: RequestId, request: Request| {
                    let answering = Arc::clone(&answering);
                    async move { answering.answer(request, id, None).await }
                };
                let routes = Router::new().fallback_service(answer.into_service());
                Inside::Cors(routes.layer(cors))
            }
            None => Inside::Alone(answering),
        };
        let callers = Some(callers);
        Front(Arc::new(Receiving { callers, inside }))
    }

    pub(crate) fn into_router(self) -> Router {
        let receive = move |request: Request| self.receive(request, None);
        Router::new().fallback_service(receive.into_service())
    }

    /// Answers a request, which came by a connection where nobody has noted that before.
    pub(crate) async fn receive(self, request: Request, connected: Option<Connected>) -> Response {
        let Receiving { callers, inside } = self.0.as_ref();
        let tracked = request_id::track(request, |mut request, id| async move {
            let refused = callers
                .as_ref()
                .and_then(|callers| callers.check(&request).err());
            let mut answered = match (refused, inside) {
                (Some(error), _) => error.into_response().into(),
                (None, Inside::Alone(answering)) => answering.answer(request, id, connected).await,
                (None, Inside::Cors(routes)) => {
                    note(request.extensions_mut(), id, connected);
                    Answered::from(of(routes.clone().call(request).await))
                }
            };
            let name = HeaderName::from_static("x-content-type-options");
            let headers = answered.response.headers_mut();
            headers.insert(name, HeaderValue::from_static("nosniff"));
            answered
        });
        tracked.await
    }
}

/// Takes requests in: each under an identifier, and only those of callers that are allowed.
struct Receiving {
    callers: Option<Arc<Callers>>,
    inside: Inside,
}

enum Inside {
    Alone(Arc<Answering>),
    Cors(Router),
}

/// Has the routes answer those whose token allows it.
struct Answering {
    resources: Resources,
    tokens: Tokens,
    gate: Option<Gate>,
    /// What nearly all requests are for: they spare the way through the routes.
    endpoint: Option<GraphqlEndpoint>,
    /// Outside of the router, since that chooses the route before any layer of its own.
    routes: NormalizePath<Router>,
}

impl Answering {
    fn new(
        routes: Router,
        endpoint: Option<GraphqlEndpoint>,
        resources: &Resources,
        tokens: Tokens,
        gate: Option<Gate>,
    ) -> Arc<Self> {
        let routes = routes
            .fallback(not_found)
            .method_not_allowed_fallback(method_not_allowed);
        Arc::new(Answering {
            resources: resources.clone(),
            tokens,
            gate,
            endpoint,
            routes: NormalizePath::trim_trailing_slash(routes),
        })
    }

    /// Answers a request, compressed; where that panics, says so.
    async fn answer(
        &self,
        mut request: Request,
        id: RequestId,
        connected: Option<Connected>,
    ) -> Answered {
        let sender = match self.tokens.admit(&mut request).await {
            Ok(sender) => sender,
            Err(error) => return error.into_response().into(),
        };
        let gate = self.gate.as_ref();
        if let Some(refused) = gate.and_then(|gate| gate.refuse(&request)) {
            return refused.into();
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

/// The path of a request had a slash at the end, which the routes do not see: relative links lead elsewhere from there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SlashAtEnd;

/// Tells handlers of the request.
fn note(extensions: &mut Extensions, id: RequestId, connected: Option<Connected>) {
    extensions.insert(id);
    if let Some(connected) = connected {
        connected.note(extensions);
    }
}

fn is_posted_to(request: &Request, path: &str) -> bool {
    request.method() == Method::POST && request.uri().path() == path
}

pub(crate) fn of(response: Result<Response, Infallible>) -> Response {
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
