#![doc = include_str!("../README.md")]

pub mod build_script;
pub mod diff;
pub mod typesystem;

/// The GraphQL library whose types stand in this interface.
pub use apollo_compiler;
