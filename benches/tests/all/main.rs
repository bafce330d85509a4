//! Tests of the data, the schema and the workload.

mod generator;
mod schema;
mod workload;
