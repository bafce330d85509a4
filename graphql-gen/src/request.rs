//! What comes in and what goes out, free of any transport.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
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
    /// Whether the request may ask for the schema.
    pub introspection: Introspection,
    /// Filled with the steps that the store takes, when somebody wants to know them.
    pub trace: Option<Arc<Trace>>,
    /// Counts the work of a store that blocks its thread, and ends it when it gets too long.
    pub meter: Option<Arc<Meter>>,
}

/// Counts work, in quads that are read and objects that are written, up to a limit.
#[derive(Debug)]
pub struct Meter {
    spent: AtomicU64,
    limit: u64,
}

impl Meter {
    /// Creates a meter that runs up to `limit`.
    #[must_use]
    pub fn new(limit: u64) -> Self {
        Meter {
            spent: AtomicU64::new(0),
            limit,
        }
    }

    /// Returns the work so far.
    #[must_use]
    pub fn spent(&self) -> u64 {
        self.spent.load(Ordering::Relaxed)
    }

    /// Tells whether there was more work than the limit allows.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.spent() > self.limit
    }
}

/// Whether a request may ask for the schema.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Introspection {
    /// As for any other field.
    #[default]
    Allowed,
    /// `__schema` and `__type` are refused.
    Refused,
    /// All but `__schema`, `__type` and `__typename` is refused.
    Only,
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

    /// Counts work, and checks that somebody still waits for the answer.
    ///
    /// # Errors
    /// As [`RequestContext::check`], and [`StoreError::TooLong`] beyond the limit of the meter.
    pub fn spend(&self, work: u32) -> Result<(), StoreError> {
        self.check()?;
        let Some(meter) = &self.meter else {
            return Ok(());
        };
        meter.spent.fetch_add(u64::from(work), Ordering::Relaxed);
        if meter.is_over() {
            return Err(StoreError::TooLong);
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
