//! What is shared, and how it is counted.

use std::fmt;

/// Which equal queries in flight share what is done for them.
///
/// Queries are equal if everything is that an answer may depend on: the operation with its variables and extensions, the
/// caller, every forwarded header except `X-Request-ID`, `traceparent` and `tracestate`, the languages, and whether
/// introspection is allowed. Mutations and subscriptions are never shared, and neither are requests that wait for changes
/// of data.
///
/// A shared answer shows the data as of the first request. A query that follows the answer to a mutation of the same
/// gateway never joins a flight from before the mutation.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SharingOptions {
    /// Whether equal queries to a subgraph are sent once.
    pub subgraph_requests: bool,
    /// Whether equal queries of clients are executed once. A query whose document is not known from an earlier request
    /// is not shared.
    pub client_requests: bool,
}

impl Default for SharingOptions {
    fn default() -> Self {
        SharingOptions {
            subgraph_requests: true,
            client_requests: false,
        }
    }
}

/// Counts what is not done again.
pub trait Savings: fmt::Debug + Send + Sync + 'static {
    /// Counts a request to a subgraph that was answered by an equal one in flight, and not sent.
    fn subgraph_request(&self, subgraph: &str);

    /// Counts a request of a client that was answered by an equal one in flight, and not executed.
    fn client_request(&self);

    /// Counts entities that a subgraph was not asked for, since it had said what was needed of them.
    fn entities(&self, subgraph: &str, count: usize);
}
