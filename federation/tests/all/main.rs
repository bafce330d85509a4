//! The gateway against a reference: strict subgraphs that tell every mistake in what they are sent, and
//! one executor over the union of the data that says what the answer must be.

#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests fail and print as tests do; clippy sees only test functions as such"
)]

mod bench;
mod brute_force;
mod cases;
mod executor;
mod faults;
mod generate;
mod generate_interface_objects;
mod interface_objects;
mod monolith;
mod operations;
mod optimality;
mod random;
mod random_numbers;
mod strict;
mod subgraph_sdl;
mod world;
