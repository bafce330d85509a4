//! Conditions and sort keys, evaluated on terms in memory.
//!
//! For stores that filter or sort themselves; [`crate::value`] defines how values compare.

mod matcher;
mod shown;

pub use matcher::{RegexMatcher, RegexTooLarge, TermMatcher, ValueMatcher};
pub use shown::shown;
