//! Batches: several GraphQL requests in one body, answered by a list of responses.

use std::sync::Arc;

use bytes::Bytes;
use graphql_service::{
    Body, Limits, MemoryAccount, Outcome, Request, RequestError, Response, code as shared,
};
use serde_json::value::RawValue;

use crate::code;
use crate::error::HttpError;

/// What a body asks for.
pub(crate) enum Requests {
    One(Box<Request>),
    Batch(Vec<Request>),
}

impl Requests {
    /// Reads a body. Batches have at most `longest` requests; none are read if that is 0.
    pub(crate) fn read(text: &[u8], limits: &Limits, longest: usize) -> Result<Self, HttpError> {
        match Request::from_json(text, limits) {
            Ok(request) => Ok(Requests::One(Box::new(request))),
            Err(RequestError::Batch) if longest > 0 => Requests::batch(text, limits, longest),
            Err(error) => Err(not_a_request(error)),
        }
    }

    fn batch(text: &[u8], limits: &Limits, longest: usize) -> Result<Self, HttpError> {
        let items: Vec<&RawValue> = serde_json::from_slice(text).map_err(|error| {
            let message = format!("the body is not JSON: {error}");
            HttpError::new(code::REQUEST_MALFORMED, message)
        })?;
        if items.is_empty() || items.len() > longest {
            let message = format!(
                "a batch has 1 to {longest} requests, but this one has {}",
                items.len()
            );
            return Err(HttpError::new(code::BATCH_TOO_LONG, message));
        }
        let requests = items.iter().map(|item| {
            let request = Request::from_json(item.get().as_bytes(), limits);
            request.map_err(not_a_request)
        });
        Ok(Requests::Batch(requests.collect::<Result<_, _>>()?))
    }

    /// Returns about how many bytes the requests take.
    pub(crate) fn footprint(&self) -> usize {
        match self {
            Requests::One(request) => request.footprint(),
            Requests::Batch(requests) => requests.iter().map(Request::footprint).sum(),
        }
    }
}

/// Joins the responses to a batch. All of them are counted by one account.
pub(crate) fn joined(responses: Vec<Response>, memory: Arc<MemoryAccount>) -> Response {
    let all_overloaded = responses.iter().all(|it| it.outcome == Outcome::Overloaded);
    let mut segments = Vec::new();
    let mut mark = "[";
    let mut first = None;
    for response in responses {
        segments.push(Bytes::from_static(mark.as_bytes()));
        mark = ",";
        let (parts, _) = response.body.clone().into_parts();
        segments.extend(parts);
        first.get_or_insert(response);
    }
    segments.push(Bytes::from_static(b"]"));
    let mut response = first.expect("a batch has requests");
    response.body = Body::new(segments, Some(memory));
    response.written = None;
    if !all_overloaded {
        response.outcome = Outcome::Executed;
        response.status = 200;
    }
    response
}

pub(crate) fn not_a_request(error: RequestError) -> HttpError {
    match error {
        RequestError::TooManyValues { .. } => {
            HttpError::new(shared::LIMIT_VARIABLES, error.to_string())
        }
        RequestError::Batch => malformed(error.to_string()),
        error => malformed(format!("the body is {error}")),
    }
}

pub(crate) fn malformed(message: impl Into<String>) -> HttpError {
    HttpError::new(code::REQUEST_MALFORMED, message)
}
