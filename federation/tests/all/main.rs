//! The gateway against a reference: strict subgraphs that tell every mistake in what they are sent, and
//! one executor over the union of the data that says what the answer must be.

#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests fail and print as tests do; clippy sees only test functions as such"
)]

mod async_graphql_subgraphs;
mod authorization;
mod bench;
mod bounds;
mod brute_force;
mod cases;
mod composed;
mod composition;
mod contexts;
mod entity_memo;
mod exact_numbers;
mod executor;
mod fault_table;
mod faults;
mod fuzz_seeds;
mod generate;
mod hints;
mod http;
mod inputs;
mod interface_objects;
mod interface_objects_alone;
mod large_answers;
mod monolith;
mod operations;
mod optimality;
mod pruning;
mod random;
mod random_numbers;
mod representations;
mod resolvers;
mod satisfiability;
mod schemas_that_harm;
mod scripted;
mod shared_plans;
mod sharing;
mod strict;
mod subgraph_sdl;
mod subscriptions;
mod subscriptions_over_http;
mod supergraph_text;
mod transports;
mod unknown_entities;
mod websockets_end;
mod world;
mod writing;

use test_support::{random_tests, sockets};
