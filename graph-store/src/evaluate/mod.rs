//! Conditions and sort keys, evaluated on terms in memory.
//!
//! For stores that filter or sort themselves; [`crate::value`] defines how values compare.

mod matcher;
mod shown;
#[cfg_attr(
    not(feature = "image"),
    allow(dead_code, reason = "only the texts of an image lie together")
)]
mod text_filter;

#[cfg(feature = "image")]
pub(crate) use matcher::Operation;
pub use matcher::{RegexMatcher, RegexTooLarge, TermMatcher, ValueMatcher};
pub(crate) use matcher::{Value, operand, value};
pub use shown::shown;
pub(crate) use text_filter::TextFilter;
