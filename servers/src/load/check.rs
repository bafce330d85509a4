//! Checks and blank node names of one parsed statement.
//!
//! The parsers run in their lenient mode, which accepts malformed IRIs and language tags; what may
//! pass and what may not is decided here.

use std::hash::{BuildHasher, RandomState};

use oxigraph::model::vocab::rdf;
use oxigraph::model::{
    BlankNode, GraphName, GraphNameRef, NamedNodeRef, NamedOrBlankNode, Quad, Term,
};
use oxilangtag::LanguageTag;
use oxiri::IriRef;

/// What is wrong with a statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// The language tag is malformed; the literal is usable all the same.
    LanguageTag(String),
    /// The statement is not RDF.
    Statement(String),
}

/// Finds the worst fault of `quad`.
pub(super) fn check(quad: &Quad) -> Result<(), Fault> {
    if let NamedOrBlankNode::NamedNode(subject) = &quad.subject {
        check_iri(subject.as_ref())?;
    }
    check_iri(quad.predicate.as_ref())?;
    if let GraphNameRef::NamedNode(graph) = quad.graph_name.as_ref() {
        check_iri(graph)?;
    }
    match &quad.object {
        Term::NamedNode(object) => check_iri(object.as_ref()),
        Term::Literal(literal) => match literal.language() {
            Some(tag) => LanguageTag::parse(tag).map(drop).map_err(|error| {
                Fault::LanguageTag(format!("malformed language tag `@{tag}`: {error}"))
            }),
            None if literal.datatype() == rdf::LANG_STRING => Err(Fault::Statement(
                "a literal of type rdf:langString has no language tag".to_owned(),
            )),
            None => check_iri(literal.datatype()),
        },
        _ => Ok(()),
    }
}

fn check_iri(node: NamedNodeRef<'_>) -> Result<(), Fault> {
    match IriRef::parse(node.as_str()) {
        Ok(iri) if iri.is_absolute() => Ok(()),
        Ok(_) => Err(Fault::Statement(format!(
            "the IRI <{}> is not absolute",
            node.as_str()
        ))),
        Err(error) => Err(Fault::Statement(format!(
            "malformed IRI <{}>: {error}",
            node.as_str()
        ))),
    }
}

/// Gives the blank nodes of one file names that no other file has.
pub(super) struct BlankNodes {
    keys: [RandomState; 2],
}

impl BlankNodes {
    pub(super) fn new() -> Self {
        BlankNodes {
            keys: [RandomState::new(), RandomState::new()],
        }
    }

    pub(super) fn rename(&self, quad: &mut Quad) {
        if let NamedOrBlankNode::BlankNode(node) = &mut quad.subject {
            *node = self.renamed(node);
        }
        if let Term::BlankNode(node) = &mut quad.object {
            *node = self.renamed(node);
        }
        if let GraphName::BlankNode(node) = &mut quad.graph_name {
            *node = self.renamed(node);
        }
    }

    /// Hashes the label with the keys of the file: 128 bits without a table that grows.
    fn renamed(&self, node: &BlankNode) -> BlankNode {
        let [high, low] = self
            .keys
            .each_ref()
            .map(|key| u128::from(key.hash_one(node.as_str())));
        BlankNode::new_from_unique_id(high << 64 | low)
    }
}

#[cfg(test)]
mod tests {
    use oxigraph::model::{Literal, NamedNode};

    use super::*;

    fn quad(object: impl Into<Term>) -> Quad {
        let node = NamedNode::new_unchecked("http://example.org/s");
        Quad::new(node.clone(), node, object, GraphName::DefaultGraph)
    }

    #[test]
    fn malformed_language_tag_and_iri_are_told_apart() {
        let tagged = Literal::new_language_tagged_literal_unchecked("x", "zh-classical");
        assert!(matches!(check(&quad(tagged)), Err(Fault::LanguageTag(_))));
        let broken = NamedNode::new_unchecked("http://example.org/a b");
        assert!(matches!(check(&quad(broken)), Err(Fault::Statement(_))));
        let relative = NamedNode::new_unchecked("a");
        assert!(matches!(check(&quad(relative)), Err(Fault::Statement(_))));
        assert_eq!(check(&quad(Literal::new_simple_literal("x"))), Ok(()));
    }

    #[test]
    fn one_label_is_one_node_in_a_file_and_another_in_the_next() {
        let label = BlankNode::new_unchecked("b0");
        let (one, two) = (BlankNodes::new(), BlankNodes::new());
        assert_eq!(one.renamed(&label), one.renamed(&label));
        assert_ne!(one.renamed(&label), two.renamed(&label));
    }
}
