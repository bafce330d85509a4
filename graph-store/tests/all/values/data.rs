//! Random data: objects of overlapping classes with awkward values and references.

use std::collections::HashSet;

use oxrdf::vocab::rdf;
use oxrdf::{BlankNode, GraphName, Literal, NamedNode, NamedOrBlankNode, Quad, Term};
use soml_core::datatype::Scalar;

use super::extent::Extent;
use super::random::Random;
use super::terms::{self, Kind};

/// The properties, and what their values mostly are.
pub(super) const PROPERTIES: [(&str, Kind); 11] = [
    ("size", Kind::Number),
    ("amount", Kind::Number),
    ("name", Kind::Text),
    ("label", Kind::Text),
    ("at", Kind::Moment(Scalar::DateTime)),
    ("day", Kind::Moment(Scalar::Date)),
    ("flag", Kind::Boolean),
    ("mix", Kind::Mixed),
    ("any", Kind::Mixed),
    ("link", Kind::Link),
    ("part", Kind::Link),
];

/// The classes under `rdf:type`.
pub(super) const CLASSES: [&str; 3] = ["A", "B", "C"];
/// The classes under another type property.
pub(super) const KINDS: [&str; 2] = ["K", "L"];

/// A set of data.
pub(super) struct World {
    /// The quads, each once.
    pub(super) quads: Vec<Quad>,
    /// All nodes that may be objects.
    pub(super) nodes: Vec<NamedNode>,
}

pub(super) fn v(name: &str) -> NamedNode {
    NamedNode::new_unchecked(format!("http://v/{name}"))
}

pub(super) fn graph(number: usize) -> NamedNode {
    NamedNode::new_unchecked(format!("http://g/{number}"))
}

/// Returns the values that some subject has under a property.
pub(super) fn values<'w>(world: &'w World, property: &NamedNode) -> Vec<&'w Term> {
    let quads = world.quads.iter();
    let of_property = quads.filter(|quad| quad.predicate == *property);
    of_property.map(|quad| &quad.object).collect()
}

struct Maker<'r> {
    random: &'r mut Random,
    extent: Extent,
    /// Whether there are named graphs.
    named: bool,
    seen: HashSet<Quad>,
    quads: Vec<Quad>,
}

/// Makes data of 20 to 200 objects, mostly of few.
pub(super) fn world(random: &mut Random, extent: Extent) -> World {
    let count = match random.below(8) {
        0 => random.between(60, 200),
        _ => random.between(20, 60),
    };
    let nodes: Vec<NamedNode> = (0..count).map(|at| node(random, at, extent)).collect();
    let named = random.chance(50);
    let mut maker = Maker {
        random,
        extent,
        named,
        seen: HashSet::new(),
        quads: Vec::new(),
    };
    let vocabularies = PROPERTIES.map(|(_, kind)| maker.vocabulary(kind, &nodes));
    let blanks = (0..3).map(|at| BlankNode::new_unchecked(format!("b{at}")).into());
    let subjects = nodes.iter().cloned().map(NamedOrBlankNode::from);
    for subject in subjects.chain(blanks) {
        maker.describe(&subject, &vocabularies);
    }
    World {
        quads: maker.quads,
        nodes,
    }
}

fn node(random: &mut Random, number: usize, extent: Extent) -> NamedNode {
    let iri = match random.below(12) {
        0 => format!("http://e/\u{e9}{number}"),
        1 if extent.orders_by_code_point() => format!("http://e/\u{1f600}{number}"),
        2 => format!("urn:x:{number}"),
        _ => format!("http://e/{number}"),
    };
    NamedNode::new_unchecked(iri)
}

impl Maker<'_> {
    /// Returns the values that objects choose from, so that some have the same ones.
    fn vocabulary(&mut self, kind: Kind, nodes: &[NamedNode]) -> Vec<Term> {
        let size = self.random.between(3, 30);
        let mut one = || match kind {
            Kind::Link => self.link(nodes),
            _ => terms::term(self.random, kind, self.extent),
        };
        (0..size).map(|_| one()).collect()
    }

    fn link(&mut self, nodes: &[NamedNode]) -> Term {
        match self.random.below(20) {
            0 => Literal::new_simple_literal("http://e/1").into(),
            1 => BlankNode::new_unchecked(format!("b{}", self.random.below(3))).into(),
            2 => NamedNode::new_unchecked("http://e/nowhere").into(),
            _ => self.random.pick(nodes).clone().into(),
        }
    }

    fn describe(&mut self, subject: &NamedOrBlankNode, vocabularies: &[Vec<Term>]) {
        for class in CLASSES {
            if self.random.chance(45) {
                self.add(subject, rdf::TYPE.into_owned(), v(class).into());
            }
        }
        for kind in KINDS {
            if self.random.chance(20) {
                self.add(subject, v("kind"), v(kind).into());
            }
        }
        for ((name, _), vocabulary) in PROPERTIES.iter().zip(vocabularies) {
            let count = match self.random.below(8) {
                0 | 1 => 0,
                2..6 => 1,
                6 => 2,
                _ => 4,
            };
            for _ in 0..count {
                let value = self.random.pick(vocabulary).clone();
                self.add(subject, v(name), value);
            }
        }
    }

    fn add(&mut self, subject: &NamedOrBlankNode, predicate: NamedNode, object: Term) {
        let graphs = if self.named && self.random.chance(10) {
            2
        } else {
            1
        };
        for _ in 0..graphs {
            let name = match self.random.below(4) {
                number @ 0..2 if self.named => graph(number).into(),
                _ => GraphName::DefaultGraph,
            };
            let quad = Quad::new(subject.clone(), predicate.clone(), object.clone(), name);
            if self.seen.insert(quad.clone()) {
                self.quads.push(quad);
            }
        }
    }
}
