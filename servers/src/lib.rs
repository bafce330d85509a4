//! The object service over HTTP, and the `soml` command line.
//!
//! Everything with logic of its own lives in the libraries below; this crate reads files, the
//! environment and the clock, and speaks HTTP. The binaries are thin: they hand their arguments to
//! [`cli`] and turn its answer into an exit code.

pub mod config;
pub mod load;
