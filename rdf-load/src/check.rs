//! Checks and blank node names of one parsed statement.
//!
//! Malformed IRIs and language tags come through the parsers: as [stand-ins](StandIns) through the
//! strict ones, and as they are through the lenient one of JSON-LD. What becomes of them is decided here.

use std::hash::{BuildHasher, RandomState};
use std::rc::Rc;

use oxilangtag::LanguageTag;
use oxiri::IriRef;
use oxrdf::vocab::rdf;
use oxrdf::{
    BlankNode, GraphName, GraphNameRef, Literal, NamedNodeRef, NamedOrBlankNode, Quad, Term,
};

use crate::stand_ins::StandIns;

/// What is wrong with a statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The language tag is malformed; the literal is usable all the same.
    LanguageTag(String),
    /// The statement is not RDF.
    Statement(String),
}

/// Finds the faults of statements.
pub(crate) struct Check {
    /// What a strict parser was given in place of malformed terms; without them, the parser was lenient.
    pub(crate) stand_ins: Option<Rc<StandIns>>,
}

impl Check {
    /// Finds the worst fault of `quad`, and gives its literal the language tag of the file.
    pub(crate) fn check(&self, quad: &mut Quad) -> Result<(), Fault> {
        if let NamedOrBlankNode::NamedNode(subject) = &quad.subject {
            self.iri(subject.as_ref())?;
        }
        self.iri(quad.predicate.as_ref())?;
        if let GraphNameRef::NamedNode(graph) = quad.graph_name.as_ref() {
            self.iri(graph)?;
        }
        match &mut quad.object {
            Term::NamedNode(object) => self.iri(object.as_ref()),
            Term::Literal(literal) => self.literal(literal),
            _ => Ok(()),
        }
    }

    fn literal(&self, literal: &mut Literal) -> Result<(), Fault> {
        let Some(tag) = literal.language() else {
            return if literal.datatype() == rdf::LANG_STRING {
                Err(Fault::Statement(
                    "a literal of type rdf:langString has no language tag".to_owned(),
                ))
            } else {
                self.iri(literal.datatype())
            };
        };
        let tag = match &self.stand_ins {
            None => tag.to_owned(),
            Some(stand_ins) => {
                let Some(tag) = stand_ins.original_tag(tag) else {
                    return Ok(());
                };
                let value = literal.value();
                *literal = if tag.is_empty() {
                    // `xml:lang=""` means no language.
                    Literal::new_simple_literal(value)
                } else {
                    Literal::new_language_tagged_literal_unchecked(value, tag.as_str())
                };
                tag
            }
        };
        if tag.is_empty() && self.stand_ins.is_some() {
            return Ok(());
        }
        LanguageTag::parse(tag.as_str()).map(drop).map_err(|error| {
            Fault::LanguageTag(format!("malformed language tag `@{tag}`: {error}"))
        })
    }

    fn iri(&self, node: NamedNodeRef<'_>) -> Result<(), Fault> {
        match &self.stand_ins {
            None => check_iri(node.as_str()),
            // All others were read by a strict parser.
            Some(stand_ins) => match stand_ins.original_iri(node.as_str()) {
                None => Ok(()),
                Some(iri) => check_iri(&iri).and_then(|()| {
                    let message = format!("the base of the IRI <{iri}> is malformed");
                    Err(Fault::Statement(message))
                }),
            },
        }
    }
}

fn check_iri(iri: &str) -> Result<(), Fault> {
    let message = match IriRef::parse(iri) {
        Ok(parsed) if parsed.is_absolute() => return Ok(()),
        Ok(_) => format!("the IRI <{iri}> is not absolute"),
        Err(error) => format!("malformed IRI <{iri}>: {error}"),
    };
    Err(Fault::Statement(message))
}

/// Gives the blank nodes of one file names that no other file has.
pub(crate) struct BlankNodes {
    keys: [RandomState; 2],
}

impl BlankNodes {
    pub(crate) fn new() -> Self {
        BlankNodes {
            keys: [RandomState::new(), RandomState::new()],
        }
    }

    pub(crate) fn rename(&self, quad: &mut Quad) {
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
    use oxrdf::{Literal, NamedNode};

    use super::*;

    fn quad(object: impl Into<Term>) -> Quad {
        let node = NamedNode::new_unchecked("http://example.org/s");
        Quad::new(node.clone(), node, object, GraphName::DefaultGraph)
    }

    #[test]
    fn malformed_language_tag_and_iri_are_told_apart() {
        let check = |object: Term| Check { stand_ins: None }.check(&mut quad(object));
        let tagged = Literal::new_language_tagged_literal_unchecked("x", "zh-classical");
        assert!(matches!(check(tagged.into()), Err(Fault::LanguageTag(_))));
        let broken = NamedNode::new_unchecked("http://example.org/a b");
        assert!(matches!(check(broken.into()), Err(Fault::Statement(_))));
        let relative = NamedNode::new_unchecked("a");
        assert!(matches!(check(relative.into()), Err(Fault::Statement(_))));
        assert_eq!(check(Literal::new_simple_literal("x").into()), Ok(()));
    }

    #[test]
    fn what_a_stand_in_stands_for_is_restored() {
        let stand_ins = Rc::new(StandIns::new());
        let check = Check {
            stand_ins: Some(Rc::clone(&stand_ins)),
        };
        let tagged = |tag: &str| Literal::new_language_tagged_literal_unchecked("x", tag);
        let mut kept = quad(tagged(&stand_ins.tag("zh-classical")));
        assert!(matches!(check.check(&mut kept), Err(Fault::LanguageTag(_))));
        assert_eq!(kept.object, tagged("zh-classical").into());
        let mut untagged = quad(tagged(&stand_ins.tag("")));
        assert_eq!(check.check(&mut untagged), Ok(()));
        assert_eq!(untagged.object, Literal::new_simple_literal("x").into());
        let broken = NamedNode::new_unchecked(stand_ins.iri("http://e/a b"));
        match check.check(&mut quad(broken)) {
            Err(Fault::Statement(message)) => assert!(message.contains("<http://e/a b>")),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn one_label_is_one_node_in_a_file_and_another_in_the_next() {
        let label = BlankNode::new_unchecked("b0");
        let (one, two) = (BlankNodes::new(), BlankNodes::new());
        assert_eq!(one.renamed(&label), one.renamed(&label));
        assert_ne!(one.renamed(&label), two.renamed(&label));
    }
}
