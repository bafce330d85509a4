//! What a plan says of terms, applied to terms that are at hand: conditions and sort keys.
//!
//! Stores that filter or order by themselves use it; how values compare is said in [`crate::value`].

mod matcher;
mod shown;

pub use matcher::{RegexTooLarge, TermMatcher, ValueMatcher};
pub use shown::shown;
