//! Nearest known names for the unknown ones of a document, found in the type system itself.
//!
//! A finding says what kind of name is unknown and where. One pass over the document, with the
//! types of the schema available, visits the nodes at those positions and knows the candidate names
//! for each.

mod bare_value;
mod meant;
mod nearest;
mod search;
mod synonyms;
#[cfg(test)]
mod tests;
mod unknown;

pub(crate) use bare_value::{operator_path, written_out};
pub use meant::MeantFields;
pub use nearest::nearest;
pub(crate) use search::Suggestions;
pub(crate) use unknown::Unknown;
