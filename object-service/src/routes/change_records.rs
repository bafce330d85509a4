//! `GET /changes`: what mutations have changed, for programs that follow it.

use std::sync::Arc;

use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use graph_store::CallContext;
use graphql_http::{HttpError, RequestId, code as common};
use object_engine::code as engine;
use serde::Deserialize;

use super::super::app::App;
use super::super::change_records::{DEFAULT_LIMIT, MAX_LIMIT, RecordError, Records};

#[derive(Deserialize)]
pub(super) struct Parameters {
    after: Option<u64>,
    limit: Option<usize>,
}

/// Answers with a page of records to those who may see everything: what changed is not divided by
/// roles.
pub(super) async fn read(
    State(app): State<Arc<App>>,
    id: RequestId,
    parameters: Result<Query<Parameters>, QueryRejection>,
) -> Result<Response, HttpError> {
    let malformed = |message: String| HttpError::new(common::REQUEST_MALFORMED, message);
    let Query(parameters) = parameters.map_err(|error| malformed(error.body_text()))?;
    let limit = parameters.limit.unwrap_or(DEFAULT_LIMIT);
    if !(1..=MAX_LIMIT).contains(&limit) {
        return Err(malformed(format!("`limit` must be 1 to {MAX_LIMIT}")));
    }
    let context = CallContext::new()
        .with_timeout(app.host.options.request_timeout)
        .with_request_id(id.0);
    let records = Records::of(&app.store, &app.host.resources.slots);
    let after = parameters.after.unwrap_or_default();
    let page = records
        .page(after, limit, &context)
        .await
        .map_err(record_error)?;
    let caching = [(header::CACHE_CONTROL, HeaderValue::from_static("no-store"))];
    Ok((caching, Json(page)).into_response())
}

fn record_error(error: RecordError) -> HttpError {
    match error {
        RecordError::ReadOnly => HttpError::new(engine::STORE_READ_ONLY, error.to_string()),
        RecordError::Busy(error) => HttpError::of_slot(error),
        RecordError::Store(error) => {
            let cause = &error as &dyn std::error::Error;
            tracing::warn!(error = cause, "change records cannot be read");
            let message = "the store failed to read change records";
            let mut error = HttpError::new(engine::STORE_FAILED, message);
            error.status = StatusCode::SERVICE_UNAVAILABLE;
            error
        }
    }
}
