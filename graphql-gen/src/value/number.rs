//! Numbers of all RDF datatypes.

use std::str::FromStr;

use oxrdf::vocab::xsd;
use oxrdf::{Literal, NamedNodeRef};
use oxsdatatypes::{Decimal, Double};

/// A stored number.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Number {
    /// A whole number of any size: its sign and its digits without leading zeros.
    Integer { negative: bool, digits: String },
    /// A decimal number.
    Decimal(Decimal),
    /// A binary number of 64 bits.
    Double(f64),
    /// A binary number of 32 bits.
    Single(f32),
}

impl Number {
    /// Reads a literal of a numeric datatype; `None` when it is none or ill-formed.
    pub(crate) fn from_literal(literal: &Literal) -> Option<Number> {
        let text = literal.value().trim_matches([' ', '\t', '\r', '\n']);
        let datatype = literal.datatype();
        if is_integer_datatype(datatype) {
            Number::integer(text)
        } else if datatype == xsd::DECIMAL {
            match Decimal::from_str(text) {
                Ok(value) => Some(Number::Decimal(value)),
                // More digits than a `Decimal` holds, yet whole.
                Err(_) => Number::integer(text),
            }
        } else if datatype == xsd::DOUBLE {
            float_text(text)
                .and_then(|t| t.parse().ok())
                .map(Number::Double)
        } else if datatype == xsd::FLOAT {
            float_text(text)
                .and_then(|t| t.parse().ok())
                .map(Number::Single)
        } else {
            None
        }
    }

    fn integer(text: &str) -> Option<Number> {
        let (negative, digits) = match text.as_bytes().first()? {
            b'-' => (true, &text[1..]),
            b'+' => (false, &text[1..]),
            _ => (false, text),
        };
        if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
            return None;
        }
        let digits = digits.trim_start_matches('0');
        let digits = if digits.is_empty() { "0" } else { digits };
        Some(Number::Integer {
            negative: negative && digits != "0",
            digits: digits.to_owned(),
        })
    }

    /// Returns the whole number with the same value.
    pub(crate) fn into_integer(self) -> Option<Number> {
        let text = match self {
            Number::Integer { .. } => return Some(self),
            Number::Decimal(value) => value.to_string(),
            Number::Double(value) if value.is_finite() => value.to_string(),
            Number::Single(value) if value.is_finite() => value.to_string(),
            Number::Double(_) | Number::Single(_) => return None,
        };
        let whole = match text.split_once('.') {
            None => text.as_str(),
            Some((whole, fraction)) if fraction.bytes().all(|b| b == b'0') => whole,
            Some(_) => return None,
        };
        Number::integer(whole)
    }

    /// Returns the value as decimal digits, without an exponent; `None` for infinities and NaN.
    pub(crate) fn to_decimal_text(&self) -> Option<String> {
        Some(match self {
            Number::Integer { negative, digits } => {
                format!("{}{digits}", if *negative { "-" } else { "" })
            }
            Number::Decimal(value) => value.to_string(),
            // Zero has one value, whatever its sign.
            Number::Double(value) if value.is_finite() => (value + 0.0).to_string(),
            Number::Single(value) if value.is_finite() => (value + 0.0).to_string(),
            Number::Double(_) | Number::Single(_) => return None,
        })
    }

    /// Returns the nearest binary number; a 32-bit one by the shortest digits that name it.
    pub(crate) fn to_double(&self) -> f64 {
        match self {
            Number::Integer { negative, digits } => {
                let value: f64 = digits.parse().unwrap_or(f64::INFINITY);
                if *negative { -value } else { value }
            }
            Number::Decimal(value) => Double::from(*value).into(),
            Number::Double(value) => *value,
            Number::Single(value) if value.is_finite() => value
                .to_string()
                .parse()
                .unwrap_or_else(|_| f64::from(*value)),
            Number::Single(value) => f64::from(*value),
        }
    }

    /// Returns the exact value when a `Decimal` holds it.
    pub(crate) fn to_decimal(&self) -> Option<Decimal> {
        match self {
            Number::Decimal(value) => Some(*value),
            other => Decimal::from_str(&other.to_decimal_text()?).ok(),
        }
    }
}

/// Brings the special values of XSD into the form that Rust reads, and refuses what XSD does not know.
fn float_text(text: &str) -> Option<&str> {
    match text {
        "INF" | "+INF" => Some("inf"),
        "-INF" => Some("-inf"),
        "NaN" => Some("NaN"),
        _ => text
            .bytes()
            .all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'-' | b'+' | b'e' | b'E'))
            .then_some(text),
    }
}

fn is_integer_datatype(datatype: NamedNodeRef<'_>) -> bool {
    const NAMES: [&str; 13] = [
        "integer",
        "int",
        "long",
        "short",
        "byte",
        "nonNegativeInteger",
        "positiveInteger",
        "nonPositiveInteger",
        "negativeInteger",
        "unsignedLong",
        "unsignedInt",
        "unsignedShort",
        "unsignedByte",
    ];
    datatype
        .as_str()
        .strip_prefix("http://www.w3.org/2001/XMLSchema#")
        .is_some_and(|name| NAMES.contains(&name))
}
