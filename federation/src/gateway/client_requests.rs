//! Requests of clients that wait for the reply to an equal one that is being executed.
//!
//! Section 2.4, rule 11 of the reference also has `Accept` and `Cookie` in the key. The reply of a [`Gateway`] depends on
//! neither: the media type is chosen for each client afterwards, and neither the gateway nor a subgraph sees a cookie that is
//! not forwarded. A forwarded one is compared, as all forwarded headers are.

use std::hash::{BuildHasher, Hash, Hasher};
use std::sync::Arc;

use apollo_compiler::Name;
use foldhash::quality::RandomState;
use graphql_service::document::Document;
use graphql_service::{
    Answer, Body, GraphqlError, MemoryAccount, OutOfMemory, Reply, Request, RequestContext,
    code as shared,
};
use service_metrics::OperationKind;
use tracing::Span;

use super::Gateway;
use crate::exec::{Interrupted, interruptible};
use crate::sharing::{FlightRole, Flights, ROUNDS, Savings, Verdict};

/// The requests of clients that are being executed.
pub(super) type ClientFlights = Flights<ClientKey, Reply>;

/// A query that may be shared, whose document is known.
pub(super) struct KnownQuery {
    pub(super) document: Arc<Document>,
    pub(super) operation: Option<Name>,
}

/// What must be equal for two requests to share.
pub(super) struct ClientKey {
    hash: u64,
    /// The number of the document, which no other text of the process has.
    document: u64,
    /// JSON text of the name of the operation, the variables with all digits, and the extensions, in the order in which the
    /// client has written them.
    rest: Vec<u8>,
    context: Arc<RequestContext>,
}

impl ClientKey {
    fn new(
        document: u64,
        request: &Request,
        context: &Arc<RequestContext>,
        hasher: &RandomState,
    ) -> Self {
        let rest = rest(request);
        let mut state = hasher.build_hasher();
        (document, &rest).hash(&mut state);
        context.hash_interchangeable(&mut state);
        ClientKey {
            hash: state.finish(),
            document,
            rest,
            context: Arc::clone(context),
        }
    }
}

impl PartialEq for ClientKey {
    fn eq(&self, other: &Self) -> bool {
        self.hash == other.hash
            && self.document == other.document
            && self.rest == other.rest
            && self.context.is_interchangeable(&other.context)
    }
}

impl Eq for ClientKey {}

impl Hash for ClientKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.hash);
    }
}

/// Returns what tells a request from others with the same document.
fn rest(request: &Request) -> Vec<u8> {
    let name = serde_json::to_string(&request.operation_name);
    let extensions = serde_json::to_string(&request.extensions);
    let mut rest = name.expect("a name is JSON").into_bytes();
    rest.push(b',');
    match &request.variables {
        Some(variables) => rest.extend_from_slice(request.digits.text(variables).as_bytes()),
        None => rest.extend_from_slice(b"null"),
    }
    rest.push(b',');
    rest.extend_from_slice(extensions.expect("values of JSON are JSON").as_bytes());
    rest
}

impl Gateway {
    /// Executes a query, or waits for the reply to an equal one that is being executed.
    pub(super) async fn reply_shared(
        &self,
        query: KnownQuery,
        request: Request,
        context: RequestContext,
    ) -> Reply {
        let context = Arc::new(context);
        let replied = self.taking_part(query, request, &context);
        match interruptible(&context.call, replied).await {
            Ok(reply) => reply,
            Err(interrupted) => {
                context.freshness.forbid();
                let error = match interrupted {
                    Interrupted::Cancelled => {
                        GraphqlError::new(shared::CANCELLED, "the request was cancelled")
                    }
                    Interrupted::Late => {
                        GraphqlError::new(shared::DEADLINE_EXCEEDED, "the deadline passed")
                    }
                };
                Reply::Executed(Answer::without_data(error))
            }
        }
    }

    async fn taking_part(
        &self,
        query: KnownQuery,
        request: Request,
        context: &Arc<RequestContext>,
    ) -> Reply {
        let flights = &self.client_flights;
        let document = query.document.id();
        let key = ClientKey::new(document, &request, context, flights.hasher());
        let key = Arc::new(key);
        let mut request = Some(request);
        for round in 1..=ROUNDS {
            let begin = |context: Arc<RequestContext>| {
                let (gateway, request) = (self.clone(), request.take());
                let request = request.expect("a request begins one flight at most");
                let mut context = (*context).clone();
                // Counts the text of the answer until the last client has its reply.
                context.memory = Arc::new(context.memory.another());
                async move {
                    gateway
                        .reply_unshared(request, Arc::new(context), None)
                        .await
                }
            };
            match flights.board(&key, context, begin) {
                FlightRole::Leader(flight) => {
                    let reply = flight
                        .outcome(context)
                        .await
                        .expect("executions do not panic");
                    return received(reply, &context.memory);
                }
                FlightRole::Joiner(flight) => {
                    let (request_id, leader) = (&context.call.request_id, flight.leader());
                    tracing::debug!(request_id, leader, "joined a query in flight");
                    let reply = flight.outcome(context).await;
                    if let Some(reply) = reply.filter(|reply| verdict(reply).is_final(round)) {
                        let savings = self.inner.options.savings.as_ref();
                        note_joined(&query, context, leader, savings);
                        return received(reply, &context.memory);
                    }
                }
            }
        }
        let request = request.expect("a request that has only joined is still here");
        self.reply_unshared(request, Arc::clone(context), None)
            .await
    }
}

/// Records what an execution records of a request: its kind, for metrics and traces. Its log line names the leader.
fn note_joined(
    query: &KnownQuery,
    context: &RequestContext,
    leader: &str,
    savings: Option<&Arc<dyn Savings>>,
) {
    let call = &context.call;
    if let Some(tally) = &call.tally {
        tally.note_kind(OperationKind::Query.number());
    }
    let name = query.operation.as_ref().map(Name::as_str);
    traces::record_operation(&call.span, "query", name);
    Span::current().record("joined", leader);
    if let Some(savings) = savings {
        savings.client_request();
    }
}

fn verdict(reply: &Reply) -> Verdict {
    match reply {
        Reply::Refused(_) => Verdict::Valid,
        Reply::Executed(answer) => verdict_on(&answer.errors),
        _ => Verdict::OfLeader,
    }
}

fn verdict_on(errors: &[GraphqlError]) -> Verdict {
    let of_leader = [
        shared::CANCELLED,
        shared::DEADLINE_EXCEEDED,
        shared::INTERNAL,
        shared::OVERLOADED,
    ];
    if errors.is_empty() {
        Verdict::Valid
    } else if errors.iter().any(|error| of_leader.contains(&error.code)) {
        Verdict::OfLeader
    } else {
        Verdict::Failed
    }
}

/// Returns a shared reply for one client: the same text, but counted in the client's account, since each client takes its
/// own time to receive it.
fn received(reply: Reply, memory: &Arc<MemoryAccount>) -> Reply {
    let Reply::Executed(mut answer) = reply else {
        return reply;
    };
    if memory.grow(answer.data.len()).is_err() {
        return Reply::Overloaded(OutOfMemory.into());
    }
    let (segments, _) = std::mem::take(&mut answer.data).into_parts();
    answer.data = Body::new(segments, Some(Arc::clone(memory)));
    Reply::Executed(answer)
}
