//! The syntax tree of a YAML document, with the position of every key and value.
//!
//! The tree is independent of SOML. Aliases share the node that they repeat, so the memory for a
//! document is proportional to its text; the number of nodes that a traversal would visit is limited.

mod build;
mod syntax_error;
mod tree;

pub(crate) use build::parse;
pub use tree::{Document, NodeRef};
