//! The object service, the search service and the federation gateway over HTTP, and the `soml` command line.
//!
//! The logic is in the libraries below; this crate does the I/O: files, environment, clock and
//! HTTP. The binaries are thin: they pass their arguments to the modules here and return an exit code.

pub mod allocator;
mod causes;
pub mod changes;
pub mod cli;
pub mod codes;
pub mod config;
pub mod data_folder;
pub mod demo;
pub mod gateway;
pub mod host;
pub mod logging;
pub mod misfits;
pub mod object;
pub mod render;
pub mod schema;
pub mod search;
pub mod store;
pub mod wiring;
