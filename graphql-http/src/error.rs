//! Errors of the HTTP layer: their codes, statuses and bodies.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use graphql_service::{ErrorCode, GraphqlError, OutOfMemory, SlotError, code as shared};
use serde_json::{Value, json};
use service_auth::{Refusal, code as auth};

/// The scheme that requests are authenticated by.
const SCHEME: &str = "Bearer realm=\"graphql\"";

/// An answer that reports one failure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpError {
    /// The status of the answer.
    pub status: StatusCode,
    /// The code, which programs go by.
    pub code: ErrorCode,
    /// The message, for people.
    pub message: String,
    /// Methods that the path takes, for a 405.
    pub allow: Option<&'static str>,
    /// What a request needs to be authenticated, for a 401 and a 403 (RFC 6750, section 3).
    challenge: Option<String>,
    /// The cause is soon over, so that clients may ask again.
    is_short: bool,
}

impl HttpError {
    /// Reports a failure with a code and its status.
    #[must_use]
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        HttpError {
            status: StatusCode::from_u16(code.status()).expect("the tables hold valid statuses"),
            code,
            message: message.into(),
            allow: None,
            challenge: (code == shared::FORBIDDEN)
                .then(|| format!("{SCHEME}, error=\"insufficient_scope\"")),
            is_short: [shared::OVERLOADED, auth::KEYS_UNAVAILABLE].contains(&code),
        }
    }

    /// Lets clients ask again soon.
    #[must_use]
    pub fn soon_over(mut self) -> Self {
        self.is_short = true;
        self
    }

    /// Names the methods that the path takes.
    #[must_use]
    pub fn allowing(mut self, methods: &'static str) -> Self {
        self.allow = Some(methods);
        self
    }

    /// The request has no token that is believed.
    #[must_use]
    pub fn unauthenticated(refusal: Refusal) -> Self {
        let message = refusal.to_string();
        let challenge = match refusal {
            Refusal::Missing => Some(SCHEME.to_owned()),
            Refusal::KeysUnavailable => None,
            // The text has no quotes.
            _ => Some(format!(
                "{SCHEME}, error=\"invalid_token\", error_description=\"{message}\""
            )),
        };
        HttpError {
            challenge,
            ..HttpError::new(refusal.code(), message)
        }
    }

    /// No schema is bound.
    #[must_use]
    pub fn schema_not_bound() -> Self {
        HttpError::new(
            shared::SCHEMA_NOT_BOUND,
            "no schema is bound to the service",
        )
    }

    /// A fault of ours; what exactly stays in the log.
    #[must_use]
    pub fn internal() -> Self {
        HttpError {
            status: StatusCode::INTERNAL_SERVER_ERROR,
            ..HttpError::new(
                shared::INTERNAL,
                "internal error; see the log for this request id",
            )
        }
    }

    /// There is no memory for the request at the moment.
    #[must_use]
    pub fn out_of_memory() -> Self {
        let error = GraphqlError::from(OutOfMemory);
        HttpError::new(error.code, error.message)
    }

    /// There is no slot for the work at the moment.
    #[must_use]
    pub fn of_slot(error: SlotError) -> Self {
        match error {
            SlotError::QueueFull | SlotError::Deadline => {
                HttpError::new(shared::OVERLOADED, error.to_string())
            }
            _ => HttpError::internal(),
        }
    }

    /// Returns the body of the answer, in the form of GraphQL errors.
    #[must_use]
    pub fn body(&self) -> Value {
        json!({ "errors": [GraphqlError::new(self.code, self.message.as_str())] })
    }
}

impl From<HttpError> for GraphqlError {
    fn from(error: HttpError) -> Self {
        GraphqlError::new(error.code, error.message)
    }
}

impl IntoResponse for HttpError {
    fn into_response(self) -> Response {
        let mut response = (self.status, axum::Json(self.body())).into_response();
        // Whoever counts errors finds it there.
        response.extensions_mut().insert(self.code);
        if self.is_short {
            response
                .headers_mut()
                .insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
        }
        if let Some(methods) = self.allow {
            response
                .headers_mut()
                .insert(header::ALLOW, HeaderValue::from_static(methods));
        }
        let challenge = self.challenge.as_deref();
        if let Some(challenge) = challenge.and_then(|text| HeaderValue::from_str(text).ok()) {
            response
                .headers_mut()
                .insert(header::WWW_AUTHENTICATE, challenge);
        }
        response
    }
}
