//! Raw triples, and the walk along one property.

use std::collections::HashMap;

use oxrdf::{GraphName, Literal, NamedOrBlankNode, Quad, Term};
use soml_core::schema::Path;

use super::number::{Number, XSD};

/// The triples that a query reads: each once, whatever the number of graphs that hold it.
pub(crate) struct Triples {
    triples: Vec<(Term, String, Term)>,
    by_subject: HashMap<Term, Vec<usize>>,
    by_object: HashMap<Term, Vec<usize>>,
}

/// What a document may read: all quads, and their union as triples.
pub(crate) struct Graph<'a> {
    quads: &'a [Quad],
    union: Triples,
}

impl<'a> Graph<'a> {
    pub(crate) fn new(quads: &'a [Quad]) -> Self {
        Graph {
            quads,
            union: Triples::new(quads.iter()),
        }
    }

    /// The union of all graphs, named ones and the default one.
    pub(crate) fn union(&self) -> &Triples {
        &self.union
    }

    /// Exactly the graphs of these names.
    pub(crate) fn of_graphs(&self, names: &[String]) -> Triples {
        Triples::new(self.quads.iter().filter(|quad| match &quad.graph_name {
            GraphName::NamedNode(name) => names.iter().any(|n| n == name.as_str()),
            _ => false,
        }))
    }
}

impl Triples {
    fn new<'q>(quads: impl Iterator<Item = &'q Quad>) -> Self {
        let mut all = Triples {
            triples: Vec::new(),
            by_subject: HashMap::new(),
            by_object: HashMap::new(),
        };
        let mut seen = std::collections::HashSet::new();
        for quad in quads {
            let subject: Term = match &quad.subject {
                NamedOrBlankNode::NamedNode(node) => node.clone().into(),
                NamedOrBlankNode::BlankNode(node) => node.clone().into(),
            };
            let predicate = quad.predicate.as_str().to_owned();
            let triple = (subject, predicate, canonical(&quad.object));
            if seen.insert(triple.clone()) {
                let index = all.triples.len();
                let (subject, object) = (triple.0.clone(), triple.2.clone());
                all.by_subject.entry(subject).or_default().push(index);
                all.by_object.entry(object).or_default().push(index);
                all.triples.push(triple);
            }
        }
        all
    }

    /// Every node with an IRI that is the subject or the object of some triple.
    pub(crate) fn nodes(&self) -> Vec<String> {
        let mut nodes: Vec<String> = self
            .triples
            .iter()
            .flat_map(|(subject, _, object)| [subject, object])
            .filter_map(iri_of)
            .map(str::to_owned)
            .collect();
        nodes.sort_unstable();
        nodes.dedup();
        nodes
    }

    /// The values of a property: distinct terms, blank nodes left out.
    pub(crate) fn values(&self, node: &str, path: &Path) -> Vec<Term> {
        let node: Term = oxrdf::NamedNode::new_unchecked(node).into();
        let (index, inverse) = match path {
            Path::Forward(_) => (&self.by_subject, false),
            Path::Inverse { .. } => (&self.by_object, true),
        };
        let mut values = Vec::new();
        for &at in index.get(&node).map(Vec::as_slice).unwrap_or_default() {
            let (subject, predicate, object) = &self.triples[at];
            let value = if inverse { subject } else { object };
            let is_blank = matches!(value, Term::BlankNode(_));
            if predicate == path.iri() && !is_blank && !values.contains(value) {
                values.push(value.clone());
            }
        }
        values
    }

    /// The values of an RDF property.
    pub(crate) fn objects(&self, node: &str, predicate: &str) -> Vec<Term> {
        self.values(node, &Path::Forward(predicate.to_owned()))
    }
}

/// Numbers that differ in their text alone are one value, of whatever whole-number datatype.
pub(crate) fn canonical(term: &Term) -> Term {
    let Term::Literal(literal) = term else {
        return term.clone();
    };
    let plain = Number::from_literal(literal).and_then(|number| number.plain());
    let datatype = literal.datatype();
    let datatype = match datatype.as_str().strip_prefix(XSD) {
        Some("decimal" | "double" | "float") => datatype.into_owned(),
        _ => oxrdf::vocab::xsd::INTEGER.into_owned(),
    };
    plain.map_or_else(
        || term.clone(),
        |plain| Literal::new_typed_literal(plain, datatype).into(),
    )
}

/// The IRI of a term that is one.
pub(crate) fn iri_of(term: &Term) -> Option<&str> {
    match term {
        Term::NamedNode(node) => Some(node.as_str()),
        _ => None,
    }
}
