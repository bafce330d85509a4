//! `/soml`: checking, storing, reading, replacing, removing, binding and unbinding schemas.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, Request, State};
use axum::http::header::{CONTENT_TYPE, ETAG, IF_MATCH, LOCATION};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use serde_json::{Map, Value, json};

use super::body::{self, BodyLimits};
use super::code;
use super::error::HttpError;
use super::negotiate::accepts;
use crate::app::{App, SchemaChangeError};
use crate::render;
use crate::schema::{Checked, schema_iri};
use crate::schema_store::{SchemaStoreError, StoredSchema};

const YAML_TYPES: &[&str] = &[
    "text/yaml",
    "application/yaml",
    "application/x-yaml",
    "text/x-yaml",
];

const LD_JSON: HeaderValue = HeaderValue::from_static("application/ld+json");

/// `GET /soml`: all stored schemas.
pub(crate) async fn list(State(app): State<Arc<App>>) -> Result<Response, HttpError> {
    let schemas = app.schemas.list().await.map_err(store_error)?;
    let members = schemas.iter().map(|stored| {
        json!({ "@type": "SOML", "@id": schema_iri(&stored.id), "bound": app.is_bound(&stored.id) })
    });
    let mut document = document_head("hydra:Collection", None);
    document.insert("hydra:totalItems".to_owned(), schemas.len().into());
    document.insert("hydra:member".to_owned(), members.collect());
    Ok(answer(StatusCode::OK, document, None))
}

/// `POST /soml`: stores a new schema.
pub(crate) async fn create(
    State(app): State<Arc<App>>,
    request: Request,
) -> Result<Response, Response> {
    let text = yaml(&app, request)
        .await
        .map_err(IntoResponse::into_response)?;
    let (stored, checked) = app
        .store_schema(&text)
        .await
        .map_err(|e| change_error(e, &text))?;
    let mut response = status(&app, StatusCode::CREATED, &stored, &checked);
    if let Ok(location) = HeaderValue::from_str(&schema_iri(&stored.id)) {
        response.headers_mut().insert(LOCATION, location);
    }
    Ok(response)
}

/// `POST /soml/validate`: checks a schema and stores nothing. Nothing else under `/soml` takes POST.
pub(crate) async fn validate(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    request: Request,
) -> Result<Response, HttpError> {
    if id != "validate" {
        let message = "use POST /soml for a new schema, and PUT to replace one";
        let error = HttpError::new(code::METHOD_NOT_ALLOWED, message);
        return Err(error.allowing("GET, PUT, DELETE"));
    }
    let text = yaml(&app, request).await?;
    let checked = app.check(&text);
    let id = checked.schema.as_ref().map(|schema| schema.id.as_str());
    Ok(answer(StatusCode::OK, report(id, &text, &checked), None))
}

