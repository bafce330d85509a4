//! Answers while the data are being loaded.

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use graphql_http::HttpError;
use graphql_service::GraphqlError;
use serde_json::{Value, json};

use super::code;
use super::loading::LoadState;

/// Seconds after which clients may ask again.
const RETRY_AFTER: HeaderValue = HeaderValue::from_static("5");

/// Refuses a request that needs the data.
pub(crate) fn data_loading(state: &LoadState) -> Response {
    retry_later(HttpError::new(code::DATA_LOADING, state.to_string()).into_response())
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
