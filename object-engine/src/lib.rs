#![doc = include_str!("../README.md")]

mod access;
mod call;
pub mod code;
mod execute;
pub mod explain;
pub mod limits;
mod mutate;
pub mod options;
mod plan;
mod rdf;
mod run;
pub mod service;
pub mod sight;
mod template;

pub use explain::{Explained, Explanation};
pub use limits::EngineLimits;
pub use options::ServiceOptions;
/// For the fuzz targets of this repository; no part of the interface.
#[doc(hidden)]
pub use plan::CursorCodec;
pub use service::ObjectService;
pub use sight::{IndexRules, Sight};
/// The crates whose types stand in this interface.
pub use {graph_store, graphql_gen, graphql_service, soml_core};
