//! Triples as a transaction sees them: those of a store, without what it has removed and with what it
//! has added.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::hash::Hash;

use foldhash::HashSet;
use oxrdf::{
    GraphName, GraphNameRef, NamedNode, NamedNodeRef, NamedOrBlankNode, Quad, Term, TermRef,
};

use super::pending::Pending;
use super::source::{Object, Pattern, QuadSource};
use super::spans::{Spans, Within};
use crate::error::StoreError;
use crate::evaluate::TermMatcher;
use crate::query::{ObjectSlice, Objects, Terms};

/// A source of triples and the change that lies over it. Handles are those of the source.
pub(crate) struct Overlay<'p, S> {
    under: S,
    pending: &'p Pending,
    is_named_under: bool,
}

/// The changed quads that match a pattern.
struct Changes<'p> {
    removed: Vec<&'p Quad>,
    added: Vec<&'p Quad>,
}

impl<'p, S: QuadSource> Overlay<'p, S> {
    pub(crate) fn new(under: S, pending: &'p Pending) -> Self {
        let is_named_under = under.may_have_named_graphs();
        Overlay {
            under,
            pending,
            is_named_under,
        }
    }

    /// Returns the changed quads that match a pattern, in one graph or in all.
    fn changes(&self, pattern: Pattern<'_>, graph: Option<&OverlayGraph<S>>) -> Changes<'p> {
        let graph = graph.map(|(name, _)| name.as_ref());
        Changes {
            removed: self.pending.removed.matching(pattern, graph),
            added: self.pending.added.matching(pattern, graph),
        }
    }

    /// Returns the changed quads of a subject, and of a property where one is given.
    fn changes_about(
        &self,
        subject: &S::Node,
        predicate: Option<&NamedNode>,
        graph: Option<&OverlayGraph<S>>,
    ) -> Changes<'p> {
        self.under.with_iri(subject, |subject| {
            let pattern = Pattern {
                subject: Some(subject),
                predicate: predicate.map(NamedNode::as_ref),
                object: None,
            };
            self.changes(pattern, graph)
        })
    }

    /// Returns the changed quads of a property that lead to an object.
    fn changes_to(
        &self,
        property: &NamedNode,
        object: Object<'_, S::Node>,
        graph: Option<&OverlayGraph<S>>,
    ) -> Changes<'p> {
        let changes = |object: TermRef<'_>| {
            let pattern = Pattern {
                subject: None,
                predicate: Some(property.as_ref()),
                object: Some(object),
            };
            self.changes(pattern, graph)
        };
        match object {
            Object::Node(object) => self.under.with_iri(object, |object| changes(object.into())),
            Object::Literal(literal) => changes(literal.into()),
        }
    }

    /// Returns whether the triple of a quad exists in some graph beneath and is not removed there.
    fn remains(&self, quad: &Quad) -> Result<bool, StoreError> {
        let pattern = Pattern {
            subject: match &quad.subject {
                NamedOrBlankNode::NamedNode(subject) => Some(subject.as_ref()),
                NamedOrBlankNode::BlankNode(_) => None,
            },
            predicate: Some(quad.predicate.as_ref()),
            object: Some(Term::as_ref(&quad.object)),
        };
        for found in self.under.quads(pattern, None) {
            let found = found?;
            let is_same = found.subject == quad.subject;
            if is_same && !self.pending.removed.contains(found.as_ref()) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns whether the triple of a removed quad is gone from what is read: one graph, or all.
    fn is_gone(&self, quad: &Quad, reads_all: bool) -> Result<bool, StoreError> {
        // Beneath there may be only one graph, and nowhere else to look.
        Ok(!(reads_all && self.is_named_under && self.remains(quad)?))
    }

    /// Returns what was found beneath, without what the change takes away altogether, and with what it
    /// adds.
    ///
    /// What is in several graphs and was removed from one of them is returned as often as it was found.
    fn changed<'s, T, I, F>(
        &'s self,
        found: I,
        changes: Changes<'p>,
        reads_all: bool,
        part: F,
    ) -> impl Iterator<Item = Result<T, StoreError>> + use<'s, 'p, S, T, I, F>
    where
        T: Eq + Hash,
        I: Iterator<Item = Result<T, StoreError>>,
        F: Fn(&Quad) -> T,
    {
        let mut gone = HashSet::default();
        let mut failed = None;
        for quad in changes.removed {
            match self.is_gone(quad, reads_all) {
                Ok(true) => {
                    gone.insert(part(quad));
                }
                Ok(false) => {}
                Err(error) => failed = Some(Err(error)),
            }
        }
        let added: Vec<_> = changes
            .added
            .into_iter()
            .map(|quad| Ok(part(quad)))
            .collect();
        let kept = found.filter(move |found| match found {
            Ok(found) => gone.is_empty() || !gone.contains(found),
            Err(_) => true,
        });
        failed.into_iter().chain(kept).chain(added)
    }

    fn object(&self, quad: &Quad) -> S::Term {
        self.under.term(Term::as_ref(&quad.object))
    }

    fn subject(&self, quad: &Quad) -> S::Term {
        self.under.term(quad.subject.as_ref().into())
    }
}

