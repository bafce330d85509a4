//! What comes in, free of any transport.

use std::sync::Arc;
use std::time::{Duration, Instant};

use apollo_compiler::response::{JsonMap, JsonValue};
use serde::Deserialize;
use tokio_util::sync::CancellationToken;

/// A GraphQL request.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
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
    /// Creates a request without variables.
    #[must_use]
    pub fn new(query: impl Into<String>) -> Self {
        Request {
            query: query.into(),
            ..Request::default()
        }
    }

    /// Sets the operation to run.
    #[must_use]
    pub fn with_operation_name(mut self, name: impl Into<String>) -> Self {
        self.operation_name = Some(name.into());
        self
    }

    /// Sets the values of the variables.
    ///
    /// ```
    /// use graphql_service::Request;
    /// use serde_json::json;
    ///
    /// let variables = json!({ "planet": "Tatooine" });
    /// let request = Request::new("query($planet: String) { __typename }");
    /// let request = request.with_variables(variables.as_object().unwrap().clone());
    /// assert_eq!(request.variables.unwrap()["planet"], "Tatooine");
    /// ```
    #[must_use]
    pub fn with_variables(mut self, variables: serde_json::Map<String, serde_json::Value>) -> Self {
        self.variables = Some(map_of(variables));
        self
    }

    /// Sets the protocol extensions.
    #[must_use]
    pub fn with_extensions(
        mut self,
        extensions: serde_json::Map<String, serde_json::Value>,
    ) -> Self {
        self.extensions = Some(map_of(extensions));
        self
    }

    /// Tells whether a protocol extension is there and true.
    #[must_use]
    pub fn has_extension(&self, name: &str) -> bool {
        let value = self.extensions.as_ref().and_then(|map| map.get(name));
        value.and_then(JsonValue::as_bool).unwrap_or(false)
    }
}

fn map_of(map: serde_json::Map<String, serde_json::Value>) -> JsonMap {
    let members = map.into_iter();
    members
        .map(|(key, value)| (key.into(), JsonValue::from(value)))
        .collect()
}

/// What surrounds a request: who sent it, who waits for it, and how long.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct RequestContext {
    /// Moment after which nobody waits any more.
    pub deadline: Option<Instant>,
    /// Cancelled when the client goes away.
    pub cancellation: CancellationToken,
    /// Identifier for logs and for the services behind this one.
    pub request_id: String,
    /// Languages that the client accepts, best first.
    pub accept_language: Vec<String>,
    /// Whether the request may ask for the schema.
    pub introspection: Introspection,
    /// Claims of the client's token, once somebody has verified it; carried to the service as they are.
    pub claims: Option<Arc<JsonMap>>,
}

impl RequestContext {
    /// Creates a context without deadline for an anonymous client.
    #[must_use]
    pub fn new() -> Self {
        RequestContext::default()
    }

    /// Sets how long the request may take from now on.
    #[must_use]
    pub fn with_timeout(self, timeout: Duration) -> Self {
        match Instant::now().checked_add(timeout) {
            Some(deadline) => self.with_deadline(deadline),
            None => self,
        }
    }

    /// Sets the moment after which nobody waits any more.
    #[must_use]
    pub fn with_deadline(mut self, deadline: Instant) -> Self {
        self.deadline = Some(deadline);
        self
    }

    /// Sets what is cancelled when the client goes away.
    #[must_use]
    pub fn with_cancellation(mut self, cancellation: CancellationToken) -> Self {
        self.cancellation = cancellation;
        self
    }

    /// Sets the identifier of the request.
    #[must_use]
    pub fn with_request_id(mut self, request_id: impl Into<String>) -> Self {
        self.request_id = request_id.into();
        self
    }

    /// Sets the languages that the client accepts, best first.
    #[must_use]
    pub fn with_accept_language(mut self, languages: Vec<String>) -> Self {
        self.accept_language = languages;
        self
    }

    /// Sets whether the request may ask for the schema.
    #[must_use]
    pub fn with_introspection(mut self, introspection: Introspection) -> Self {
        self.introspection = introspection;
        self
    }

    /// Sets the claims of the client's token.
    #[must_use]
    pub fn with_claims(mut self, claims: Arc<JsonMap>) -> Self {
        self.claims = Some(claims);
        self
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
