//! The routes of the object service with their middleware, and the server that runs them.

use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use axum::extract::Request;
use axum::http::{HeaderName, HeaderValue, Uri};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use graphql_service::Service;
use tokio::task::JoinSet;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::normalize_path::NormalizePath;

use super::error::HttpError;
use super::graphql::{GraphqlEndpoint, RequestBounds};
use super::listener::{Listener, ServeError};
use super::login;
use super::{
    authentication, callers, change_records, code, compression, docs, loading, managing,
    operations, page, request_id, sdl, soml, soml_rbac,
};
use crate::app::App;
use crate::auth::Verifier;
use crate::change_records::Records;
use crate::config::Settings;
use crate::resources::Resources;

/// Returns all routes of the service.
pub fn router(app: Arc<App>) -> Router {
    let (settings, resources) = (app.settings.clone(), app.resources.clone());
    let verifier = app.verifier.clone();
    let routes = Router::new()
        .route("/", get(page::index))
        .route("/graphiql/{version}/{name}", get(page::file))
        .route("/examples", get(page::examples))
        .route("/graphql", endpoint(&app).into_routes())
        .route("/schema.graphql", get(sdl::schema))
        .route("/changes", get(change_records::read))
        .route("/docs/{page}", get(docs::page))
        .merge(management(&app))
        .route("/__health", get(operations::health))
        .route("/__gtg", get(operations::good_to_go))
        .route("/__trouble", get(operations::trouble))
        .route("/__about", get(operations::about))
        .route("/__live", get(operations::live))
        .route("/__ready", get(operations::ready))
        .layer(middleware::from_fn_with_state(
            Arc::clone(&app),
            loading::gate,
        ))
        .with_state(Arc::clone(&app));
    let routes = match &app.provider {
        Some(provider) => routes.merge(login::routes(provider, &resources, &settings)),
        None => routes,
    };
    with_layers(routes, &resources, Some((&settings, verifier)))
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
            managing::guard,
        ))
}

/// The bound schema as what `/graphql` serves.
fn endpoint(app: &Arc<App>) -> GraphqlEndpoint {
    let bounds = RequestBounds {
        body_bytes: app.settings.max_body_bytes,
        timeout: app.settings.request_timeout,
        limits: app.settings.limits.clone(),
    };
    let resources = app.resources.clone();
    let app = Arc::clone(app);
    let current = move || {
        app.bound()
            .map(|bound| Arc::clone(&bound.service) as Arc<dyn Service>)
    };
    GraphqlEndpoint::new(current, bounds, resources)
}

/// Adds what all services have in common around their routes: answers to unknown paths and methods,
/// paths with a slash at the end, compression, the answer to a panic, security headers, request
/// identifiers and log lines.
pub fn with_middleware(routes: Router, resources: &Resources) -> Router {
    with_layers(routes, resources, None)
}

/// Adds the middleware, and rules for callers where there are settings that make them.
fn with_layers(
    routes: Router,
    resources: &Resources,
    rules: Option<(&Settings, Option<Arc<Verifier>>)>,
) -> Router {
    let routes = routes
        .fallback(not_found)
        .method_not_allowed_fallback(method_not_allowed);
    // Outside of the router, since it chooses the route before any layer of its own.
    let routes = Router::new()
        .fallback_service(NormalizePath::trim_trailing_slash(routes))
        .layer(middleware::from_fn_with_state(
            resources.clone(),
            compression::layer,
        ))
        .layer(CatchPanicLayer::custom(panicked));
    let routes = match rules {
        // Inside of CORS: preflights have no token, and pages can read why theirs is refused.
        Some((settings, Some(verifier))) => {
            callers::guarded(authentication::authenticated(routes, verifier), settings)
        }
        Some((settings, None)) => callers::guarded(routes, settings),
        None => routes,
    };
    routes
        .layer(middleware::from_fn(harden))
        .layer(middleware::from_fn(request_id::track))
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

async fn harden(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    let name = HeaderName::from_static("x-content-type-options");
    response
        .headers_mut()
        .insert(name, HeaderValue::from_static("nosniff"));
    response
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
