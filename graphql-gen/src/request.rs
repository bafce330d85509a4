//! What comes in and what goes out, free of any transport.

use std::sync::Arc;
use std::time::Instant;

use apollo_compiler::response::JsonMap;
use bytes::Bytes;
use serde::Deserialize;
use tokio_util::sync::CancellationToken;

use crate::explain::Trace;
use crate::store::StoreError;

/// A GraphQL request.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Request {
    /// The document.
    pub query: String,
    /// The operation to run when the document has several.
    #[serde(default)]
    pub operation_name: Option<String>,
    /// Values of the variables.
    #[serde(default)]
    pub variables: Option<JsonMap>,
    /// Protocol extensions; unknown members are ignored, as the specification asks.
    #[serde(default)]
    pub extensions: Option<JsonMap>,
}

impl Request {
    /// Tells whether the client asks for `extensions.explain` in the answer.
    #[must_use]
    pub fn wants_explanation(&self) -> bool {
        let explain = self.extensions.as_ref().and_then(|map| map.get("explain"));
        explain.and_then(|value| value.as_bool()).unwrap_or(false)
    }
}

impl Request {
    /// Creates a request without variables.
    #[must_use]
    pub fn new(query: impl Into<String>) -> Self {
        Request {
            query: query.into(),
            ..Request::default()
        }
    }
}

/// What surrounds a request: who waits for it and how long.
#[derive(Clone, Debug, Default)]
pub struct RequestContext {
    /// Moment after which nobody waits any more.
    pub deadline: Option<Instant>,
    /// Cancelled when the client goes away.
    pub cancellation: CancellationToken,
    /// Identifier for logs and for the store.
    pub request_id: String,
    /// Languages that the client accepts, best first.
    pub accept_language: Vec<String>,
    /// Filled with the steps that the store takes, when somebody wants to know them.
    pub trace: Option<Arc<Trace>>,
}

impl RequestContext {
    /// Counts one call to the store in the trace; stores call it for each step that they take.
    pub fn count_call(&self) {
        if let Some(trace) = &self.trace {
            trace.count_call();
        }
    }

    /// Checks that somebody still waits for the answer.
    ///
    /// # Errors
    /// When the deadline has passed or the request was cancelled.
    pub fn check(&self) -> Result<(), StoreError> {
        if self.cancellation.is_cancelled() {
            return Err(StoreError::Cancelled);
        }
        if self
            .deadline
            .is_some_and(|deadline| Instant::now() >= deadline)
        {
            return Err(StoreError::Deadline);
        }
        Ok(())
    }
}

/// How far a request came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Executed; the body has `data`, which may be null, and perhaps `errors`.
    Executed,
    /// Refused before execution; the body has `errors` alone.
    RequestError,
}

/// The answer to a request.
#[derive(Clone, Debug)]
pub struct Response {
    /// JSON text of the response.
    pub body: Bytes,
    /// How far the request came.
    pub outcome: Outcome,
}
