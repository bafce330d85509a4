#![doc = include_str!("../README.md")]

pub mod code;
pub mod complexity;
pub mod document;
pub mod error;
#[cfg(feature = "async-graphql")]
pub mod executor;
mod findings;
mod introspection;
pub mod limits;
pub mod request;
pub mod response;
pub mod service;
mod suggestions;
pub mod writer;

/// The GraphQL library whose types stand in this interface.
pub use apollo_compiler;
pub use document::{Document, Documents, Prepared, Refusal};
pub use error::{ErrorCode, GraphqlError, Location, PathSegment};
pub use limits::Limits;
pub use request::{Introspection, Request, RequestContext};
pub use response::{Answer, Outcome, Reply, Response};
pub use service::Service;
