//! The data that behaviours are checked against.

use oxrdf::vocab::{rdf, xsd};
use oxrdf::{BlankNode, GraphName, Literal, NamedNode, NamedOrBlankNode, Quad, Term};

/// Returns the quads that [`Behaviour::check`](super::Behaviour::check) puts into a store.
///
/// Three objects, spread over the default graph and two named graphs; some triples are in two of
/// them.
#[must_use]
pub fn quads() -> Vec<Quad> {
    let blank = BlankNode::new_unchecked("x");
    let long = |number| typed(number, xsd::INTEGER);
    let (default, g1, g2) = (GraphName::DefaultGraph, e("g1").into(), e("g2").into());
    let mut data = Data::default();
    data.graph(default)
        .add(e("a"), rdf::TYPE, v("Thing"))
        .add(e("a"), v("name"), tagged("b", "en"))
        .add(e("a"), v("name"), Literal::new_simple_literal("A"))
        .add(e("a"), v("size"), Literal::from(1))
        .add(e("a"), v("next"), e("b"))
        .add(e("a"), v("next"), e("c"))
        .add(e("a"), v("next"), blank.clone())
        .add(blank.clone(), rdf::TYPE, v("Thing"))
        .add(blank, v("size"), Literal::from(9));
    data.graph(g1)
        .add(e("b"), rdf::TYPE, v("Thing"))
        .add(e("b"), v("name"), Literal::new_simple_literal("C"))
        .add(e("b"), v("size"), typed("2.5", xsd::DECIMAL))
        .add(e("b"), v("next"), e("c"))
        .add(e("c"), v("next"), e("a"));
    data.graph(g2)
        .add(e("c"), rdf::TYPE, v("Thing"))
        .add(e("c"), rdf::TYPE, v("Other"))
        .add(e("c"), v("size"), typed("03", xsd::INTEGER))
        .add(e("c"), v("next"), Literal::new_simple_literal("text"))
        .add(e("c"), v("next"), e("d"))
        .add(e("a"), v("next"), e("b"))
        .add(e("d"), rdf::TYPE, v("Other"))
        .add(e("a"), v("long"), long("1000000000000000000000000000002"))
        .add(e("b"), v("long"), long("1000000000000000000000000000001"))
        .add(e("c"), v("long"), long("999999999999999999999999999999"));
    data.quads
}

/// Returns the IRI of an object.
pub(super) fn e(name: &str) -> NamedNode {
    NamedNode::new_unchecked(format!("http://e/{name}"))
}

/// Returns the IRI of a class or property.
pub(super) fn v(name: &str) -> NamedNode {
    NamedNode::new_unchecked(format!("http://v/{name}"))
}

fn tagged(text: &str, tag: &str) -> Literal {
    Literal::new_language_tagged_literal_unchecked(text, tag)
}

fn typed(text: &str, datatype: oxrdf::NamedNodeRef<'_>) -> Literal {
    Literal::new_typed_literal(text, datatype)
}

/// A list of quads under construction.
#[derive(Default)]
struct Data {
    graph: GraphName,
    quads: Vec<Quad>,
}

impl Data {
    /// Sets the graph of the next quads.
    fn graph(&mut self, graph: GraphName) -> &mut Self {
        self.graph = graph;
        self
    }

    fn add(
        &mut self,
        subject: impl Into<NamedOrBlankNode>,
        predicate: impl Into<NamedNode>,
        object: impl Into<Term>,
    ) -> &mut Self {
        let graph = self.graph.clone();
        self.quads
            .push(Quad::new(subject, predicate, object, graph));
        self
    }
}
