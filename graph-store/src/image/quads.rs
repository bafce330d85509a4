//! The quads of an image: a triple once for each of its graphs.

use oxrdf::{GraphName, NamedNode, NamedOrBlankNode, Quad};

use super::Image;
use super::columns::Property;
use super::graphs::DEFAULT;

impl Image {
    /// Returns all quads, by property, subject and object.
    pub fn iter(&self) -> impl Iterator<Item = Quad> + use<'_> {
        self.quads_of(&self.properties, None, None, None)
    }

    /// Returns the quads of some properties, of which subject, object and graph are as given.
    pub(super) fn quads_of<'i>(
        &'i self,
        properties: &'i [Property],
        subject: Option<u32>,
        object: Option<u32>,
        graph: Option<u32>,
    ) -> impl Iterator<Item = Quad> + use<'i> {
        properties.iter().flat_map(move |property| {
            let iri = self.terms.iri(&self.bytes, property.id);
            let triples = self.places(property, subject, object);
            triples.flat_map(move |(subject, position)| {
                self.in_graphs(property, iri.clone(), subject, position, graph)
            })
        })
    }

    /// Returns the triples of a property that match: the subject, and the position among objects.
    fn places<'i>(
        &'i self,
        property: &'i Property,
        subject: Option<u32>,
        object: Option<u32>,
    ) -> Box<dyn Iterator<Item = (u32, usize)> + 'i> {
        let bytes = &self.bytes;
        match (subject, object) {
            (Some(subject), None) => {
                let range = property.forward.range(bytes, subject);
                Box::new(range.map(move |at| (subject, at)))
            }
            (Some(subject), Some(object)) => {
                let found = self.position(property, subject, object);
                Box::new(found.into_iter().map(move |at| (subject, at)))
            }
            (None, Some(object)) => {
                let subjects = property.backward.values(bytes, object).iter();
                Box::new(subjects.filter_map(move |&subject| {
                    Some((subject, self.position(property, subject, object)?))
                }))
            }
            (None, None) => {
                let entries = property.forward.entries(bytes);
                Box::new(entries.flat_map(|(subject, range)| range.map(move |at| (subject, at))))
            }
        }
    }

    /// Returns the quads of the triple of a subject and the object at a position, in a graph or in all.
    fn in_graphs<'i>(
        &'i self,
        property: &'i Property,
        iri: NamedNode,
        subject: u32,
        position: usize,
        graph: Option<u32>,
    ) -> impl Iterator<Item = Quad> + use<'i> {
        let Image {
            bytes, terms, sets, ..
        } = self;
        let object = property.forward.all(bytes)[position];
        let graphs = sets.get(bytes, property.sets.of(bytes, position)).iter();
        let wanted = graphs.filter(move |known| graph.is_none_or(|graph| graph == **known));
        wanted.map(move |graph| Quad {
            subject: terms.subject(bytes, subject),
            predicate: iri.clone(),
            object: terms.term(bytes, object),
            graph_name: match *graph {
                DEFAULT => GraphName::DefaultGraph,
                graph => match terms.subject(bytes, graph) {
                    NamedOrBlankNode::NamedNode(graph) => graph.into(),
                    NamedOrBlankNode::BlankNode(graph) => graph.into(),
                },
            },
        })
    }
}
