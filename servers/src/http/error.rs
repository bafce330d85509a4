//! Errors of the HTTP layer: their codes, statuses and bodies.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use graphql_gen::error::ErrorCode;
use serde_json::{Value, json};

/// An error of the HTTP layer, outside GraphQL execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum HttpCode {
    /// The request cannot be read.
    RequestMalformed,
    /// The path does not accept the media type of the body.
    UnsupportedMediaType,
    /// No media type that the client accepts is available.
    NotAcceptable,
    /// The body is larger than allowed.
    BodyTooLarge,
    /// The body did not arrive in time.
    BodyTimeout,
    /// The path does not support this method.
    MethodNotAllowed,
    /// A mutation was sent by GET.
    MutationByGet,
    /// The path does not exist.
    NotFound,
    /// There is no schema with this identifier.
    SchemaNotFound,
    /// A schema with this identifier already exists.
    SchemaExists,
    /// The schema is bound and cannot be removed.
    SchemaBound,
    /// The SOML document has errors.
    SchemaInvalid,
    /// The identifier in the document does not match the path.
    SchemaIdMismatch,
    /// The revision of the schema does not match `If-Match`.
    PreconditionFailed,
}

macro_rules! codes {
    ($($variant:ident $text:literal $status:ident $meaning:literal;)*) => {
        impl HttpCode {
            /// All codes, in the order of the documentation.
            pub const ALL: &'static [HttpCode] = &[$(HttpCode::$variant),*];

            /// Returns the stable name of the code.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { $(HttpCode::$variant => $text),* }
            }

            /// Returns the HTTP status of the response.
            #[must_use]
            pub fn status(self) -> StatusCode {
                match self { $(HttpCode::$variant => StatusCode::$status),* }
            }

            /// Returns one sentence for the documentation.
            #[must_use]
            pub fn meaning(self) -> &'static str {
                match self { $(HttpCode::$variant => $meaning),* }
            }
        }
    };
}

codes! {
    RequestMalformed "REQUEST_MALFORMED" BAD_REQUEST "The body is not JSON or not a GraphQL request, or a parameter is malformed.";
    UnsupportedMediaType "UNSUPPORTED_MEDIA_TYPE" UNSUPPORTED_MEDIA_TYPE "The path does not accept the media type, character set or encoding of the body.";
    NotAcceptable "NOT_ACCEPTABLE" NOT_ACCEPTABLE "`Accept` allows no media type that the service can return.";
    BodyTooLarge "BODY_TOO_LARGE" PAYLOAD_TOO_LARGE "The body is larger than `http.maxBodyBytes`.";
    BodyTimeout "BODY_TIMEOUT" REQUEST_TIMEOUT "The body did not arrive within `graphql.requestTimeout`.";
    MethodNotAllowed "METHOD_NOT_ALLOWED" METHOD_NOT_ALLOWED "The path does not support this method.";
    MutationByGet "MUTATION_BY_GET" METHOD_NOT_ALLOWED "A mutation was sent by GET; use POST.";
    NotFound "NOT_FOUND" NOT_FOUND "The path does not exist.";
    SchemaNotFound "SCHEMA_NOT_FOUND" NOT_FOUND "There is no stored schema with this identifier.";
    SchemaExists "SCHEMA_EXISTS" CONFLICT "A schema with this identifier already exists; replace it with PUT.";
    SchemaBound "SCHEMA_BOUND" CONFLICT "The schema is bound and cannot be removed; unbind it first.";
    SchemaInvalid "SCHEMA_INVALID" UNPROCESSABLE_ENTITY "The SOML document has errors; nothing was stored or bound.";
    SchemaIdMismatch "SCHEMA_ID_MISMATCH" UNPROCESSABLE_ENTITY "The `id` in the document does not match the path.";
    PreconditionFailed "PRECONDITION_FAILED" PRECONDITION_FAILED "The revision of the stored schema does not match `If-Match`.";
}

/// An answer that reports one failure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HttpError {
    pub(crate) status: StatusCode,
    pub(crate) code: &'static str,
    pub(crate) message: String,
    /// Methods that the path takes, for a 405.
    pub(crate) allow: Option<&'static str>,
}

impl HttpError {
    pub(crate) fn new(code: HttpCode, message: impl Into<String>) -> Self {
        HttpError {
            status: code.status(),
            code: code.as_str(),
            message: message.into(),
            allow: None,
        }
    }

    pub(crate) fn allowing(mut self, methods: &'static str) -> Self {
        self.allow = Some(methods);
        self
    }

    pub(crate) fn schema_not_bound() -> Self {
        HttpError {
            status: StatusCode::SERVICE_UNAVAILABLE,
            code: ErrorCode::SchemaNotBound.as_str(),
            message: "no schema is bound to the service".to_owned(),
            allow: None,
        }
    }

    /// A fault of ours; what exactly stays in the log.
    pub(crate) fn internal() -> Self {
        HttpError {
            status: StatusCode::INTERNAL_SERVER_ERROR,
            code: ErrorCode::Internal.as_str(),
            message: "internal error; details are in the log under the request id".to_owned(),
            allow: None,
        }
    }

    pub(crate) fn body(&self) -> Value {
        json!({ "errors": [{ "message": self.message, "extensions": { "code": self.code } }] })
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

/// Returns the tables of `docs/errors.md`: errors of the HTTP layer, then errors in GraphQL responses.
#[must_use]
pub fn codes_markdown() -> String {
    let mut text =
        String::from("## Errors of the HTTP layer\n\n| code | status | meaning |\n|---|---|---|\n");
    for code in HttpCode::ALL {
        let status = code.status().as_u16();
        text.push_str(&format!(
            "| `{}` | {status} | {} |\n",
            code.as_str(),
            code.meaning()
        ));
    }
    text.push_str("\n## Errors in GraphQL responses\n\n| code | meaning |\n|---|---|\n");
    for code in ErrorCode::ALL {
        text.push_str(&format!("| `{}` | {} |\n", code.as_str(), code.meaning()));
    }
    text
}
