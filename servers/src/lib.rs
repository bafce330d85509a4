//! The object service over HTTP, and the `soml` command line.
//!
//! Everything with logic of its own lives in the libraries below; this crate reads files, the
//! environment and the clock, and speaks HTTP. The binaries are thin: they hand their arguments to
//! the modules here and turn the outcome into an exit code.

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
