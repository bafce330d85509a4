//! The HTTP interface of the service.

mod body;
mod error;
mod graphql;
mod negotiate;
mod operations;
mod page;
mod request_id;
mod server;
mod soml;

pub use error::{HttpCode, codes_markdown};
pub use server::{ServeError, Server, router};
