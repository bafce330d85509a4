//! The search service: executes GraphQL requests over the indexes of an engine.
//!
//! Root fields are searched at the same time. One that fails is null and has an error of its own.

mod failure;
mod options;
mod run;
mod target;

pub use options::{ReachData, SearchServiceOptions};
pub use run::SearchService;
pub use target::SearchTarget;
