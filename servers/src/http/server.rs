//! The routes with their middleware, and the server that runs them until a stop signal.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::Request;
use axum::http::{HeaderName, HeaderValue, Uri};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use graphql_service::Service;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::compression::CompressionLayer;

use super::error::HttpError;
use super::graphql::{GraphqlEndpoint, RequestBounds};
use super::{code, operations, page, request_id, soml};
use crate::app::App;

/// Returns all routes of the service.
pub fn router(app: Arc<App>) -> Router {
    let binding = axum::routing::put(soml::bind).delete(soml::unbind);
    let routes = Router::new()
        .route("/", get(page::index))
        .route("/graphiql/{version}/{name}", get(page::file))
        .route("/graphql", endpoint(&app).into_routes())
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
        .route("/__health", get(operations::health))
        .route("/__gtg", get(operations::good_to_go))
        .route("/__trouble", get(operations::trouble))
        .route("/__about", get(operations::about))
        .route("/__live", get(operations::live))
        .route("/__ready", get(operations::ready))
        .with_state(app);
    with_middleware(routes)
}

/// The bound schema as what `/graphql` serves.
fn endpoint(app: &Arc<App>) -> GraphqlEndpoint {
    let bounds = RequestBounds {
        body_bytes: app.settings.max_body_bytes,
        timeout: app.settings.request_timeout,
        limits: app.settings.limits.clone(),
    };
    let app = Arc::clone(app);
    let current = move || {
        app.bound()
            .map(|bound| Arc::clone(&bound.service) as Arc<dyn Service>)
    };
    GraphqlEndpoint::new(current, bounds)
}

/// Adds what all services have in common around their routes: answers to unknown paths and methods,
/// compression, the answer to a panic, security headers, request identifiers and log lines.
pub fn with_middleware(routes: Router) -> Router {
    routes
        .fallback(not_found)
        .method_not_allowed_fallback(method_not_allowed)
        .layer(CompressionLayer::new())
        .layer(CatchPanicLayer::custom(panicked))
        .layer(middleware::from_fn(harden))
        .layer(middleware::from_fn(request_id::track))
}

async fn not_found(uri: Uri) -> HttpError {
    HttpError::new(
        code::NOT_FOUND,
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

/// Why the service could not run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// The address cannot be listened on.
    #[error("failed to listen on {address}{}", hint(.source))]
    Listen {
        /// The address.
        address: SocketAddr,
        /// The cause.
        #[source]
        source: io::Error,
    },
}

fn hint(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::AddrInUse => "; the port is in use, choose one with --port",
        _ => "",
    }
}

/// A service that listens but does not answer yet.
pub struct Server {
    app: Arc<App>,
    listener: TcpListener,
    address: SocketAddr,
}

impl Server {
    /// Listens on the configured address.
    ///
    /// # Errors
    ///
    /// Fails when the address cannot be listened on.
    pub async fn listen(app: Arc<App>) -> Result<Self, ServeError> {
        let address = SocketAddr::new(app.settings.host, app.settings.port);
        let failed = |source| ServeError::Listen { address, source };
        let listener = TcpListener::bind(address).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        Ok(Server {
            app,
            listener,
            address,
        })
    }

    /// Returns the address, with the actual port.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves requests until `stop` completes, then gives open ones `http.shutdownTimeout` to
    /// complete.
    pub async fn run(self, stop: impl Future<Output = ()>) {
        let Server { app, listener, .. } = self;
        let service = TowerToHyperService::new(router(Arc::clone(&app)));
        let mut http = http1::Builder::new();
        http.timer(TokioTimer::new())
            .header_read_timeout(app.settings.header_timeout);
        let open = GracefulShutdown::new();
        let mut stop = pin!(stop);
        loop {
            let stream = tokio::select! {
                stream = accept(&listener) => stream,
                () = &mut stop => break,
            };
            let connection = http.serve_connection(TokioIo::new(stream), service.clone());
            let connection = open.watch(connection);
            tokio::spawn(async move {
                // Clients that go away are no concern of an operator.
                if let Err(error) = connection.await {
                    tracing::debug!(%error, "connection ended");
                }
            });
        }
        drop(listener);
        app.drain();
        tracing::info!("shutting down");
        if tokio::time::timeout(app.settings.shutdown_timeout, open.shutdown())
            .await
            .is_err()
        {
            tracing::warn!("requests were still open at the end of the shutdown timeout");
        }
    }
}

/// Waits for the next connection. Failures pass: a client may be gone already, and file handles
/// come free again.
async fn accept(listener: &TcpListener) -> TcpStream {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                // Without this small answers wait for an acknowledgement; it is no more than that.
                let _ = stream.set_nodelay(true);
                return stream;
            }
            Err(error) => {
                tracing::warn!(%error, "failed to accept a connection");
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        }
    }
}
