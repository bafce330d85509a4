//! Stores behind a SPARQL endpoint: objects and values by queries, a bounded number per level, and
//! changes by transactions or guarded updates.

mod dialect;
mod endpoint;
mod facts;
#[cfg(feature = "remote")]
pub mod http;
mod page;
mod results;
mod solutions;
mod store;
mod tree;
#[cfg(feature = "remote")]
mod write;

pub use dialect::{DefaultGraph, Dialect, TreeForm};
pub use endpoint::{
    EndpointQuery, Rows, SparqlEndpoint, UpdateEndpoint, UpdateError, UpdateSession,
};
pub use solutions::Solutions;
pub use store::{RemoteOptions, RemoteStore};
#[cfg(feature = "remote")]
pub use write::IsolationReport;
