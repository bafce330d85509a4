#![doc = include_str!("../README.md")]

mod call;
pub mod code;
mod execute;
pub mod explain;
pub mod limits;
pub mod plan;
pub mod service;

pub use explain::{Explained, Explanation};
pub use limits::EngineLimits;
pub use service::{ObjectService, ServiceOptions};
/// The crates whose types stand in this interface.
pub use {graph_store, graphql_gen, graphql_service, soml_core};
