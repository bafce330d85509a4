#![doc = include_str!("../README.md")]

#[cfg(feature = "embedded")]
pub mod analysis;
pub mod code;
pub mod document;
pub mod dsl;
#[cfg(feature = "embedded")]
pub mod embedded;
pub mod engine;
pub mod limits;
pub mod mapping;
pub mod read;
pub mod sdl;
pub mod value;

/// The crates whose types stand in this interface.
pub use {apollo_compiler, graph_store, graphql_service, soml_core};
