//! The HTTP interface of the service.

mod body;
pub mod code;
mod error;
mod graphql;
mod negotiate;
mod operations;
mod page;
mod request_id;
mod server;
mod soml;

pub use graphql::{GraphqlEndpoint, RequestBounds};
pub use server::{ServeError, Server, router, with_middleware};
