//! `GET /schema.graphql`: the API of the bound schema as a document.

use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use graphql_http::HttpError;
use graphql_service::Caller;

use super::preconditions::has_current;
use super::service::Host;

/// Answers with the SDL of the bound schema, or with 304 to who has it.
pub(crate) async fn schema<H: Host>(
    State(app): State<Arc<H>>,
    caller: Option<Extension<Arc<Caller>>>,
    headers: HeaderMap,
) -> Result<Response, HttpError> {
    let bound = app.shown().ok_or_else(HttpError::schema_not_bound)?;
    let caller = caller.map(|Extension(caller)| caller);
    let printed = bound
        .sdl(&app.state().resources.slots, caller)
        .await
        .map_err(HttpError::of_slot)?;
    let etag = HeaderValue::from_str(&printed.etag).expect("hexadecimal digits");
    let cached = has_current(&headers, &etag)?;
    let headers = [
        // What browsers show and do not save.
        (
            header::CONTENT_TYPE,
            HeaderValue::from_static("text/plain; charset=utf-8"),
        ),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-cache")),
        (header::ETAG, etag),
    ];
    Ok(if cached {
        (StatusCode::NOT_MODIFIED, headers).into_response()
    } else {
        (headers, printed.text).into_response()
    })
}
