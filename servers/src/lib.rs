//! The object service over HTTP, and the `soml` command line.
//!
//! The logic is in the libraries below; this crate does the I/O: files, environment, clock and
//! HTTP. The binaries are thin: they pass their arguments to the modules here and return an exit code.

pub mod app;
pub mod changes;
pub mod cli;
pub mod codes;
pub mod config;
pub mod demo;
pub mod first_query;
pub mod health;
mod health_record;
pub mod http;
pub mod load;
pub mod logging;
pub mod misfits;
pub mod render;
pub mod schema;
pub mod schema_store;
pub mod store;
