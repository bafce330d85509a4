#![doc = include_str!("../README.md")]

#[cfg(feature = "async-graphql")]
pub mod async_graphql;
pub mod build_script;
pub mod check;
mod complexity;
mod diagnostics;
pub mod diff;
pub mod error;
mod execute;
pub mod explain;
#[cfg(feature = "oxigraph")]
pub mod infer;
mod introspection;
pub mod limits;
pub mod plan;
mod reply;
pub mod request;
pub mod service;
pub mod sparql;
pub mod store;
pub mod typesystem;
pub mod value;

/// The GraphQL library whose types are part of the public API, in the version that this crate uses.
pub use apollo_compiler;
