//! Errors that clients see: the entries of a response's `errors`.

use std::error::Error;

use apollo_compiler::response::{JsonMap, JsonValue};
use call_context::ErrorCode;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

/// One entry of the `errors` list of a GraphQL response.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct GraphqlError {
    /// The code, under `extensions.code`.
    pub code: ErrorCode,
    /// What happened, for people.
    pub message: String,
    /// Positions in the document.
    pub locations: Vec<Location>,
    /// Response keys and list indices that lead to the field.
    pub path: Vec<PathSegment>,
    /// Members of `extensions` other than the code; boxed, since few errors have any.
    details: Option<Box<JsonMap>>,
}

/// A position in a GraphQL document; line and column count from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Location {
    /// Line, from 1.
    pub line: usize,
    /// Column, from 1.
    pub column: usize,
}

impl Location {
    /// Returns the line and column where a node of a document starts.
    #[must_use]
    pub fn of(
        span: Option<apollo_compiler::parser::SourceSpan>,
        sources: &apollo_compiler::parser::SourceMap,
    ) -> Option<Self> {
        let start = span?.line_column(sources)?;
        Some(Location {
            line: start.line,
            column: start.column,
        })
    }
}

/// A step of the path to a field in the response.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum PathSegment {
    /// A response key.
    Key(String),
    /// An index into a list.
    Index(usize),
}

/// Maximum length of a message in characters.
const MAX_MESSAGE: usize = 1_000;

/// Truncates a message that quotes something long.
fn shortened(mut message: String) -> String {
    if let Some((end, _)) = message.char_indices().nth(MAX_MESSAGE) {
        message.truncate(end);
        message.push('…');
    }
    message
}

impl GraphqlError {
    /// Creates an error without location and path; a message of more than 1,000 characters is
    /// truncated.
    #[must_use]
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        GraphqlError {
            code,
            message: shortened(message.into()),
            locations: Vec::new(),
            path: Vec::new(),
            details: None,
        }
    }

    /// Creates an error for a failure whose text the client sees only if its code is public.
    ///
    /// Its causes, and the failure where the client does not see it, are written to the log with the request
    /// identifier.
    #[must_use]
    pub fn of_failure(
        code: ErrorCode,
        message: &str,
        failure: &dyn Error,
        request_id: &str,
    ) -> Self {
        let causes: Vec<String> = std::iter::successors(failure.source(), |&cause| cause.source())
            .map(ToString::to_string)
            .collect();
        if !code.is_public() || !causes.is_empty() {
            tracing::error!(%code, request_id, error = %failure, causes = causes.join(": "), "{message}");
        }
        if code.is_public() {
            GraphqlError::new(code, format!("{message}: {failure}"))
        } else {
            GraphqlError::new(code, message)
        }
    }

    /// Adds a position in the document.
    #[must_use]
    pub fn at(mut self, location: Option<Location>) -> Self {
        self.locations.extend(location);
        self
    }

    /// Sets the path of the field.
    #[must_use]
    pub fn on(mut self, path: Vec<PathSegment>) -> Self {
        self.path = path;
        self
    }

    /// Adds a member to `extensions`.
    #[must_use]
    pub fn with(mut self, key: &'static str, value: impl Into<JsonValue>) -> Self {
        self.details
            .get_or_insert_default()
            .insert(key, value.into());
        self
    }

    /// Returns the members of `extensions` other than the code.
    pub fn details(&self) -> impl Iterator<Item = (&str, &JsonValue)> {
        let members = self.details.iter().flat_map(|details| details.iter());
        members.map(|(key, value)| (key.as_str(), value))
    }
}

impl Serialize for GraphqlError {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("message", &self.message)?;
        if !self.locations.is_empty() {
            map.serialize_entry("locations", &self.locations)?;
        }
        if !self.path.is_empty() {
            map.serialize_entry("path", &self.path)?;
        }
        map.serialize_entry("extensions", &Extensions(self))?;
        map.end()
    }
}

/// The member `extensions` of an error: the code, then the details.
struct Extensions<'e>(&'e GraphqlError);

impl Serialize for Extensions<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("code", self.0.code.as_str())?;
        for (key, value) in self.0.details() {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}
