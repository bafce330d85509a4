//! What is recorded of a service, and the text that `/metrics` answers with.
//!
//! A program that has metrics installs a recorder for the facade `metrics`, and gives each of its services the same
//! [`Metrics`]. Writing the metrics out takes some milliseconds where there are many, so that is done in a thread of its own,
//! once for all who ask at the same time: however often clients ask, one text is made after the other, and nothing that
//! records waits for it.
//!
//! A service whose routes begin with [`state_routes`](crate::state_routes) or [`common_routes`](crate::common_routes) has all that:
//! its requests are recorded by the rows of the table of its routes, and `/metrics` is one of them. What a proxy answers beside
//! these rows is recorded by the routes that [`OtherPaths::route_paths`](crate::OtherPaths::route_paths) names.
//!
//! A server with a router of its own has the same by three things: [`ServerMetrics`] records its requests by
//! the positions of its routes, [`Metrics::response`] is its `/metrics`, and [`Listener`](crate::Listener) serves it.
//!
//! ```
//! use axum::Router;
//! use axum::extract::Request;
//! use axum::response::Response;
//! use axum::routing::get;
//! use service_runtime::metrics::{Metrics, ServerMetrics};
//!
//! const ROUTES: [&str; 2] = ["/metrics", "/films/{*path}"];
//!
//! async fn answer(server: ServerMetrics, request: Request) -> Response {
//!     // `None` for paths without a route. What is dropped before its end counts as a request whose client has left.
//!     let recording = server.begin(request.method(), Some(1));
//!     let response = Response::default();
//!     recording.end(response.status());
//!     response
//! }
//!
//! fn routes(metrics: Metrics) -> Router {
//!     let server = ServerMetrics::new("edge", ROUTES);
//!     let shown = move || async move { metrics.response().await };
//!     Router::new()
//!         .route("/metrics", get(shown))
//!         .fallback(move |request| answer(server.clone(), request))
//! }
//! ```

use std::sync::Arc;

use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use graphql_http::HttpError;
pub use service_metrics::{ServerMetrics, ServerRequest};

use super::code;
use super::shared_look::SharedLook;

/// The type of the text format of Prometheus.
const TEXT: &str = "text/plain; version=0.0.4; charset=utf-8";

/// What becomes of the metrics of a service. Cheap to clone.
#[derive(Clone, Default)]
pub enum Metrics {
    /// Nothing is recorded.
    #[default]
    Off,
    /// They are recorded, and shown elsewhere than at `/metrics`.
    Recorded,
    /// They are recorded, and shown at `/metrics`.
    Shown(Arc<Exposition>),
}

/// Writes all metrics of the process out.
pub struct Exposition {
    render: Arc<dyn Fn() -> String + Send + Sync>,
    looks: SharedLook<Option<Bytes>>,
}

impl Metrics {
    /// Shows what a function writes, which may take its time: it runs in a thread that may block.
    pub fn shown_by(render: impl Fn() -> String + Send + Sync + 'static) -> Self {
        Metrics::Shown(Arc::new(Exposition {
            render: Arc::new(render),
            looks: SharedLook::default(),
        }))
    }

    /// Returns whether anything is recorded.
    #[must_use]
    pub fn are_recorded(&self) -> bool {
        !matches!(self, Metrics::Off)
    }

    /// Returns whether there is a route `/metrics`.
    #[must_use]
    pub fn are_shown(&self) -> bool {
        matches!(self, Metrics::Shown(_))
    }

    /// Answers `GET /metrics`; with 404 if metrics are disabled.
    pub async fn response(&self) -> Response {
        match self {
            Metrics::Shown(exposition) => exposition.response().await,
            Metrics::Off | Metrics::Recorded => {
                HttpError::new(code::PATH_NOT_FOUND, "the path /metrics does not exist")
                    .into_response()
            }
        }
    }
}

impl Exposition {
    async fn response(&self) -> Response {
        let look = || async {
            let render = Arc::clone(&self.render);
            let text = tokio::task::spawn_blocking(move || {
                service_metrics::refresh();
                Bytes::from(render())
            });
            text.await.ok()
        };
        match self.looks.get(look).await {
            Some(text) => {
                let headers = [(CONTENT_TYPE, TEXT), (CACHE_CONTROL, "no-store")];
                (headers, text).into_response()
            }
            None => HttpError::internal().into_response(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use axum::http::StatusCode;
    use futures::future::join_all;

    use super::*;

    #[tokio::test]
    async fn many_who_ask_at_once_have_two_texts_made_at_most() {
        let made = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&made);
        let metrics = Metrics::shown_by(move || {
            counted.fetch_add(1, Ordering::SeqCst);
            "up 1\n".to_owned()
        });
        let responses = join_all((0..1_000).map(|_| metrics.response())).await;
        assert!(responses.iter().all(|it| it.status() == StatusCode::OK));
        assert!((1..=2).contains(&made.load(Ordering::SeqCst)));
    }

    #[tokio::test]
    async fn a_text_that_cannot_be_made_costs_an_answer_and_no_more() {
        let made = Arc::new(AtomicUsize::new(0));
        let metrics = Metrics::shown_by(move || {
            assert!(made.fetch_add(1, Ordering::SeqCst) > 0, "on purpose");
            String::new()
        });
        let failed = metrics.response().await;
        assert_eq!(failed.status(), StatusCode::INTERNAL_SERVER_ERROR);
        assert_eq!(metrics.response().await.status(), StatusCode::OK);
        assert_eq!(
            Metrics::Off.response().await.status(),
            StatusCode::NOT_FOUND
        );
    }
}
