//! The routes of the services with their middleware, and the servers that run them.

use std::future::Future;
use std::net::SocketAddr;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::{HeaderName, HeaderValue, Uri};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post, put};
use futures::FutureExt;
use tokio::task::JoinSet;
use tower_http::normalize_path::NormalizePath;

use super::callers::Callers;
use super::error::HttpError;
use super::gateway::{self, Forwarding};
use super::graphql::{GraphqlEndpoint, RequestBounds};
use super::host::Host;
use super::listener::{Listener, ServeError};
use super::login;
use super::streams::Streams;
use super::{
    authentication, backups, change_records, code, compression, docs, loading, managing,
    operations, page, request_id, sdl, search, soml, soml_rbac,
};
use crate::app::App;
use crate::auth::Verifier;
use crate::change_records::Records;
use crate::config::Settings;
use crate::gateway::GatewayApp;
use crate::resources::Resources;
use crate::search::SearchApp;

/// Returns all routes of the service.
pub fn router(app: Arc<App>) -> Router {
    let (settings, resources) = (app.settings.clone(), app.resources.clone());
    let verifier = app.verifier.clone();
    let routes = common(&app)
        .route("/changes", get(change_records::read))
        .route("/backups/{name}", put(backups::make))
        .merge(management(&app));
    let routes = loaded(routes, &app);
    let routes = match &app.provider {
        Some(provider) => routes.merge(login::routes(provider, &resources, &settings)),
        None => routes,
    };
    let tokens = Tokens::demanded(verifier);
    with_layers(routes, &resources, Some((&settings, tokens)))
}

/// Returns all routes of a search service.
pub fn search_router(app: Arc<SearchApp>) -> Router {
    let (settings, resources) = (app.settings.clone(), app.resources.clone());
    let verifier = app.verifier.clone();
    let management = Router::new()
        .route("/soml/validate", post(search::validate))
        .route("/soml/info", get(search::info))
        .route(
            "/soml/{id}/search",
            put(search::bind).delete(search::unbind),
        )
        .route_layer(middleware::from_fn_with_state(
            Arc::clone(&app),
            managing::guard::<SearchApp>,
        ));
    let routes = loaded(common(&app).merge(management), &app);
    let tokens = Tokens::demanded(verifier);
    with_layers(routes, &resources, Some((&settings, tokens)))
}

/// Returns all routes of a gateway.
pub fn gateway_router(app: Arc<GatewayApp>) -> Router {
    let (settings, resources) = (app.settings.clone(), app.resources.clone());
    let tokens = match (&app.verifier, app.requires_tokens) {
        (None, _) => Tokens::Unread,
        (Some(verifier), true) => Tokens::DemandedInTime(Arc::clone(verifier)),
        (Some(verifier), false) => Tokens::Read(Arc::clone(verifier)),
    };
    let absent = Arc::clone(&app);
    let streams = Streams::new(
        &settings,
        app.verifier.clone(),
        app.requires_tokens,
        app.ending().clone(),
    );
    let endpoint = endpoint(&app)
        .absent(move || gateway::starting(&absent))
        .forwarding(Forwarding::of(&settings))
        .persisted(Arc::clone(&app.persisted))
        .batches(settings.gateway.batch)
        .streaming(streams);
    let routes = with_endpoint(endpoint);
    let routes = match settings.gateway.metrics {
        true => routes.route("/metrics", get(gateway::metrics)),
        false => routes,
    };
    let traces = app.traces.clone();
    let routes = routes.with_state(app);
    traces.routes(with_layers(routes, &resources, Some((&settings, tokens))))
}

/// The routes that every service has.
fn common<H: Host>(app: &Arc<H>) -> Router<Arc<H>> {
    with_endpoint(endpoint(app))
}

fn with_endpoint<H: Host>(endpoint: GraphqlEndpoint) -> Router<Arc<H>> {
    Router::new()
        .route("/", get(page::index::<H>))
        .route("/graphiql/{version}/{name}", get(page::file::<H>))
        .route("/examples", get(page::examples::<H>))
        .route("/graphql", endpoint.into_routes())
        .route("/schema.graphql", get(sdl::schema::<H>))
        .route("/docs/{page}", get(docs::page::<H>))
        .route("/__health", get(operations::health::<H>))
        .route("/__gtg", get(operations::good_to_go::<H>))
        .route("/__trouble", get(operations::trouble::<H>))
        .route("/__about", get(operations::about::<H>))
        .route("/__live", get(operations::live))
        .route("/__ready", get(operations::ready::<H>))
}

