//! A slow, obvious interpreter of conditions over raw triples.
//!
//! Written from the documentation of conditions: every object is tested by itself, and every value by
//! loops. It shares no code with the stores.

use std::cell::RefCell;
use std::cmp::Ordering;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::rc::Rc;

use graph_store::query::{
    Comparison, Constant, Dataset, Domain, NodeCondition, Operator, Quantifier, Regex, Step,
    TagRange, TermCondition, TypeTest, ValueCondition, ValueTest,
};
use oxrdf::vocab::xsd;
use oxrdf::{GraphName, Literal, NamedNode, NamedOrBlankNode, Quad, Term};
use soml_core::datatype::Scalar;

use super::moment::Moment;
use super::number::Number;

/// Regular expressions, each from the text that it was made of.
pub(super) type Patterns = HashMap<Regex, regex::Regex>;

/// A value as a domain compares it.
#[derive(Debug)]
pub(super) enum Value {
    Text(String),
    Number(Number),
    Boolean(bool),
    Moment(Moment),
}

/// What terms are as values of one domain; `None` for those outside of it.
type Values = HashMap<Term, Rc<Option<Value>>>;

/// The triples of a dataset, and the nodes among them.
pub(super) struct Reference {
    forward: HashMap<(Term, NamedNode), Vec<Term>>,
    inverse: HashMap<(Term, NamedNode), Vec<Term>>,
    /// The IRIs that are subjects.
    subjects: BTreeSet<String>,
    read: RefCell<HashMap<Domain, Values>>,
}

impl Reference {
    /// Reads the graphs of a dataset, of several graphs as one.
    pub(super) fn new(quads: &[Quad], dataset: &Dataset) -> Self {
        let mut reference = Reference {
            forward: HashMap::new(),
            inverse: HashMap::new(),
            subjects: BTreeSet::new(),
            read: RefCell::default(),
        };
        let mut seen = HashSet::new();
        for quad in quads.iter().filter(|quad| is_read(quad, dataset)) {
            let subject: Term = match &quad.subject {
                NamedOrBlankNode::NamedNode(node) => node.clone().into(),
                NamedOrBlankNode::BlankNode(node) => node.clone().into(),
            };
            if !seen.insert((subject.clone(), quad.predicate.clone(), quad.object.clone())) {
                continue;
            }
            if let Term::NamedNode(node) = &subject {
                reference.subjects.insert(node.as_str().to_owned());
            }
            let (property, object) = (&quad.predicate, quad.object.clone());
            let about = (subject.clone(), property.clone());
            reference
                .forward
                .entry(about)
                .or_default()
                .push(object.clone());
            let about = (object, property.clone());
            reference.inverse.entry(about).or_default().push(subject);
        }
        reference
    }

    /// Returns the objects that satisfy a condition that includes a type test, in the order of their IRIs.
    pub(super) fn objects(&self, condition: &NodeCondition, patterns: &Patterns) -> Vec<NamedNode> {
        let nodes = self.subjects.iter().map(NamedNode::new_unchecked);
        let holds = |node: &NamedNode| self.node(&node.clone().into(), condition, patterns);
        nodes.filter(holds).collect()
    }

    /// Returns the values along a step: blank nodes are none.
    pub(super) fn values(&self, node: &Term, step: &Step) -> Vec<&Term> {
        let along = if step.inverse {
            &self.inverse
        } else {
            &self.forward
        };
        let found = along.get(&(node.clone(), step.predicate.clone()));
        let found = found.into_iter().flatten();
        found.filter(|term| !term.is_blank_node()).collect()
    }

    pub(super) fn is_instance(&self, node: &Term, test: &TypeTest) -> bool {
        test.alternatives.iter().any(|(property, types)| {
            let types_of = self.values(node, &Step::forward(property.clone()));
            let is_listed = |ty: &&Term| types.iter().any(|listed| **ty == listed.clone().into());
            types_of.iter().any(is_listed)
        })
    }

    fn node(&self, node: &Term, condition: &NodeCondition, patterns: &Patterns) -> bool {
        match condition {
            NodeCondition::All(parts) => parts.iter().all(|part| self.node(node, part, patterns)),
            NodeCondition::Any(parts) => parts.iter().any(|part| self.node(node, part, patterns)),
            NodeCondition::Not(inner) => !self.node(node, inner, patterns),
            NodeCondition::OneOf(ids) => ids.iter().any(|id| *node == id.clone().into()),
            NodeCondition::Iri(test) => self.test(node, test, patterns),
            NodeCondition::Instance(test) => self.is_instance(node, test),
            NodeCondition::Values {
                step,
                quantifier,
                condition,
            } => {
                let values = self.values(node, step);
                // What a condition on objects is said of are the objects only.
                let mut members = values.into_iter().filter(|value| match **condition {
                    ValueCondition::Node(_) => value.is_named_node(),
                    ValueCondition::Term(_) => true,
                });
                let mut holds = |value: &Term| self.value(value, condition, patterns);
                match quantifier {
                    Quantifier::Some => members.any(&mut holds),
                    Quantifier::Every => members.all(&mut holds),
                }
            }
        }
    }

