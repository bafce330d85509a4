//! The triples of an image and its changes during one request: handles of terms are their numbers.

use std::borrow::Cow;
use std::cell::RefCell;
use std::cmp::Ordering;
use std::ops::Range;
use std::sync::Arc;

use foldhash::fast::RandomState;
use indexmap::IndexSet;
use oxrdf::{GraphNameRef, LiteralRef, NamedNode, NamedNodeRef, Term, TermRef};

use super::Image;
use super::columns::Property;
use super::delta::{Found, merged};
use super::graphs::DEFAULT;
use super::search::Search;
use super::snapshot::{Handle, Snapshot};
use crate::error::StoreError;
use crate::evaluate::{TermMatcher, TextFilter};
use crate::pattern::{Changes, Data, KeptOrders, Object, Pattern, QuadSource, Spans, Within};
use crate::query::{Dataset, Dictionary, ObjectSlice, Objects, TermView, Terms};

/// Changes that are looked at one by one.
const FEW_CHANGES: usize = 256;

/// The numbers that terms have.
const EVERY_TERM: Range<u32> = 0..u32::MAX;

/// The data of a store during one request.
pub(crate) struct Reader<'i> {
    data: &'i Snapshot,
    /// The same data, for results that refer to their terms.
    shared: &'i Arc<Snapshot>,
    /// Terms of the request that the data do not have; their numbers follow those of the data.
    others: RefCell<IndexSet<Term, RandomState>>,
}

/// A number that is none of a term of the image.
enum Beyond<'i> {
    /// A term that a change brought.
    New(&'i Term),
    /// A term of the request alone.
    Other(u32),
}

impl<'i> Reader<'i> {
    pub(super) fn new(data: &'i Arc<Snapshot>) -> Self {
        Reader {
            data,
            shared: data,
            others: RefCell::default(),
        }
    }

    /// Returns the number of a term, which may be one of the request alone.
    fn number(&self, term: TermRef<'_>) -> u32 {
        self.data.find(term).unwrap_or_else(|| {
            let (place, _) = self.others.borrow_mut().insert_full(term.into_owned());
            let place = u32::try_from(place).ok();
            let number = place.and_then(|place| self.data.delta.terms.end().checked_add(place));
            number.expect("data leave numbers for the terms of a request")
        })
    }

    /// Returns whether a number is one of the request alone, which no result can refer to.
    fn is_of_request(&self, number: u32) -> bool {
        number >= self.data.delta.terms.end()
    }

    /// Returns the data as what the numbers of a result refer to.
    fn dictionary(&self) -> Arc<dyn Dictionary> {
        Arc::clone(self.shared) as _
    }

    /// Returns whether a number is one of the image, whose numbers are in the order of values.
    #[inline]
    fn is_ordered(&self, number: u32) -> bool {
        number < self.data.image.terms.count
    }

