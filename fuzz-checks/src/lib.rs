//! What holds of every input, one module for each parser that reads what strangers write.
//!
//! Each `run` takes any bytes and panics when something is wrong with what becomes of them. libFuzzer calls it in the
//! programs of `fuzz`, see `scripts/fuzz.sh`; tests call it with the inputs under `fuzz/seeds` and small changes of them.

#![allow(missing_docs, reason = "each module says what it is about")]
#![allow(clippy::missing_panics_doc, reason = "a check fails by panicking")]

#[cfg(feature = "objects")]
pub mod cursors;
#[cfg(feature = "stores")]
pub mod images;
#[cfg(feature = "stores")]
pub mod logs;
#[cfg(feature = "gateway")]
pub mod operations;
#[cfg(feature = "stores")]
pub mod regex;
#[cfg(feature = "service")]
pub mod requests;
#[cfg(feature = "search")]
pub mod searches;
#[cfg(feature = "soml")]
pub mod soml;
#[cfg(feature = "endpoints")]
pub mod sparql_results;
#[cfg(feature = "gateway")]
pub mod subgraphs;
#[cfg(feature = "gateway")]
pub mod supergraphs;
#[cfg(feature = "tokens")]
pub mod tokens;
