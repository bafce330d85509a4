//! The gateway against a reference: strict subgraphs that tell every mistake in what they are sent, and
//! one executor over the union of the data that says what the answer must be.

mod bench;
mod cases;
mod executor;
mod generate;
mod monolith;
mod operations;
mod random;
mod random_numbers;
mod strict;
mod subgraph_sdl;
mod world;