    /// Returns what a number stands for that is none of the image.
    fn beyond(&self, number: u32) -> Beyond<'i> {
        let terms = &self.data.delta.terms;
        match number.checked_sub(terms.end()) {
            None => Beyond::New(terms.get(number)),
            Some(place) => Beyond::Other(place),
        }
    }

    /// Shows a term that the image does not have.
    fn with_other<R>(&self, number: u32, view: impl FnOnce(&Term) -> R) -> R {
        match self.beyond(number) {
            Beyond::New(term) => view(term),
            Beyond::Other(place) => {
                let others = self.others.borrow();
                let term = others.get_index(place as usize);
                view(term.expect("a number that was given"))
            }
        }
    }

    fn owned(&self, number: u32) -> Term {
        if self.is_ordered(number) {
            self.data.image.terms.term(&self.data.image.bytes, number)
        } else {
            self.with_other(number, Term::clone)
        }
    }

    /// Returns the objects of a subject in a graph or in any.
    fn objects_of(
        &self,
        subject: u32,
        property: Handle<'i>,
        graph: Wanted,
    ) -> impl Iterator<Item = u32> + use<'i> {
        let (data, bytes) = (self.data, &self.data.image.bytes);
        let at_subject = |known: &'i Property| known.forward.range(bytes, subject);
        let positions = property.image.map_or(0..0, at_subject);
        let objects = (property.image).map_or(&[][..], |known| known.forward.all(bytes));
        let changes = property.changes.map(|changes| &changes.forward);
        let Some(changes) = changes.filter(|changes| changes.touches(subject)) else {
            let found = positions.filter(move |at| data.is_at(property, *at, graph));
            return Read::Unchanged(found.map(move |at| objects[at]));
        };
        let of_image = positions.map(move |at| ((subject, objects[at]), at));
        let found = merged(of_image, changes.of(subject));
        let found = found.filter(move |(_, found)| data.is_found(property, found, graph));
        Read::Merged(found.map(|((_, object), _)| object))
    }

    /// Returns the subjects with an object in a graph or in any.
    fn subjects_of(
        &self,
        property: Handle<'i>,
        object: u32,
        graph: Wanted,
    ) -> impl Iterator<Item = u32> + use<'i> {
        let (data, bytes) = (self.data, &self.data.image.bytes);
        let at_object = |known: &'i Property| known.backward.values(bytes, object);
        let subjects = property.image.map_or(&[][..], at_object).iter().copied();
        let of_image = subjects.map(move |subject| ((object, subject), ()));
        let changes = property.changes.map(|changes| &changes.backward);
        let Some(changes) = changes.filter(|changes| changes.touches(object)) else {
            let found = of_image.map(|(pair, ())| pair);
            let in_graph = move |&(object, subject): &(u32, u32)| {
                data.is_in_image(property, subject, object, graph)
            };
            let found = found.filter(in_graph);
            return Read::Unchanged(found.map(|(_, subject)| subject));
        };
        let found = merged(of_image, changes.of(object));
        let found = found.filter(move |((object, subject), found)| {
            data.is_found_by_object(property, *subject, *object, found, graph)
        });
        Read::Merged(found.map(|((_, subject), _)| subject))
    }

    /// Returns the subjects and objects of a property in a graph or in any.
    fn pairs_of(
        &self,
        property: Handle<'i>,
        graph: Wanted,
    ) -> impl Iterator<Item = (u32, u32)> + use<'i> {
        let (data, bytes) = (self.data, &self.data.image.bytes);
        let of_image = property.image.into_iter().flat_map(move |known| {
            let objects = known.forward.all(bytes);
            let entries = known.forward.entries(bytes);
            entries.flat_map(move |(subject, positions)| {
                positions.map(move |at| ((subject, objects[at]), at))
            })
        });
        let Some(changes) = property.changes else {
            let found = of_image.filter(move |(_, at)| data.is_at(property, *at, graph));
            return Read::Unchanged(found.map(|(pair, _)| pair));
        };
        let found = merged(of_image, changes.forward.all());
        let found = found.filter(move |(_, found)| data.is_found(property, found, graph));
        Read::Merged(found.map(|(pair, _)| pair))
    }

    /// Returns the same, the subjects of one object after each other; `None` for several objects in whose texts a filter finds
    /// nothing.
    fn pairs_with_text(
        &self,
        property: Handle<'i>,
        filter: TextFilter,
        graph: Wanted,
    ) -> impl Iterator<Item = Option<(u32, u32)>> + use<'i> {
        let (data, image) = (self.data, &self.data.image);
        let (bytes, changes) = (&image.bytes, property.changes);
        let of_image = property.image.into_iter().flat_map(move |known| {
            let subjects = known.backward.all(bytes);
            let found = Search::new(image, &known.backward, filter.clone());
            found.flat_map(move |found| {
                let (object, positions) = found.clone().unwrap_or_default();
                let pairs = subjects[positions]
                    .iter()
                    .map(move |subject| Some((object, *subject)));
                pairs.chain(found.is_none().then_some(None))
            })
        });
        let of_image = of_image.filter(move |pair| {
            pair.is_none_or(|pair| {
                let changed = changes.and_then(|changes| changes.backward.get(pair));
                let (object, subject) = pair;
                changed.is_none() && data.is_in_image(property, subject, object, graph)
            })
        });
        let changed = changes
            .into_iter()
            .flat_map(|changes| changes.backward.all());
        let changed = changed
            .filter(move |(_, list)| is_wanted(graph, data.delta.graphs.get(*list)))
            .map(|(pair, _)| Some(pair));
        let found = of_image.chain(changed);
        found.map(|pair| pair.map(|(object, subject)| (subject, object)))
    }

    /// Returns the pairs of a property whose objects are in a range, those of one object after each other.
    fn pairs_between(
        &self,
        property: Handle<'i>,
        objects: &Range<u32>,
        graph: Wanted,
    ) -> impl Iterator<Item = (u32, u32)> + use<'i> {
        let (data, bytes) = (self.data, &self.data.image.bytes);
        let range = objects.clone();
        let of_image = property.image.into_iter().flat_map(move |known| {
            let subjects = known.backward.all(bytes);
            let entries = known.backward.entries_of(bytes, &range);
            entries.flat_map(move |(object, positions)| {
                let found = subjects[positions].iter();
                found.map(move |subject| ((object, *subject), ()))
            })
        });
        let Some(changes) = property.changes else {
            let found = of_image.map(|(pair, ())| pair);
            let in_graph = move |&(object, subject): &(u32, u32)| {
                data.is_in_image(property, subject, object, graph)
            };
            let found = found.filter(in_graph);
            return Read::Unchanged(found.map(|(object, subject)| (subject, object)));
        };
        let found = merged(of_image, changes.backward.between(objects));
        let found = found.filter(move |((object, subject), found)| {
            data.is_found_by_object(property, *subject, *object, found, graph)
        });
        Read::Merged(found.map(|((object, subject), _)| (subject, object)))
    }

    /// Returns the terms that changes brought which may satisfy a condition and are values of a property, ascending.
    fn new_values(&self, property: Handle<'i>, condition: &TermMatcher<'_>) -> Vec<u32> {
        let Some(changes) = property.changes.map(|changes| &changes.backward) else {
            return Vec::new();
        };
        let terms = &self.data.delta.terms;
        if changes.keys() > FEW_CHANGES {
            let mut found = terms.within(condition);
            found.retain(|term| changes.has(*term));
            return found;
        }
        let new = self.data.image.terms.count..terms.end();
        let mut found: Vec<u32> = changes.between(&new).map(|((term, _), _)| term).collect();
        found.dedup();
        found
    }
}

