//! `/soml`: checking, storing, reading, replacing, removing, binding and unbinding schemas.

use std::sync::Arc;

use axum::extract::{Path, Request, State};
use axum::http::header::{ACCEPT, CONTENT_TYPE, ETAG, LOCATION, VARY};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use graphql_service::{Size, Weight};
use schema_registry::{SchemaStoreError, StoredSchema};
use serde_json::{Map, Value, json};
use service_auth::rights::{Manager, Part};
use soml_core::access::Operation;
use soml_core::span::LineIndex;
use soml_core::{Finding, Severity};

use super::authentication::Sender;
use super::body::{self, BodyLimits};
use super::code;
use super::error::HttpError;
use super::managing::{audit, forbidden, lines_changed};
use super::negotiate::prefers;
use super::preconditions::{expected, has_current};
use crate::host::Host;
use crate::object::{App, SchemaChangeError};
use crate::render;
use crate::schema::{Checked, check_id, schema_iri};

pub(super) const YAML_TYPES: &[&str] = &[
    "text/yaml",
    "application/yaml",
    "application/x-yaml",
    "text/x-yaml",
];

const LD_JSON: HeaderValue = HeaderValue::from_static("application/ld+json");

/// `GET /soml`: all stored schemas.
pub(crate) async fn list(
    State(app): State<Arc<App>>,
    Extension(manager): Extension<Manager>,
) -> Result<Response, HttpError> {
    let mut schemas = app.schemas.list().await.map_err(store_error)?;
    schemas.retain(|entry| manager.may(&entry.id, Part::Document, Operation::Read));
    let members = schemas.iter().map(|entry| {
        json!({ "@type": "SOML", "@id": schema_iri(&entry.id), "bound": app.is_bound(&entry.id) })
    });
    let mut document = document_head("hydra:Collection");
    document.insert("hydra:totalItems".to_owned(), schemas.len().into());
    document.insert("hydra:member".to_owned(), members.collect());
    Ok(answer(StatusCode::OK, document, None))
}

