//! The object service in a process: what is bound to it, what it says of its health, and the records of changes.

mod app;
pub(crate) mod change_records;
pub mod code;
mod examples;
pub(crate) mod health;
mod host;
mod routes;

pub use app::{App, AppOptions, Mutations, SchemaChangeError};
pub use examples::example_queries;
pub use routes::{Server, router};
