//! The gateway benchmark: four subgraphs, and what gateways in front of them cost.
//!
//! The operation, the composite schema and the data are those of
//! [a benchmark of gateways](https://github.com/graphql-hive/graphql-gateways-benchmark), under the licence beside them.

mod contestant;
mod data;
mod load;
mod objects;
mod report;
mod selection;
mod service;
mod subgraph;
mod trial;

pub use contestant::{Contestant, Place, Running, StartError};
pub use data::{Data, DataSet, Product, Review, User, shipping_estimate};
pub use load::{Loaded, Operation, load};
pub use objects::Part;
pub use report::Report;
pub use service::{Asked, Counts, Subgraphs};
pub use subgraph::{Answer, Subgraph};
pub use trial::{Measured, One, Trial, TrialError, Turn};

/// The operation.
pub const QUERY: &str = include_str!("../../gateway/query.graphql");

/// The composite schema. Its addresses are those of another machine; see [`supergraph`].
pub const SUPERGRAPH: &str = include_str!("../../gateway/supergraph.graphql");

/// Returns the composite schema with the addresses of subgraphs that listen at `base`, such as
/// `http://127.0.0.1:4200`.
#[must_use]
pub fn supergraph(base: &str) -> String {
    SUPERGRAPH.replace("http://0.0.0.0:4200", base)
}
