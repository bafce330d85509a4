//! Behaviour of the servers crate: loading, configuration, the command line, HTTP, documentation.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod any_service;
mod authentication;
mod bad_tokens;
mod browser;
mod callers;
mod cluster;
mod command_line;
mod composing;
mod configuration;
mod damaged_folders;
mod data_folder;
mod data_tools;
mod demo_with_roles;
mod documentation;
mod dumps;
mod edge;
mod edge_tokens;
mod examples;
mod first_schema;
mod fuzz_seeds;
mod gateway;
mod graphql_over_http;
mod health_records;
mod help;
mod idp;
mod infer;
mod kept_bindings;
mod kept_log_ins;
mod keycloak;
mod kills;
mod late_commits;
mod loading;
mod loading_in_blocks;
mod log_in;
mod log_lines;
mod malformed_data;
mod malformed_documents;
mod metrics;
mod migration;
mod misbehaving_stores;
mod oauth;
mod operations;
mod overload;
mod page;
mod processes;
mod properties;
mod provision;
mod provisioning;
mod proxies;
mod real_server;
mod remote_store;
mod schema_tools;
mod schemas_over_http;
mod search;
mod service;
mod shared_schemas;
mod side_by_side;
mod sparql_server;
#[cfg(feature = "otlp")]
mod trace_trees;
mod under_pressure;
mod white_space;
mod writing;

use test_support::{images, random, random_tests, repository};