/// `POST /soml`: stores a new schema.
pub(crate) async fn create(
    State(app): State<Arc<App>>,
    Extension(manager): Extension<Manager>,
    sender: Sender,
    request: Request,
) -> Result<Response, Response> {
    let text = yaml(app.as_ref(), request)
        .await
        .map_err(IntoResponse::into_response)?;
    let may = |id: &str| manager.may(id, Part::Document, Operation::Write);
    let (stored, checked) = match app.store_schema_if(&text, may).await {
        Ok(created) => created,
        Err(error) => return Err(change_error(&app, error, text).await),
    };
    audit(&sender, "create", &stored.id, &lines_changed(None, &text));
    let location = schema_iri(&stored.id);
    let mut response = status(&app, StatusCode::CREATED, stored, checked).await;
    if let Ok(location) = HeaderValue::from_str(&location) {
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
    let text: Arc<str> = yaml(app.as_ref(), request).await?.into();
    let checked_text = Arc::clone(&text);
    let render = move |checked: Checked| {
        let checked = with_id_checked(checked, &checked_text);
        let id = checked.schema.as_ref().map(|schema| schema.id.as_str());
        answer(StatusCode::OK, report(id, &checked_text, &checked), None)
    };
    app.check(&text, render).await.map_err(HttpError::of_slot)
}

/// Reports an identifier that cannot name a stored schema, as `POST /soml` would.
fn with_id_checked(mut checked: Checked, text: &str) -> Checked {
    let invalid = checked.schema.as_ref().and_then(|s| check_id(&s.id).err());
    if let Some(error) = invalid {
        checked.schema = None;
        checked.valid = false;
        let code = code::SCHEMA_ID_INVALID.as_str();
        let finding = Finding::new(code, Severity::Error, None, error.to_string());
        let lines = LineIndex::new(text);
        checked
            .notes
            .push(finding.with_help(error.help).locate(&lines));
    }
    checked
}

/// `GET /soml/{id}`: one schema, as YAML when `Accept` asks for that.
pub(crate) async fn read(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Result<Response, HttpError> {
    let stored = app.schemas.get(&id).await.map_err(store_error)?;
    let stored = stored.ok_or_else(|| store_error(SchemaStoreError::NotFound))?;
    let tag = etag(&stored);
    let vary = HeaderValue::from(ACCEPT);
    if has_current(&headers, &tag)? {
        return Ok((StatusCode::NOT_MODIFIED, [(ETAG, tag), (VARY, vary)]).into_response());
    }
    let mut response = if prefers(&headers, YAML_TYPES, &["application/ld+json"]) {
        let content_type = HeaderValue::from_static("text/yaml; charset=utf-8");
        let headers = [(CONTENT_TYPE, content_type), (ETAG, tag)];
        (headers, stored.text.to_string()).into_response()
    } else {
        let (is_bound, text) = (app.is_bound(&stored.id), Arc::clone(&stored.text));
        let render =
            move |checked: Checked| stored_report(StatusCode::OK, &stored, &checked, is_bound);
        let rendered = app.check(&text, render).await;
        rendered.map_err(HttpError::of_slot)?
    };
    response.headers_mut().insert(VARY, vary);
    Ok(response)
}

/// `PUT /soml/{id}`: replaces a schema, and binds it anew when it is bound.
pub(crate) async fn replace(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    Extension(manager): Extension<Manager>,
    sender: Sender,
    request: Request,
) -> Result<Response, Response> {
    let expected = expected(request.headers()).map_err(IntoResponse::into_response)?;
    let text = yaml(app.as_ref(), request)
        .await
        .map_err(IntoResponse::into_response)?;
    // The new version of a bound schema is bound at once.
    if app.is_bound(&id) && !manager.may(&id, Part::Binding, Operation::Write) {
        return Err(forbidden().into_response());
    }
    let old = app.schemas.get(&id).await;
    let old = old.map_err(|error| store_error(error).into_response())?;
    match app.replace_schema(&id, &text, &expected).await {
        Ok((stored, checked)) => {
            let diff = lines_changed(old.as_ref().map(|old| &*old.text), &text);
            audit(&sender, "replace", &id, &diff);
            Ok(status(&app, StatusCode::OK, stored, checked).await)
        }
        Err(error) => Err(change_error(&app, error, text).await),
    }
}

/// `DELETE /soml/{id}`: removes a schema that is not bound.
pub(crate) async fn remove(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    sender: Sender,
    headers: HeaderMap,
) -> Result<StatusCode, Response> {
    let expected = expected(&headers).map_err(IntoResponse::into_response)?;
    match app.remove_schema(&id, &expected).await {
        Ok(()) => {
            audit(&sender, "remove", &id, "");
            Ok(StatusCode::NO_CONTENT)
        }
        Err(error) => Err(change_error(&app, error, "").await),
    }
}

/// `PUT /soml/{id}/objects`: binds a stored schema to this service.
pub(crate) async fn bind(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    sender: Sender,
    headers: HeaderMap,
) -> Result<Response, Response> {
    let expected = expected(&headers).map_err(IntoResponse::into_response)?;
    let text = match app.schemas.get(&id).await {
        Ok(stored) => stored.map(|stored| stored.text).unwrap_or_default(),
        Err(error) => return Err(store_error(error).into_response()),
    };
    match app.bind(&id, &expected, None).await {
        Ok((stored, checked)) => {
            audit(&sender, "bind", &id, "");
            Ok(status(&app, StatusCode::OK, stored, checked).await)
        }
        Err(error) => Err(change_error(&app, error, text).await),
    }
}

/// `DELETE /soml/{id}/objects`: unbinds; a schema that is not bound stays so.
pub(crate) async fn unbind(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    sender: Sender,
    headers: HeaderMap,
) -> Result<StatusCode, Response> {
    let expected = expected(&headers).map_err(IntoResponse::into_response)?;
    match app.unbind(&id, &expected).await {
        Ok(()) => {
            audit(&sender, "unbind", &id, "");
            Ok(StatusCode::NO_CONTENT)
        }
        Err(error) => Err(change_error(&app, error, "").await),
    }
}

pub(super) async fn yaml<H: Host>(app: &H, request: Request) -> Result<String, HttpError> {
    body::require_type(request.headers(), YAML_TYPES)?;
    let limits = BodyLimits {
        bytes: app.state().options.max_schema_bytes,
        time: app.state().options.request_timeout,
    };
    let body = body::read(request, limits, &app.state().resources).await?;
    String::from_utf8(body.text.into())
        .map_err(|_| HttpError::new(code::REQUEST_MALFORMED, "the body is not UTF-8"))
}

pub(super) fn etag(stored: &StoredSchema) -> HeaderValue {
    HeaderValue::from_str(&format!("\"{}\"", stored.revision))
        .unwrap_or(HeaderValue::from_static("\"\""))
}

/// Renders a response about a document of `bytes`; off the async workers where that takes long.
pub(super) async fn rendered<H: Host>(
    app: &H,
    bytes: usize,
    render: impl FnOnce() -> Response + Send + 'static,
) -> Response {
    if Size::Text(bytes).is_short() {
        return render();
    }
    let slots = &app.state().resources.slots;
    let rendered = slots.run(Weight::Background, None, move |_| render());
    rendered
        .await
        .unwrap_or_else(|error| HttpError::of_slot(error).into_response())
}

async fn status(app: &App, status: StatusCode, stored: StoredSchema, checked: Checked) -> Response {
    let (is_bound, bytes) = (app.is_bound(&stored.id), stored.text.len());
    let render = move || stored_report(status, &stored, &checked, is_bound);
    rendered(app, bytes, render).await
}

pub(super) fn stored_report(
    status: StatusCode,
    stored: &StoredSchema,
    checked: &Checked,
    is_bound: bool,
) -> Response {
    let mut document = report(Some(&stored.id), &stored.text, checked);
    document.insert("bound".to_owned(), is_bound.into());
    answer(status, document, Some(stored))
}

async fn change_error(app: &App, error: SchemaChangeError, text: impl AsRef<str>) -> Response {
    let error = match error {
        SchemaChangeError::Invalid(checked) => return refused(app, checked, text.as_ref()).await,
        error => error,
    };
    let code = match &error {
        SchemaChangeError::IdMismatch { .. } => code::SCHEMA_ID_MISMATCH,
        SchemaChangeError::IdInvalid { .. } => code::SCHEMA_ID_INVALID,
        SchemaChangeError::Full { .. } => code::SCHEMA_STORE_FULL,
        SchemaChangeError::Bound => code::SCHEMA_BOUND,
        SchemaChangeError::Forbidden => return forbidden().into_response(),
        SchemaChangeError::Busy(error) => return HttpError::of_slot(*error).into_response(),
        SchemaChangeError::Invalid(_) | SchemaChangeError::Store(_) => return store_failure(error),
    };
    HttpError::new(code, error.to_string()).into_response()
}

fn store_failure(error: SchemaChangeError) -> Response {
    match error {
        SchemaChangeError::Store(error) => store_error(error).into_response(),
        other => HttpError::new(code::REQUEST_MALFORMED, other.to_string()).into_response(),
    }
}

pub(super) fn store_error(error: SchemaStoreError) -> HttpError {
    let code = match &error {
        SchemaStoreError::Exists => code::SCHEMA_EXISTS,
        SchemaStoreError::NotFound => code::SCHEMA_NOT_FOUND,
        SchemaStoreError::RevisionMismatch => code::PRECONDITION_FAILED,
        SchemaStoreError::ReadOnly => code::SCHEMAS_ELSEWHERE,
        SchemaStoreError::DiskFull => code::DISK_FULL,
        _ => {
            tracing::error!(
                error = &error as &dyn std::error::Error,
                "the schema store failed"
            );
            return HttpError::internal();
        }
    };
    HttpError::new(code, error.to_string())
}

/// Answers with the report on a document with errors.
pub(super) async fn refused<H: Host>(app: &H, checked: Box<Checked>, text: &str) -> Response {
    let (text, bytes) = (text.to_owned(), text.len());
    rendered(app, bytes, move || invalid(&checked, &text)).await
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
pub(super) fn report(id: Option<&str>, text: &str, checked: &Checked) -> Map<String, Value> {
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

pub(super) fn document_head(kind: &str) -> Map<String, Value> {
    let mut document = Map::new();
    let context = json!({
        "@vocab": "http://ontotext.com/ontology/status/",
        "@base": "http://data.ontotext.com/",
        "xsd": "http://www.w3.org/2001/XMLSchema#",
        "hydra": "http://www.w3.org/ns/hydra/core#",
    });
    document.insert("@context".to_owned(), context);
    document.insert("@type".to_owned(), kind.into());
    document
}

pub(super) fn answer(
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