/// Refuses what needs the data until they are loaded.
fn loaded<H: Host>(routes: Router<Arc<H>>, app: &Arc<H>) -> Router {
    let gate = middleware::from_fn_with_state(Arc::clone(app), loading::gate::<H>);
    routes.layer(gate).with_state(Arc::clone(app))
}

/// The routes of those who manage schemas.
fn management(app: &Arc<App>) -> Router<Arc<App>> {
    let binding = axum::routing::put(soml::bind).delete(soml::unbind);
    Router::new()
        .route("/soml", get(soml::list).post(soml::create))
        .route(
            "/soml/{id}",
            get(soml::read)
                .put(soml::replace)
                .delete(soml::remove)
                .post(soml::validate),
        )
        .route("/soml/{id}/objects", binding.clone())
        .route("/soml/{id}/soaas", binding)
        .route("/soml-rbac", get(soml_rbac::read).put(soml_rbac::replace))
        .route_layer(middleware::from_fn_with_state(
            Arc::clone(app),
            managing::guard::<App>,
        ))
}

/// The bound schema as what `/graphql` serves.
fn endpoint<H: Host>(app: &Arc<H>) -> GraphqlEndpoint {
    let settings = app.settings();
    let bounds = RequestBounds {
        body_bytes: settings.max_body_bytes,
        timeout: settings.request_timeout,
        limits: settings.limits.clone(),
    };
    let resources = app.resources().clone();
    let app = Arc::clone(app);
    GraphqlEndpoint::new(move || app.service(), bounds, resources)
}

/// Adds what all services have in common around their routes: answers to unknown paths and methods,
/// paths with a slash at the end, compression, the answer to a panic, security headers, request
/// identifiers and log lines.
pub fn with_middleware(routes: Router, resources: &Resources) -> Router {
    with_layers(routes, resources, None)
}

/// What is done with the tokens of requests.
enum Tokens {
    /// Every request needs one.
    Demanded(Arc<Verifier>),
    /// Every request needs one; clients of WebSockets may send it once they are connected.
    DemandedInTime(Arc<Verifier>),
    /// One that is there must be valid.
    Read(Arc<Verifier>),
    /// Nobody looks at them here.
    Unread,
}

impl Tokens {
    fn demanded(verifier: Option<Arc<Verifier>>) -> Self {
        verifier.map_or(Tokens::Unread, Tokens::Demanded)
    }
}

/// Adds the middleware, and rules for callers where there are settings that make them.
fn with_layers(
    routes: Router,
    resources: &Resources,
    rules: Option<(&Settings, Tokens)>,
) -> Router {
    let routes = routes
        .fallback(not_found)
        .method_not_allowed_fallback(method_not_allowed);
    // Outside of the router, since it chooses the route before any layer of its own.
    let routes = Router::new()
        .fallback_service(NormalizePath::trim_trailing_slash(routes))
        .layer(middleware::from_fn_with_state(resources.clone(), answer));
    let (routes, callers) = match rules {
        // Inside of CORS: preflights have no token, and pages can read why theirs is refused.
        Some((settings, tokens)) => {
            let routes = match tokens {
                Tokens::Demanded(verifier) => authentication::authenticated(routes, verifier),
                Tokens::DemandedInTime(verifier) => {
                    authentication::authenticated_in_time(routes, verifier)
                }
                Tokens::Read(verifier) => authentication::recognized(routes, verifier),
                Tokens::Unread => routes,
            };
            let callers = Arc::new(Callers::of(settings));
            (callers.with_cors(routes, settings), Some(callers))
        }
        None => (routes, None),
    };
    routes.layer(middleware::from_fn_with_state(callers, receive))
}

/// Takes a request in: under an identifier, and only of callers that are allowed. One layer for all of that, since each costs a
/// request several allocations.
async fn receive(
    State(callers): State<Option<Arc<Callers>>>,
    request: Request,
    next: Next,
) -> Response {
    let tracked = request_id::track(request, |request| async move {
        let refused = callers.and_then(|callers| callers.check(&request).err());
        let mut response = match refused {
            Some(error) => error.into_response(),
            None => next.run(request).await,
        };
        let name = HeaderName::from_static("x-content-type-options");
        response
            .headers_mut()
            .insert(name, HeaderValue::from_static("nosniff"));
        response
    });
    tracked.await
}

