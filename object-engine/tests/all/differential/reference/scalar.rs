//! Stored terms as values of scalars: whether they fit, how they look, how they compare.

use std::cmp::Ordering;

use oxrdf::{Literal, Term};
use serde_json::{Value, json};
use soml_core::datatype::Scalar;
use soml_core::schema::EnumType;

use super::moment::{Moment, shown_date_time};
use super::number::Number;

/// A well-typed value.
#[derive(Clone, Debug)]
pub(crate) struct Shown {
    pub(crate) json: Value,
    pub(crate) key: Key,
}

/// The place of a value in the order of its scalar.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Key {
    Boolean(bool),
    Number(Number),
    Instant(i128),
    Text(String),
}

impl Key {
    pub(crate) fn compare(&self, other: &Key) -> Ordering {
        match (self, other) {
            (Key::Boolean(a), Key::Boolean(b)) => a.cmp(b),
            (Key::Number(a), Key::Number(b)) => a.compare(b).unwrap_or(Ordering::Equal),
            (Key::Instant(a), Key::Instant(b)) => a.cmp(b),
            (Key::Text(a), Key::Text(b)) => a.chars().cmp(b.chars()),
            _ => panic!("keys of one order are of one kind: {self:?} {other:?}"),
        }
    }
}

impl Shown {
    /// Returns whether two values are the same value: different numbers may have the same nearest float.
    pub(crate) fn same(&self, other: &Shown) -> bool {
        self.json == other.json
    }

    pub(crate) fn compare(&self, other: &Shown) -> Ordering {
        let texts = || self.json.to_string().cmp(&other.json.to_string());
        self.key.compare(&other.key).then_with(texts)
    }
}

/// Returns whether a literal is a string, tagged or not.
pub(crate) fn is_string(literal: &Literal) -> bool {
    literal.language().is_some() || literal.datatype() == oxrdf::vocab::xsd::STRING
}

/// Returns the value of a term under a scalar, if the term fits it.
pub(crate) fn shown(scalar: Scalar, term: &Term) -> Option<Shown> {
    let text = |text: &str, key: Key| Shown {
        json: json!(text),
        key,
    };
    let literal = match term {
        Term::NamedNode(node) if scalar == Scalar::Iri => {
            return Some(text(node.as_str(), Key::Text(node.as_str().to_owned())));
        }
        Term::Literal(literal) if scalar != Scalar::Iri => literal,
        _ => return None,
    };
    let value = literal.value();
    if scalar == Scalar::String {
        return is_string(literal).then(|| text(value, Key::Text(value.to_owned())));
    }
    if scalar.is_numeric() {
        return number(scalar, Number::from_literal(literal)?);
    }
    if literal.datatype().as_str() != scalar.datatype_iri() {
        return None;
    }
    let value = value.trim_matches([' ', '\t', '\r', '\n']);
    if scalar == Scalar::Boolean {
        let value = match value {
            "true" | "1" => true,
            "false" | "0" => false,
            _ => return None,
        };
        return Some(Shown {
            json: json!(value),
            key: Key::Boolean(value),
        });
    }
    let key = Key::Instant(Moment::parse(scalar, value)?.instant);
    match scalar {
        Scalar::DateTime => Some(text(&shown_date_time(value)?, key)),
        _ => Some(text(value, key)),
    }
}

fn number(scalar: Scalar, number: Number) -> Option<Shown> {
    let plain = number.plain()?;
    let json = if scalar.is_float() {
        let value: f64 = plain.parse().expect("decimal digits");
        let json = json!(value);
        match scalar {
            _ if !scalar.float_in_bounds(value) => return None,
            Scalar::Double => json,
            _ => json!(json.to_string()),
        }
    } else if scalar == Scalar::Decimal {
        json!(plain)
    } else {
        let (least, greatest) = scalar.integer_bounds().expect("a whole-number scalar");
        let beyond = |bound: Option<i128>, wrong: Ordering| {
            bound.is_some_and(|bound| {
                let bound = Number::from_input(&bound.to_string()).expect("digits");
                number.compare(&bound) == Some(wrong)
            })
        };
        if !number.is_whole()
            || beyond(least, Ordering::Less)
            || beyond(greatest, Ordering::Greater)
        {
            return None;
        }
        match scalar {
            Scalar::Int | Scalar::Short | Scalar::Byte | Scalar::Long => {
                json!(plain.parse::<i64>().expect("within 64 bits"))
            }
            _ => json!(plain),
        }
    };
    Some(Shown {
        json,
        key: Key::Number(number),
    })
}

/// Returns whether a term is a value of a scalar.
pub(crate) fn fits(scalar: Scalar, term: &Term) -> bool {
    shown(scalar, term).is_some()
}

/// Returns the value of a term under an enumeration: a plain string that names one of its values.
pub(crate) fn shown_enum(ty: &EnumType, term: &Term) -> Option<Shown> {
    let Term::Literal(literal) = term else {
        return None;
    };
    let is_plain = literal.datatype() == oxrdf::vocab::xsd::STRING;
    let known = is_plain && ty.values.iter().any(|value| value.name == literal.value());
    known.then(|| Shown {
        json: json!(literal.value()),
        key: Key::Text(literal.value().to_owned()),
    })
}
