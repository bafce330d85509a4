//! The syntax tree of a YAML text, in which every key and value knows its place.
//!
//! The tree knows nothing of SOML. Aliases share the node they repeat, so a document never takes more
//! memory than its text deserves; what a walk over it would visit is counted and bounded.

mod build;
mod syntax_error;
mod tree;

pub(crate) use build::parse;
pub use tree::{Document, NodeRef};
