//! Stores made of nothing but quads found by a pattern: selections, windows and values by walks.
//!
//! [`PatternSource`] is the shortest way to a store of one's own, and [`PatternStore`] the store over
//! it. The embedded store walks in the same way over its own index. A walk compares values exactly as
//! answers show them, and needs no query language.

mod candidates;
mod condition;
mod hydrate;
mod read;
mod source;
mod store;
mod walk;

#[cfg(feature = "oxigraph")]
pub(crate) use source::{Pattern, QuadSource};
pub use source::{PatternSource, Quads};
pub use store::PatternStore;
#[cfg(feature = "oxigraph")]
pub(crate) use walk::Walker;
