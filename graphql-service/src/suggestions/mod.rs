//! Nearest known names for the unknown ones of a document, found in the type system itself.
//!
//! A finding says what kind of name is unknown and where. One pass over the document, with the
//! types of the schema at hand, visits the nodes at those positions and knows the candidate names
//! for each.

mod nearest;
mod search;
#[cfg(test)]
mod tests;
mod unknown;

pub use nearest::nearest;
pub(crate) use search::Suggestions;
pub(crate) use unknown::Unknown;
