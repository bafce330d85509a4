//! Answers while the data are being loaded.

use std::sync::Arc;

use axum::Json;
use axum::extract::Request;
use axum::http::{HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use graphql_http::HttpError;
use graphql_service::GraphqlError;
use serde_json::{Value, json};

use super::code;
use super::loading::LoadState;
use super::served::Host;

/// Seconds after which clients may ask again.
const RETRY_AFTER: HeaderValue = HeaderValue::from_static("5");

/// Refuses GraphQL requests, dumps and changes of schemas until the data are there.
pub(crate) struct Gate(Box<dyn Fn() -> Option<LoadState> + Send + Sync>);

impl Gate {
    pub(crate) fn of<H: Host>(app: &Arc<H>) -> Self {
        let app = Arc::clone(app);
        Gate(Box::new(move || app.state().load_state()))
    }

    /// Returns the answer to a request that is refused.
    pub(crate) fn refuse(&self, request: &Request) -> Option<Response> {
        let state = self.0()?;
        // The router takes slashes at both ends away.
        let path = request.uri().path().trim_matches('/');
        let is_change = path.starts_with("soml") && request.method() != Method::GET;
        (path == "graphql" || path == "dump" || is_change).then(|| {
            let error = HttpError::new(code::DATA_LOADING, state.to_string());
            retry_later(error.into_response())
        })
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
