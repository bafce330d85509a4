//! Stores made of nothing but quads found by a pattern: selections, windows and values by index
//! scans.
//!
//! [`PatternSource`] is the shortest way to a store of one's own, and [`PatternStore`] is the store
//! over it. The store over an image is queried by the same scans. Index scans compare values
//! exactly as answers show them, and need no query language.

mod candidates;
mod condition;
mod decoded;
mod hydrate;
#[cfg(test)]
mod numbered;
mod orders;
#[cfg(feature = "image")]
mod overlay;
#[cfg(feature = "image")]
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
#[cfg(feature = "image")]
mod statements;
mod store;
#[cfg(feature = "image")]
mod view;
mod walk;

#[cfg(feature = "image")]
pub(crate) use orders::{
    Changes, KEPT_BYTES, Kept, KeptOrders, OrderSpec, OrderedList, SavedOrder, TakeChange,
};
#[cfg(feature = "image")]
pub(crate) use source::Pattern;
#[cfg(feature = "image")]
pub(crate) use source::{Object, QuadSource};
pub use source::{PatternSource, Quads};
#[cfg(feature = "image")]
pub(crate) use spans::{Ranges, Spans, Within};
pub use store::PatternStore;
#[cfg(feature = "image")]
pub(crate) use view::{Data, View};
#[cfg(feature = "image")]
pub(crate) use walk::Walker;
