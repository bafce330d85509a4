//! Requests and their context, independent of any transport.

mod footprint;
mod forwarded;
mod freshness;
mod interchangeable;
mod json;
mod overdue;
mod sequences;

use std::sync::Arc;

use apollo_compiler::response::{JsonMap, JsonValue};
use call_context::{CallContext, Caller, MemoryAccount, Size};
pub use forwarded::Forwarded;
pub use freshness::Freshness;
pub use overdue::Overdue;
pub use sequences::{
    AWAIT_DATA_SEQUENCE, DATA_SEQUENCE, DataSequences, InvalidSequences, Sequences,
};

use crate::digits::{Digits, ExactValue};
use crate::limits::Limits;

/// A GraphQL request.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Request {
    /// The document.
    pub query: String,
    /// The operation to run when the document has several.
    pub operation_name: Option<String>,
    /// Values of the variables.
    ///
    /// A number that is out of the range of 64-bit floats is here the largest one of its sign, which only stands in for
    /// it. What was written is in [`Request::digits`]; [`Request::variable`] returns both together, and
    /// [`Digits::has_stand_ins`] whether there are such numbers.
    pub variables: Option<JsonMap>,
    /// The digits of numbers among the values of variables that these do not hold as they are written. A value that has
    /// taken the place of another must not have its digits.
    pub digits: Digits,
    /// Protocol extensions; unknown members are ignored, as the specification asks.
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

    /// Reads a request from its JSON text: an object with `query` and, where they are needed,
    /// `operationName`, `variables` and `extensions`. Other members are skipped unread.
    ///
    /// ```
    /// use graphql_service::{Limits, Request};
    ///
    /// let body = br#"{"query": "{ planets { name } }", "sentBy": {"any": ["thing"]}}"#;
    /// let request = Request::from_json(body, &Limits::default())?;
    /// assert_eq!(request.query, "{ planets { name } }");
    /// # Ok::<(), graphql_service::RequestError>(())
    /// ```
    ///
    /// Numbers among the values of variables keep all their digits; see [`Request::digits`]. Reading a request as a value
    /// of serde does not keep those that 64 bits cannot hold.
    ///
    /// # Errors
    /// When the text is no such object, or has more values than the limit allows.
    pub fn from_json(text: &[u8], limits: &Limits) -> Result<Self, RequestError> {
        json::request(text, limits.variable_values)
    }

    /// Reads the values of the variables, with all digits, from the JSON text of an object; null is as if there were
    /// none.
    ///
    /// ```
    /// use graphql_service::{Limits, Request};
    ///
    /// let request = Request::new("query($mass: Decimal) { planets(mass: $mass) { name } }");
    /// let request = request.with_variables_from_json(r#"{"mass": 1.50}"#, &Limits::default())?;
    /// let mass = request.variable("mass").unwrap();
    /// assert_eq!(mass.number().unwrap(), "1.50");
    /// # Ok::<(), graphql_service::RequestError>(())
    /// ```
    ///
    /// # Errors
    /// When the text is no such object, or has more values than the limit allows.
    pub fn with_variables_from_json(
        mut self,
        text: &str,
        limits: &Limits,
    ) -> Result<Self, RequestError> {
        (self.variables, self.digits) = json::variables(text, limits.variable_values)?;
        Ok(self)
    }

    /// Reads protocol extensions, or other values that are no variables, from the JSON text of an object; null is as if
    /// there were none.
    ///
    /// # Errors
    /// When the text is no such object, or has more values than the limit allows.
    pub fn values_from_json(text: &str, limits: &Limits) -> Result<Option<JsonMap>, RequestError> {
        json::values(text, limits.variable_values)
    }

    /// Returns the value of a variable, with the digits of its numbers.
    #[must_use]
    pub fn variable(&self, name: &str) -> Option<ExactValue<'_>> {
        let value = self.variables.as_ref()?.get(name)?;
        Some(self.digits.member(name, value))
    }

    /// Returns about how many bytes the request takes while it is answered: its text, the values of variables as
    /// they were read and once more as their types coerce them, and extensions.
    #[must_use]
    pub fn footprint(&self) -> usize {
        use footprint::{Counted, of_members};
        let maps = self.variables.iter().chain(&self.extensions);
        let read = maps.map(|map| of_members(map, Counted::Read));
        let coerced = self
            .variables
            .iter()
            .map(|map| of_members(map, Counted::Copy));
        self.query.len() + self.digits.footprint() + read.chain(coerced).sum::<usize>()
    }

    /// Returns how much work it is to read the request, whose document may be known: it was validated before.
    #[must_use]
    pub fn size(&self, is_known: bool) -> Size {
        let maps = self.variables.iter().chain(&self.extensions);
        let values = maps
            .flat_map(|map| map.iter())
            .map(|(key, value)| key.as_str().len() + json::cost(value));
        let document = if is_known { 0 } else { self.query.len() };
        Size::Operation {
            document,
            values: values.sum(),
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
        self.digits = Digits::default();
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

    /// Returns whether the request names a query in the extension `persistedQuery`. Such a request may be read
    /// without a query, for a transport that knows the names.
    #[must_use]
    pub fn names_query(&self) -> bool {
        let extensions = self.extensions.as_ref();
        let named = extensions.and_then(|map| map.get("persistedQuery"));
        named.is_some_and(JsonValue::is_object)
    }

    /// Returns whether a protocol extension is present and true.
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

/// Why a JSON text is not a request.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RequestError {
    /// The text is not JSON.
    #[error("not JSON: {0}")]
    NotJson(#[source] serde_json::Error),
    /// The text is JSON, but not what was expected.
    #[error("not a GraphQL request: {0}")]
    NotRequest(#[source] serde_json::Error),
    /// The text is a list of requests.
    #[error("batches of requests are not supported")]
    Batch,
    /// There are more values in variables and extensions than allowed.
    #[error("the variables and extensions have more than {limit} values")]
    TooManyValues {
        /// The limit.
        limit: usize,
    },
}

/// What surrounds a request: who sent it, who waits for it, and how long.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct RequestContext {
    /// What calls on behalf of the request carry: deadline, cancellation, identifier and languages.
    pub call: CallContext,
    /// Whether the request may ask for the schema.
    pub introspection: Introspection,
    /// Who sent the request; `None` when the transport does not ask.
    pub caller: Option<Arc<Caller>>,
    /// The key under which the client repeats a mutation, so that it is carried out once.
    pub idempotency_key: Option<String>,
    /// Counts the memory that the request holds.
    pub memory: Arc<MemoryAccount>,
    /// The error for a request that no one waits for any more.
    pub overdue: Arc<Overdue>,
    /// What upstream services are sent along.
    pub forwarded: Arc<Forwarded>,
    /// For how long the answer may be kept, as upstream services say.
    pub freshness: Arc<Freshness>,
    /// The changes of data that the answer is to have, and those that are made for it.
    pub sequences: Arc<DataSequences>,
}

impl RequestContext {
    /// Creates a context without deadline for an anonymous client.
    #[must_use]
    pub fn new() -> Self {
        RequestContext::default()
    }

    /// Creates the context of a request of an anonymous client, on behalf of which calls are made with `call`, and whose
    /// memory an account counts.
    #[must_use]
    pub fn counted_by(memory: Arc<MemoryAccount>, call: CallContext) -> Self {
        RequestContext {
            call,
            introspection: Introspection::default(),
            caller: None,
            idempotency_key: None,
            memory,
            overdue: Arc::default(),
            forwarded: Arc::default(),
            freshness: Arc::default(),
            sequences: Arc::default(),
        }
    }

    /// Sets what calls on behalf of the request carry.
    #[must_use]
    pub fn with_call(mut self, call: CallContext) -> Self {
        self.call = call;
        self
    }

    /// Sets the key under which the client repeats a mutation.
    #[must_use]
    pub fn with_idempotency_key(mut self, key: impl Into<String>) -> Self {
        self.idempotency_key = Some(key.into());
        self
    }

    /// Sets whether the request may ask for the schema.
    #[must_use]
    pub fn with_introspection(mut self, introspection: Introspection) -> Self {
        self.introspection = introspection;
        self
    }

    /// Sets the account that counts the memory of the request.
    #[must_use]
    pub fn with_memory(mut self, memory: Arc<MemoryAccount>) -> Self {
        self.memory = memory;
        self
    }

    /// Sets what upstream services are sent along.
    #[must_use]
    pub fn with_forwarded(mut self, forwarded: Forwarded) -> Self {
        self.forwarded = Arc::new(forwarded);
        self
    }

    /// Sets the changes of data that the answer is to have.
    #[must_use]
    pub fn with_awaited(mut self, awaited: Sequences) -> Self {
        self.sequences = Arc::new(DataSequences::awaiting(awaited));
        self
    }

    /// Sets who sent the request.
    #[must_use]
    pub fn with_caller(mut self, caller: Arc<Caller>) -> Self {
        self.caller = Some(caller);
        self
    }
}

impl From<CallContext> for RequestContext {
    fn from(call: CallContext) -> Self {
        RequestContext::counted_by(Arc::default(), call)
    }
}

/// Whether a request may ask for the schema.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Introspection {
    /// Like any other field.
    #[default]
    Allowed,
    /// `__schema` and `__type` are refused.
    Refused,
    /// Only `__schema`, `__type` and `__typename` are allowed.
    Only,
}