/// Has the routes answer, compressed; where that panics, says so.
async fn answer(State(resources): State<Resources>, request: Request, next: Next) -> Response {
    let answered = compression::answered(&resources, request, next);
    let answered = AssertUnwindSafe(answered).catch_unwind().await;
    answered.unwrap_or_else(panicked)
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

/// A service that listens but does not answer yet.
pub struct Server {
    app: Arc<App>,
    listener: Listener,
}

impl Server {
    /// Listens on the configured address.
    ///
    /// # Errors
    ///
    /// Fails when the address cannot be listened on.
    pub async fn listen(app: Arc<App>) -> Result<Self, ServeError> {
        let address = SocketAddr::new(app.settings.host, app.settings.port);
        let listener = Listener::bind(address, &app.settings).await?;
        Ok(Server { app, listener })
    }

    /// Returns the address, with the actual port.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.listener.address()
    }

    /// Serves requests until `stop` completes, then gives open ones `http.shutdownTimeout` to
    /// complete.
    pub async fn run(self, stop: impl Future<Output = ()>) {
        let Server { app, listener } = self;
        if let Some(verifier) = &app.verifier {
            verifier.prepare();
        }
        let records = Records::of(&app.store, &app.resources.slots);
        let loaded = Arc::clone(&app);
        let is_ready = move || loaded.loading.state().is_none();
        // Ends with this future.
        let mut upkeep = JoinSet::new();
        upkeep.spawn(records.keep_recent(app.settings.clone(), is_ready));
        let routes = router(Arc::clone(&app));
        let drain = || {
            drop(upkeep);
            app.drain();
        };
        listener.serve(routes, stop, drain).await;
    }
}

/// A search service that listens but does not answer yet.
pub struct SearchServer {
    app: Arc<SearchApp>,
    listener: Listener,
}

impl SearchServer {
    /// Listens on the configured address.
    ///
    /// # Errors
    ///
    /// Fails when the address cannot be listened on.
    pub async fn listen(app: Arc<SearchApp>) -> Result<Self, ServeError> {
        let address = SocketAddr::new(app.settings.host, app.settings.port);
        let listener = Listener::bind(address, &app.settings).await?;
        Ok(SearchServer { app, listener })
    }

    /// Returns the address, with the actual port.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.listener.address()
    }

    /// Serves requests until `stop` completes, then ends the run that builds indexes, and gives open
    /// requests `http.shutdownTimeout` to complete.
    pub async fn run(self, stop: impl Future<Output = ()>) {
        let SearchServer { app, listener } = self;
        if let Some(verifier) = &app.verifier {
            verifier.prepare();
        }
        let routes = search_router(Arc::clone(&app));
        listener.serve(routes, stop, || app.drain()).await;
        app.ended().await;
    }
}

/// A gateway that listens, and has composed nothing yet.
pub struct GatewayServer {
    app: Arc<GatewayApp>,
    listener: Listener,
}

impl GatewayServer {
    /// Listens on the configured address.
    ///
    /// # Errors
    ///
    /// Fails when the address cannot be listened on.
    pub async fn listen(app: Arc<GatewayApp>) -> Result<Self, ServeError> {
        let address = SocketAddr::new(app.settings.host, app.settings.port);
        let listener = Listener::bind(address, &app.settings).await?;
        Ok(GatewayServer { app, listener })
    }

    /// Returns the address, with the actual port.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.listener.address()
    }

    /// Serves requests until `stop` completes, then gives open ones `http.shutdownTimeout` to complete. Looks at
    /// the subgraphs meanwhile.
    pub async fn run(self, stop: impl Future<Output = ()>) {
        let GatewayServer { app, listener } = self;
        if let Some(verifier) = &app.verifier {
            verifier.prepare();
        }
        // Ends with this future.
        let mut upkeep = JoinSet::new();
        upkeep.spawn(Arc::clone(&app).watch());
        upkeep.spawn(Arc::clone(&app).poll());
        upkeep.spawn(app.traces.clone().watch());
        let traces = app.traces.clone();
        let routes = gateway_router(Arc::clone(&app));
        let drain = || {
            drop(upkeep);
            app.drain();
        };
        listener.serve(routes, stop, drain).await;
        traces.end().await;
    }
}
