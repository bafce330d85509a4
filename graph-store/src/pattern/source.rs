//! The sources of quads for index scans.

use oxrdf::{GraphNameRef, NamedNode, NamedNodeRef, NamedOrBlankNodeRef, Quad, TermRef};

use crate::error::StoreError;

/// Something that finds quads by a pattern: all that a [`PatternStore`](super::PatternStore) needs.
///
/// Each existing quad is returned exactly once. A request queries many patterns, most of them with
/// subject and predicate, or with predicate and object; a source should find these by an index.
///
/// ```
/// use std::sync::Arc;
///
/// use graph_store::pattern::{PatternSource, PatternStore, Quads};
/// use graph_store::{GraphStore, StoreError};
/// use oxrdf::{GraphNameRef, NamedNodeRef, NamedOrBlankNodeRef, Quad, TermRef};
///
/// /// Quads in any order, without an index.
/// struct List(Vec<Quad>);
///
/// impl PatternSource for List {
///     fn quads_for_pattern(
///         &self,
///         subject: Option<NamedOrBlankNodeRef<'_>>,
///         predicate: Option<NamedNodeRef<'_>>,
///         object: Option<TermRef<'_>>,
///         graph: Option<GraphNameRef<'_>>,
///     ) -> Quads<'_> {
///         let found = self.0.iter().filter(|quad| {
///             subject.is_none_or(|subject| quad.subject.as_ref() == subject)
///                 && predicate.is_none_or(|predicate| quad.predicate.as_ref() == predicate)
///                 && object.is_none_or(|object| quad.object.as_ref() == object)
///                 && graph.is_none_or(|graph| quad.graph_name.as_ref() == graph)
///         });
///         // The matches must not borrow the pattern.
///         let found: Vec<_> = found.cloned().map(Ok).collect();
///         Box::new(found.into_iter())
///     }
/// }
///
/// let store = |quads: &[Quad]| -> Arc<dyn GraphStore> {
///     Arc::new(PatternStore::new(List(quads.to_vec())))
/// };
/// graph_store::contract::run(&store);
/// ```
pub trait PatternSource: Send + Sync + 'static {
    /// Returns the quads that match the given terms; an absent term matches any.
    ///
    /// Without `graph`, these are the quads of all graphs, including the default graph: a triple in
    /// two graphs is two quads.
    fn quads_for_pattern(
        &self,
        subject: Option<NamedOrBlankNodeRef<'_>>,
        predicate: Option<NamedNodeRef<'_>>,
        object: Option<TermRef<'_>>,
        graph: Option<GraphNameRef<'_>>,
    ) -> Quads<'_>;
}

/// The quads that match a pattern, read lazily; an error ends the request.
pub type Quads<'s> = Box<dyn Iterator<Item = Result<Quad, StoreError>> + 's>;

/// The terms that the quads of a scan have in common.
#[derive(Clone, Copy, Default)]
pub(crate) struct Pattern<'p> {
    pub(crate) subject: Option<&'p NamedNode>,
    pub(crate) predicate: Option<NamedNodeRef<'p>>,
    pub(crate) object: Option<TermRef<'p>>,
}

/// A source of quads during one request, with the shortcuts that it knows.
///
/// Scans are monomorphized for each source, so the embedded store pays for no indirection.
pub(crate) trait QuadSource {
    /// The error type of reads.
    type Error;
    /// The quads that match a pattern.
    type Quads: Iterator<Item = Result<Quad, Self::Error>>;

    /// Returns the quads that match a pattern, in one graph or in all.
    fn quads(&self, pattern: Pattern<'_>, graph: Option<GraphNameRef<'_>>) -> Self::Quads;

    /// Converts a read error to an error of the store.
    fn failed(error: Self::Error) -> StoreError;

    /// Returns whether there may be quads outside the default graph.
    fn may_have_named_graphs(&self) -> bool {
        true
    }

    /// Returns whether a quad exists.
    fn contains(
        &self,
        subject: &NamedNode,
        predicate: NamedNodeRef<'_>,
        object: &NamedNode,
        graph: GraphNameRef<'_>,
    ) -> Result<bool, StoreError> {
        let pattern = Pattern {
            subject: Some(subject),
            predicate: Some(predicate),
            object: Some(object.into()),
        };
        let found = self.quads(pattern, Some(graph)).next().transpose();
        Ok(found.map_err(Self::failed)?.is_some())
    }

    /// Returns the distinct subjects that link to an object by a property, where that is indexed.
    fn links_to<'l>(
        &'l self,
        object: &NamedNode,
        property: &NamedNode,
    ) -> Option<impl Iterator<Item = NamedNode> + use<'l, Self>>;
}

/// A public source during one request.
pub(super) struct Plain<'a, P>(pub(super) &'a P);

impl<'a, P: PatternSource> QuadSource for Plain<'a, P> {
    type Error = StoreError;
    type Quads = Quads<'a>;

    fn quads(&self, pattern: Pattern<'_>, graph: Option<GraphNameRef<'_>>) -> Quads<'a> {
        self.0.quads_for_pattern(
            pattern.subject.map(NamedOrBlankNodeRef::from),
            pattern.predicate,
            pattern.object,
            graph,
        )
    }

    fn failed(error: StoreError) -> StoreError {
        error
    }

    fn links_to<'l>(
        &'l self,
        _object: &NamedNode,
        _property: &NamedNode,
    ) -> Option<impl Iterator<Item = NamedNode> + use<'l, 'a, P>> {
        // A public source finds them like any other quads.
        None::<std::iter::Empty<NamedNode>>
    }
}
