//! The routes, what surrounds them, and the server that runs them until it is told to stop.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::Request;
use axum::http::{HeaderName, HeaderValue, Uri};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use tokio::net::TcpListener;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::compression::CompressionLayer;

use super::error::{HttpCode, HttpError};
use super::{graphql, operations, page, request_id, soml};
use crate::app::App;

/// Returns all routes of the service.
pub fn router(app: Arc<App>) -> Router {
    let binding = axum::routing::put(soml::bind).delete(soml::unbind);
    Router::new()
        .route("/", get(page::index))
        .route("/graphiql/{version}/{name}", get(page::file))
        .route("/graphql", get(graphql::get).post(graphql::post))
        .route("/soml", get(soml::list).post(soml::create))
        .route(
            "/soml/{id}",
            get(soml::read).put(soml::replace).delete(soml::remove),
        )
        .route("/soml/{id}/objects", binding.clone())
        .route("/soml/{id}/soaas", binding)
        .route("/__health", get(operations::health))
        .route("/__gtg", get(operations::good_to_go))
        .route("/__trouble", get(operations::trouble))
        .route("/__about", get(operations::about))
        .route("/__live", get(operations::live))
        .route("/__ready", get(operations::ready))
        .fallback(not_found)
        .method_not_allowed_fallback(method_not_allowed)
        .with_state(app)
        .layer(CompressionLayer::new())
        .layer(CatchPanicLayer::custom(panicked))
        .layer(middleware::from_fn(harden))
        .layer(middleware::from_fn(request_id::track))
}

async fn not_found(uri: Uri) -> HttpError {
    HttpError::new(
        HttpCode::NotFound,
        format!("there is nothing at {}", uri.path()),
    )
}

async fn method_not_allowed() -> HttpError {
    HttpError::new(
        HttpCode::MethodNotAllowed,
        "the path does not take this method",
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
        /// What the system says.
        #[source]
        source: io::Error,
    },
    /// The server stopped unexpectedly.
    #[error("the server stopped")]
    Serve(#[source] io::Error),
}

fn hint(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::AddrInUse => "; another program uses the port, choose one with --port",
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
    /// Listens on the address that the settings name.
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

    /// Returns the address, with the port that was taken.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Answers requests until `stop` completes, then lets open ones end within the bound that the
    /// settings set.
    ///
    /// # Errors
    ///
    /// Fails when the listener does.
    pub async fn run(
        self,
        stop: impl Future<Output = ()> + Send + 'static,
    ) -> Result<(), ServeError> {
        let (stopping, mut stopped) = tokio::sync::watch::channel(false);
        let app = Arc::clone(&self.app);
        let bound = app.settings.shutdown_timeout;
        let stop = async move {
            stop.await;
            app.drain();
            tracing::info!("shutting down");
            stopping.send_replace(true);
        };
        let serving = axum::serve(self.listener, router(self.app)).with_graceful_shutdown(stop);
        let late = async move {
            // An error means that the server has ended without being told to.
            if stopped.wait_for(|stopping| *stopping).await.is_err() {
                std::future::pending::<()>().await;
            }
            tokio::time::sleep(bound.max(Duration::from_millis(1))).await;
        };
        tokio::select! {
            result = serving => result.map_err(ServeError::Serve),
            () = late => {
                tracing::warn!("requests were still open when the time for shutdown was over");
                Ok(())
            }
        }
    }
}