    /// Returns whether a value satisfies a condition.
    pub(super) fn value(
        &self,
        value: &Term,
        condition: &ValueCondition,
        patterns: &Patterns,
    ) -> bool {
        match condition {
            ValueCondition::Node(inner) => {
                value.is_named_node() && self.node(value, inner, patterns)
            }
            ValueCondition::Term(inner) => self.term(value, inner, patterns),
        }
    }

    fn term(&self, term: &Term, condition: &TermCondition, patterns: &Patterns) -> bool {
        match condition {
            TermCondition::All(parts) => parts.iter().all(|part| self.term(term, part, patterns)),
            TermCondition::Any(parts) => parts.iter().any(|part| self.term(term, part, patterns)),
            TermCondition::Not(inner) => !self.term(term, inner, patterns),
            TermCondition::Value(test) => self.test(term, test, patterns),
            TermCondition::Lang { include, exclude } => {
                let Term::Literal(literal) = term else {
                    return false;
                };
                let tag = literal.language().map(str::to_lowercase);
                let covered = |range: &TagRange| is_covered(tag.as_deref(), range);
                (include.is_empty() || include.iter().any(covered)) && !exclude.iter().any(covered)
            }
            TermCondition::Datatype(test) => match term {
                Term::Literal(literal) if literal.language().is_none() => {
                    self.test(&literal.datatype().into_owned().into(), test, patterns)
                }
                _ => false,
            },
        }
    }

    fn test(&self, term: &Term, test: &ValueTest, patterns: &Patterns) -> bool {
        let value = self.read(test.domain, term);
        let Some(value) = value.as_ref() else {
            return false;
        };
        let order = |constant: &Constant| {
            let constant = self.read(without_cast(test.domain), &constant_term(constant));
            let constant = constant.as_ref().as_ref()?;
            compare(value, constant)
        };
        let equals = |constant: &Constant| order(constant) == Some(Ordering::Equal);
        match &test.operator {
            Operator::Compare(Comparison::Equal, constant) => equals(constant),
            Operator::Compare(Comparison::NotEqual, constant) => !equals(constant),
            Operator::Compare(Comparison::Less, constant) => {
                order(constant) == Some(Ordering::Less)
            }
            Operator::Compare(Comparison::LessOrEqual, constant) => {
                order(constant).is_some_and(Ordering::is_le)
            }
            Operator::Compare(Comparison::Greater, constant) => {
                order(constant) == Some(Ordering::Greater)
            }
            Operator::Compare(Comparison::GreaterOrEqual, constant) => {
                order(constant).is_some_and(Ordering::is_ge)
            }
            Operator::In(constants) => constants.iter().any(equals),
            Operator::NotIn(constants) => !constants.iter().any(equals),
            Operator::Matches(regex, negated) => {
                let Value::Text(text) = value else {
                    panic!("only strings are compared with regular expressions");
                };
                patterns[regex].is_match(text) != *negated
            }
        }
    }

    /// Reads a term as a value; remembers it.
    fn read(&self, domain: Domain, term: &Term) -> Rc<Option<Value>> {
        let mut read = self.read.borrow_mut();
        let of_domain = read.entry(domain).or_default();
        if let Some(known) = of_domain.get(term) {
            return Rc::clone(known);
        }
        let value = Rc::new(value_of(domain, term));
        of_domain.insert(term.clone(), Rc::clone(&value));
        value
    }
}

/// Returns whether a dataset has a quad.
fn is_read(quad: &Quad, dataset: &Dataset) -> bool {
    match (&dataset.graphs, &quad.graph_name) {
        (None, _) => true,
        (Some(graphs), GraphName::NamedNode(name)) => graphs.contains(name),
        (Some(_), _) => false,
    }
}

fn is_covered(tag: Option<&str>, range: &TagRange) -> bool {
    match (tag, range) {
        (None, TagRange::Untagged) => true,
        (Some(tag), TagRange::Tag(wanted)) => tag == wanted,
        (Some(tag), TagRange::Dialects(wanted)) => {
            tag == wanted || tag.starts_with(&format!("{wanted}-"))
        }
        _ => false,
    }
}

pub(super) fn constant_term(constant: &Constant) -> Term {
    match constant {
        Constant::Iri(iri) => iri.clone().into(),
        Constant::Literal(literal) => literal.clone().into(),
    }
}

