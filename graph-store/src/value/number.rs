//! Numbers of all RDF datatypes.

use std::cmp::Ordering;
use std::str::FromStr;

use oxrdf::vocab::xsd;
use oxrdf::{Literal, NamedNodeRef};
use oxsdatatypes::{Decimal, Double};
use soml_core::datatype::Scalar;

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

    /// Compares by value, exactly; `None` with NaN.
    ///
    /// A binary number is worth the shortest decimal that names it.
    pub(crate) fn compare(&self, other: &Number) -> Option<Ordering> {
        let (a, b) = (self.to_double(), other.to_double());
        let by_double = a.partial_cmp(&b)?;
        // The nearest doubles decide unless they are so close that rounding could.
        let is_close = a == b || (a - b).abs() <= a.abs().max(b.abs()) * CLOSE;
        if !is_close || self.is_exact_double() && other.is_exact_double() {
            return Some(by_double);
        }
        match (self.to_decimal_text(), other.to_decimal_text()) {
            (Some(a), Some(b)) => Some(compare_decimals(&a, &b)),
            // An infinity is beyond every number, however large.
            (None, None) => Some(by_double),
            (None, Some(_)) => a.partial_cmp(&0.0),
            (Some(_), None) => 0.0.partial_cmp(&b),
        }
    }

    /// Tells whether the nearest double is the number itself, as far as a glance shows.
    fn is_exact_double(&self) -> bool {
        matches!(self, Number::Integer { digits, .. } if digits.len() <= 15)
    }

    /// Returns the exact value when a `Decimal` holds it.
    pub(crate) fn to_decimal(&self) -> Option<Decimal> {
        match self {
            Number::Decimal(value) => Some(*value),
            other => Decimal::from_str(&other.to_decimal_text()?).ok(),
        }
    }
}

/// How far doubles may be apart, in proportion, for rounding to have changed their order.
const CLOSE: f64 = 1e-14;

/// Compares two numbers in decimal digits without exponents.
fn compare_decimals(a: &str, b: &str) -> Ordering {
    let split = |text: &str| {
        let (negative, digits) = match text.strip_prefix('-') {
            Some(digits) => (true, digits),
            None => (false, text),
        };
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let whole = whole.trim_start_matches('0').to_owned();
        let fraction = fraction.trim_end_matches('0').to_owned();
        let negative = negative && !(whole.is_empty() && fraction.is_empty());
        (negative, whole, fraction)
    };
    let ((a_negative, a_whole, a_fraction), (b_negative, b_whole, b_fraction)) =
        (split(a), split(b));
    let size = || {
        let whole = a_whole.len().cmp(&b_whole.len());
        whole
            .then_with(|| a_whole.cmp(&b_whole))
            .then_with(|| a_fraction.cmp(&b_fraction))
    };
    match (a_negative, b_negative) {
        (false, false) => size(),
        (true, true) => size().reverse(),
        (true, false) => Ordering::Less,
        (false, true) => Ordering::Greater,
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

/// Returns what the finite numbers of one kind that differ in their text alone have in common: whole
/// numbers of whatever datatype, decimal numbers, binary ones of 64 bits, and of 32.
#[must_use]
pub fn number_identity(literal: &Literal) -> Option<String> {
    let text = Number::from_literal(literal)?.to_decimal_text()?;
    let datatype = match literal.datatype() {
        datatype if is_integer_datatype(datatype) => xsd::INTEGER,
        datatype => datatype,
    };
    Some(format!("{text}\0{}", datatype.as_str()))
}

/// Returns the value of a whole number of few digits that is written in its canonical form, as by far
/// the most numbers are.
pub(super) fn short_integer(literal: &Literal) -> Option<i128> {
    let text = literal.value();
    let digits = text.strip_prefix('-').unwrap_or(text);
    let is_canonical = match digits.as_bytes() {
        [b'0'] => digits.len() == text.len(),
        [b'1'..=b'9', rest @ ..] => rest.len() < 17 && rest.iter().all(u8::is_ascii_digit),
        _ => false,
    };
    let is_short = is_canonical && is_integer_datatype(literal.datatype());
    is_short.then(|| text.parse().ok())?
}

/// Tells whether a value is within the bounds of a whole-number scalar; false for any other scalar.
#[must_use]
pub fn integer_in_bounds(scalar: Scalar, value: i128) -> bool {
    scalar.integer_bounds().is_some_and(|(least, greatest)| {
        least.is_none_or(|least| value >= least) && greatest.is_none_or(|g| value <= g)
    })
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

#[cfg(test)]
mod tests {
    use std::cmp::Ordering;

    use oxrdf::{Literal, NamedNode};

    use super::Number;

    fn number(text: &str, datatype: &str) -> Number {
        let iri = format!("http://www.w3.org/2001/XMLSchema#{datatype}");
        let literal = Literal::new_typed_literal(text, NamedNode::new_unchecked(iri));
        Number::from_literal(&literal).expect("a number")
    }

    #[test]
    fn numbers_compare_by_value_across_datatypes() {
        let ascending = [
            number("-INF", "double"),
            number("-100000000000000000000000000000", "integer"),
            number("-1.5", "decimal"),
            number("0", "byte"),
            number("0.1", "float"),
            number("0.100000000000000001", "decimal"),
            number("9007199254740992", "double"),
            number("9007199254740993", "integer"),
            number("1e30", "double"),
            number("1000000000000000000000000000001", "integer"),
            number("INF", "float"),
        ];
        for (i, a) in ascending.iter().enumerate() {
            for (j, b) in ascending.iter().enumerate() {
                assert_eq!(a.compare(b), Some(i.cmp(&j)), "{a:?} {b:?}");
            }
        }
    }

    #[test]
    fn equal_numbers_are_equal_whatever_their_form() {
        for (a, b) in [
            (number("007", "unsignedInt"), number("7.0", "decimal")),
            (number("0.1", "float"), number("0.1", "double")),
            (number("-0", "double"), number("0", "integer")),
            (
                number("1e30", "double"),
                number("1000000000000000000000000000000", "integer"),
            ),
        ] {
            assert_eq!(a.compare(&b), Some(Ordering::Equal), "{a:?} {b:?}");
        }
        assert_eq!(
            number("NaN", "double").compare(&number("NaN", "float")),
            None
        );
    }
}