/// `GET /soml/{id}`: one schema, as YAML when `Accept` asks for that.
pub(crate) async fn read(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Result<Response, HttpError> {
    let stored = app.schemas.get(&id).await.map_err(store_error)?;
    let stored = stored.ok_or_else(|| store_error(SchemaStoreError::NotFound))?;
    if YAML_TYPES
        .iter()
        .any(|media_type| accepts(&headers, media_type))
    {
        let headers = [
            (
                CONTENT_TYPE,
                HeaderValue::from_static("text/yaml; charset=utf-8"),
            ),
            (ETAG, etag(&stored)),
        ];
        return Ok((headers, stored.text).into_response());
    }
    let mut document = document_head("SOML", Some(&stored.id));
    document.insert("bound".to_owned(), app.is_bound(&id).into());
    document.insert("input".to_owned(), stored.text.as_str().into());
    Ok(answer(StatusCode::OK, document, Some(&stored)))
}

/// `PUT /soml/{id}`: replaces a schema, and binds it anew when it is bound.
pub(crate) async fn replace(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    request: Request,
) -> Result<Response, Response> {
    let expected = if_match(request.headers());
    let text = yaml(&app, request)
        .await
        .map_err(IntoResponse::into_response)?;
    let replaced = app.replace_schema(&id, &text, expected.as_deref()).await;
    let (stored, checked) = replaced.map_err(|e| change_error(e, &text))?;
    Ok(status(&app, StatusCode::OK, &stored, &checked))
}

/// `DELETE /soml/{id}`: removes a schema that is not bound.
pub(crate) async fn remove(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Result<StatusCode, Response> {
    let expected = if_match(&headers);
    let removed = app.remove_schema(&id, expected.as_deref()).await;
    removed
        .map(|()| StatusCode::NO_CONTENT)
        .map_err(|e| change_error(e, ""))
}

/// `PUT /soml/{id}/objects`: binds a stored schema to this service.
pub(crate) async fn bind(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
) -> Result<Response, Response> {
    let text = match app.schemas.get(&id).await {
        Ok(stored) => stored.map(|stored| stored.text).unwrap_or_default(),
        Err(error) => return Err(store_error(error).into_response()),
    };
    let (stored, checked) = app
        .bind(&id, None)
        .await
        .map_err(|e| change_error(e, &text))?;
    Ok(status(&app, StatusCode::OK, &stored, &checked))
}

/// `DELETE /soml/{id}/objects`: unbinds; a schema that is not bound stays so.
pub(crate) async fn unbind(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
) -> Result<StatusCode, Response> {
    let unbound = app.unbind(&id).await;
    unbound
        .map(|()| StatusCode::NO_CONTENT)
        .map_err(|e| change_error(e, ""))
}

async fn yaml(app: &App, request: Request) -> Result<String, HttpError> {
    body::require_type(request.headers(), YAML_TYPES)?;
    let limits = BodyLimits {
        bytes: app.settings.max_body_bytes,
        time: app.settings.request_timeout,
    };
    let bytes = body::read(request, limits).await?;
    String::from_utf8(bytes.into())
        .map_err(|_| HttpError::new(code::REQUEST_MALFORMED, "the body is not UTF-8"))
}

/// Returns the revision that `If-Match` names; `*` names any.
fn if_match(headers: &HeaderMap) -> Option<String> {
    let value = headers.get(IF_MATCH)?.to_str().ok()?.trim();
    (value != "*").then(|| value.trim_start_matches("W/").trim_matches('"').to_owned())
}

fn etag(stored: &StoredSchema) -> HeaderValue {
    HeaderValue::from_str(&format!("\"{}\"", stored.revision))
        .unwrap_or(HeaderValue::from_static("\"\""))
}

fn status(app: &App, status: StatusCode, stored: &StoredSchema, checked: &Checked) -> Response {
    let mut document = report(Some(&stored.id), &stored.text, checked);
    document.insert("bound".to_owned(), app.is_bound(&stored.id).into());
    answer(status, document, Some(stored))
}

fn change_error(error: SchemaChangeError, text: &str) -> Response {
    let code = match &error {
        SchemaChangeError::Invalid(checked) => return invalid(checked, text),
        SchemaChangeError::IdMismatch { .. } => code::SCHEMA_ID_MISMATCH,
        SchemaChangeError::Bound => code::SCHEMA_BOUND,
        SchemaChangeError::Store(_) => return store_failure(error),
    };
    HttpError::new(code, error.to_string()).into_response()
}

fn store_failure(error: SchemaChangeError) -> Response {
    match error {
        SchemaChangeError::Store(error) => store_error(error).into_response(),
        other => HttpError::new(code::REQUEST_MALFORMED, other.to_string()).into_response(),
    }
}

fn store_error(error: SchemaStoreError) -> HttpError {
    let code = match &error {
        SchemaStoreError::Exists => code::SCHEMA_EXISTS,
        SchemaStoreError::NotFound => code::SCHEMA_NOT_FOUND,
        SchemaStoreError::RevisionMismatch => code::PRECONDITION_FAILED,
        SchemaStoreError::Failed(_) => {
            tracing::error!(
                error = &error as &dyn std::error::Error,
                "the schema store failed"
            );
            return HttpError::internal();
        }
    };
    HttpError::new(code, error.to_string())
}

/// The report on a document with errors: all findings, and the document itself.
fn invalid(checked: &Checked, text: &str) -> Response {
    let mut document = report(None, text, checked);
    let code = code::SCHEMA_INVALID;
    document.insert("hydra:statusCode".to_owned(), code.status().into());
    document.insert("code".to_owned(), code.as_str().into());
    let status = StatusCode::from_u16(code.status()).expect("the tables hold valid statuses");
    answer(status, document, None)
}

/// The report on a document, with findings that can also be read as GraphQL errors.
fn report(id: Option<&str>, text: &str, checked: &Checked) -> Map<String, Value> {
    let id = id.map(schema_iri);
    let mut document = render::json_ld(id.as_deref(), text, checked);
    for member in ["errors", "warnings"] {
        let findings = document.get_mut(member).and_then(Value::as_array_mut);
        for finding in findings.into_iter().flatten() {
            let extensions = json!({ "code": finding["code"] });
            finding["extensions"] = extensions;
        }
    }
    document
}

fn document_head(kind: &str, id: Option<&str>) -> Map<String, Value> {
    let mut document = Map::new();
    let context = json!({
        "@vocab": "http://ontotext.com/ontology/status/",
        "@base": "http://data.ontotext.com/",
        "xsd": "http://www.w3.org/2001/XMLSchema#",
        "hydra": "http://www.w3.org/ns/hydra/core#",
    });
    document.insert("@context".to_owned(), context);
    document.insert("@type".to_owned(), kind.into());
    if let Some(id) = id {
        document.insert("@id".to_owned(), schema_iri(id).into());
    }
    document
}

fn answer(
    status: StatusCode,
    document: Map<String, Value>,
    stored: Option<&StoredSchema>,
) -> Response {
    let mut response = (status, Json(Value::Object(document))).into_response();
    response.headers_mut().insert(CONTENT_TYPE, LD_JSON);
    if let Some(stored) = stored {
        response.headers_mut().insert(ETAG, etag(stored));
    }
    response
}
