//! Quads in hash maps, as a store for the object service.

use std::collections::HashMap;

use graph_store::pattern::{PatternSource, Quads};
use oxrdf::{
    GraphNameRef, NamedNode, NamedNodeRef, NamedOrBlankNode, NamedOrBlankNodeRef, Quad, Term,
    TermRef,
};

/// Distinct quads, with the positions of those that share a term.
#[derive(Clone, Debug, Default)]
pub struct QuadMap {
    quads: Vec<Quad>,
    by_subject: HashMap<NamedOrBlankNode, Vec<usize>>,
    by_predicate: HashMap<NamedNode, Vec<usize>>,
    by_object: HashMap<Term, Vec<usize>>,
}

impl QuadMap {
    /// Adds a quad, unless it is there.
    pub fn insert(&mut self, quad: Quad) {
        let of_subject = self.by_subject.entry(quad.subject.clone()).or_default();
        if of_subject.iter().any(|&at| self.quads[at] == quad) {
            return;
        }
        let at = self.quads.len();
        of_subject.push(at);
        let of_predicate = self.by_predicate.entry(quad.predicate.clone());
        of_predicate.or_default().push(at);
        let of_object = self.by_object.entry(quad.object.clone());
        of_object.or_default().push(at);
        self.quads.push(quad);
    }

    /// Returns the positions of all quads of a pattern, and perhaps of others; `None` for all quads.
    fn candidates(
        &self,
        subject: Option<NamedOrBlankNodeRef<'_>>,
        predicate: Option<NamedNodeRef<'_>>,
        object: Option<TermRef<'_>>,
    ) -> Option<&[usize]> {
        let of_subject = subject.map(|term| self.by_subject.get(&term.into_owned()));
        let of_predicate = predicate.map(|term| self.by_predicate.get(&term.into_owned()));
        let of_object = object.map(|term| self.by_object.get(&term.into_owned()));
        let known = [of_subject, of_object, of_predicate].into_iter().flatten();
        known
            .map(|positions| positions.map_or(&[][..], Vec::as_slice))
            .min_by_key(|positions| positions.len())
    }
}

impl Extend<Quad> for QuadMap {
    fn extend<T: IntoIterator<Item = Quad>>(&mut self, quads: T) {
        for quad in quads {
            self.insert(quad);
        }
    }
}

impl PatternSource for QuadMap {
    fn quads_for_pattern(
        &self,
        subject: Option<NamedOrBlankNodeRef<'_>>,
        predicate: Option<NamedNodeRef<'_>>,
        object: Option<TermRef<'_>>,
        graph: Option<GraphNameRef<'_>>,
    ) -> Quads<'_> {
        let matches = |quad: &&Quad| {
            subject.is_none_or(|subject| quad.subject.as_ref() == subject)
                && predicate.is_none_or(|predicate| quad.predicate.as_ref() == predicate)
                && object.is_none_or(|object| quad.object.as_ref() == object)
                && graph.is_none_or(|graph| quad.graph_name.as_ref() == graph)
        };
        let found: Vec<&Quad> = match self.candidates(subject, predicate, object) {
            None => self.quads.iter().filter(matches).collect(),
            Some(positions) => {
                let quads = positions.iter().map(|&at| &self.quads[at]);
                quads.filter(matches).collect()
            }
        };
        Box::new(found.into_iter().cloned().map(Ok))
    }
}
