//! Stores made of nothing but quads found by a pattern: selections, windows and values by index
//! scans.
//!
//! [`PatternSource`] is the shortest way to a store of one's own, and [`PatternStore`] is the store
//! over it. The embedded store scans its own index in the same way. Index scans compare values
//! exactly as answers show them, and need no query language.

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
