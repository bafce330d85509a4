//! References to objects, as returned by stores.

use std::fmt;

use oxrdf::NamedNode;

/// A reference to an object of a store: equal for the same object, and ordered by IRI.
///
/// Callers of a store only compare and hash references, pass them back, and write their IRI. Their
/// content is private to this crate and the store.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ObjectRef(NamedNode);

impl ObjectRef {
    /// Returns the IRI of the object, for output.
    #[must_use]
    pub fn iri(&self) -> &str {
        self.0.as_str()
    }

    /// Returns the object as an RDF term, for implementations of stores.
    #[must_use]
    pub fn node(&self) -> &NamedNode {
        &self.0
    }
}

impl From<NamedNode> for ObjectRef {
    fn from(node: NamedNode) -> Self {
        ObjectRef(node)
    }
}

impl From<ObjectRef> for NamedNode {
    fn from(object: ObjectRef) -> Self {
        object.0
    }
}

/// Converts nodes to references, reusing the memory of the list.
pub(super) fn object_refs(nodes: Vec<NamedNode>) -> Vec<ObjectRef> {
    nodes.into_iter().map(ObjectRef).collect()
}

impl fmt::Debug for ObjectRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for ObjectRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
