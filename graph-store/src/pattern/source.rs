//! Where walks find quads.

use oxrdf::{GraphNameRef, NamedNode, NamedNodeRef, NamedOrBlankNodeRef, Quad, TermRef};

use crate::error::StoreError;

/// Something that finds quads by a pattern: all that a [`PatternStore`](super::PatternStore) needs.
///
/// Each quad that exists comes exactly once. Many patterns are asked for one request, most of them
/// with subject and predicate, or with predicate and object; a source should find these by an index.
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
///         // What is found no longer borrows the pattern.
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
    /// Returns the quads whose terms are those given; an absent term stands for any.
    ///
    /// Without `graph` that is the quads of all graphs, those of the default graph included: a triple
    /// in two graphs is two quads.
    fn quads_for_pattern(
        &self,
        subject: Option<NamedOrBlankNodeRef<'_>>,
        predicate: Option<NamedNodeRef<'_>>,
        object: Option<TermRef<'_>>,
        graph: Option<GraphNameRef<'_>>,
    ) -> Quads<'_>;
}

/// The quads of a pattern, as they are read; an error ends the request.
pub type Quads<'s> = Box<dyn Iterator<Item = Result<Quad, StoreError>> + 's>;

/// What the quads of a walk have in common.
#[derive(Clone, Copy, Default)]
pub(crate) struct Pattern<'p> {
    pub(crate) subject: Option<&'p NamedNode>,
    pub(crate) predicate: Option<NamedNodeRef<'p>>,
    pub(crate) object: Option<TermRef<'p>>,
}

/// A source of quads during one request, with the shorter ways that it knows.
///
/// Walks are compiled for each source, so that the embedded store pays for no indirection.
pub(crate) trait QuadSource {
    /// How reading fails.
    type Error;
    /// The quads of a pattern.
    type Quads: Iterator<Item = Result<Quad, Self::Error>>;

    /// Returns the quads of a pattern, in one graph or in all.
    fn quads(&self, pattern: Pattern<'_>, graph: Option<GraphNameRef<'_>>) -> Self::Quads;

    /// Returns the failure of the store that an error is.
    fn failed(error: Self::Error) -> StoreError;

    /// Tells whether there may be quads outside of the default graph.
    fn may_have_named_graphs(&self) -> bool {
        true
    }

    /// Tells whether there is such a quad.
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

    /// Returns what leads to an object by a property, each once, where that is indexed.
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
        // A public source finds them as any other quads.
        None::<std::iter::Empty<NamedNode>>
    }
}
