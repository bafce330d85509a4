//! Stores made of nothing but quads found by a pattern: selections, windows and values by index
//! scans.
//!
//! [`PatternSource`] is the shortest way to a store of one's own, and [`PatternStore`] is the store
//! over it. The embedded store scans its own index in the same way. Index scans compare values
//! exactly as answers show them, and need no query language.

mod candidates;
mod condition;
mod decoded;
mod hydrate;
#[cfg(test)]
mod numbered;
mod orders;
#[cfg(any(feature = "image", feature = "oxigraph"))]
mod overlay;
#[cfg(any(feature = "image", feature = "oxigraph"))]
mod pending;
mod read;
mod ready;
mod source;
#[cfg_attr(
    not(feature = "image"),
    allow(
        dead_code,
        reason = "only the terms of an image are in the order of values"
    )
)]
mod spans;
#[cfg(any(feature = "image", feature = "oxigraph"))]
mod statements;
mod store;
#[cfg(any(feature = "image", feature = "oxigraph"))]
mod view;
mod walk;

#[cfg(feature = "oxigraph")]
pub(crate) use decoded::DecodedQuads;
#[cfg(feature = "image")]
pub(crate) use orders::{
    Changes, KEPT_BYTES, Kept, KeptOrders, OrderSpec, OrderedList, SavedOrder, TakeChange,
};
#[cfg(any(feature = "image", feature = "oxigraph"))]
pub(crate) use source::Pattern;
#[cfg(feature = "image")]
pub(crate) use source::{Object, QuadSource};
pub use source::{PatternSource, Quads};
#[cfg(feature = "image")]
pub(crate) use spans::{Ranges, Spans, Within};
pub use store::PatternStore;
#[cfg(any(feature = "image", feature = "oxigraph"))]
pub(crate) use view::{Data, View};
#[cfg(any(feature = "image", feature = "oxigraph"))]
pub(crate) use walk::Walker;
