#![doc = include_str!("../README.md")]

pub mod access;
#[cfg(feature = "embedded")]
pub mod analysis;
mod answer;
pub mod code;
pub mod document;
pub mod dsl;
#[cfg(feature = "embedded")]
pub mod embedded;
pub mod engine;
pub mod indexer;
pub mod limits;
pub mod mapping;
#[cfg(feature = "opensearch")]
pub mod opensearch;
pub mod read;
pub mod sdl;
pub mod service;
pub mod value;

/// The crates whose types stand in this interface.
pub use {apollo_compiler, graph_store, graphql_service, soml_core};
