//! Sources that know only decoded quads: terms are their own handles.

use std::borrow::Cow;
use std::cmp::Ordering;

use oxrdf::{
    GraphName, GraphNameRef, NamedNode, NamedNodeRef, NamedOrBlankNodeRef, Quad, Term, TermRef,
};

use super::source::{Object, Pattern, PatternSource, QuadSource, Quads};
use crate::error::StoreError;

/// A source of decoded quads during one request, with the shortcuts that it knows.
pub(crate) trait DecodedQuads {
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
        exists(self, subject, predicate, object, Some(graph))
    }

    /// Returns the distinct subjects that link to an object by a property, where that is indexed.
    fn links_to<'l>(
        &'l self,
        object: &NamedNode,
        property: &NamedNode,
    ) -> Option<impl Iterator<Item = NamedNode> + use<'l, Self>>;
}

/// Returns whether a triple exists in a graph or in any, by a scan.
fn exists<Q: DecodedQuads + ?Sized>(
    source: &Q,
    subject: &NamedNode,
    predicate: NamedNodeRef<'_>,
    object: &NamedNode,
    graph: Option<GraphNameRef<'_>>,
) -> Result<bool, StoreError> {
    let pattern = Pattern {
        subject: Some(subject.as_ref()),
        predicate: Some(predicate),
        object: Some(object.into()),
    };
    let found = source.quads(pattern, graph).next().transpose();
    Ok(found.map_err(Q::failed)?.is_some())
}

impl<Q: DecodedQuads> QuadSource for Q {
    type Node = NamedNode;
    type Term = Term;
    type Property<'q> = &'q NamedNode;
    type Graph = GraphName;

    fn node<'n>(&self, iri: &'n NamedNode) -> Cow<'n, NamedNode> {
        Cow::Borrowed(iri)
    }

    #[cfg(any(feature = "image", feature = "oxigraph"))]
    fn term(&self, term: TermRef<'_>) -> Term {
        term.into_owned()
    }

    fn property<'q>(&self, iri: &'q NamedNode) -> &'q NamedNode {
        iri
    }

    fn graph(&self, name: GraphNameRef<'_>) -> GraphName {
        name.into_owned()
    }

    fn with_iri<R>(&self, node: &NamedNode, view: impl FnOnce(NamedNodeRef<'_>) -> R) -> R {
        view(node.as_ref())
    }

    fn with_term<R>(&self, term: &Term, view: impl FnOnce(TermRef<'_>) -> R) -> R {
        view(term.as_ref())
    }

    fn compare(&self, a: &NamedNode, b: &NamedNode) -> Ordering {
        a.cmp(b)
    }

    fn as_node<'t>(&self, term: &'t Term) -> Option<&'t NamedNode> {
        match term {
            Term::NamedNode(node) => Some(node),
            _ => None,
        }
    }

    fn to_node(&self, term: Term) -> Result<NamedNode, Term> {
        match term {
            Term::NamedNode(node) => Ok(node),
            other => Err(other),
        }
    }

    fn is_blank(&self, term: &Term) -> bool {
        matches!(term, Term::BlankNode(_))
    }

    fn is_property(&self, predicate: &NamedNode, property: &&NamedNode) -> bool {
        predicate == *property
    }

    fn to_iris(&self, nodes: Vec<NamedNode>) -> Vec<NamedNode> {
        nodes
    }

    fn to_terms(&self, terms: Vec<Term>) -> Vec<Term> {
        terms
    }

    #[inline]
    fn objects<'s>(
        &'s self,
        subject: &NamedNode,
        property: &&NamedNode,
        graph: Option<&GraphName>,
    ) -> impl Iterator<Item = Result<Term, StoreError>> + use<'s, Q> {
        let pattern = Pattern {
            subject: Some(subject.as_ref()),
            predicate: Some(property.as_ref()),
            object: None,
        };
        read(self, pattern, graph, |quad| quad.object)
    }

    #[inline]
    fn subjects<'s>(
        &'s self,
        property: &&NamedNode,
        object: Object<'_, NamedNode>,
        graph: Option<&GraphName>,
    ) -> impl Iterator<Item = Result<Term, StoreError>> + use<'s, Q> {
        let pattern = Pattern {
            subject: None,
            predicate: Some(property.as_ref()),
            object: Some(match object {
                Object::Node(node) => node.into(),
                Object::Literal(literal) => literal.into(),
            }),
        };
        read(self, pattern, graph, |quad| quad.subject.into())
    }

    #[inline]
    fn pairs<'s>(
        &'s self,
        property: &&NamedNode,
        graph: Option<&GraphName>,
    ) -> impl Iterator<Item = Result<(Term, Term), StoreError>> + use<'s, Q> {
        let pattern = Pattern {
            predicate: Some(property.as_ref()),
            ..Pattern::default()
        };
        read(self, pattern, graph, |quad| {
            (quad.subject.into(), quad.object)
        })
    }

    #[inline]
    fn about<'s>(
        &'s self,
        subject: &NamedNode,
        graph: Option<&GraphName>,
    ) -> impl Iterator<Item = Result<(NamedNode, Term), StoreError>> + use<'s, Q> {
        let pattern = Pattern {
            subject: Some(subject.as_ref()),
            ..Pattern::default()
        };
        read(self, pattern, graph, |quad| (quad.predicate, quad.object))
    }

    /// Where the graph is known, this may be a point look-up, which reads no chain and decodes nothing.
    fn contains(
        &self,
        subject: &NamedNode,
        property: &&NamedNode,
        object: &NamedNode,
        graph: Option<&GraphName>,
    ) -> Result<bool, StoreError> {
        let property = property.as_ref();
        match graph {
            Some(graph) => DecodedQuads::contains(self, subject, property, object, graph.as_ref()),
            None => exists(self, subject, property, object, None),
        }
    }

    fn links_to<'s>(
        &'s self,
        object: &NamedNode,
        property: &&NamedNode,
    ) -> Option<impl Iterator<Item = NamedNode> + use<'s, Q>> {
        DecodedQuads::links_to(self, object, property)
    }

    #[cfg(any(feature = "image", feature = "oxigraph"))]
    fn quads<'s>(
        &'s self,
        pattern: Pattern<'_>,
        graph: Option<&GraphName>,
    ) -> impl Iterator<Item = Result<Quad, StoreError>> + use<'s, Q> {
        read(self, pattern, graph, |quad| quad)
    }

    fn may_have_named_graphs(&self) -> bool {
        DecodedQuads::may_have_named_graphs(self)
    }
}

/// Returns a part of each quad that matches a pattern.
#[inline]
fn read<Q: DecodedQuads, T, F: Fn(Quad) -> T>(
    source: &Q,
    pattern: Pattern<'_>,
    graph: Option<&GraphName>,
    part: F,
) -> impl Iterator<Item = Result<T, StoreError>> + use<Q, T, F> {
    let quads = source.quads(pattern, graph.map(GraphName::as_ref));
    quads.map(move |quad| match quad {
        Ok(quad) => Ok(part(quad)),
        Err(error) => Err(Q::failed(error)),
    })
}

/// A public source during one request.
pub(super) struct Plain<'a, P>(pub(super) &'a P);

impl<'a, P: PatternSource> DecodedQuads for Plain<'a, P> {
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
