//! Stores that can list all their statements.

use oxrdf::{NamedNode, NamedOrBlankNode, Term};

use crate::error::StoreError;

/// A statement whose predicate is known.
pub type Statement = (NamedOrBlankNode, Term);

/// A store whose statements can be listed.
pub trait Statements: Send + Sync {
    /// Passes each distinct statement about `subject` to `each`: property and value.
    ///
    /// # Errors
    /// When the store fails.
    fn about(
        &self,
        subject: &NamedNode,
        each: &mut dyn FnMut(NamedNode, Term),
    ) -> Result<(), StoreError>;

    /// Returns the distinct statements of a property.
    fn of_property<'a>(
        &'a self,
        property: &NamedNode,
    ) -> Box<dyn Iterator<Item = Result<Statement, StoreError>> + 'a>;
}
