#![doc = include_str!("../README.md")]

pub mod code;
pub mod document;
pub mod dsl;
pub mod engine;
pub mod indexer;
pub mod limits;
pub mod mapping;
#[cfg(feature = "opensearch")]
pub mod opensearch;
pub mod read;
pub mod sdl;
pub mod value;

/// The crates whose types stand in this interface.
pub use {apollo_compiler, graph_store, graphql_service, soml_core};