/// Returns the domain of the constants of a domain.
pub(super) fn without_cast(domain: Domain) -> Domain {
    match domain {
        Domain::Cast(Scalar::Iri) => Domain::Iri,
        Domain::Cast(Scalar::String) => Domain::Text,
        Domain::Cast(scalar) if is_number(scalar) => Domain::Number,
        Domain::Cast(scalar) => Domain::Typed(scalar),
        other => other,
    }
}

/// Returns whether values of a scalar are numbers.
pub(super) fn is_number(scalar: Scalar) -> bool {
    !matches!(
        scalar,
        Scalar::Iri
            | Scalar::String
            | Scalar::Boolean
            | Scalar::DateTime
            | Scalar::Date
            | Scalar::Time
            | Scalar::Year
            | Scalar::YearMonth
    )
}

/// Reads a term as a value of a domain; `None` if it is outside of the domain.
pub(super) fn value_of(domain: Domain, term: &Term) -> Option<Value> {
    let literal = match (domain, term) {
        (Domain::Iri | Domain::Cast(Scalar::Iri), Term::NamedNode(iri)) => {
            return Some(Value::Text(iri.as_str().to_owned()));
        }
        (_, Term::Literal(literal)) => literal,
        _ => return None,
    };
    let lexical = || Some(Value::Text(literal.value().to_owned()));
    match domain {
        Domain::Iri => None,
        Domain::Lexical => lexical(),
        Domain::Text if is_string(literal) => lexical(),
        Domain::Text => None,
        Domain::Number => number_of(literal).map(Value::Number),
        Domain::Typed(scalar) if literal.datatype().as_str() == scalar.datatype_iri() => {
            typed_value(scalar, literal.value())
        }
        Domain::Typed(_) => None,
        Domain::Cast(scalar) => cast_value(scalar, literal),
    }
}

/// Returns whether a literal is a string, with a language tag or without.
pub(super) fn is_string(literal: &Literal) -> bool {
    literal.language().is_some() || literal.datatype() == xsd::STRING
}

/// Removes the white space around a lexical form, which is no part of a number, date or Boolean.
fn trimmed(text: &str) -> &str {
    text.trim_matches([' ', '\t', '\r', '\n'])
}

/// Reads a number of any numeric datatype.
pub(super) fn number_of(literal: &Literal) -> Option<Number> {
    let text = trimmed(literal.value());
    let datatype = literal.datatype();
    // A number beyond the largest one is infinite.
    let is_written = text
        .bytes()
        .all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte));
    let nearest = match datatype {
        xsd::DOUBLE if is_written => text.parse().ok(),
        xsd::FLOAT if is_written => text.parse::<f32>().ok().map(f64::from),
        _ => None,
    };
    if let Some(infinite) = nearest.filter(|nearest: &f64| nearest.is_infinite()) {
        let negative = infinite < 0.0;
        return Some(Number::Infinite { negative });
    }
    Number::from_literal(&Literal::new_typed_literal(text, datatype))
}

fn typed_value(scalar: Scalar, text: &str) -> Option<Value> {
    match (scalar, trimmed(text)) {
        (Scalar::String, _) => Some(Value::Text(text.to_owned())),
        (Scalar::Boolean, "true" | "1") => Some(Value::Boolean(true)),
        (Scalar::Boolean, "false" | "0") => Some(Value::Boolean(false)),
        (_, text) => Moment::parse(scalar, text).map(Value::Moment),
    }
}

/// Reads a literal as a value of a scalar, from its lexical form where its datatype is another.
fn cast_value(scalar: Scalar, literal: &Literal) -> Option<Value> {
    let text = trimmed(literal.value());
    match scalar {
        Scalar::String => Some(Value::Text(literal.value().to_owned())),
        Scalar::Iri => {
            let iri = NamedNode::new(text).ok()?;
            Some(Value::Text(iri.into_string()))
        }
        _ if is_number(scalar) => {
            let named = match scalar {
                Scalar::Double => xsd::DOUBLE,
                Scalar::Decimal => xsd::DECIMAL,
                _ => xsd::INTEGER,
            };
            let from_text = || number_of(&Literal::new_typed_literal(text, named));
            number_of(literal).or_else(from_text).map(Value::Number)
        }
        _ => typed_value(scalar, text),
    }
}

/// Compares two values; `None` where they are not comparable.
fn compare(a: &Value, b: &Value) -> Option<Ordering> {
    match (a, b) {
        (Value::Text(a), Value::Text(b)) => Some(a.chars().cmp(b.chars())),
        (Value::Number(a), Value::Number(b)) => a.compare(b),
        (Value::Boolean(a), Value::Boolean(b)) => Some(a.cmp(b)),
        (Value::Moment(a), Value::Moment(b)) => a.compare(*b),
        _ => None,
    }
}
