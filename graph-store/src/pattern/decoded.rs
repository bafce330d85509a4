//! Public sources, which know only decoded quads: terms are their own handles.

use std::borrow::Cow;
use std::cmp::Ordering;

use oxrdf::{
    GraphName, GraphNameRef, NamedNode, NamedNodeRef, NamedOrBlankNodeRef, Quad, Term, TermRef,
};

use super::source::{Object, Pattern, PatternSource, QuadSource, Quads};
use crate::error::StoreError;

/// A public source during one request.
pub(super) struct Plain<'a, P>(pub(super) &'a P);

impl<'a, P: PatternSource> Plain<'a, P> {
    /// Returns the quads that match a pattern, in one graph or in all.
    fn matching(&self, pattern: Pattern<'_>, graph: Option<&GraphName>) -> Quads<'a> {
        self.0.quads_for_pattern(
            pattern.subject.map(NamedOrBlankNodeRef::from),
            pattern.predicate,
            pattern.object,
            graph.map(GraphName::as_ref),
        )
    }

    /// Returns a part of each quad that matches a pattern.
    #[inline]
    fn parts<T, F: Fn(Quad) -> T>(
        &self,
        pattern: Pattern<'_>,
        graph: Option<&GraphName>,
        part: F,
    ) -> impl Iterator<Item = Result<T, StoreError>> + use<'a, P, T, F> {
        self.matching(pattern, graph)
            .map(move |quad| quad.map(&part))
    }
}

impl<'a, P: PatternSource> QuadSource for Plain<'a, P> {
    type Node = NamedNode;
    type Term = Term;
    type Property<'q> = &'q NamedNode;
    type Graph = GraphName;

    fn node<'n>(&self, iri: &'n NamedNode) -> Cow<'n, NamedNode> {
        Cow::Borrowed(iri)
    }

    #[cfg(feature = "image")]
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
    ) -> impl Iterator<Item = Result<Term, StoreError>> + use<'s, 'a, P> {
        let pattern = Pattern {
            subject: Some(subject.as_ref()),
            predicate: Some(property.as_ref()),
            object: None,
        };
        self.parts(pattern, graph, |quad| quad.object)
    }

    #[inline]
    fn subjects<'s>(
        &'s self,
        property: &&NamedNode,
        object: Object<'_, NamedNode>,
        graph: Option<&GraphName>,
    ) -> impl Iterator<Item = Result<Term, StoreError>> + use<'s, 'a, P> {
        let pattern = Pattern {
            subject: None,
            predicate: Some(property.as_ref()),
            object: Some(match object {
                Object::Node(node) => node.into(),
                Object::Literal(literal) => literal.into(),
            }),
        };
        self.parts(pattern, graph, |quad| quad.subject.into())
    }

    #[inline]
    fn pairs<'s>(
        &'s self,
        property: &&NamedNode,
        graph: Option<&GraphName>,
    ) -> impl Iterator<Item = Result<(Term, Term), StoreError>> + use<'s, 'a, P> {
        let pattern = Pattern {
            predicate: Some(property.as_ref()),
            ..Pattern::default()
        };
        self.parts(pattern, graph, |quad| (quad.subject.into(), quad.object))
    }

    #[inline]
    fn about<'s>(
        &'s self,
        subject: &NamedNode,
        graph: Option<&GraphName>,
    ) -> impl Iterator<Item = Result<(NamedNode, Term), StoreError>> + use<'s, 'a, P> {
        let pattern = Pattern {
            subject: Some(subject.as_ref()),
            ..Pattern::default()
        };
        self.parts(pattern, graph, |quad| (quad.predicate, quad.object))
    }

    fn contains(
        &self,
        subject: &NamedNode,
        property: &&NamedNode,
        object: &NamedNode,
        graph: Option<&GraphName>,
    ) -> Result<bool, StoreError> {
        let pattern = Pattern {
            subject: Some(subject.as_ref()),
            predicate: Some(property.as_ref()),
            object: Some(object.into()),
        };
        let found = self.matching(pattern, graph).next().transpose();
        Ok(found?.is_some())
    }

    #[cfg(feature = "image")]
    fn quads<'s>(
        &'s self,
        pattern: Pattern<'_>,
        graph: Option<&GraphName>,
    ) -> impl Iterator<Item = Result<Quad, StoreError>> + use<'s, 'a, P> {
        self.matching(pattern, graph)
    }

    fn may_have_named_graphs(&self) -> bool {
        true
    }
}
