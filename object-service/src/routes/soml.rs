//! `/soml`: checking, storing, reading, replacing, removing, binding and unbinding schemas.

use std::sync::Arc;

use axum::Extension;
use axum::extract::{Path, Request, State};
use axum::http::header::{ACCEPT, CONTENT_TYPE, ETAG, LOCATION, VARY};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use graphql_http::{HttpError, Sender, code as common, negotiate::prefers};
use schema_registry::{Checked, check_id, schema_iri};
use schema_registry::{SchemaStoreError, StoredSchema};
use serde_json::json;
use service_auth::rights::{Manager, Part};
use service_runtime::MountPoint;
use service_runtime::preconditions::{expected, has_current};
use service_runtime::schemas::{
    YAML_TYPES, answer, document_head, etag, refused, rendered, report, store_error, stored_report,
    yaml,
};
use service_runtime::schemas::{audit, forbidden, lines_changed};
use soml_core::rbac::Operation;
use soml_core::span::LineIndex;
use soml_core::{Finding, Severity};

use super::super::app::{App, SchemaChangeError};
use super::super::code;

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
    MountPoint(mount): MountPoint,
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
    let location = format!("{mount}{}", schema_iri(&stored.id));
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
        let error = HttpError::new(common::METHOD_NOT_ALLOWED, message);
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
    let stored = app
        .schemas
        .get(&id)
        .await
        .map_err(store_error)?
        .ok_or_else(|| store_error(SchemaStoreError::NotFound))?;
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

/// `PUT /soml/{id}`: replaces a schema, and binds it again when it is bound.
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
    let old = app
        .schemas
        .get(&id)
        .await
        .map_err(|error| store_error(error).into_response())?;
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

async fn status(app: &App, status: StatusCode, stored: StoredSchema, checked: Checked) -> Response {
    let (is_bound, bytes) = (app.is_bound(&stored.id), stored.text.len());
    let render = move || stored_report(status, &stored, &checked, is_bound);
    rendered(app, bytes, render).await
}

async fn change_error(app: &App, error: SchemaChangeError, text: impl AsRef<str>) -> Response {
    let code = match error {
        SchemaChangeError::Invalid(checked) => return refused(app, checked, text.as_ref()).await,
        SchemaChangeError::Store(error) => return store_error(error).into_response(),
        SchemaChangeError::Busy(error) => return HttpError::of_slot(error).into_response(),
        SchemaChangeError::Forbidden => return forbidden().into_response(),
        SchemaChangeError::IdMismatch { .. } => code::SCHEMA_ID_MISMATCH,
        SchemaChangeError::IdInvalid { .. } => code::SCHEMA_ID_INVALID,
        SchemaChangeError::Full { .. } => code::SCHEMA_STORE_FULL,
    };
    HttpError::new(code, error.to_string()).into_response()
}
