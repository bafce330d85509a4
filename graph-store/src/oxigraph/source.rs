//! The quads of the embedded store, and its shortcuts to some of them.

use std::sync::Arc;

use oxigraph::store::{QuadIter, StorageError, Store};
use oxrdf::{GraphNameRef, NamedNode, NamedNodeRef, NamedOrBlankNodeRef, QuadRef};

use super::links::Links;
use crate::error::StoreError;
use crate::pattern::{Pattern, QuadSource};

pub(super) fn failed(error: StorageError) -> StoreError {
    StoreError::Failed(Box::new(error))
}

/// The embedded store during one request.
pub(super) struct Embedded<'a> {
    pub(super) store: &'a Store,
    pub(super) links: Option<Arc<Links>>,
}

impl<'s> QuadSource for Embedded<'s> {
    type Error = StorageError;
    type Quads = QuadIter<'static>;

    fn quads(&self, pattern: Pattern<'_>, graph: Option<GraphNameRef<'_>>) -> Self::Quads {
        self.store.quads_for_pattern(
            pattern.subject.map(NamedOrBlankNodeRef::from),
            pattern.predicate,
            pattern.object,
            graph,
        )
    }

    fn failed(error: StorageError) -> StoreError {
        failed(error)
    }

    fn may_have_named_graphs(&self) -> bool {
        self.store.named_graphs().next().is_some()
    }

    /// A point lookup, which reads no chain and decodes nothing.
    fn contains(
        &self,
        subject: &NamedNode,
        predicate: NamedNodeRef<'_>,
        object: &NamedNode,
        graph: GraphNameRef<'_>,
    ) -> Result<bool, StoreError> {
        let quad = QuadRef::new(subject, predicate, object, graph);
        self.store.contains(quad).map_err(failed)
    }

    fn links_to<'l>(
        &'l self,
        object: &NamedNode,
        property: &NamedNode,
    ) -> Option<impl Iterator<Item = NamedNode> + use<'l, 's>> {
        self.links.as_ref()?.to(object, property)
    }
}
