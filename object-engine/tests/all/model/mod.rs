//! Mutations do what a slow, plain model of the rules of writing does.
//!
//! `MODEL_CASES` sets the number of sequences of each test in place of `RANDOM_TESTS`, `MODEL_SEED` the
//! first of their seeds. A failure prints the mutation, and how to run it again. The test of two worlds has
//! `ACCESS_CASES` and `ACCESS_SEED` in their place, as all tests of access.

mod answer;
mod concurrent;
mod generate;
mod request;
mod roles;
mod roles_at_once;
mod rules;
mod sequential;
mod subject;
mod terms;
pub(crate) mod worlds;
