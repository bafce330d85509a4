//! SOML documents over HTTP: what is sent, and the reports on it.

use std::time::Duration;

use axum::Json;
use axum::extract::Request;
use axum::http::header::{CONTENT_TYPE, ETAG};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use graphql_http::body::BodyLimits;
use graphql_http::{HttpError, body, code as common};
use graphql_service::{ErrorCode, Size, Weight};
use schema_registry::{Checked, SchemaStore, SchemaStoreError, StoredSchema, json_ld, schema_iri};
use serde_json::{Map, Value, json};

use crate::code;
use crate::service::Host;

/// The media types of SOML documents.
pub const YAML_TYPES: &[&str] = &[
    "text/yaml",
    "application/yaml",
    "application/x-yaml",
    "text/x-yaml",
];

const LD_JSON: HeaderValue = HeaderValue::from_static("application/ld+json");

/// Reads the document that a request brings.
///
/// # Errors
/// When it has another media type, is too large, or is not UTF-8.
pub async fn yaml<H: Host>(app: &H, request: Request) -> Result<String, HttpError> {
    body::require_type(request.headers(), YAML_TYPES)?;
    let limits = BodyLimits {
        bytes: app.state().options.max_schema_bytes,
        time: app.state().options.request_timeout,
    };
    let body = body::read(request, limits, &app.state().resources).await?;
    String::from_utf8(body.text.into())
        .map_err(|_| HttpError::new(common::REQUEST_MALFORMED, "the body is not UTF-8"))
}

/// Returns the entity tag of a stored document.
#[must_use]
pub fn etag(stored: &StoredSchema) -> HeaderValue {
    HeaderValue::from_str(&format!("\"{}\"", stored.revision))
        .unwrap_or(HeaderValue::from_static("\"\""))
}

/// Renders a response about a document of `bytes`; off the async workers where that takes long.
pub async fn rendered<H: Host>(
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

/// Answers with the report on a stored document.
#[must_use]
pub fn stored_report(
    status: StatusCode,
    stored: &StoredSchema,
    checked: &Checked,
    is_bound: bool,
) -> Response {
    let mut document = report(Some(&stored.id), &stored.text, checked);
    document.insert("bound".to_owned(), is_bound.into());
    answer(status, document, Some(stored))
}

/// Returns the error of a store of documents as clients see it; logs internal details.
#[must_use]
pub fn store_error(error: SchemaStoreError) -> HttpError {
    let code = match &error {
        SchemaStoreError::Exists => code::SCHEMA_EXISTS,
        SchemaStoreError::NotFound => code::SCHEMA_NOT_FOUND,
        SchemaStoreError::RevisionMismatch => code::PRECONDITION_FAILED,
        SchemaStoreError::ReadOnly => code::SCHEMAS_ELSEWHERE,
        SchemaStoreError::DiskFull => code::DISK_FULL,
        SchemaStoreError::Bound { .. } => code::SCHEMA_BOUND,
        SchemaStoreError::Unavailable(_) => logged(&error, code::SCHEMA_STORE_UNAVAILABLE),
        SchemaStoreError::AccessDenied(_) => logged(&error, code::SCHEMA_STORE_DENIED),
        SchemaStoreError::OutcomeUnknown(_) => logged(&error, code::SCHEMA_STORE_OUTCOME_UNKNOWN),
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

/// A problem of the server that stores the schemas, as shown publicly.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoreTrouble {
    /// Description of the problem.
    pub message: String,
    /// Whether the store still carries out requests, because others of its servers do.
    pub serves: bool,
}

impl StoreTrouble {
    /// Returns the problem, if it keeps the store from carrying out requests.
    #[must_use]
    pub fn obstacle(&self) -> Option<&str> {
        (!self.serves).then_some(&self.message)
    }
}

/// Asks the server that stores the schemas; returns what is wrong with it, and logs why.
pub async fn store_trouble(schemas: &dyn SchemaStore, time: Duration) -> Option<StoreTrouble> {
    let probe = tokio::time::timeout(time, schemas.probe());
    let why = match probe.await {
        Ok(Ok(troubles)) if troubles.is_empty() => return None,
        Ok(Ok(troubles)) => {
            let troubles = troubles.join(", ");
            return Some(StoreTrouble {
                message: format!(
                    "some of the servers that store the schemas do not respond: {troubles}"
                ),
                serves: true,
            });
        }
        Err(_) => "does not answer in time",
        Ok(Err(error)) => {
            tracing::warn!(
                error = &error as &dyn std::error::Error,
                "the store of schemas failed its check"
            );
            match error {
                SchemaStoreError::Unavailable(_) => "cannot be reached",
                SchemaStoreError::AccessDenied(_) => "denies access",
                _ => "does not carry out requests",
            }
        }
    };
    Some(StoreTrouble {
        message: format!("the server that stores the schemas {why}"),
        serves: false,
    })
}

/// Logs why a store failed, which clients are not told.
fn logged(error: &SchemaStoreError, code: ErrorCode) -> ErrorCode {
    tracing::warn!(
        error = error as &dyn std::error::Error,
        "the schema store did not carry out the request"
    );
    code
}

/// Answers with the report on a document with errors.
pub async fn refused<H: Host>(app: &H, checked: Box<Checked>, text: &str) -> Response {
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

/// Returns the report on a document, with findings that can also be read as GraphQL errors.
#[must_use]
pub fn report(id: Option<&str>, text: &str, checked: &Checked) -> Map<String, Value> {
    let id = id.map(schema_iri);
    let mut document = json_ld(id.as_deref(), text, checked);
    for member in ["errors", "warnings"] {
        let findings = document.get_mut(member).and_then(Value::as_array_mut);
        for finding in findings.into_iter().flatten() {
            let extensions = json!({ "code": finding["code"] });
            finding["extensions"] = extensions;
        }
    }
    document
}

/// Begins a JSON-LD document of a type.
#[must_use]
pub fn document_head(kind: &str) -> Map<String, Value> {
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

/// Answers with a JSON-LD document, under the entity tag of the document that it is about.
#[must_use]
pub fn answer(
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
