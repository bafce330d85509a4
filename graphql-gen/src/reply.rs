//! What an execution gives, before it takes the form that a transport wants.

use bytes::Bytes;

use crate::error::GraphqlError;
use crate::execute::Answer;
use crate::explain::{Explained, Explanation};
use crate::request::{Outcome, Response};

/// The reply to a request.
pub(crate) enum Reply {
    /// Refused before execution.
    Refused(Vec<GraphqlError>),
    /// Executed, with an explanation when one is asked for.
    Executed(Answer, Option<Explanation>),
}

impl Reply {
    /// Creates the reply to a request whose execution failed as a whole.
    pub(crate) fn without_data(error: GraphqlError) -> Self {
        let answer = Answer {
            data: b"null".to_vec(),
            errors: vec![error],
        };
        Reply::Executed(answer, None)
    }

    /// Writes the response, and keeps the explanation apart.
    pub(crate) fn into_explained(self) -> Explained {
        match self {
            Reply::Refused(_) => Explained {
                response: self.into_response(),
                explanation: None,
            },
            Reply::Executed(answer, explanation) => Explained {
                response: Reply::Executed(answer, None).into_response(),
                explanation,
            },
        }
    }

    /// Writes the JSON text of the response.
    pub(crate) fn into_response(self) -> Response {
        let (body, outcome) = match self {
            Reply::Refused(errors) => (refused(&errors), Outcome::RequestError),
            Reply::Executed(answer, explanation) => {
                (executed(&answer, explanation.as_ref()), Outcome::Executed)
            }
        };
        Response {
            body: Bytes::from(body),
            outcome,
        }
    }
}

fn refused(errors: &[GraphqlError]) -> Vec<u8> {
    let mut body = Vec::new();
    body.extend_from_slice(b"{\"errors\":");
    serde_json::to_writer(&mut body, errors).expect("writing to memory does not fail");
    body.push(b'}');
    body
}

fn executed(answer: &Answer, explanation: Option<&Explanation>) -> Vec<u8> {
    let mut body = Vec::with_capacity(answer.data.len() + 64);
    body.push(b'{');
    if !answer.errors.is_empty() {
        body.extend_from_slice(b"\"errors\":");
        serde_json::to_writer(&mut body, &answer.errors).expect("writing to memory does not fail");
        body.push(b',');
    }
    body.extend_from_slice(b"\"data\":");
    body.extend_from_slice(&answer.data);
    if let Some(explanation) = explanation {
        body.extend_from_slice(b",\"extensions\":{\"explain\":");
        serde_json::to_writer(&mut body, explanation).expect("writing to memory does not fail");
        body.push(b'}');
    }
    body.push(b'}');
    body
}
