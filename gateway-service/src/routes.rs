//! The paths of a gateway.

use std::sync::Arc;

use axum::extract::State;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use graphql_http::HttpError;

use super::app::GatewayApp;
use super::code;

/// Returns the answer to requests while there is no composite schema.
pub(super) fn starting(app: &GatewayApp) -> HttpError {
    HttpError::new(code::GATEWAY_STARTING, app.waits_for().as_str()).soon_over()
}

/// `GET /metrics`: what requests to subgraphs cost.
pub(super) async fn metrics(State(app): State<Arc<GatewayApp>>) -> Response {
    let headers = [
        (CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8"),
        (CACHE_CONTROL, "no-store"),
    ];
    (headers, app.metrics.text() + &app.traces.metrics()).into_response()
}
