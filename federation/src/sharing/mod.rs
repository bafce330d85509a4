//! Equal queries in flight share one exchange with a subgraph, or one execution.
//!
//! They must be equal in everything that an answer may depend on
//! ([`RequestContext::is_interchangeable`](graphql_service::RequestContext::is_interchangeable)). [`SharingOptions`] has
//! two switches: for requests to subgraphs (`exec/request_sharing.rs`), and for whole requests of clients
//! (`gateway/client_requests.rs`). Both are built on `flights.rs`. Nothing is cached: a finished flight cannot be joined.

mod flights;
mod options;

pub(crate) use flights::{Flight, FlightRole, Flights, ROUNDS, Verdict, is_shareable};
pub use options::{Savings, SharingOptions};
