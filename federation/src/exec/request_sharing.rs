//! Requests to subgraphs that wait for the answer to an equal one in flight.
//!
//! Section 2.4, rule 11 of the reference: queries only, compared by subgraph, body and whatever the subgraph can see of
//! the client.

use std::hash::{BuildHasher, Hash, Hasher};
use std::sync::Arc;

use bytes::Bytes;
use graphql_service::RequestContext;

use super::fetch::FetchTarget;
use super::notes::Note;
use crate::sharing::{Flight, FlightRole, Flights, ROUNDS, Savings, Verdict, is_shareable};
use crate::supergraph::SubgraphId;
use crate::transport::{SubgraphRequest, TracedRequest, TransportError};

/// The requests to subgraphs that are in flight.
pub(crate) type SubgraphFlights = Flights<SubgraphKey, SharedResponse>;

/// What came of a request. The error is shared by all that wait for it.
pub(crate) type SharedResponse = Result<Bytes, Arc<TransportError>>;

/// What must be equal for two requests to share. The number of a subgraph is that of the gateway's supergraph: each gateway has
/// flights of its own.
pub(crate) struct SubgraphKey {
    hash: u64,
    subgraph: SubgraphId,
    body: Bytes,
    context: Arc<RequestContext>,
}

impl PartialEq for SubgraphKey {
    fn eq(&self, other: &Self) -> bool {
        self.hash == other.hash
            && self.subgraph == other.subgraph
            && self.body == other.body
            && (Arc::ptr_eq(&self.context, &other.context)
                || self.context.is_interchangeable(&other.context))
    }
}

impl Eq for SubgraphKey {}

impl Hash for SubgraphKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.hash);
    }
}

/// How the requests of one execution are shared.
pub(crate) struct RequestSharing {
    flights: Arc<SubgraphFlights>,
    savings: Option<Arc<dyn Savings>>,
    /// The hash of the context, which all of them have in common.
    hash: u64,
}

impl RequestSharing {
    /// Returns how requests in a context are shared, if they may be.
    pub(crate) fn of(
        flights: &Arc<SubgraphFlights>,
        savings: Option<&Arc<dyn Savings>>,
        context: &RequestContext,
    ) -> Option<Arc<Self>> {
        is_shareable(context).then(|| {
            let mut state = flights.hasher().build_hasher();
            context.hash_interchangeable(&mut state);
            Arc::new(RequestSharing {
                flights: Arc::clone(flights),
                savings: savings.cloned(),
                hash: state.finish(),
            })
        })
    }

    fn key(&self, target: &FetchTarget, body: &Bytes) -> Arc<SubgraphKey> {
        let hashed = (self.hash, target.subgraph, &**body);
        Arc::new(SubgraphKey {
            hash: self.flights.hasher().hash_one(hashed),
            subgraph: target.subgraph,
            body: body.clone(),
            context: Arc::clone(&target.context),
        })
    }
}

impl FetchTarget {
    /// Sends a query, unless an equal one is in flight.
    pub(super) async fn shared(
        &self,
        sharing: &RequestSharing,
        request: SubgraphRequest,
    ) -> SharedResponse {
        let key = sharing.key(self, &request.body);
        for round in 1..=ROUNDS {
            let begin = |context| self.exchange(request.clone(), context);
            match sharing.flights.board(&key, &self.context, begin) {
                FlightRole::Leader(flight) => {
                    let landed = flight.outcome(&self.context).await;
                    return landed.expect("transports do not panic");
                }
                FlightRole::Joiner(flight) => {
                    let landed = self.joined(&request, &flight).await;
                    let is_final = |landed: &SharedResponse| verdict(landed).is_final(round);
                    if let Some(landed) = landed.filter(is_final) {
                        self.note_joined(sharing, flight.leader());
                        return landed;
                    }
                }
            }
        }
        self.exchange(request, Arc::clone(&self.context)).await
    }

    /// Waits for the answer to an equal request. There is none if the transport has panicked.
    async fn joined(
        &self,
        request: &SubgraphRequest,
        flight: &Flight<SharedResponse>,
    ) -> Option<SharedResponse> {
        let (subgraph, leader) = (self.subgraph(), flight.leader());
        let (name, request_id) = (&*subgraph.name, &self.context.call.request_id);
        tracing::debug!(
            subgraph = name,
            request_id,
            leader,
            "joined a request in flight"
        );
        let traced = TracedRequest::joined(subgraph, request, &self.context, leader);
        let landed = flight.outcome(&self.context).await?;
        traced.ended(landed.as_ref().err().map(|error| &**error), None);
        Some(landed)
    }

    fn note_joined(&self, sharing: &RequestSharing, leader: &str) {
        if let Some(savings) = &sharing.savings {
            savings.subgraph_request(&self.subgraph().name);
        }
        if let Some(notes) = &self.notes {
            notes.add(Note::Joined {
                request: self.position,
                leader: leader.to_owned(),
            });
        }
    }
}

fn verdict(landed: &SharedResponse) -> Verdict {
    let Err(error) = landed else {
        return Verdict::Valid;
    };
    match **error {
        TransportError::Deadline
        | TransportError::OutOfMemory
        | TransportError::TooLargeTogether { .. } => Verdict::OfLeader,
        _ => Verdict::Failed,
    }
}
