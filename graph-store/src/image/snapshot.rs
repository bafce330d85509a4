//! The data of a store at one moment: an image, and the changes that lie over it.

use std::sync::Arc;

use oxrdf::{GraphName, NamedNode, NamedOrBlankNode, Quad, Term, TermRef};

use super::Image;
use super::build::ImageBuilder;
use super::columns::Property;
use super::delta::{Changes, Delta, Found, merged};
use super::error::ImageError;
use super::graphs::DEFAULT;
use crate::error::StoreError;
use crate::pattern::{KEPT_BYTES, KeptOrders};
use crate::statements::{Statement, Statements};
use crate::write::QuadChange;

/// The data of a store at one moment, which never change.
///
/// Returned by [`ImageStore::snapshot`](super::ImageStore::snapshot).
#[derive(Clone)]
pub struct Snapshot {
    pub(super) image: Arc<Image>,
    pub(super) delta: Delta,
    /// What the changes were made to since the store was opened or its data were replaced; a merge does not
    /// change it.
    pub(super) origin: Arc<str>,
    /// Orders of the data over this image, whatever has changed.
    pub(super) orders: KeptOrders<u32>,
}

/// A property, as image and changes know it.
#[derive(Clone, Copy)]
pub(crate) struct Handle<'i> {
    /// The number of its IRI, if that has one.
    pub(super) id: Option<u32>,
    pub(super) image: Option<&'i Property>,
    pub(super) changes: Option<&'i Changes>,
}

/// A triple, and the graphs that it is in.
struct Triple<'i> {
    subject: u32,
    object: u32,
    graphs: &'i [u32],
}

impl Snapshot {
    /// Returns the data of an image.
    pub(super) fn new(image: Arc<Image>) -> Self {
        let delta = Delta::new(image.terms.count);
        Snapshot {
            origin: image.digest().into(),
            image,
            delta,
            orders: KeptOrders::new(KEPT_BYTES),
        }
    }

    /// Returns the number of triples: those in several graphs count once.
    #[must_use]
    pub fn triples(&self) -> u64 {
        self.image.triples.saturating_add_signed(self.delta.triples)
    }

    /// Returns the number of quads.
    #[must_use]
    pub fn quads(&self) -> u64 {
        self.image.quads.saturating_add_signed(self.delta.quads)
    }

