//! Subscriptions of subgraphs: what is sent, and the events that come of it.

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use futures::stream::BoxStream;
use graphql_service::MemoryAccount;

use super::allowance::Together;
use super::{Allowance, TransportError};

/// The events of a subscription at a subgraph. Their end means that the subgraph has no more of them; after an
/// error there are none. Dropping them ends the subscription.
pub type SubgraphEvents = BoxStream<'static, Result<SubgraphEvent, TransportError>>;

/// A subscription to start at a subgraph.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SubgraphSubscription {
    /// JSON text: an object with `query`, and with `variables` where there are any.
    pub body: Bytes,
    /// What its events may hold.
    pub allowances: Allowances,
}

impl SubgraphSubscription {
    /// Creates a subscription that belongs to no request of a client, for tests of transports.
    #[must_use]
    pub fn alone(body: impl Into<Bytes>, limit: usize) -> Self {
        SubgraphSubscription {
            body: body.into(),
            allowances: Allowances::new(limit, Arc::default()),
        }
    }
}

/// What the events of a subscription may hold, each on its own.
#[derive(Clone)]
pub struct Allowances {
    limit: usize,
    memory: Arc<MemoryAccount>,
}

impl Allowances {
    /// Allows `limit` bytes for each event, which are counted in the account of the subscription.
    pub(crate) fn new(limit: usize, memory: Arc<MemoryAccount>) -> Self {
        Allowances { limit, memory }
    }

    /// Returns the maximum length of an event, in bytes.
    #[must_use]
    pub fn limit(&self) -> usize {
        self.limit
    }

    /// Takes in an event whose text has arrived.
    ///
    /// # Errors
    /// When it is too long, or when all requests of the process hold what they may.
    pub fn event(&self, body: Bytes) -> Result<SubgraphEvent, TransportError> {
        let allowance = Together::new(usize::MAX, Arc::clone(&self.memory)).answer(self.limit);
        allowance.take(body.len())?;
        Ok(SubgraphEvent {
            body,
            allowance: Arc::new(allowance),
        })
    }
}

impl fmt::Debug for Allowances {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Allowances")
            .field("limit", &self.limit)
            .finish_non_exhaustive()
    }
}

/// An event of a subscription at a subgraph.
#[derive(Debug)]
#[non_exhaustive]
pub struct SubgraphEvent {
    /// The JSON text of a GraphQL response.
    pub body: Bytes,
    /// What it holds.
    pub allowance: Arc<Allowance>,
}
