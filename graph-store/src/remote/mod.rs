//! Stores behind a SPARQL endpoint: objects and values by queries, a bounded number per level.

mod dialect;
mod endpoint;
mod facts;
#[cfg(feature = "remote")]
pub mod http;
mod solutions;
mod store;

pub use dialect::{DefaultGraph, Dialect};
pub use endpoint::{EndpointQuery, Rows, SparqlEndpoint};
pub use solutions::Solutions;
pub use store::{RemoteOptions, RemoteStore};
