//! Answers while the data are being loaded.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Request, State};
use axum::http::{HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use graphql_service::GraphqlError;
use serde_json::{Value, json};

use super::code;
use super::error::HttpError;
use super::host::Host;
use crate::loading::LoadState;

/// Seconds after which clients may ask again.
const RETRY_AFTER: HeaderValue = HeaderValue::from_static("5");

/// Refuses GraphQL requests and changes of schemas until the data are there.
pub(super) async fn gate<H: Host>(
    State(app): State<Arc<H>>,
    request: Request,
    next: Next,
) -> Response {
    let path = request.uri().path();
    let is_change = path.starts_with("/soml") && request.method() != Method::GET;
    match app.loading() {
        Some(state) if path == "/graphql" || is_change => {
            let error = HttpError::new(code::DATA_LOADING, state.to_string());
            retry_later(error.into_response())
        }
        _ => next.run(request).await,
    }
}

/// Answers a probe that asks whether requests can be served.
pub(crate) fn not_yet(state: LoadState, mut body: Value) -> Response {
    let message = state.to_string();
    body["errors"] = json!([GraphqlError::new(code::DATA_LOADING, message.as_str())]);
    body["message"] = message.into();
    body["progress"] = json!({
        "files": state.files,
        "filesRead": state.files_read,
        "bytes": state.bytes,
        "statements": state.statements,
    });
    retry_later((StatusCode::SERVICE_UNAVAILABLE, Json(body)).into_response())
}

fn retry_later(mut response: Response) -> Response {
    response
        .headers_mut()
        .insert(header::RETRY_AFTER, RETRY_AFTER);
    response
}
