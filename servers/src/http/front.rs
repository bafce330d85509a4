//! What every request passes before the routes of a service: its identifier and log line, the rules for callers, tokens,
//! the answer to a panic, compression.
//!
//! This is one service in place of a layer for each, since every layer of a router costs a request several
//! allocations and copies of its state.

use std::convert::Infallible;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use axum::Router;
use axum::extract::Request;
use axum::handler::HandlerWithoutStateExt;
use axum::http::{HeaderName, HeaderValue, Uri};
use axum::response::{IntoResponse, Response};
use futures::FutureExt;
use tower_http::normalize_path::NormalizePath;
use tower_service::Service;

use super::authentication::Tokens;
use super::callers::Callers;
use super::error::HttpError;
use super::loading::Gate;
use super::{code, compression, request_id};
use crate::config::Settings;
use crate::resources::Resources;

/// Adds what all services have in common around their routes: answers to unknown paths and methods,
/// paths with a slash at the end, compression, the answer to a panic, security headers, request
/// identifiers and log lines.
pub fn with_middleware(routes: Router, resources: &Resources) -> Router {
    let answering = Answering::new(routes, resources, Tokens::Unread, None);
    let (callers, inside) = (None, Inside::Alone(answering));
    Receiving { callers, inside }.into_router()
}

/// Adds the same with the rules for callers that settings make, and answers while data are loaded.
pub(super) fn with_rules(
    routes: Router,
    resources: &Resources,
    (settings, tokens): (&Settings, Tokens),
    gate: Option<Gate>,
) -> Router {
    let answering = Answering::new(routes, resources, tokens, gate);
    let callers = Arc::new(Callers::of(settings));
    // Outside of tokens: preflights have none, and pages can read why theirs is refused.
    let inside = match callers.cors(settings) {
        Some(cors) => {
            let answer = move |request: Request| answering.answer(request);
            let routes = Router::new().fallback_service(answer.into_service());
            Inside::Cors(routes.layer(cors))
        }
        None => Inside::Alone(answering),
    };
    let callers = Some(callers);
    Receiving { callers, inside }.into_router()
}

/// Takes requests in: each under an identifier, and only those of callers that are allowed.
#[derive(Clone)]
struct Receiving {
    callers: Option<Arc<Callers>>,
    inside: Inside,
}

#[derive(Clone)]
enum Inside {
    Alone(Answering),
    Cors(Router),
}

impl Receiving {
    fn into_router(self) -> Router {
        let receive = move |request: Request| self.receive(request);
        Router::new().fallback_service(receive.into_service())
    }

    async fn receive(self, request: Request) -> Response {
        let Receiving { callers, inside } = self;
        let tracked = request_id::track(request, |request| async move {
            let refused = callers.and_then(|callers| callers.check(&request).err());
            let mut response = match (refused, inside) {
                (Some(error), _) => error.into_response(),
                (None, Inside::Alone(answering)) => answering.answer(request).await,
                (None, Inside::Cors(mut routes)) => of(routes.call(request).await),
            };
            let name = HeaderName::from_static("x-content-type-options");
            response
                .headers_mut()
                .insert(name, HeaderValue::from_static("nosniff"));
            response
        });
        tracked.await
    }
}

/// Has the routes answer those whose token allows it.
#[derive(Clone)]
struct Answering {
    shared: Arc<Shared>,
    /// Outside of the router, since that chooses the route before any layer of its own.
    routes: NormalizePath<Router>,
}

struct Shared {
    resources: Resources,
    tokens: Tokens,
    gate: Option<Gate>,
}

impl Answering {
    fn new(routes: Router, resources: &Resources, tokens: Tokens, gate: Option<Gate>) -> Self {
        let routes = routes
            .fallback(not_found)
            .method_not_allowed_fallback(method_not_allowed);
        Answering {
            shared: Arc::new(Shared {
                resources: resources.clone(),
                tokens,
                gate,
            }),
            routes: NormalizePath::trim_trailing_slash(routes),
        }
    }

    /// Answers a request, compressed; where that panics, says so.
    async fn answer(self, mut request: Request) -> Response {
        let Answering { shared, mut routes } = self;
        if let Err(error) = shared.tokens.admit(&mut request).await {
            return error.into_response();
        }
        let routed = async |request: Request| {
            let gate = shared.gate.as_ref();
            match gate.and_then(|gate| gate.refuse(&request)) {
                Some(refused) => refused,
                None => of(routes.call(request).await),
            }
        };
        let answered = compression::answered(&shared.resources, request, routed);
        let answered = AssertUnwindSafe(answered).catch_unwind().await;
        answered.unwrap_or_else(panicked)
    }
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
        code::METHOD_NOT_ALLOWED,
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
