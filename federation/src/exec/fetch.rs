//! One request to a subgraph: its text, the wait for its answer, and why there is none.

use std::error::Error;
use std::future::Future;
use std::sync::Arc;

use bytes::Bytes;
use graphql_service::writer::write_string;
use graphql_service::{ErrorCode, GraphqlError, PathSegment, RequestContext, code as shared};

use super::errors;
use crate::code;
use crate::supergraph::Subgraph;
use crate::transport::{Allowance, SubgraphRequest, SubgraphTransport, TransportError};

/// Why a request has failed.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(super) code: ErrorCode,
    pub(super) reason: String,
}

impl Failure {
    pub(super) fn new(reason: impl Into<String>) -> Self {
        Failure {
            code: code::DOWNSTREAM_SERVICE_ERROR,
            reason: reason.into(),
        }
    }

    /// Says that the client has gone away.
    pub(super) fn cancelled() -> Self {
        Failure {
            code: shared::CANCELLED,
            reason: "the request was cancelled".to_owned(),
        }
    }

    /// Returns the error that clients see, for a value of theirs.
    pub(crate) fn error(&self, subgraph: &Subgraph, path: Vec<PathSegment>) -> GraphqlError {
        errors::of_request(self.code, &self.reason, &subgraph.name, path)
    }

    pub(crate) fn of(error: &TransportError) -> Self {
        let code = match error {
            TransportError::Status(401) => shared::UNAUTHENTICATED,
            TransportError::Status(403) => shared::FORBIDDEN,
            TransportError::Deadline => shared::DEADLINE_EXCEEDED,
            TransportError::OutOfMemory => shared::OVERLOADED,
            TransportError::NoSubscriptions | TransportError::NoEvents(_) => {
                code::SUBSCRIPTION_UNSUPPORTED
            }
            TransportError::Closed { code: 4401, .. } => shared::UNAUTHENTICATED,
            TransportError::Closed { code: 4403, .. } => shared::FORBIDDEN,
            _ => code::DOWNSTREAM_SERVICE_ERROR,
        };
        Failure {
            code,
            reason: error.to_string(),
        }
    }
}

/// An answer, and what it holds.
pub(super) struct Received {
    pub(super) body: Bytes,
    pub(super) allowance: Arc<Allowance>,
}

/// Sends a request, and waits for its answer until the deadline, or until the client goes away.
pub(super) async fn fetch(
    transport: &dyn SubgraphTransport,
    subgraph: &Subgraph,
    request: SubgraphRequest,
    context: &RequestContext,
) -> Result<Received, Failure> {
    let allowance = Arc::clone(&request.allowance);
    let length = request.body.len();
    let sent = async {
        allowance.hold(length)?;
        let body = transport.send(subgraph, request, context).await?;
        allowance.release(length);
        allowance.settle(body.len())?;
        Ok(body)
    };
    let body = within(subgraph, context, sent).await?;
    Ok(Received { body, allowance })
}

/// Waits for what is expected of a subgraph until the deadline, or until the client goes away.
pub(crate) async fn within<T>(
    subgraph: &Subgraph,
    context: &RequestContext,
    expected: impl Future<Output = Result<T, TransportError>>,
) -> Result<T, Failure> {
    let late = async {
        match context.call.deadline {
            Some(deadline) => tokio::time::sleep_until(deadline.into()).await,
            None => std::future::pending().await,
        }
    };
    let outcome = tokio::select! {
        biased;
        () = context.call.cancellation.cancelled() => return Err(Failure::cancelled()),
        outcome = expected => outcome,
        () = late => Err(TransportError::Deadline),
    };
    outcome.map_err(|error| {
        log(subgraph, &error, &context.call.request_id);
        Failure::of(&error)
    })
}

/// Writes a failure to the log, with its causes, which clients do not see.
pub(crate) fn log(subgraph: &Subgraph, error: &TransportError, request_id: &str) {
    let causes = std::iter::successors(error.source(), |&cause| cause.source());
    let mut causes: Vec<String> = causes.map(ToString::to_string).collect();
    if let TransportError::Closed { reason, .. } = error {
        causes.push(format!("{reason:?}"));
    }
    let (subgraph, causes) = (&subgraph.name, causes.join(": "));
    tracing::warn!(subgraph, request_id, %error, causes, "a subgraph gave no answer");
}

/// Returns the JSON text of a request with an operation, which is a JSON string.
pub(super) fn text(operation: &[u8], variables: &[(String, Vec<u8>)]) -> Vec<u8> {
    let of_variables = variables.iter();
    let of_variables = of_variables.map(|(name, value)| name.len() + value.len() + 8);
    let mut body = Vec::with_capacity(operation.len() + 32 + of_variables.sum::<usize>());
    body.extend_from_slice(b"{\"query\":");
    body.extend_from_slice(operation);
    for (position, (name, value)) in variables.iter().enumerate() {
        body.extend_from_slice(if position == 0 {
            b",\"variables\":{"
        } else {
            b","
        });
        write_string(&mut body, name);
        body.push(b':');
        body.extend_from_slice(value);
    }
    body.extend_from_slice(if variables.is_empty() { b"}" } else { b"}}" });
    body
}
