//! `/soml-rbac`: who may manage schemas.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::header::{ACCEPT, CONTENT_TYPE, ETAG, VARY};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use graphql_http::body::BodyLimits;
use graphql_http::{HttpError, Sender, body, code as common, negotiate::prefers};
use schema_registry::StoredSchema;
use serde_json::json;
use service_auth::rights::{InvalidRights, SchemaRights};
use service_runtime::preconditions::{expected, has_current};
use service_runtime::schemas::audit;
use service_runtime::schemas::{YAML_TYPES, etag, store_error};

use super::super::app::App;
use super::super::code;

/// Bytes of a document of rights.
const GREATEST: usize = 256 << 10;

/// Media types of the document as it is sent: JSON is YAML too.
const SENT: &[&str] = &[
    "text/yaml",
    "application/yaml",
    "application/x-yaml",
    "text/x-yaml",
    "application/json",
    "application/ld+json",
];

/// `GET /soml-rbac`: the document, as YAML when `Accept` asks for that.
pub(crate) async fn read(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
) -> Result<Response, HttpError> {
    let stored = app.schemas.rights().await.map_err(store_error)?;
    let stored = stored.ok_or_else(|| {
        HttpError::new(
            code::SCHEMA_RIGHTS_NOT_FOUND,
            "no rights on schemas are stored",
        )
    })?;
    let tag = etag(&stored);
    if has_current(&headers, &tag)? {
        let headers = [(ETAG, tag), (VARY, HeaderValue::from(ACCEPT))];
        return Ok((StatusCode::NOT_MODIFIED, headers).into_response());
    }
    let mut response = if prefers(&headers, YAML_TYPES, &["application/ld+json"]) {
        let content_type = HeaderValue::from_static("text/yaml; charset=utf-8");
        let headers = [(CONTENT_TYPE, content_type), (ETAG, tag)];
        (headers, stored.text.to_string()).into_response()
    } else {
        answer(StatusCode::OK, &stored)?
    };
    response
        .headers_mut()
        .insert(VARY, HeaderValue::from(ACCEPT));
    Ok(response)
}

/// `PUT /soml-rbac`: stores or replaces the document.
pub(crate) async fn replace(
    State(app): State<Arc<App>>,
    sender: Sender,
    request: Request,
) -> Result<Response, HttpError> {
    let expected = expected(request.headers())?;
    body::require_type(request.headers(), SENT)?;
    let limits = BodyLimits {
        bytes: GREATEST,
        time: app.host.options.request_timeout,
    };
    let body = body::read(request, limits, &app.host.resources).await?;
    let text = std::str::from_utf8(&body.text)
        .map_err(|_| HttpError::new(common::REQUEST_MALFORMED, "the body is not UTF-8"))?;
    let rights = SchemaRights::read(text).map_err(invalid)?;
    let old = app.schemas.rights().await.map_err(store_error)?;
    let is_new = old.is_none();
    let old = old.and_then(|old| SchemaRights::read(&old.text).ok());
    let stored = app
        .schemas
        .set_rights(text.into(), &expected)
        .await
        .map_err(store_error)?;
    audit(
        &sender,
        "replace",
        "soml-rbac",
        &rights.changes_since(old.as_ref()),
    );
    let status = if is_new {
        StatusCode::CREATED
    } else {
        StatusCode::OK
    };
    answer(status, &stored)
}

fn invalid(error: InvalidRights) -> HttpError {
    HttpError::new(code::SCHEMA_RIGHTS_INVALID, error.to_string())
}

fn answer(status: StatusCode, stored: &StoredSchema) -> Result<Response, HttpError> {
    let rights = SchemaRights::read(&stored.text).map_err(invalid)?;
    let document = json!({
        "@context": {
            "@vocab": "http://ontotext.com/ontology/status/",
            "@base": "http://data.ontotext.com/",
        },
        "@type": "SOMLRBAC",
        "@id": "/soml-rbac",
        "rbac": { "roles": rights.to_json() },
    });
    let content_type = HeaderValue::from_static("application/ld+json");
    let headers = [(CONTENT_TYPE, content_type), (ETAG, etag(stored))];
    Ok((status, headers, document.to_string()).into_response())
}
