//! The object service, the search service and the federation gateway over HTTP, and the `soml` command line.
//!
//! The logic is in the libraries below; this crate does the I/O: files, environment, clock and
//! HTTP. The binaries are thin: they pass their arguments to the modules here and return an exit code.

pub mod allocator;
pub mod changes;
pub mod check_output;
pub mod cli;
pub mod codes;
pub mod config;
pub mod demo;
mod demo_extension;
mod edge;
mod log_levels;
pub mod metrics;
pub mod migration;
pub mod render;
pub mod schemas;
pub mod store;
pub mod traces;
pub mod wiring;
