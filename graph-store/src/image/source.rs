//! The triples of an image during one request: handles of terms are their numbers.

use std::borrow::Cow;
use std::cell::RefCell;
use std::cmp::Ordering;
use std::ops::Range;
use std::sync::Arc;

use foldhash::fast::RandomState;
use indexmap::IndexSet;
use oxrdf::{GraphNameRef, NamedNode, NamedNodeRef, Term, TermRef};

use super::Image;
use super::columns::Property;
use super::graphs::DEFAULT;
use super::terms::View;
use crate::error::StoreError;
use crate::pattern::{Object, QuadSource};
use crate::query::{Dictionary, ObjectSlice, Objects, Terms, is_same_dictionary};

/// An image during one request.
pub(super) struct Reader<'i> {
    image: &'i Image,
    /// The same image, for results that refer to its terms.
    shared: Arc<dyn Dictionary>,
    /// Terms of the request that the image does not have; their numbers follow those of the image.
    others: RefCell<IndexSet<Term, RandomState>>,
}

impl<'i> Reader<'i> {
    pub(super) fn new(image: &'i Arc<Image>) -> Self {
        Reader {
            image,
            shared: Arc::clone(image) as _,
            others: RefCell::default(),
        }
    }

    /// Returns the number of a term, which may be one of the request alone.
    fn number(&self, term: TermRef<'_>) -> u32 {
        let Image { bytes, terms, .. } = self.image;
        terms.find(bytes, term).unwrap_or_else(|| {
            let (place, _) = self.others.borrow_mut().insert_full(term.into_owned());
            let place = u32::try_from(place).ok();
            let number = place.and_then(|place| terms.count.checked_add(place));
            number.expect("an image leaves numbers for the terms of a request")
        })
    }

    /// Shows a term of the request that the image does not have.
    fn with_other<R>(&self, number: u32, view: impl FnOnce(&Term) -> R) -> R {
        let others = self.others.borrow();
        let place = (number - self.image.terms.count) as usize;
        view(others.get_index(place).expect("a number that was given"))
    }

    fn is_other(&self, number: u32) -> bool {
        number >= self.image.terms.count
    }

    fn owned(&self, number: u32) -> Term {
        match self.is_other(number) {
            true => self.with_other(number, Term::clone),
            false => self.image.terms.term(&self.image.bytes, number),
        }
    }

    /// Returns the objects at some positions of a property, in a graph or in any.
    fn objects_at(
        &self,
        property: &'i Property,
        positions: Range<usize>,
        graph: Option<&Option<u32>>,
    ) -> impl Iterator<Item = u32> + use<'i> {
        let image = self.image;
        let objects = property.forward.all(&image.bytes);
        let graph = graph.copied();
        positions
            .filter(move |at| graph.is_none_or(|graph| image.is_in(property, *at, graph)))
            .map(move |at| objects[at])
    }

    /// Returns the subjects and objects of a property, in a graph or in any.
    fn pairs_of(
        &self,
        property: &'i Property,
        graph: Option<&Option<u32>>,
    ) -> impl Iterator<Item = (u32, u32)> + use<'i> {
        let image = self.image;
        let objects = property.forward.all(&image.bytes);
        let graph = graph.copied();
        let entries = property.forward.entries(&image.bytes);
        entries.flat_map(move |(subject, positions)| {
            positions
                .filter(move |at| graph.is_none_or(|graph| image.is_in(property, *at, graph)))
                .map(move |at| (subject, objects[at]))
        })
    }
}

impl Image {
    /// Returns whether the triple at a position of a property is in a graph; `None` is one that no triple
    /// is in.
    fn is_in(&self, property: &Property, position: usize, graph: Option<u32>) -> bool {
        let set = property.sets.of(&self.bytes, position);
        graph.is_some_and(|graph| self.sets.get(&self.bytes, set).contains(&graph))
    }

    /// Returns the position of a triple of a property, in the order of subjects.
    pub(super) fn position(&self, property: &Property, subject: u32, object: u32) -> Option<usize> {
        let range = property.forward.range(&self.bytes, subject);
        let objects = &property.forward.all(&self.bytes)[range.clone()];
        Some(range.start + objects.binary_search(&object).ok()?)
    }
}

impl<'i> QuadSource for Reader<'i> {
    type Node = u32;
    type Term = u32;
    /// `None` for a property without triples.
    type Property<'q> = Option<&'i Property>;
    /// `None` for a graph without triples.
    type Graph = Option<u32>;

