//! What tests of several crates share: stores to test over, servers that say what they are told to, random inputs.
//!
//! Only tests and benchmarks depend on this.

#![allow(missing_docs, reason = "names of helpers of tests say what they do")]
#![allow(clippy::missing_panics_doc, reason = "a test fails by panicking")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[cfg(feature = "stores")]
pub mod back_end;
#[cfg(feature = "fault-proxy")]
pub mod fault_proxy;
pub mod fault_rows;
#[cfg(feature = "images")]
pub mod images;
pub mod number;
#[cfg(feature = "opensearch")]
pub mod opensearch;
pub mod random;
pub mod random_tests;
pub mod repository;
pub mod sockets;
