//! `where`: conditions on objects and on their values.

use std::cmp::Ordering;

use oxrdf::{NamedNode, Term};
use soml_core::datatype::Scalar;
use soml_core::schema::Range;

use super::cast::cast;
use super::document::Val;
use super::graph::{Triples, iri_of};
use super::lang::Spec;
use super::literal::datatype;
use super::model::{FieldMeaning, Model, Ty};
use super::moment::Moment;
use super::number::Number;
use super::scalar::is_string;

/// What a condition speaks of.
#[derive(Clone, Copy, Debug)]
enum About {
    Node(Ty),
    Scalar(Scalar),
    Enum,
    Literal,
    /// The text of any literal.
    Text,
    /// The classes of an object.
    Class,
}

/// Evaluates conditions over the triples of a query.
pub(crate) struct Filter<'a> {
    pub(crate) model: &'a Model<'a>,
    pub(crate) triples: &'a Triples,
}

/// One part of a condition on a set of values that speaks of the set, not of one value.
enum OfSet<'v> {
    Every(&'v Val),
    NotEmpty,
    Some(&'v [Val]),
    Not(&'v Val),
}

/// One part of a condition on one value.
enum OfOne<'v> {
    Anything,
    Key(&'v str, &'v Val),
}

impl Filter<'_> {
    /// Returns whether an object satisfies the `where` of a field that lists objects.
    pub(crate) fn object(&self, ty: Ty, node: &str, filter: &Val) -> bool {
        self.one(About::Node(ty), &iri(node), filter)
    }

    /// Returns whether a value satisfies the `where` of a field that lists scalars.
    pub(crate) fn scalar(&self, scalar: Scalar, term: &Term, filter: &Val) -> bool {
        self.one(About::Scalar(scalar), term, filter)
    }

    pub(crate) fn class(&self, term: &Term, filter: &Val) -> bool {
        self.one(About::Class, term, filter)
    }

    pub(crate) fn enumerated(&self, term: &Term, filter: &Val) -> bool {
        self.one(About::Enum, term, filter)
    }

    pub(crate) fn literal(&self, term: &Term, filter: &Val) -> bool {
        self.one(About::Literal, term, filter)
    }

    pub(crate) fn literal_text(&self, term: &Term, filter: &Val) -> bool {
        self.one(About::Text, term, filter)
    }

    /// A condition on one value: quantifiers say nothing more.
    fn one(&self, about: About, value: &Term, filter: &Val) -> bool {
        // A term of the wrong kind is no value to speak of, unless nothing is said.
        if matches!(about, About::Literal | About::Text) && !matches!(value, Term::Literal(_)) {
            return false;
        }
        let keys = filter.keys();
        keys.iter()
            .all(|(key, operand)| self.one_key(about, value, key, operand))
    }

    fn one_key(&self, about: About, value: &Term, key: &str, operand: &Val) -> bool {
        match key {
            "AND" => operand
                .items()
                .iter()
                .all(|item| self.one(about, value, item)),
            "OR" => operand
                .items()
                .iter()
                .any(|item| self.one(about, value, item)),
            "NOT" => !self.one(about, value, operand),
            "ALL" | "ALL_EXISTS" => self.one(about, value, operand),
            _ => match about {
                About::Node(ty) => self.node_key(ty, value, key, operand),
                About::Literal => literal_key(self, value, key, operand),
                About::Class => self.class_key(value, key, operand),
                _ => operator(about, value, key, operand),
            },
        }
    }

    /// A condition on the values of a property: keys beside each other speak of one and the same.
    fn set(&self, about: About, values: &[Term], filter: &Val) -> bool {
        let (mut one, mut all) = (Vec::new(), Vec::new());
        split(filter, &mut one, &mut all);
        if one.is_empty() && all.is_empty() {
            one.push(OfOne::Anything);
        }
        let satisfies = |value: &Term| {
            one.iter().all(|part| match part {
                OfOne::Anything => true,
                OfOne::Key(key, operand) => self.one_key(about, value, key, operand),
            })
        };
        let found = one.is_empty() || values.iter().any(satisfies);
        found
            && all.iter().all(|part| match part {
                OfSet::Every(inner) => values.iter().all(|v| self.one(about, v, inner)),
                OfSet::NotEmpty => !values.is_empty(),
                OfSet::Some(parts) => parts.iter().any(|part| self.set(about, values, part)),
                OfSet::Not(inner) => !self.set(about, values, inner),
            })
    }

    fn node_key(&self, ty: Ty, node: &Term, key: &str, operand: &Val) -> bool {
        let Some(node_iri) = iri_of(node) else {
            return false;
        };
        if key == "ID" {
            let named = operand.items().iter().any(|id| id.text() == node_iri);
            return named && self.model.reads_of(self.triples, node_iri, ty, "id");
        }
        if let Some(narrow) = key.strip_prefix("_if") {
            let narrow = match self.model.type_named(narrow).expect("a type") {
                Ty::Concrete(id) => self.model.range(id),
                other => other,
            };
            // What is expected to be of the type is taken to be so.
            let is_such = narrow == ty || self.model.is_instance(self.triples, node_iri, narrow);
            return is_such && self.object(narrow, node_iri, operand);
        }
        let meaning = self.model.field(ty, key).expect("a known key");
        if !self.model.reads_of(self.triples, node_iri, ty, key) {
            return false;
        }
        match meaning {
            FieldMeaning::Id => self.one(About::Scalar(Scalar::Iri), node, operand),
            FieldMeaning::Type => {
                let property = self.model.type_property(self.triples, node_iri, ty);
                property.is_some_and(|property| {
                    let types = self.triples.objects(node_iri, property);
                    self.set(About::Class, &types, operand)
                })
            }
            FieldMeaning::Name => match self.model.name_of(self.triples, node_iri, ty) {
                None => false,
                Some(name) => {
                    let values = self.triples.values(node_iri, &name.path);
                    self.set(About::Scalar(Scalar::String), &values, operand)
                }
            },
            FieldMeaning::Property(_) => {
                let property = self.model.property_of(self.triples, node_iri, ty, key);
                let property = property.expect("all objects of a type have its fields");
                let values = self.triples.values(node_iri, &property.path);
                let mut values = cast(property, values);
                let about = match property.range {
                    Range::Scalar(scalar) => About::Scalar(scalar),
                    Range::Enum(_) => About::Enum,
                    Range::Literal(_) => About::Literal,
                    Range::Object(object) => {
                        let range = self.model.range(object);
                        values.retain(|value| self.is_object(value, range, property.range_check));
                        About::Node(range)
                    }
                };
                self.set(about, &values, operand)
            }
            FieldMeaning::Count(_) => panic!("counts are no keys of filters"),
        }
    }

    /// Returns whether a value is an object that a property of this range leads to.
    pub(crate) fn is_object(&self, value: &Term, range: Ty, checked: bool) -> bool {
        iri_of(value).is_some_and(|node| {
            let is_instance = || self.model.is_instance(self.triples, node, range);
            (!checked || is_instance()) && !self.model.is_hidden(self.triples, value, range)
        })
    }

    /// A condition on a class: that of a concrete object means those of its subclasses.
    fn class_key(&self, class: &Term, key: &str, operand: &Val) -> bool {
        if is_any_present(key, operand) {
            return true;
        }
        let Some(stored) = iri_of(class) else {
            return false;
        };
        let means = |named: &Val| {
            let classes = self.model.classes(named.text());
            named.text() == stored || classes.contains(&stored)
        };
        match key {
            "EQ" => means(operand),
            "NEQ" => !means(operand),
            "IN" => operand.items().iter().any(means),
            "NIN" => !operand.items().iter().any(means),
            _ => operator(About::Scalar(Scalar::Iri), class, key, operand),
        }
    }
}

