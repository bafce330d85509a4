//! Responses and their envelope.

use bytes::Bytes;
use call_context::ErrorCode;
use serde::Serialize;
use serde_json::value::RawValue;

use crate::body::Body;
use crate::code;
use crate::error::GraphqlError;

/// The reply to a request, before it is brought into the form of a transport.
///
/// Clones share the text of `data`.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Reply {
    /// Refused before execution.
    Refused(Vec<GraphqlError>),
    /// Given up, since the service has no room for it now: the same request may succeed later.
    Overloaded(GraphqlError),
    /// Executed.
    Executed(Answer),
}

/// The result of an execution.
///
/// Clones share the text of `data`.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Answer {
    /// JSON text of `data`.
    pub data: Body,
    /// What went wrong on the way.
    pub errors: Vec<GraphqlError>,
    /// Members of `extensions`, as JSON text.
    pub extensions: Vec<(&'static str, Box<RawValue>)>,
    /// What was written, if the operation is a mutation.
    pub written: Option<WriteCounts>,
    /// The HTTP status, if it is not 200.
    pub status: Option<u16>,
}

/// How many objects a mutation has written; none where it failed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WriteCounts {
    /// Objects that were created.
    pub created: usize,
    /// Objects that were changed.
    pub updated: usize,
    /// Objects that were deleted.
    pub deleted: usize,
}

impl Answer {
    /// Creates an answer from the JSON text of `data`.
    #[must_use]
    pub fn new(data: impl Into<Body>, errors: Vec<GraphqlError>) -> Self {
        Answer {
            data: data.into(),
            errors,
            ..Answer::default()
        }
    }

    /// Creates the answer to a request that failed as a whole: `data` is null.
    #[must_use]
    pub fn without_data(error: GraphqlError) -> Self {
        Answer::new(b"null".to_vec(), vec![error])
    }

    /// Creates the answer to a request that failed as a whole, with the HTTP status of its error.
    #[must_use]
    pub fn failed(error: GraphqlError) -> Self {
        let status = Some(error.code.status());
        Answer {
            status,
            ..Answer::without_data(error)
        }
    }

    /// Marks the response as that of a mutation, with what it has written.
    #[must_use]
    pub fn with_written(mut self, written: WriteCounts) -> Self {
        self.written = Some(written);
        self
    }

    /// Adds a member to `extensions`.
    ///
    /// # Panics
    /// When the value cannot be serialized to JSON, such as a map whose keys are not strings.
    #[must_use]
    pub fn with_extension(mut self, name: &'static str, value: &impl Serialize) -> Self {
        let text = serde_json::value::to_raw_value(value).expect("the value has names as keys");
        self.extensions.push((name, text));
        self
    }
}

impl Reply {
    /// Returns the codes of its errors, with how often each is there.
    #[must_use]
    pub fn codes(&self) -> Vec<(ErrorCode, u64)> {
        match self {
            Reply::Refused(errors) => codes_of(errors),
            Reply::Overloaded(error) => codes_of(std::slice::from_ref(error)),
            Reply::Executed(answer) => codes_of(&answer.errors),
        }
    }

    /// Creates the reply for an internal error of the service; the details are in the log.
    #[must_use]
    pub fn internal_error() -> Self {
        let error = GraphqlError::new(code::INTERNAL, "the service failed");
        Reply::Executed(Answer::without_data(error))
    }

    /// Writes the JSON text of the response.
    #[must_use]
    pub fn into_response(self) -> Response {
        let codes = self.codes();
        match self {
            Reply::Refused(errors) => Response {
                body: refused(&errors).into(),
                outcome: Outcome::RequestError,
                written: None,
                codes,
                status: errors.first().map_or(400, |error| error.code.status()),
            },
            Reply::Overloaded(error) => Response {
                status: error.code.status(),
                body: refused(&[error]).into(),
                outcome: Outcome::Overloaded,
                written: None,
                codes,
            },
            Reply::Executed(answer) => Response {
                outcome: Outcome::Executed,
                written: answer.written,
                codes,
                status: answer.status.unwrap_or(200),
                body: executed(answer),
            },
        }
    }
}

/// How far a request got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Executed; the body has `data`, which may be null, and perhaps `errors`.
    Executed,
    /// Refused before execution; the body has only `errors`.
    RequestError,
    /// Given up, since the service has no room for it now; the body has `errors` alone.
    Overloaded,
}

/// The response to a request.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Response {
    /// JSON text of the response.
    pub body: Body,
    /// How far the request came.
    pub outcome: Outcome,
    /// What was written, if the operation is a mutation that was executed.
    pub written: Option<WriteCounts>,
    /// The codes of its errors, with how often each is there.
    pub codes: Vec<(ErrorCode, u64)>,
    /// HTTP status under the media type `application/graphql-response+json`.
    pub status: u16,
}

/// Counts errors by their codes; nothing is allocated where there are none.
fn codes_of(errors: &[GraphqlError]) -> Vec<(ErrorCode, u64)> {
    let mut codes: Vec<(ErrorCode, u64)> = Vec::new();
    for error in errors {
        match codes.iter_mut().find(|(code, _)| *code == error.code) {
            Some((_, count)) => *count += 1,
            None => codes.push((error.code, 1)),
        }
    }
    codes
}

fn refused(errors: &[GraphqlError]) -> Vec<u8> {
    let mut body = Vec::new();
    body.extend_from_slice(b"{\"errors\":");
    serde_json::to_writer(&mut body, errors).expect("writing to memory does not fail");
    body.push(b'}');
    body
}

/// Length up to which a response is copied into one segment, so that it is sent by one write.
const ONE_SEGMENT: usize = 16 << 10;

fn executed(answer: Answer) -> Body {
    let (head, tail) = (head(&answer.errors), tail(&answer.extensions));
    let (data, memory) = answer.data.into_parts();
    let length: usize = data.iter().map(Bytes::len).sum();
    if length <= ONE_SEGMENT {
        let mut body = head;
        body.reserve_exact(length + tail.len());
        for segment in data {
            body.extend_from_slice(&segment);
        }
        body.extend_from_slice(&tail);
        return Body::new(vec![body.into()], memory);
    }
    let mut segments = Vec::with_capacity(data.len() + 2);
    segments.push(head.into());
    segments.extend(data);
    segments.push(tail.into());
    Body::new(segments, memory)
}

/// Returns what stands before the text of `data`.
fn head(errors: &[GraphqlError]) -> Vec<u8> {
    let mut head = Vec::with_capacity(16);
    head.push(b'{');
    if !errors.is_empty() {
        head.extend_from_slice(b"\"errors\":");
        serde_json::to_writer(&mut head, errors).expect("writing to memory does not fail");
        head.push(b',');
    }
    head.extend_from_slice(b"\"data\":");
    head
}

/// Returns what stands after the text of `data`.
fn tail(extensions: &[(&'static str, Box<RawValue>)]) -> Vec<u8> {
    let mut tail = Vec::new();
    for (position, (name, value)) in extensions.iter().enumerate() {
        let opening: &[u8] = match position {
            0 => b",\"extensions\":{\"",
            _ => b",\"",
        };
        tail.extend_from_slice(opening);
        tail.extend_from_slice(name.as_bytes());
        tail.extend_from_slice(b"\":");
        tail.extend_from_slice(value.get().as_bytes());
    }
    if !extensions.is_empty() {
        tail.push(b'}');
    }
    tail.push(b'}');
    tail
}