/// What is found in one of two ways.
enum Read<U, M> {
    Unchanged(U),
    Merged(M),
}

impl<T, U: Iterator<Item = T>, M: Iterator<Item = T>> Iterator for Read<U, M> {
    type Item = T;

    #[inline]
    fn next(&mut self) -> Option<T> {
        match self {
            Read::Unchanged(found) => found.next(),
            Read::Merged(found) => found.next(),
        }
    }
}

/// The graph that triples shall be in: `None` for any, and `Some(None)` for one that no triple is in.
type Wanted = Option<Option<u32>>;

/// Returns whether a triple with some graphs is wanted.
fn is_wanted(graph: Wanted, graphs: &[u32]) -> bool {
    match graph {
        None => !graphs.is_empty(),
        Some(graph) => graph.is_some_and(|graph| graphs.contains(&graph)),
    }
}

impl Snapshot {
    /// Returns whether the triple of the image at a position is wanted.
    #[inline]
    fn is_at(&self, property: Handle<'_>, position: usize, graph: Wanted) -> bool {
        graph.is_none()
            || property
                .image
                .is_some_and(|known| is_wanted(graph, self.image.graphs_at(known, position)))
    }

    /// Returns whether a triple of the image is wanted.
    #[inline]
    fn is_in_image(&self, property: Handle<'_>, subject: u32, object: u32, graph: Wanted) -> bool {
        graph.is_none() || is_wanted(graph, self.graphs_in_image(property, subject, object))
    }

    /// Returns whether a triple that was found by its object is wanted.
    fn is_found_by_object(
        &self,
        property: Handle<'_>,
        subject: u32,
        object: u32,
        found: &Found<()>,
        graph: Wanted,
    ) -> bool {
        match found {
            Found::Image(()) => self.is_in_image(property, subject, object, graph),
            Found::Changed(list) => is_wanted(graph, self.delta.graphs.get(*list)),
        }
    }

    /// Returns whether a triple that was found is wanted.
    fn is_found(&self, property: Handle<'_>, found: &Found<usize>, graph: Wanted) -> bool {
        match found {
            Found::Image(at) => self.is_at(property, *at, graph),
            Found::Changed(list) => is_wanted(graph, self.delta.graphs.get(*list)),
        }
    }
}

impl Image {
    /// Returns the graphs of the triple at a position of a property.
    pub(super) fn graphs_at(&self, property: &Property, position: usize) -> &[u32] {
        let set = property.sets.of(&self.bytes, position);
        self.sets.get(&self.bytes, set)
    }

    /// Returns the position of a triple of a property, in the order of subjects.
    #[inline]
    pub(super) fn position(&self, property: &Property, subject: u32, object: u32) -> Option<usize> {
        let range = property.forward.range(&self.bytes, subject);
        let objects = &property.forward.all(&self.bytes)[range.clone()];
        Some(range.start + objects.binary_search(&object).ok()?)
    }
}

