//! Tests of the data, the schema and the workload.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod gateway;
mod generator;
mod programs;
mod schema;
mod workload;
