//! Behaviour of the servers crate: loading, configuration, the command line, HTTP, documentation.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod browser;
mod command_line;
mod configuration;
mod data_tools;
mod documentation;
mod examples;
mod fuzz_seeds;
#[expect(
    unreachable_pub,
    reason = "a library of its own where libFuzzer runs it"
)]
#[path = "../../../fuzz/src/lib.rs"]
mod fuzz_targets;
mod graphql_over_http;
mod loading;
mod misbehaving_stores;
mod on_disk;
mod operations;
mod real_server;
mod remote_store;
#[path = "../../../graph-store/tests/all/back_end/repository.rs"]
mod repository;
mod schema_tools;
mod schemas_over_http;
mod service;
