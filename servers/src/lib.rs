//! The object service, the search service and the federation gateway over HTTP, and the `soml` command line.
//!
//! The logic is in the libraries below; this crate does the I/O: files, environment, clock and
//! HTTP. The binaries are thin: they pass their arguments to the modules here and return an exit code.

pub mod allocator;
pub mod app;
mod causes;
mod change_records;
pub mod changes;
pub mod cli;
pub mod codes;
pub mod config;
pub mod data_folder;
pub mod demo;
pub mod dump;
pub mod example_queries;
pub mod gateway;
pub mod health;
mod health_record;
pub mod http;
pub mod load;
pub mod loading;
pub mod logging;
mod memory;
pub mod misfits;
pub mod render;
pub mod resources;
pub mod schema;
mod sdl;
pub mod search;
pub mod store;
