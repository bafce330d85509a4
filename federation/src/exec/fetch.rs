//! One request to a subgraph: its text, the wait for its answer, and why there is none.

use std::borrow::Borrow;
use std::error::Error;
use std::future::Future;
use std::sync::Arc;

use bytes::Bytes;
use graphql_service::writer::write_string;
use graphql_service::{
    CallContext, ErrorCode, GraphqlError, PathSegment, RequestContext, code as shared,
};

use super::errors;
use super::notes::Notes;
use super::request_sharing::{RequestSharing, SharedResponse};
use crate::code;
use crate::supergraph::{Subgraph, SubgraphId, Supergraph};
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

    /// Returns the outcome for a client that has disconnected.
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
pub(super) struct ReceivedBody {
    pub(super) body: Bytes,
    pub(super) allowance: Arc<Allowance>,
}

/// A request of a plan, as far as sending it needs it.
pub(super) struct FetchTarget {
    /// The position of the request in the plan.
    pub(super) position: usize,
    pub(super) supergraph: Arc<Supergraph>,
    pub(super) subgraph: SubgraphId,
    pub(super) transport: Arc<dyn SubgraphTransport>,
    pub(super) context: Arc<RequestContext>,
    pub(super) sharing: Option<Arc<RequestSharing>>,
    pub(super) notes: Option<Arc<Notes>>,
}

impl FetchTarget {
    pub(super) fn subgraph(&self) -> &Subgraph {
        self.supergraph.subgraph(self.subgraph)
    }

    /// Sends a request, and waits for its answer until the deadline, or until the client goes away.
    pub(super) async fn fetch(&self, request: SubgraphRequest) -> Result<ReceivedBody, Failure> {
        let allowance = Arc::clone(&request.allowance);
        let length = request.body.len();
        let sent = async {
            allowance.hold(length)?;
            let body = match &self.sharing {
                Some(sharing) if !request.is_mutation => self.shared(sharing, request).await?,
                _ => self.exchange(request, Arc::clone(&self.context)).await?,
            };
            allowance.release(length);
            allowance.settle(body.len())?;
            Ok::<_, Arc<TransportError>>(body)
        };
        let body = within(self.subgraph(), &self.context, sent).await?;
        Ok(ReceivedBody { body, allowance })
    }

    /// Returns an exchange that goes on whatever becomes of this request.
    pub(super) fn exchange(
        &self,
        request: SubgraphRequest,
        context: Arc<RequestContext>,
    ) -> impl Future<Output = SharedResponse> + Send + 'static {
        let (supergraph, subgraph) = (Arc::clone(&self.supergraph), self.subgraph);
        let transport = Arc::clone(&self.transport);
        async move {
            let subgraph = supergraph.subgraph(subgraph);
            let sent = transport.send(subgraph, request, &context).await;
            sent.map_err(Arc::new)
        }
    }
}

/// Waits for what is expected of a subgraph until the deadline, or until the client goes away.
pub(crate) async fn within<T, E>(
    subgraph: &Subgraph,
    context: &RequestContext,
    expected: impl Future<Output = Result<T, E>>,
) -> Result<T, Failure>
where
    E: Borrow<TransportError> + From<TransportError>,
{
    let outcome = match interruptible(&context.call, expected).await {
        Ok(outcome) => outcome,
        Err(Interrupted::Cancelled) => return Err(Failure::cancelled()),
        Err(Interrupted::Late) => Err(TransportError::Deadline.into()),
    };
    outcome.map_err(|error| {
        log(subgraph, error.borrow(), &context.call.request_id);
        Failure::of(error.borrow())
    })
}

/// Why the wait for something has ended without it.
pub(crate) enum Interrupted {
    Cancelled,
    Late,
}

/// Waits for something until the deadline, or until the client goes away.
pub(crate) async fn interruptible<T>(
    call: &CallContext,
    expected: impl Future<Output = T>,
) -> Result<T, Interrupted> {
    let late = async {
        match call.deadline {
            Some(deadline) => tokio::time::sleep_until(deadline.into()).await,
            None => std::future::pending().await,
        }
    };
    tokio::select! {
        biased;
        () = call.cancellation.cancelled() => Err(Interrupted::Cancelled),
        outcome = expected => Ok(outcome),
        () = late => Err(Interrupted::Late),
    }
}

/// Writes a failure to the log, with its causes, which clients do not see.
pub(crate) fn log(subgraph: &Subgraph, error: &TransportError, request_id: &str) {
    let mut causes: Vec<String> = std::iter::successors(error.source(), |&cause| cause.source())
        .map(ToString::to_string)
        .collect();
    if let TransportError::Closed { reason, .. } = error {
        causes.push(format!("{reason:?}"));
    }
    let (subgraph, causes) = (&subgraph.name, causes.join(": "));
    tracing::warn!(subgraph, request_id, %error, causes, "a subgraph did not respond");
}

/// Returns the JSON text of a request with an operation, which is a JSON string.
pub(super) fn text(operation: &[u8], variables: &[(String, Vec<u8>)]) -> Vec<u8> {
    let of_variables = variables
        .iter()
        .map(|(name, value)| name.len() + value.len() + 8);
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
