//! The quads of the embedded store, and its shortcuts to some of them.

use std::sync::Arc;

use oxigraph::store::{QuadIter, StorageError, Store};
use oxrdf::{GraphNameRef, NamedNode, NamedNodeRef, NamedOrBlankNodeRef, Quad, QuadRef, TermRef};

use super::links::Links;
use crate::error::StoreError;
use crate::pattern::{Data, DecodedQuads, Pattern};
use crate::query::Dataset;
use crate::write::change_graph;

pub(super) fn failed(error: StorageError) -> StoreError {
    StoreError::Failed(Box::new(error))
}

/// The embedded store during one request.
#[derive(Clone)]
pub(super) struct Embedded {
    pub(super) store: Arc<Store>,
    pub(super) links: Option<Arc<Links>>,
    /// Change records are among the quads, and not to be read.
    pub(super) hides_records: bool,
}

impl Embedded {
    /// Returns the source of requests to a dataset.
    pub(super) fn of(self, dataset: &Dataset) -> Self {
        Embedded {
            // The index covers all graphs.
            links: self.links.filter(|_| dataset.graphs.is_none()),
            ..self
        }
    }

    /// Returns the quads of one triple.
    pub(super) fn same_triple(
        &self,
        subject: NamedOrBlankNodeRef<'_>,
        predicate: NamedNodeRef<'_>,
        object: TermRef<'_>,
    ) -> Visible {
        let (subject, predicate, object) = (Some(subject), Some(predicate), Some(object));
        Visible {
            quads: self
                .store
                .quads_for_pattern(subject, predicate, object, None),
            hides_records: self.hides_records,
        }
    }

    /// Returns whether a quad exists, those of change records included.
    pub(super) fn has(&self, quad: QuadRef<'_>) -> Result<bool, StoreError> {
        self.store.contains(quad).map_err(failed)
    }

    /// Returns whether some quad has a subject.
    pub(super) fn speaks_of(&self, subject: NamedOrBlankNodeRef<'_>) -> Result<bool, StoreError> {
        let mut quads = self
            .store
            .quads_for_pattern(Some(subject), None, None, None);
        quads
            .next()
            .transpose()
            .map_err(failed)
            .map(|quad| quad.is_some())
    }
}

impl Data for Embedded {
    type Source<'d> = Self;

    fn source(&self, dataset: &Dataset) -> Self {
        self.clone().of(dataset)
    }
}

impl DecodedQuads for Embedded {
    type Error = StorageError;
    type Quads = Visible;

    fn quads(&self, pattern: Pattern<'_>, graph: Option<GraphNameRef<'_>>) -> Visible {
        let quads = self.store.quads_for_pattern(
            pattern.subject.map(NamedOrBlankNodeRef::from),
            pattern.predicate,
            pattern.object,
            graph,
        );
        Visible {
            quads,
            hides_records: self.hides_records,
        }
    }

    fn failed(error: StorageError) -> StoreError {
        failed(error)
    }

    fn may_have_named_graphs(&self) -> bool {
        let records = change_graph::GRAPH.into();
        let is_read = |graph: Result<_, StorageError>| match graph {
            Ok(graph) => !self.hides_records || graph != records,
            Err(_) => true,
        };
        self.store.named_graphs().any(is_read)
    }

    /// A point lookup, which reads no chain and decodes nothing.
    fn contains(
        &self,
        subject: &NamedNode,
        predicate: NamedNodeRef<'_>,
        object: &NamedNode,
        graph: GraphNameRef<'_>,
    ) -> Result<bool, StoreError> {
        if self.hides_records && graph == change_graph::GRAPH.into() {
            return Ok(false);
        }
        self.has(QuadRef::new(subject, predicate, object, graph))
    }

    fn links_to<'l>(
        &'l self,
        object: &NamedNode,
        property: &NamedNode,
    ) -> Option<impl Iterator<Item = NamedNode> + use<'l>> {
        self.links.as_ref()?.to(object, property)
    }
}

/// The quads that match a pattern, without those of change records.
pub(super) struct Visible {
    quads: QuadIter<'static>,
    hides_records: bool,
}

impl Iterator for Visible {
    type Item = Result<Quad, StorageError>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let next = self.quads.next();
        if !self.hides_records {
            return next;
        }
        match next {
            Some(Ok(quad)) if change_graph::is_record(&quad) => self
                .quads
                .find(|quad| !quad.as_ref().is_ok_and(change_graph::is_record)),
            next => next,
        }
    }
}
