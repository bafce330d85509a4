//! Errors of the HTTP layer: their codes, statuses and bodies.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use graphql_service::{ErrorCode, code as shared};
use serde_json::{Value, json};

/// An answer that reports one failure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HttpError {
    pub(crate) status: StatusCode,
    pub(crate) code: ErrorCode,
    pub(crate) message: String,
    /// Methods that the path takes, for a 405.
    pub(crate) allow: Option<&'static str>,
}

impl HttpError {
    pub(crate) fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        HttpError {
            status: StatusCode::from_u16(code.status()).expect("the tables hold valid statuses"),
            code,
            message: message.into(),
            allow: None,
        }
    }

    pub(crate) fn allowing(mut self, methods: &'static str) -> Self {
        self.allow = Some(methods);
        self
    }

    pub(crate) fn schema_not_bound() -> Self {
        HttpError::new(
            shared::SCHEMA_NOT_BOUND,
            "no schema is bound to the service",
        )
    }

    /// A fault of ours; what exactly stays in the log.
    pub(crate) fn internal() -> Self {
        HttpError {
            status: StatusCode::INTERNAL_SERVER_ERROR,
            ..HttpError::new(
                shared::INTERNAL,
                "internal error; details are in the log under the request id",
            )
        }
    }

    pub(crate) fn body(&self) -> Value {
        json!({ "errors": [{ "message": self.message, "extensions": { "code": self.code.as_str() } }] })
    }
}

impl IntoResponse for HttpError {
    fn into_response(self) -> Response {
        let mut response = (self.status, axum::Json(self.body())).into_response();
        if let Some(methods) = self.allow {
            response
                .headers_mut()
                .insert(header::ALLOW, HeaderValue::from_static(methods));
        }
        response
    }
}
