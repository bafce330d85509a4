//! Stores behind a SPARQL endpoint: objects and values by queries, a bounded number per level.

mod endpoint;
#[cfg(feature = "remote")]
pub mod http;

pub use endpoint::{EndpointQuery, Rows, SparqlEndpoint};
