//! SPARQL endpoints over HTTP.
//!
//! [`HttpEndpoint`] sends queries to one server, or to several that hold the same data, and parses
//! their results as they arrive. A result is complete or an error. [`ConnectionOptions`] configures
//! servers, authentication and timeouts.

mod body;
mod client;
mod cluster;
mod detect;
mod endpoint;
mod error;
mod exchange;
mod export;
mod failover;
mod options;
mod repository;
mod results;
mod server;
mod server_transaction;
mod session;
mod store;
mod transaction;
mod values;
mod wire;
mod writer;

pub use endpoint::HttpEndpoint;
pub use error::{HttpFailure, OptionsError};
pub use options::ConnectionOptions;
/// The types of which options are made.
pub use outbound::{Addresses, HttpCodes, Secret};
pub use server_transaction::ServerTransaction;
pub use store::HttpStore;
pub use values::{ResultFormat, ServerKind, ServerType};