    fn node<'n>(&self, iri: &'n NamedNode) -> Cow<'n, u32> {
        Cow::Owned(self.number(iri.into()))
    }

    #[cfg(feature = "oxigraph")]
    fn term(&self, term: TermRef<'_>) -> u32 {
        self.number(term)
    }

    fn property<'q>(&self, iri: &'q NamedNode) -> Option<&'i Property> {
        let Image { bytes, terms, .. } = self.image;
        self.image.property(terms.find(bytes, iri.into())?)
    }

    fn graph(&self, name: GraphNameRef<'_>) -> Option<u32> {
        let Image { bytes, terms, .. } = self.image;
        match name {
            GraphNameRef::DefaultGraph => Some(DEFAULT),
            GraphNameRef::NamedNode(graph) => terms.find(bytes, graph.into()),
            GraphNameRef::BlankNode(graph) => terms.find(bytes, graph.into()),
        }
    }

    fn with_iri<R>(&self, node: &u32, view: impl FnOnce(NamedNodeRef<'_>) -> R) -> R {
        self.with_term(node, |term| match term {
            TermRef::NamedNode(node) => view(node),
            _ => unreachable!("nodes are IRIs"),
        })
    }

    fn with_term<R>(&self, term: &u32, view: impl FnOnce(TermRef<'_>) -> R) -> R {
        if self.is_other(*term) {
            return self.with_other(*term, |term| view(term.as_ref()));
        }
        self.image.terms.with(&self.image.bytes, *term, view)
    }

    fn compare(&self, a: &u32, b: &u32) -> Ordering {
        if !self.is_other(*a) && !self.is_other(*b) {
            return a.cmp(b);
        }
        self.with_iri(a, |a| self.with_iri(b, |b| a.as_str().cmp(b.as_str())))
    }

    fn as_node<'t>(&self, term: &'t u32) -> Option<&'t u32> {
        let is_node = match self.is_other(*term) {
            true => self.with_other(*term, Term::is_named_node),
            false => *term < self.image.terms.iris,
        };
        is_node.then_some(term)
    }

    fn is_blank(&self, term: &u32) -> bool {
        match self.is_other(*term) {
            true => self.with_other(*term, Term::is_blank_node),
            false => (self.image.terms.iris..self.image.terms.nodes).contains(term),
        }
    }

    fn is_property(&self, predicate: &u32, property: &Option<&'i Property>) -> bool {
        property.is_some_and(|property| property.id == *predicate)
    }

    fn text_size(&self, term: &u32) -> usize {
        if self.is_other(*term) {
            return self.with_other(*term, |term| term.to_string().len());
        }
        match self.image.terms.get(&self.image.bytes, *term) {
            View::Iri { prefix, rest } => prefix.len() + rest.len(),
            View::Blank(text) | View::Plain(text) | View::Typed(text, _) => text.len(),
            View::Tagged(text, tag) => text.len() + tag.len(),
        }
    }

    fn iri_size(&self, node: &u32) -> usize {
        self.text_size(node)
    }

    fn handle<'n>(&self, objects: ObjectSlice<'n>, position: usize) -> Cow<'n, u32> {
        if let Some((numbers, dictionary)) = objects.numbers()
            && is_same_dictionary(dictionary, &self.shared)
        {
            return Cow::Borrowed(&numbers[position]);
        }
        Cow::Owned(self.number(objects.get(position).node().into()))
    }

    fn to_objects(&self, nodes: Vec<u32>) -> Objects {
        match nodes.iter().any(|node| self.is_other(*node)) {
            true => self.to_iris(nodes).into(),
            false => Objects::numbered(nodes, Arc::clone(&self.shared)),
        }
    }

    fn to_values(&self, terms: Vec<u32>) -> Terms {
        match terms.iter().any(|term| self.is_other(*term)) {
            true => self.to_terms(terms).into(),
            false => Terms::numbered(terms, Arc::clone(&self.shared)),
        }
    }

    fn result_size(&self, _term: &u32) -> usize {
        size_of::<u32>()
    }

    fn object_size(&self, _node: &u32) -> usize {
        size_of::<u32>()
    }

    fn to_iris(&self, nodes: Vec<u32>) -> Vec<NamedNode> {
        let iris = nodes.into_iter().map(|node| match self.owned(node) {
            Term::NamedNode(iri) => iri,
            _ => unreachable!("nodes are IRIs"),
        });
        iris.collect()
    }

    fn to_terms(&self, terms: Vec<u32>) -> Vec<Term> {
        terms.into_iter().map(|term| self.owned(term)).collect()
    }

    fn objects<'s>(
        &'s self,
        subject: &u32,
        property: &Option<&'i Property>,
        graph: Option<&Option<u32>>,
    ) -> impl Iterator<Item = Result<u32, StoreError>> + use<'s, 'i> {
        let found = property.map(|property| {
            let positions = property.forward.range(&self.image.bytes, *subject);
            self.objects_at(property, positions, graph)
        });
        found.into_iter().flatten().map(Ok)
    }

    fn subjects<'s>(
        &'s self,
        property: &Option<&'i Property>,
        object: Object<'_, u32>,
        graph: Option<&Option<u32>>,
    ) -> impl Iterator<Item = Result<u32, StoreError>> + use<'s, 'i> {
        let image = self.image;
        let object = match object {
            Object::Node(node) => Some(*node),
            Object::Literal(literal) => image.terms.find(&image.bytes, literal.into()),
        };
        let graph = graph.copied();
        let found = property.zip(object).map(|(property, object)| {
            let subjects = property.backward.values(&image.bytes, object).iter();
            subjects.copied().filter(move |subject| {
                graph.is_none_or(|graph| {
                    let position = image.position(property, *subject, object);
                    position.is_some_and(|at| image.is_in(property, at, graph))
                })
            })
        });
        found.into_iter().flatten().map(Ok)
    }

    fn pairs<'s>(
        &'s self,
        property: &Option<&'i Property>,
        graph: Option<&Option<u32>>,
    ) -> impl Iterator<Item = Result<(u32, u32), StoreError>> + use<'s, 'i> {
        let found = property.map(|property| self.pairs_of(property, graph));
        found.into_iter().flatten().map(Ok)
    }

    fn about<'s>(
        &'s self,
        subject: &u32,
        graph: Option<&Option<u32>>,
    ) -> impl Iterator<Item = Result<(u32, u32), StoreError>> + use<'s, 'i> {
        let (subject, graph) = (*subject, graph.copied());
        self.image.properties.iter().flat_map(move |property| {
            let positions = property.forward.range(&self.image.bytes, subject);
            let objects = self.objects_at(property, positions, graph.as_ref());
            objects.map(|object| Ok((property.id, object)))
        })
    }

    fn contains(
        &self,
        subject: &u32,
        property: &Option<&'i Property>,
        object: &u32,
        graph: Option<&Option<u32>>,
    ) -> Result<bool, StoreError> {
        let position = property.and_then(|property| {
            let at = self.image.position(property, *subject, *object)?;
            Some((property, at))
        });
        Ok(position.is_some_and(|(property, at)| {
            graph.is_none_or(|graph| self.image.is_in(property, at, *graph))
        }))
    }

    #[cfg(feature = "oxigraph")]
    fn quads<'s>(
        &'s self,
        pattern: crate::pattern::Pattern<'_>,
        graph: Option<&Option<u32>>,
    ) -> impl Iterator<Item = Result<oxrdf::Quad, StoreError>> + use<'s, 'i> {
        let image = self.image;
        let find = |term: TermRef<'_>| image.terms.find(&image.bytes, term);
        // A term that is sought and not found matches nothing.
        let (subject, object) = (
            pattern.subject.map(|subject| find(subject.into())),
            pattern.object.map(find),
        );
        let is_there = subject != Some(None) && object != Some(None) && graph != Some(&None);
        let properties = match pattern.predicate {
            _ if !is_there => &[],
            None => &image.properties[..],
            Some(predicate) => find(predicate.into())
                .and_then(|predicate| image.property(predicate))
                .map_or(&[][..], std::slice::from_ref),
        };
        let graph = graph.copied().flatten();
        let quads = image.quads_of(properties, subject.flatten(), object.flatten(), graph);
        quads.map(Ok)
    }

    fn may_have_named_graphs(&self) -> bool {
        self.image.sets.are_named(&self.image.bytes)
    }

    fn repeats_triples(&self) -> bool {
        false
    }

    fn reads_subjects_at_once(&self) -> bool {
        false
    }
}