fn iri(node: &str) -> Term {
    NamedNode::new_unchecked(node).into()
}

/// Splits a condition into what it says of one value and what it says of all.
fn split<'v>(filter: &'v Val, one: &mut Vec<OfOne<'v>>, all: &mut Vec<OfSet<'v>>) {
    for (key, operand) in filter.keys() {
        match key.as_str() {
            "AND" => {
                for item in operand.items() {
                    if item.keys().is_empty() {
                        one.push(OfOne::Anything);
                    }
                    split(item, one, all);
                }
            }
            "OR" if operand.items().iter().any(is_quantified) => {
                all.push(OfSet::Some(operand.items()));
            }
            "NOT" if is_quantified(operand) => all.push(OfSet::Not(operand)),
            "ALL" => all.push(OfSet::Every(operand)),
            "ALL_EXISTS" => all.extend([OfSet::Every(operand), OfSet::NotEmpty]),
            key => one.push(OfOne::Key(key, operand)),
        }
    }
}

/// Returns whether a condition speaks of all values somewhere.
fn is_quantified(filter: &Val) -> bool {
    filter
        .keys()
        .iter()
        .any(|(key, operand)| match key.as_str() {
            "ALL" | "ALL_EXISTS" => true,
            "AND" | "OR" | "NOT" => operand.items().iter().any(is_quantified),
            _ => false,
        })
}

