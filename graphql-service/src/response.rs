//! What comes out: the envelope of a response.

use bytes::Bytes;
use serde::Serialize;
use serde_json::value::RawValue;

use crate::code;
use crate::error::GraphqlError;

/// The reply to a request, before it takes the form that a transport wants.
#[derive(Debug)]
#[non_exhaustive]
pub enum Reply {
    /// Refused before execution.
    Refused(Vec<GraphqlError>),
    /// Executed.
    Executed(Answer),
}

/// What an execution gives.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Answer {
    /// JSON text of `data`.
    pub data: Vec<u8>,
    /// What went wrong on the way.
    pub errors: Vec<GraphqlError>,
    /// Members of `extensions`, as JSON text.
    pub extensions: Vec<(&'static str, Box<RawValue>)>,
}

impl Answer {
    /// Creates an answer from the JSON text of `data`.
    #[must_use]
    pub fn new(data: Vec<u8>, errors: Vec<GraphqlError>) -> Self {
        Answer {
            data,
            errors,
            extensions: Vec::new(),
        }
    }

    /// Creates the answer to a request whose execution failed as a whole: `data` is null.
    #[must_use]
    pub fn without_data(error: GraphqlError) -> Self {
        Answer::new(b"null".to_vec(), vec![error])
    }

    /// Adds a member to `extensions`.
    ///
    /// # Panics
    /// When the value has no JSON text, such as a map whose keys are no strings.
    #[must_use]
    pub fn with_extension(mut self, name: &'static str, value: &impl Serialize) -> Self {
        let text = serde_json::value::to_raw_value(value).expect("the value has names as keys");
        self.extensions.push((name, text));
        self
    }
}

impl Reply {
    /// Creates the reply of a service that is at fault itself; what happened is in the log.
    #[must_use]
    pub fn internal_error() -> Self {
        let error = GraphqlError::new(code::INTERNAL, "the service failed");
        Reply::Executed(Answer::without_data(error))
    }

    /// Writes the JSON text of the response.
    #[must_use]
    pub fn into_response(self) -> Response {
        match self {
            Reply::Refused(errors) => Response {
                body: refused(&errors).into(),
                outcome: Outcome::RequestError,
                status: errors.first().map_or(400, |error| error.code.status()),
            },
            Reply::Executed(answer) => Response {
                body: executed(&answer).into(),
                outcome: Outcome::Executed,
                status: 200,
            },
        }
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

/// The response to a request.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Response {
    /// JSON text of the response.
    pub body: Bytes,
    /// How far the request came.
    pub outcome: Outcome,
    /// HTTP status under the media type `application/graphql-response+json`.
    pub status: u16,
}

fn refused(errors: &[GraphqlError]) -> Vec<u8> {
    let mut body = Vec::new();
    body.extend_from_slice(b"{\"errors\":");
    serde_json::to_writer(&mut body, errors).expect("writing to memory does not fail");
    body.push(b'}');
    body
}

fn executed(answer: &Answer) -> Vec<u8> {
    let mut body = Vec::with_capacity(answer.data.len() + 64);
    body.push(b'{');
    if !answer.errors.is_empty() {
        body.extend_from_slice(b"\"errors\":");
        serde_json::to_writer(&mut body, &answer.errors).expect("writing to memory does not fail");
        body.push(b',');
    }
    body.extend_from_slice(b"\"data\":");
    body.extend_from_slice(&answer.data);
    for (position, (name, value)) in answer.extensions.iter().enumerate() {
        let opening: &[u8] = match position {
            0 => b",\"extensions\":{\"",
            _ => b",\"",
        };
        body.extend_from_slice(opening);
        body.extend_from_slice(name.as_bytes());
        body.extend_from_slice(b"\":");
        body.extend_from_slice(value.get().as_bytes());
    }
    if !answer.extensions.is_empty() {
        body.push(b'}');
    }
    body.push(b'}');
    body
}