    /// Returns whether there are no quads.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.quads() == 0
    }

    /// Returns all quads, in no particular order.
    pub fn iter(&self) -> impl Iterator<Item = Quad> + use<'_> {
        self.quads_of(None, None, None, None)
    }

    /// Adds all quads to an image in the making.
    ///
    /// # Errors
    /// Those of [`ImageBuilder::add`].
    pub fn add_to(&self, builder: &mut ImageBuilder) -> Result<(), ImageError> {
        self.iter().try_for_each(|quad| builder.add(quad.as_ref()))
    }

    /// Returns the number of a term.
    pub(super) fn find(&self, term: TermRef<'_>) -> Option<u32> {
        let of_image = self.image.terms.find(&self.image.bytes, term);
        of_image.or_else(|| self.delta.terms.find(term))
    }

    /// Returns a term by its number.
    pub(super) fn term(&self, number: u32) -> Term {
        if number < self.image.terms.count {
            self.image.terms.term(&self.image.bytes, number)
        } else {
            self.delta.terms.get(number).clone()
        }
    }

    fn subject(&self, number: u32) -> NamedOrBlankNode {
        match self.term(number) {
            Term::NamedNode(node) => node.into(),
            Term::BlankNode(node) => node.into(),
            _ => unreachable!("subjects and graphs are no literals"),
        }
    }

    fn iri(&self, number: u32) -> NamedNode {
        match self.term(number) {
            Term::NamedNode(node) => node,
            _ => unreachable!("properties are IRIs"),
        }
    }

    fn graph(&self, number: u32) -> GraphName {
        match number {
            DEFAULT => GraphName::DefaultGraph,
            graph => match self.subject(graph) {
                NamedOrBlankNode::NamedNode(graph) => graph.into(),
                NamedOrBlankNode::BlankNode(graph) => graph.into(),
            },
        }
    }

    /// Returns a property by the number of its IRI.
    pub(super) fn handle(&self, id: Option<u32>) -> Handle<'_> {
        let changes = id.and_then(|id| self.delta.properties.get(&id));
        Handle {
            id,
            image: id.and_then(|id| self.image.property(id)),
            changes: changes.map(Arc::as_ref),
        }
    }

    /// Returns all properties.
    pub(super) fn handles(&self) -> impl Iterator<Item = Handle<'_>> {
        let of_image = self.image.properties.iter().map(|property| Handle {
            id: Some(property.id),
            image: Some(property),
            changes: self.delta.properties.get(&property.id).map(Arc::as_ref),
        });
        let others = self
            .delta
            .properties
            .keys()
            .filter(|id| self.image.property(**id).is_none());
        of_image.chain(others.map(|id| self.handle(Some(*id))))
    }

    /// Returns the graphs of a triple in the image.
    pub(super) fn graphs_in_image(
        &self,
        property: Handle<'_>,
        subject: u32,
        object: u32,
    ) -> &[u32] {
        let place = property.image.and_then(|property| {
            let at = self.image.position(property, subject, object)?;
            Some((property, at))
        });
        place.map_or(&[], |(property, at)| self.image.graphs_at(property, at))
    }

    /// Returns the graphs of a triple, none if it does not exist.
    pub(super) fn graphs_of(&self, property: Handle<'_>, subject: u32, object: u32) -> &[u32] {
        let changes = property.changes.map(|changes| &changes.forward);
        match changes.and_then(|changes| changes.get((subject, object))) {
            Some(list) => self.delta.graphs.get(list),
            None => self.graphs_in_image(property, subject, object),
        }
    }

    /// Returns whether a quad exists.
    pub(super) fn has(&self, quad: &Quad) -> bool {
        self.numbers(quad)
            .is_some_and(|[property, subject, object, graph]| {
                let graphs = self.graphs_of(self.handle(Some(property)), subject, object);
                graphs.contains(&graph)
            })
    }

    /// Returns the triples of a property that match.
    fn places<'i>(
        &'i self,
        property: Handle<'i>,
        subject: Option<u32>,
        object: Option<u32>,
    ) -> Box<dyn Iterator<Item = Triple<'i>> + 'i> {
        match (subject, object) {
            (Some(subject), Some(object)) => Box::new(std::iter::once(Triple {
                subject,
                object,
                graphs: self.graphs_of(property, subject, object),
            })),
            (Some(subject), None) => Box::new(self.of_subject(property, subject)),
            (None, Some(object)) => Box::new(self.of_object(property, object)),
            (None, None) => Box::new(self.all_of(property)),
        }
    }

    fn of_subject<'i>(
        &'i self,
        property: Handle<'i>,
        subject: u32,
    ) -> impl Iterator<Item = Triple<'i>> {
        let bytes = &self.image.bytes;
        let of_image = property.image.into_iter().flat_map(move |known| {
            let objects = known.forward.all(bytes);
            let range = known.forward.range(bytes, subject);
            range.map(move |at| ((subject, objects[at]), at))
        });
        let changes = property.changes.into_iter();
        let changed = changes.flat_map(move |changes| changes.forward.of(subject));
        merged(of_image, changed)
            .map(move |((subject, object), found)| self.triple(property, subject, object, found))
    }

    fn all_of<'i>(&'i self, property: Handle<'i>) -> impl Iterator<Item = Triple<'i>> {
        let bytes = &self.image.bytes;
        let of_image = property.image.into_iter().flat_map(move |known| {
            let objects = known.forward.all(bytes);
            let entries = known.forward.entries(bytes);
            entries
                .flat_map(move |(subject, range)| range.map(move |at| ((subject, objects[at]), at)))
        });
        let changes = property.changes.into_iter();
        let changed = changes.flat_map(|changes| changes.forward.all());
        merged(of_image, changed)
            .map(move |((subject, object), found)| self.triple(property, subject, object, found))
    }

    fn of_object<'i>(
        &'i self,
        property: Handle<'i>,
        object: u32,
    ) -> impl Iterator<Item = Triple<'i>> {
        let bytes = &self.image.bytes;
        let of_image = property.image.into_iter().flat_map(move |known| {
            let subjects = known.backward.values(bytes, object).iter();
            subjects.map(move |subject| ((object, *subject), ()))
        });
        let changes = property.changes.into_iter();
        let changed = changes.flat_map(move |changes| changes.backward.of(object));
        merged(of_image, changed).map(move |((object, subject), found)| Triple {
            subject,
            object,
            graphs: match found {
                Found::Image(()) => self.graphs_in_image(property, subject, object),
                Found::Changed(list) => self.delta.graphs.get(list),
            },
        })
    }

    /// Returns a triple that was found by its subject.
    fn triple<'i>(
        &'i self,
        property: Handle<'i>,
        subject: u32,
        object: u32,
        found: Found<usize>,
    ) -> Triple<'i> {
        Triple {
            subject,
            object,
            graphs: match found {
                Found::Image(at) => {
                    let graphs = |known| self.image.graphs_at(known, at);
                    property.image.map_or(&[][..], graphs)
                }
                Found::Changed(list) => self.delta.graphs.get(list),
            },
        }
    }

    /// Returns the quads of which property, subject, object and graph are as given.
    pub(super) fn quads_of(
        &self,
        property: Option<Handle<'_>>,
        subject: Option<u32>,
        object: Option<u32>,
        graph: Option<u32>,
    ) -> impl Iterator<Item = Quad> + use<'_> {
        let one = property.map(|property| self.handle(property.id));
        let all = one.is_none().then(|| self.handles());
        let properties = one.into_iter().chain(all.into_iter().flatten());
        properties.flat_map(move |property| {
            let iri = property.id.map(|id| self.iri(id));
            let triples = self.places(property, subject, object);
            let quads = triples.flat_map(move |triple| {
                let wanted = triple
                    .graphs
                    .iter()
                    .filter(move |known| graph.is_none_or(|graph| graph == **known));
                wanted.map(move |graph| (triple.subject, triple.object, *graph))
            });
            quads.filter_map(move |(subject, object, graph)| {
                Some(Quad {
                    subject: self.subject(subject),
                    predicate: iri.clone()?,
                    object: self.term(object),
                    graph_name: self.graph(graph),
                })
            })
        })
    }

    /// Returns how the data differ from those of the image.
    pub(super) fn difference(&self) -> QuadChange {
        let mut change = QuadChange::default();
        for (id, changes) in &self.delta.properties {
            let (property, iri) = (self.handle(Some(*id)), self.iri(*id));
            for ((subject, object), list) in changes.forward.all() {
                let before = self.graphs_in_image(property, subject, object);
                let after = self.delta.graphs.get(list);
                let quad = |graph: &u32| Quad {
                    subject: self.subject(subject),
                    predicate: iri.clone(),
                    object: self.term(object),
                    graph_name: self.graph(*graph),
                };
                let gone = before.iter().filter(|graph| !after.contains(graph));
                let new = after.iter().filter(|graph| !before.contains(graph));
                change.removed.extend(gone.map(quad));
                change.added.extend(new.map(quad));
            }
        }
        change
    }
}

impl Statements for Snapshot {
    fn about(
        &self,
        subject: &NamedNode,
        each: &mut dyn FnMut(NamedNode, Term),
    ) -> Result<(), StoreError> {
        let Some(subject) = self.find(subject.into()) else {
            return Ok(());
        };
        for property in self.handles() {
            let Some(id) = property.id else { continue };
            for triple in self.places(property, Some(subject), None) {
                if !triple.graphs.is_empty() {
                    each(self.iri(id), self.term(triple.object));
                }
            }
        }
        Ok(())
    }

    fn of_property<'a>(
        &'a self,
        property: &NamedNode,
    ) -> Box<dyn Iterator<Item = Result<Statement, StoreError>> + 'a> {
        let property = self.handle(self.find(property.into()));
        let triples = self
            .places(property, None, None)
            .filter(|triple| !triple.graphs.is_empty());
        Box::new(triples.map(|triple| Ok((self.subject(triple.subject), self.term(triple.object)))))
    }
}

impl std::fmt::Debug for Snapshot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Snapshot")
            .field("image", &self.image)
            .field("quads", &self.quads())
            .finish_non_exhaustive()
    }
}
