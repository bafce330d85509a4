#![doc = include_str!("../README.md")]

pub mod build_script;
pub mod diff;
pub mod typesystem;

/// The GraphQL library whose types are part of the public API, in the version that this crate uses.
pub use apollo_compiler;