/// Returns the pattern of all quads of a property.
fn by_property(property: &NamedNode) -> Pattern<'_> {
    Pattern {
        predicate: Some(property.as_ref()),
        ..Pattern::default()
    }
}

/// A graph, and what the source beneath knows of it.
type OverlayGraph<S> = (GraphName, <S as QuadSource>::Graph);

impl<'p, S: QuadSource> QuadSource for Overlay<'p, S> {
    type Node = S::Node;
    type Term = S::Term;
    /// A property, and what the source beneath knows of it.
    type Property<'q> = (&'q NamedNode, S::Property<'q>);
    type Graph = OverlayGraph<S>;

    fn node<'n>(&self, iri: &'n NamedNode) -> Cow<'n, S::Node> {
        self.under.node(iri)
    }

    fn term(&self, term: TermRef<'_>) -> S::Term {
        self.under.term(term)
    }

    fn property<'q>(&self, iri: &'q NamedNode) -> Self::Property<'q> {
        (iri, self.under.property(iri))
    }

    fn graph(&self, name: GraphNameRef<'_>) -> Self::Graph {
        (name.into_owned(), self.under.graph(name))
    }

    fn with_iri<R>(&self, node: &S::Node, view: impl FnOnce(NamedNodeRef<'_>) -> R) -> R {
        self.under.with_iri(node, view)
    }

    fn with_term<R>(&self, term: &S::Term, view: impl FnOnce(TermRef<'_>) -> R) -> R {
        self.under.with_term(term, view)
    }

    fn compare(&self, a: &S::Node, b: &S::Node) -> Ordering {
        self.under.compare(a, b)
    }

    fn as_node<'t>(&self, term: &'t S::Term) -> Option<&'t S::Node> {
        self.under.as_node(term)
    }

    fn to_node(&self, term: S::Term) -> Result<S::Node, S::Term> {
        self.under.to_node(term)
    }

    fn is_blank(&self, term: &S::Term) -> bool {
        self.under.is_blank(term)
    }

    fn is_property(&self, predicate: &S::Node, property: &Self::Property<'_>) -> bool {
        self.under.is_property(predicate, &property.1)
    }

    fn text_size(&self, term: &S::Term) -> usize {
        self.under.text_size(term)
    }

    fn iri_size(&self, node: &S::Node) -> usize {
        self.under.iri_size(node)
    }

    fn to_iris(&self, nodes: Vec<S::Node>) -> Vec<NamedNode> {
        self.under.to_iris(nodes)
    }

    fn to_terms(&self, terms: Vec<S::Term>) -> Vec<Term> {
        self.under.to_terms(terms)
    }

    fn handle<'n>(&self, objects: ObjectSlice<'n>, position: usize) -> Cow<'n, S::Node> {
        self.under.handle(objects, position)
    }

    fn to_objects(&self, nodes: Vec<S::Node>) -> Objects {
        self.under.to_objects(nodes)
    }

    fn to_values(&self, terms: Vec<S::Term>) -> Terms {
        self.under.to_values(terms)
    }

    fn result_size(&self, term: &S::Term) -> usize {
        self.under.result_size(term)
    }

    fn object_size(&self, node: &S::Node) -> usize {
        self.under.object_size(node)
    }

    fn objects<'s>(
        &'s self,
        subject: &S::Node,
        property: &Self::Property<'_>,
        graph: Option<&Self::Graph>,
    ) -> impl Iterator<Item = Result<S::Term, StoreError>> + use<'s, 'p, S> {
        let changes = self.changes_about(subject, Some(property.0), graph);
        let under = graph.map(|(_, under)| under);
        let found = self.under.objects(subject, &property.1, under);
        self.changed(found, changes, graph.is_none(), |quad| self.object(quad))
    }

    fn subjects<'s>(
        &'s self,
        property: &Self::Property<'_>,
        object: Object<'_, S::Node>,
        graph: Option<&Self::Graph>,
    ) -> impl Iterator<Item = Result<S::Term, StoreError>> + use<'s, 'p, S> {
        let changes = self.changes_to(property.0, object, graph);
        let under = graph.map(|(_, under)| under);
        let found = self.under.subjects(&property.1, object, under);
        self.changed(found, changes, graph.is_none(), |quad| self.subject(quad))
    }

    fn pairs<'s>(
        &'s self,
        property: &Self::Property<'_>,
        graph: Option<&Self::Graph>,
    ) -> impl Iterator<Item = Result<(S::Term, S::Term), StoreError>> + use<'s, 'p, S> {
        let changes = self.changes(by_property(property.0), graph);
        let under = graph.map(|(_, under)| under);
        let found = self.under.pairs(&property.1, under);
        let pair = |quad: &Quad| (self.subject(quad), self.object(quad));
        self.changed(found, changes, graph.is_none(), pair)
    }

    fn spans(&self, condition: &TermMatcher<'_>) -> Option<Spans> {
        self.under.spans(condition)
    }

    fn decide(&self, spans: &Spans, term: &S::Term) -> Option<bool> {
        self.under.decide(spans, term)
    }

    fn within(&self, property: &Self::Property<'_>, condition: &TermMatcher<'_>) -> Option<Within> {
        let added = self.changes(by_property(property.0), None).added.len();
        let under = self.under.within(&property.1, condition)?;
        Some(Within {
            size: under.size + added,
            ..under
        })
    }

    fn pairs_within<'s>(
        &'s self,
        property: &Self::Property<'_>,
        within: &Within,
        graph: Option<&Self::Graph>,
    ) -> impl Iterator<Item = Result<(S::Term, S::Term), StoreError>> + use<'s, 'p, S> {
        let changes = self.changes(by_property(property.0), graph);
        let under = graph.map(|(_, under)| under);
        let found = self.under.pairs_within(&property.1, within, under);
        let pair = |quad: &Quad| (self.subject(quad), self.object(quad));
        self.changed(found, changes, graph.is_none(), pair)
    }

    fn make_distinct(&self, nodes: &mut Vec<S::Node>) {
        self.under.make_distinct(nodes);
    }

    fn about<'s>(
        &'s self,
        subject: &S::Node,
        graph: Option<&Self::Graph>,
    ) -> impl Iterator<Item = Result<(S::Node, S::Term), StoreError>> + use<'s, 'p, S> {
        let changes = self.changes_about(subject, None, graph);
        let under = graph.map(|(_, under)| under);
        let found = self.under.about(subject, under);
        let value = |quad: &Quad| {
            let predicate = self.under.node(&quad.predicate);
            (predicate.into_owned(), self.object(quad))
        };
        self.changed(found, changes, graph.is_none(), value)
    }

    fn contains(
        &self,
        subject: &S::Node,
        property: &Self::Property<'_>,
        object: &S::Node,
        graph: Option<&Self::Graph>,
    ) -> Result<bool, StoreError> {
        let under = graph.map(|(_, under)| under);
        let beneath = || self.under.contains(subject, &property.1, object, under);
        if self.pending.is_empty() {
            return beneath();
        }
        let changes = self.changes_about(subject, Some(property.0), graph);
        let leads_there = |quad: &&&Quad| match &quad.object {
            Term::NamedNode(end) => *self.under.node(end) == *object,
            _ => false,
        };
        if changes.added.iter().any(|quad| leads_there(&quad)) {
            return Ok(true);
        }
        match changes.removed.iter().find(leads_there) {
            Some(removed) => Ok(!self.is_gone(removed, graph.is_none())?),
            None => beneath(),
        }
    }

    fn quads<'s>(
        &'s self,
        pattern: Pattern<'_>,
        graph: Option<&Self::Graph>,
    ) -> impl Iterator<Item = Result<Quad, StoreError>> + use<'s, 'p, S> {
        let added = self.changes(pattern, graph).added.into_iter().cloned();
        let removed = &self.pending.removed;
        let under = graph.map(|(_, under)| under);
        let found = self.under.quads(pattern, under);
        let kept =
            found.filter(|quad| !matches!(quad, Ok(quad) if removed.contains(quad.as_ref())));
        kept.chain(added.map(Ok))
    }

    fn may_have_named_graphs(&self) -> bool {
        self.is_named_under || self.pending.added.has_named_graphs
    }

    fn repeats_triples(&self) -> bool {
        // What is added to one graph may be in another.
        self.under.repeats_triples()
            || (!self.pending.added.is_empty() && self.may_have_named_graphs())
    }

    fn reads_subjects_at_once(&self) -> bool {
        self.under.reads_subjects_at_once()
    }
}