fn literal_key(filter: &Filter<'_>, term: &Term, key: &str, operand: &Val) -> bool {
    let Term::Literal(literal) = term else {
        return false;
    };
    match key {
        "value" => filter.one(About::Text, term, operand),
        "lang" => Spec::parse(operand.text()).admits(literal.language()),
        "type" => datatype(literal)
            .is_some_and(|ty| filter.one(About::Scalar(Scalar::Iri), &iri(ty), operand)),
        "ID" => false,
        _ => panic!("unknown key {key}"),
    }
}

/// A value to compare, and how two of them compare.
enum Comparable {
    Number(Number),
    Moment(Moment),
    Boolean(bool),
    Text(String),
}

impl Comparable {
    fn of_operand(about: About, operand: &Val) -> Comparable {
        match (about, operand) {
            (About::Scalar(scalar), _) if scalar.is_numeric() => {
                Comparable::Number(Number::from_input(operand.text()).expect("a number"))
            }
            (_, Val::Boolean(value)) => Comparable::Boolean(*value),
            (About::Scalar(scalar), _)
                if !matches!(scalar, Scalar::String | Scalar::Iri | Scalar::Boolean) =>
            {
                Comparable::Moment(Moment::parse(scalar, operand.text()).expect("a moment"))
            }
            _ => Comparable::Text(operand.text().to_owned()),
        }
    }

    /// The stored value; `None` when the term cannot be compared in this way at all.
    fn of_term(about: About, term: &Term) -> Option<Comparable> {
        let literal = match (about, term) {
            (About::Scalar(Scalar::Iri), _) => {
                return Some(Comparable::Text(iri_of(term)?.to_owned()));
            }
            (_, Term::Literal(literal)) => literal,
            _ => return None,
        };
        let text = || Some(Comparable::Text(literal.value().to_owned()));
        match about {
            About::Text => text(),
            About::Scalar(Scalar::String) | About::Enum if is_string(literal) => text(),
            About::Scalar(scalar) if scalar.is_numeric() => {
                Number::from_literal(literal).map(Comparable::Number)
            }
            About::Scalar(scalar) if literal.datatype().as_str() == scalar.datatype_iri() => {
                match (
                    scalar,
                    literal.value().trim_matches([' ', '\t', '\r', '\n']),
                ) {
                    (Scalar::Boolean, "true" | "1") => Some(Comparable::Boolean(true)),
                    (Scalar::Boolean, "false" | "0") => Some(Comparable::Boolean(false)),
                    (_, text) => Moment::parse(scalar, text).map(Comparable::Moment),
                }
            }
            _ => None,
        }
    }

    fn compare(&self, other: &Comparable) -> Option<Ordering> {
        match (self, other) {
            (Comparable::Number(a), Comparable::Number(b)) => a.compare(b),
            (Comparable::Moment(a), Comparable::Moment(b)) => a.compare(b),
            (Comparable::Boolean(a), Comparable::Boolean(b)) => Some(a.cmp(b)),
            (Comparable::Text(a), Comparable::Text(b)) => Some(a.chars().cmp(b.chars())),
            _ => None,
        }
    }
}

/// Returns whether a condition is one that any value fulfils that is there, be it ill-typed.
fn is_any_present(key: &str, operand: &Val) -> bool {
    key == "NIN" && operand.items().is_empty()
}

/// Applies an operator; a term outside of the domain satisfies none.
fn operator(about: About, term: &Term, key: &str, operand: &Val) -> bool {
    if is_any_present(key, operand) {
        return true;
    }
    let Some(value) = Comparable::of_term(about, term) else {
        return false;
    };
    let equals = |operand: &Val| {
        value.compare(&Comparable::of_operand(about, operand)) == Some(Ordering::Equal)
    };
    let order = || value.compare(&Comparable::of_operand(about, operand));
    match key {
        "EQ" => equals(operand),
        "NEQ" => !equals(operand),
        "IN" => operand.items().iter().any(equals),
        "NIN" => !operand.items().iter().any(equals),
        "LT" => order() == Some(Ordering::Less),
        "LTE" => order().is_some_and(Ordering::is_le),
        "GT" => order() == Some(Ordering::Greater),
        "GTE" => order().is_some_and(Ordering::is_ge),
        "RE" | "IRE" | "NRE" | "NIRE" => {
            let Comparable::Text(text) = &value else {
                return false;
            };
            let flags = if key.contains('I') { "(?i)" } else { "" };
            let pattern = regex::Regex::new(&format!("{flags}{}", operand.text()));
            pattern.expect("a plain pattern").is_match(text) != key.starts_with('N')
        }
        _ => panic!("unknown operator {key}"),
    }
}
