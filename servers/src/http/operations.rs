//! Paths for those who operate the service: health, good-to-go, troubleshooting, about, probes.

use std::sync::Arc;

use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use graphql_service::{ErrorCode, GraphqlError, code as shared};
use object_engine::code as engine;
use serde::Deserialize;
use serde_json::json;

use super::error::HttpError;
use super::{code, loading};
use crate::app::App;
use crate::health;
use crate::health_record::{CHECKS, HealthRecord, Status};

#[derive(Deserialize)]
pub(crate) struct HealthParameters {
    cache: Option<bool>,
}

/// Answers with the health record; the status is in the record, the answer itself is 200.
pub(crate) async fn health(
    State(app): State<Arc<App>>,
    parameters: Result<Query<HealthParameters>, QueryRejection>,
) -> Result<Response, HttpError> {
    let Query(parameters) =
        parameters.map_err(|error| HttpError::new(code::REQUEST_MALFORMED, error.body_text()))?;
    Ok(fresh(Json(
        health::health(&app, parameters.cache.unwrap_or(true)).await,
    )))
}

/// Answers whether requests can be served: 200, or 503 with the reason.
pub(crate) async fn good_to_go(State(app): State<Arc<App>>) -> Response {
    if let Some(state) = app.loading.state() {
        return fresh(loading::not_yet(state, json!({ "gtg": "ERROR" })));
    }
    if app.bound().is_none() {
        let code = shared::SCHEMA_NOT_BOUND;
        return not_good("no schema is bound to the service", code);
    }
    let record = health::health(&app, true).await;
    match failing(&record) {
        None => fresh(Json(json!({ "gtg": "OK", "message": "OK" }))),
        Some(check) => {
            let message = check.message.as_deref().unwrap_or("a check failed");
            not_good(message, engine::STORE_UNAVAILABLE)
        }
    }
}

fn failing(record: &HealthRecord) -> Option<&HealthRecord> {
    record
        .health_checks
        .iter()
        .find(|check| check.status == Status::Error)
}

fn not_good(message: &str, code: ErrorCode) -> Response {
    let errors = [GraphqlError::new(code, message)];
    let body = json!({ "gtg": "ERROR", "message": message, "errors": errors });
    fresh((StatusCode::SERVICE_UNAVAILABLE, Json(body)))
}

/// Answers with what to do about each check that can fail.
pub(crate) async fn trouble() -> Response {
    let mut page = String::from(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Troubleshooting</title>\
         <h1>Troubleshooting</h1>\
         <p><a href=\"/__health?cache=false\">/__health</a> says which check fails.</p>",
    );
    for check in CHECKS {
        page.push_str(&format!(
            "<h2 id=\"{0}\">{0}: {1}</h2><p>{2}</p>",
            check.id,
            check.name,
            check.remedy.replace('`', ""),
        ));
    }
    fresh(axum::response::Html(page))
}

/// Answers with name, version and what is bound.
pub(crate) async fn about(State(app): State<Arc<App>>) -> Response {
    let bound = app.bound();
    fresh(Json(json!({
        "name": app.settings.name,
        "version": env!("CARGO_PKG_VERSION"),
        "license": env!("CARGO_PKG_LICENSE"),
        "schema": bound.as_ref().map(|bound| bound.id.as_str()),
        "label": bound.as_ref().and_then(|bound| bound.label.as_deref()),
        "uptimeSeconds": app.started.elapsed().as_secs(),
    })))
}

/// Answers that the process runs.
pub(crate) async fn live() -> Response {
    fresh(Json(json!({ "status": "OK" })))
}

/// Answers whether connections are welcome: yes, also without a schema, once the data are loaded and
/// until shutdown begins.
pub(crate) async fn ready(State(app): State<Arc<App>>) -> Response {
    if app.is_draining() {
        let body = json!({ "status": "ERROR", "message": "the service is shutting down" });
        fresh((StatusCode::SERVICE_UNAVAILABLE, Json(body)))
    } else if let Some(state) = app.loading.state() {
        fresh(loading::not_yet(state, json!({ "status": "ERROR" })))
    } else {
        fresh(Json(json!({ "status": "OK" })))
    }
}

/// Forbids caches on the way to keep the answer.
fn fresh(response: impl IntoResponse) -> Response {
    let mut response = response.into_response();
    response
        .headers_mut()
        .insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}
