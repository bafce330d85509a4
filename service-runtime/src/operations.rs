//! Paths for those who operate the service: health, good-to-go, troubleshooting, about, probes.

use std::sync::Arc;

use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{Html, IntoResponse, Response};
use graphql_http::{HttpError, code as common};
use graphql_service::{ErrorCode, GraphqlError};
use serde::Deserialize;
use serde_json::json;

use super::health::Advice;
use super::mount::MountPoint;
use super::not_loaded::not_yet;
use super::page::escaped;
use super::service::Host;

#[derive(Deserialize)]
pub(crate) struct HealthParameters {
    cache: Option<bool>,
}

/// Answers with the health record; the status is in the record, the answer itself is 200.
pub(crate) async fn health<H: Host>(
    State(app): State<Arc<H>>,
    MountPoint(mount): MountPoint,
    parameters: Result<Query<HealthParameters>, QueryRejection>,
) -> Result<Response, HttpError> {
    let Query(parameters) =
        parameters.map_err(|error| HttpError::new(common::REQUEST_MALFORMED, error.body_text()))?;
    let mut record = app.health(parameters.cache.unwrap_or(true)).await;
    record.lead_below(&mount);
    Ok(fresh(Json(record)))
}

/// Answers whether requests can be served: 200, or 503 with the reason.
pub(crate) async fn good_to_go<H: Host>(State(app): State<Arc<H>>) -> Response {
    if let Some(state) = app.state().load_state() {
        return fresh(not_yet(state, json!({ "gtg": "ERROR" })));
    }
    match app.obstacle().await {
        None => fresh(Json(json!({ "gtg": "OK", "message": "OK" }))),
        Some((code, message)) => not_good(&message, code),
    }
}

fn not_good(message: &str, code: ErrorCode) -> Response {
    let errors = [GraphqlError::new(code, message)];
    let body = json!({ "gtg": "ERROR", "message": message, "errors": errors });
    fresh((StatusCode::SERVICE_UNAVAILABLE, Json(body)))
}

/// Answers with what to do about each check that can fail.
pub(crate) async fn trouble<H: Host>(
    State(app): State<Arc<H>>,
    MountPoint(mount): MountPoint,
) -> Response {
    let mount = escaped(&mount);
    let mut page = format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Troubleshooting</title>\
         <h1>Troubleshooting</h1>\
         <p><a href=\"{mount}/__health\">{mount}/__health</a> says which check fails.</p>",
    );
    for advice in app.advice().await {
        add_advice(&mut page, &advice);
    }
    let policy = HeaderValue::from_static(TROUBLE_POLICY);
    let headers = [(header::CONTENT_SECURITY_POLICY, policy)];
    fresh((headers, Html(page)))
}

/// The page runs and loads nothing, whatever a subgraph says.
const TROUBLE_POLICY: &str =
    "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

fn add_advice(page: &mut String, advice: &Advice) {
    let text = |text: &str| escaped(&text.replace('`', ""));
    let anchor = advice.anchor.as_ref();
    let anchor = anchor.map(|anchor| format!(" id=\"{}\"", escaped(anchor)));
    let (anchor, title) = (anchor.unwrap_or_default(), text(&advice.title));
    page.push_str(&format!("\n<h2{anchor}>{title}</h2>"));
    for paragraph in advice.paragraphs.iter().filter(|text| !text.is_empty()) {
        page.push_str(&format!("\n<p>{}</p>", text(paragraph)));
    }
    if let Some(link) = &advice.link {
        let link = escaped(link);
        page.push_str(&format!("\n<p><a href=\"{link}\">{link}</a></p>"));
    }
}

/// Answers with name, version and what is bound.
pub(crate) async fn about<H: Host>(State(app): State<Arc<H>>) -> Response {
    let bound = app.shown();
    fresh(Json(json!({
        "name": app.state().options.name,
        "address": app.state().options.network_address,
        "version": env!("CARGO_PKG_VERSION"),
        "license": env!("CARGO_PKG_LICENSE"),
        "schema": bound.as_ref().map(|bound| bound.id()),
        "label": bound.as_ref().and_then(|bound| bound.label()),
        "uptimeSeconds": app.state().started().elapsed().as_secs(),
    })))
}

/// Answers that the process runs.
pub(crate) async fn live() -> Response {
    fresh(Json(json!({ "status": "OK" })))
}

/// Answers whether connections are welcome: yes, also without a schema, once the data are loaded and
/// until shutdown begins.
pub(crate) async fn ready<H: Host>(State(app): State<Arc<H>>) -> Response {
    if app.state().is_draining() {
        let body = json!({ "status": "ERROR", "message": "the service is shutting down" });
        fresh((StatusCode::SERVICE_UNAVAILABLE, Json(body)))
    } else if let Some(state) = app.state().load_state() {
        fresh(not_yet(state, json!({ "status": "ERROR" })))
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