impl Data for Arc<Snapshot> {
    type Source<'d> = Reader<'d>;

    fn source(&self, _dataset: &Dataset) -> Reader<'_> {
        Reader::new(self)
    }
}

impl<'i> QuadSource for Reader<'i> {
    type Node = u32;
    type Term = u32;
    type Property<'q> = Handle<'i>;
    /// `None` for a graph without triples.
    type Graph = Option<u32>;

    const SEARCHES_TEXTS: bool = true;

    fn node<'n>(&self, iri: &'n NamedNode) -> Cow<'n, u32> {
        Cow::Owned(self.number(iri.into()))
    }

    fn term(&self, term: TermRef<'_>) -> u32 {
        self.number(term)
    }

    fn property<'q>(&self, iri: &'q NamedNode) -> Handle<'i> {
        self.data.handle(self.data.find(iri.into()))
    }

    fn graph(&self, name: GraphNameRef<'_>) -> Option<u32> {
        match name {
            GraphNameRef::DefaultGraph => Some(DEFAULT),
            GraphNameRef::NamedNode(graph) => self.data.find(graph.into()),
            GraphNameRef::BlankNode(graph) => self.data.find(graph.into()),
        }
    }

    fn with_iri<R>(&self, node: &u32, view: impl FnOnce(NamedNodeRef<'_>) -> R) -> R {
        self.with_term(node, |term| match term {
            TermRef::NamedNode(node) => view(node),
            _ => unreachable!("nodes are IRIs"),
        })
    }

    fn with_term<R>(&self, term: &u32, view: impl FnOnce(TermRef<'_>) -> R) -> R {
        let image = &self.data.image;
        if self.is_ordered(*term) {
            image.terms.with(&image.bytes, *term, view)
        } else {
            self.with_other(*term, |term| view(term.as_ref()))
        }
    }

    fn compare(&self, a: &u32, b: &u32) -> Ordering {
        if self.is_ordered(*a) && self.is_ordered(*b) {
            return a.cmp(b);
        }
        self.with_iri(a, |a| self.with_iri(b, |b| a.as_str().cmp(b.as_str())))
    }

    fn rank_of_node(&self, node: &u32) -> Option<u32> {
        self.is_ordered(*node).then_some(node + 1)
    }

    fn rank_of_string(&self, term: &u32) -> Option<u32> {
        let image = &self.data.image;
        let is_ranked = self.is_ordered(*term) && image.terms.is_string(&image.bytes, *term);
        is_ranked.then_some(term + 1)
    }

    fn as_node<'t>(&self, term: &'t u32) -> Option<&'t u32> {
        let is_node = if self.is_ordered(*term) {
            *term < self.data.image.terms.iris
        } else {
            self.with_other(*term, Term::is_named_node)
        };
        is_node.then_some(term)
    }

    fn is_blank(&self, term: &u32) -> bool {
        let terms = &self.data.image.terms;
        if self.is_ordered(*term) {
            (terms.iris..terms.nodes).contains(term)
        } else {
            self.with_other(*term, Term::is_blank_node)
        }
    }

    fn is_property(&self, predicate: &u32, property: &Handle<'i>) -> bool {
        property.id == Some(*predicate)
    }

    fn text_size(&self, term: &u32) -> usize {
        if !self.is_ordered(*term) {
            return self.with_other(*term, |term| TermView::from(term.as_ref()).text_len());
        }
        let image = &self.data.image;
        let term = image.terms.get(&image.bytes, *term);
        let tag = term.literal().and_then(LiteralRef::language);
        term.text_len() + tag.map_or(0, str::len)
    }

    fn iri_size(&self, node: &u32) -> usize {
        self.text_size(node)
    }

    fn handle<'n>(&self, objects: ObjectSlice<'n>, position: usize) -> Cow<'n, u32> {
        if let Some((numbers, dictionary)) = objects.numbers()
            && std::ptr::addr_eq(Arc::as_ptr(dictionary), Arc::as_ptr(self.shared))
        {
            return Cow::Borrowed(&numbers[position]);
        }
        Cow::Owned(self.number(objects.get(position).node().into()))
    }

    fn to_objects(&self, nodes: Vec<u32>) -> Objects {
        if nodes.iter().any(|node| self.is_of_request(*node)) {
            self.to_iris(nodes).into()
        } else {
            Objects::numbered(nodes, self.dictionary())
        }
    }

    fn to_values(&self, terms: Vec<u32>) -> Terms {
        if terms.iter().any(|term| self.is_of_request(*term)) {
            self.to_terms(terms).into()
        } else {
            Terms::numbered(terms, self.dictionary())
        }
    }

    fn orders(&self) -> Option<(&KeptOrders<u32>, &dyn Changes<u32>)> {
        Some((&self.data.orders, self.data))
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

    #[inline]
    fn ends(&self, node: &u32, property: &Handle<'i>, inverse: bool) -> Option<&[u32]> {
        let bytes = &self.data.image.bytes;
        let changes = property.changes.map(|changes| {
            if inverse {
                &changes.backward
            } else {
                &changes.forward
            }
        });
        if changes.is_some_and(|changes| changes.touches(*node)) {
            return None;
        }
        let values = |known: &'i Property| {
            if inverse {
                known.backward.values(bytes, *node)
            } else {
                known.forward.values(bytes, *node)
            }
        };
        Some(property.image.map_or(&[][..], values))
    }

    fn objects<'s>(
        &'s self,
        subject: &u32,
        property: &Handle<'i>,
        graph: Option<&Option<u32>>,
    ) -> impl Iterator<Item = Result<u32, StoreError>> + use<'s, 'i> {
        self.objects_of(*subject, *property, graph.copied()).map(Ok)
    }

    fn subjects<'s>(
        &'s self,
        property: &Handle<'i>,
        object: Object<'_, u32>,
        graph: Option<&Option<u32>>,
    ) -> impl Iterator<Item = Result<u32, StoreError>> + use<'s, 'i> {
        let object = match object {
            Object::Node(node) => Some(*node),
            Object::Literal(literal) => self.data.find(literal.into()),
        };
        let (property, graph) = (*property, graph.copied());
        let found = object.map(|object| self.subjects_of(property, object, graph));
        found.into_iter().flatten().map(Ok)
    }

    fn pairs<'s>(
        &'s self,
        property: &Handle<'i>,
        graph: Option<&Option<u32>>,
    ) -> impl Iterator<Item = Result<(u32, u32), StoreError>> + use<'s, 'i> {
        self.pairs_of(*property, graph.copied()).map(Ok)
    }

    fn pairs_by_object<'s>(
        &'s self,
        property: &Handle<'i>,
        filter: Option<TextFilter>,
        graph: Option<&Option<u32>>,
    ) -> impl Iterator<Item = Result<Option<(u32, u32)>, StoreError>> + use<'s, 'i> {
        let graph = graph.copied();
        let found = match filter {
            None => Read::Unchanged(self.pairs_between(*property, &EVERY_TERM, graph).map(Some)),
            Some(filter) => Read::Merged(self.pairs_with_text(*property, filter, graph)),
        };
        found.map(Ok)
    }

    fn spans(&self, condition: &TermMatcher<'_>) -> Option<Spans> {
        let image = &self.data.image;
        Some(image.terms.table(&image.bytes).spans(condition))
    }

    #[inline]
    fn decide(&self, spans: &Spans, term: &u32) -> Option<bool> {
        if self.is_ordered(*term) {
            spans.decide(*term)
        } else {
            None
        }
    }

    fn within(&self, property: &Handle<'i>, condition: &TermMatcher<'_>) -> Option<Within> {
        let spans = self.spans(condition)?;
        let others = self.new_values(*property, condition);
        let bytes = &self.data.image.bytes;
        let of_image = property.image.map_or(0, |known| {
            let sizes = spans.maybe().iter();
            sizes
                .map(|range| known.backward.triples_of(bytes, &range))
                .sum()
        });
        Some(Within {
            size: of_image + others.len(),
            of: property.image.map_or(0, |known| known.backward.len()) + others.len(),
            spans,
            others,
        })
    }

    fn pairs_within<'s>(
        &'s self,
        property: &Handle<'i>,
        within: &Within,
        graph: Option<&Option<u32>>,
    ) -> impl Iterator<Item = Result<(u32, u32), StoreError>> + use<'s, 'i> {
        let (property, graph) = (*property, graph.copied());
        let ranges: Vec<_> = within.spans.maybe().iter().collect();
        let ranges = ranges.into_iter();
        let of_image = ranges.flat_map(move |range| self.pairs_between(property, &range, graph));
        let others = within.others.clone().into_iter().flat_map(move |object| {
            let subjects = self.subjects_of(property, object, graph);
            subjects.map(move |subject| (subject, object))
        });
        of_image.chain(others).map(Ok)
    }

    fn count_subjects(&self, property: &Handle<'i>, object: Object<'_, u32>) -> Option<usize> {
        let object = match object {
            Object::Node(node) => Some(*node),
            Object::Literal(literal) => self.data.find(literal.into()),
        };
        let Some(object) = object else { return Some(0) };
        let bytes = &self.data.image.bytes;
        let of_image = property
            .image
            .map_or(0, |known| known.backward.range(bytes, object).len());
        let changes = property.changes.map(|changes| &changes.backward);
        let changes = changes.filter(|changes| changes.touches(object));
        let changed = changes.map_or(0, |changes| changes.of(object).take(FEW_CHANGES).count());
        Some(of_image + changed)
    }

    fn subjects_in_order<'s>(
        &'s self,
        property: &Handle<'i>,
        object: &u32,
    ) -> Option<(Vec<u32>, impl Iterator<Item = u32> + use<'s, 'i>)> {
        let (data, property) = (self.data, *property);
        let count = data.image.terms.count;
        let new = property.changes.into_iter().flat_map(|changes| {
            let changed = changes.backward.from((*object, count));
            changed.map(|((_, subject), list)| (subject, list))
        });
        let new = new
            .filter(|(_, list)| is_wanted(None, data.delta.graphs.get(*list)))
            .map(|(subject, _)| subject)
            .filter(|subject| self.as_node(subject).is_some());
        let known = self.subjects_of(property, *object, None);
        let iris = data.image.terms.iris;
        // IRIs come before blank nodes.
        let known = known.take_while(move |subject| *subject < iris);
        Some((new.collect(), known))
    }

    fn make_distinct(&self, nodes: &mut Vec<u32>) {
        nodes.sort_unstable();
        nodes.dedup();
    }

    fn about<'s>(
        &'s self,
        subject: &u32,
        graph: Option<&Option<u32>>,
    ) -> impl Iterator<Item = Result<(u32, u32), StoreError>> + use<'s, 'i> {
        let (subject, graph) = (*subject, graph.copied());
        self.data.handles().flat_map(move |property| {
            let objects = self.objects_of(subject, property, graph);
            objects.filter_map(move |object| Some(Ok((property.id?, object))))
        })
    }

    #[inline]
    fn contains(
        &self,
        subject: &u32,
        property: &Handle<'i>,
        object: &u32,
        graph: Option<&Option<u32>>,
    ) -> Result<bool, StoreError> {
        let changes = property.changes.map(|changes| &changes.forward);
        let changed = changes.and_then(|changes| changes.get((*subject, *object)));
        let image = &self.data.image;
        Ok(match (changed, graph) {
            (Some(list), _) => is_wanted(graph.copied(), self.data.delta.graphs.get(list)),
            (None, Some(_)) => {
                let graphs = self.data.graphs_in_image(*property, *subject, *object);
                is_wanted(graph.copied(), graphs)
            }
            (None, None) => property
                .image
                .is_some_and(|known| image.position(known, *subject, *object).is_some()),
        })
    }

    fn quads<'s>(
        &'s self,
        pattern: Pattern<'_>,
        graph: Option<&Option<u32>>,
    ) -> impl Iterator<Item = Result<oxrdf::Quad, StoreError>> + use<'s, 'i> {
        let data = self.data;
        let find = |term: TermRef<'_>| data.find(term);
        let subject = pattern.subject.map(|subject| find(subject.into()));
        let predicate = pattern.predicate.map(|predicate| find(predicate.into()));
        let object = pattern.object.map(find);
        // A term that is sought and not found matches nothing.
        let is_there = [subject, predicate, object, graph.copied()]
            .iter()
            .all(|term| *term != Some(None));
        let found = is_there.then(|| {
            let property = predicate.map(|predicate| data.handle(predicate));
            let graph = graph.copied().flatten();
            data.quads_of(property, subject.flatten(), object.flatten(), graph)
        });
        found.into_iter().flatten().map(Ok)
    }

    fn may_have_named_graphs(&self) -> bool {
        let image = &self.data.image;
        self.data.delta.has_named_graphs || image.sets.are_named(&image.bytes)
    }

    fn repeats_triples(&self) -> bool {
        false
    }

    fn reads_subjects_at_once(&self) -> bool {
        false
    }
}
