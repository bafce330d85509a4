#![doc = include_str!("../README.md")]

mod app;
mod change_records;
pub mod code;
mod examples;
mod findings;
pub mod folder;
mod follow;
mod health;
mod host;
mod routes;

pub use app::{App, AppOptions, Mutations, SchemaChangeError};
pub use change_records::{Change, ChangePage, MAX_LIMIT, Objects};
pub use examples::example_queries;
