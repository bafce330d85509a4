//! Canonical values: equal if and only if answers show stored values as equal, in the order of
//! answers.
//!
//! Aggregates count, compare and add canonical values without converting them to strings.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::hash::{Hash, Hasher};
use std::str::FromStr;

use oxrdf::{LiteralRef, TermRef};
use oxsdatatypes::{DateTime, Decimal};
use soml_core::datatype::Scalar;

use super::decimal::DecimalNumber;
use super::json::{Numbers, date_time, is_text, write_decimal, write_float, write_string};
use super::lexical::collapsed;
use super::number::{Number, is_integer_of};
use super::sort::instant;

/// A stored value of a field, independent of its lexical form.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum CanonicalValue<'t> {
    /// A Boolean.
    Boolean(bool),
    /// An integer or decimal number.
    Decimal(DecimalNumber),
    /// A floating-point number.
    Float(Float),
    /// A date or time.
    Temporal(Temporal<'t>),
    /// A string, the name of an enumeration value, or an IRI.
    Text(Cow<'t, str>),
    /// A literal as a value in its own right.
    Literal {
        /// Its lexical form.
        text: &'t str,
        /// Its language tag in lower case; empty if there is none.
        tag: String,
        /// Its datatype.
        datatype: &'t str,
    },
}

/// A finite floating-point number; zero has no sign.
#[derive(Clone, Copy, Debug)]
pub struct Float(f64);

impl Float {
    /// Creates a number; zero loses its sign.
    #[must_use]
    pub fn new(value: f64) -> Float {
        Float(value + 0.0)
    }

    /// Returns the number.
    #[must_use]
    pub fn get(self) -> f64 {
        self.0
    }
}

impl PartialEq for Float {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Float {}

impl Hash for Float {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.to_bits().hash(state);
    }
}

impl PartialOrd for Float {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Float {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0)
    }
}

/// A date or time. A `dateTime` with a time zone is compared as an instant; all others as stored.
#[derive(Clone, Debug)]
pub struct Temporal<'t> {
    at: Decimal,
    zoned: bool,
    text: Cow<'t, str>,
}

impl Temporal<'_> {
    fn identity(&self) -> (Decimal, bool, &str) {
        let text = if self.zoned { "" } else { &self.text };
        (self.at, self.zoned, text)
    }
}

impl PartialEq for Temporal<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.identity() == other.identity()
    }
}

impl Eq for Temporal<'_> {}

impl Hash for Temporal<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.identity().hash(state);
    }
}

impl PartialOrd for Temporal<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Temporal<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.identity().cmp(&other.identity())
    }
}

/// Returns the canonical value of a stored term as a value of `scalar`; `None` if it is ill-typed.
pub fn canonical_value<'t>(
    scalar: Scalar,
    term: impl Into<TermRef<'t>>,
) -> Option<CanonicalValue<'t>> {
    let literal = match term.into() {
        TermRef::NamedNode(node) if scalar == Scalar::Iri => {
            return Some(CanonicalValue::Text(node.as_str().into()));
        }
        TermRef::Literal(literal) => literal,
        _ => return None,
    };
    if scalar.is_numeric() {
        return number(scalar, literal);
    }
    let text = literal.value();
    if scalar == Scalar::String {
        return is_text(literal).then(|| CanonicalValue::Text(text.into()));
    }
    if literal.datatype().as_str() != scalar.datatype_iri() {
        return None;
    }
    let text = collapsed(text);
    match (scalar, text) {
        (Scalar::Boolean, "true" | "1") => Some(CanonicalValue::Boolean(true)),
        (Scalar::Boolean, "false" | "0") => Some(CanonicalValue::Boolean(false)),
        (Scalar::Boolean, _) => None,
        _ => Some(CanonicalValue::Temporal(Temporal {
            at: instant(scalar, text)?,
            zoned: scalar == Scalar::DateTime
                && DateTime::from_str(text).ok()?.timezone_offset().is_some(),
            text: text.into(),
        })),
    }
}

fn number<'t>(scalar: Scalar, literal: LiteralRef<'_>) -> Option<CanonicalValue<'t>> {
    let number = Number::from_literal(literal)?;
    if scalar.is_float() {
        return float(scalar, number.to_double());
    }
    let number = number.into_decimal()?;
    let fits = scalar == Scalar::Decimal || is_integer_of(scalar, &number);
    fits.then_some(CanonicalValue::Decimal(number))
}

fn float<'t>(scalar: Scalar, value: f64) -> Option<CanonicalValue<'t>> {
    let fits = value.is_finite() && scalar.float_in_bounds(value);
    fits.then(|| CanonicalValue::Float(Float::new(value)))
}

impl<'t> CanonicalValue<'t> {
    /// Returns the canonical value of a literal in its own right.
    pub fn of_literal(literal: impl Into<LiteralRef<'t>>) -> CanonicalValue<'t> {
        let literal = literal.into();
        let tag = literal.language().unwrap_or_default().to_ascii_lowercase();
        CanonicalValue::Literal {
            text: literal.value(),
            tag,
            datatype: literal.datatype().as_str(),
        }
    }

    /// Returns the canonical value of an object; `None` if the term is not one.
    #[must_use]
    pub fn of_object(term: impl Into<TermRef<'t>>) -> Option<CanonicalValue<'t>> {
        match term.into() {
            TermRef::NamedNode(node) => Some(CanonicalValue::Text(node.as_str().into())),
            _ => None,
        }
    }

    /// Copies borrowed strings, so that the value outlives its term.
    ///
    /// `None` for a literal in its own right, which is never converted from another term.
    pub fn into_owned(self) -> Option<CanonicalValue<'static>> {
        Some(match self {
            CanonicalValue::Boolean(value) => CanonicalValue::Boolean(value),
            CanonicalValue::Decimal(value) => CanonicalValue::Decimal(value),
            CanonicalValue::Float(value) => CanonicalValue::Float(value),
            CanonicalValue::Temporal(temporal) => CanonicalValue::Temporal(Temporal {
                at: temporal.at,
                zoned: temporal.zoned,
                text: Cow::Owned(temporal.text.into_owned()),
            }),
            CanonicalValue::Text(text) => CanonicalValue::Text(Cow::Owned(text.into_owned())),
            CanonicalValue::Literal { .. } => return None,
        })
    }

    /// Writes the value as one of `scalar`, as which it was read; enumeration values are strings.
    pub fn write(&self, out: &mut Vec<u8>, scalar: Scalar, numbers: Numbers) {
        match self {
            CanonicalValue::Boolean(value) => {
                out.extend_from_slice(if *value { b"true" } else { b"false" });
            }
            CanonicalValue::Decimal(value) => write_decimal(out, scalar, value, numbers),
            CanonicalValue::Float(value) => {
                write_float(out, scalar, value.get(), numbers);
            }
            CanonicalValue::Temporal(temporal) if temporal.zoned => {
                let utc = date_time(&temporal.text);
                write_string(out, utc.as_deref().unwrap_or(&temporal.text));
            }
            CanonicalValue::Temporal(temporal) => write_string(out, &temporal.text),
            CanonicalValue::Text(Cow::Owned(text)) => write_string(out, text),
            CanonicalValue::Text(Cow::Borrowed(text)) | CanonicalValue::Literal { text, .. } => {
                write_string(out, text)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use oxrdf::{Literal, NamedNode, Term};
    use soml_core::datatype::Scalar;

    use super::canonical_value;
    use crate::value::{Numbers, sort_value, write_scalar};

    const TEXTS: &[(&str, &str)] = &[
        ("5", "integer"),
        ("05", "integer"),
        ("+5", "integer"),
        (" 5 ", "integer"),
        ("-0", "integer"),
        ("5", "byte"),
        ("300", "short"),
        ("-7", "negativeInteger"),
        ("5.0", "decimal"),
        ("5.5", "decimal"),
        ("5.50", "decimal"),
        ("-0.000000000000000001", "decimal"),
        ("5", "double"),
        ("5.5", "float"),
        ("5.5e0", "double"),
        ("-0", "double"),
        ("0", "double"),
        ("1e300", "double"),
        ("1e-300", "double"),
        ("INF", "double"),
        ("NaN", "float"),
        ("1.1", "float"),
        ("1.1", "double"),
        ("3000000000", "long"),
        ("9223372036854775808", "integer"),
        ("170141183460469231731687303715884105728", "integer"),
        ("-170141183460469231731687303715884105729", "integer"),
        ("0170141183460469231731687303715884105728", "integer"),
        ("1000000000000000000000000000002", "integer"),
        ("1000000000000000000000000000001", "integer"),
        ("1000000000000000000000000000001.0", "decimal"),
        ("999999999999999999999999999999", "integer"),
        ("1e30", "double"),
        ("-170141183460469231731687303715884105728", "integer"),
        ("99999999999999999999999999999999999999999", "integer"),
        ("100000000000000000000000000000000000000000", "integer"),
        ("0.1234567890123456789", "decimal"),
        ("0.12345678901234567890", "decimal"),
        ("0.1234567890123456788", "decimal"),
        (".5", "decimal"),
        ("5.", "decimal"),
        ("none", "integer"),
        ("5.0", "integer"),
        ("-", "decimal"),
        (".", "decimal"),
        ("", "integer"),
        ("true", "boolean"),
        ("1", "boolean"),
        ("0", "boolean"),
        ("yes", "boolean"),
        ("2020-01-01T00:00:00Z", "dateTime"),
        ("2020-01-01T01:00:00+01:00", "dateTime"),
        ("2020-01-01T00:00:00", "dateTime"),
        ("2020-01-01T00:00:00.5Z", "dateTime"),
        ("2020-13-01T00:00:00Z", "dateTime"),
        ("2020-01-01", "date"),
        ("2020-01-01Z", "date"),
        ("12:00:00Z", "time"),
        ("13:00:00+01:00", "time"),
        ("2020", "gYear"),
        ("2020-01", "gYearMonth"),
        ("a", "string"),
        ("", "string"),
    ];

    fn terms() -> Vec<Term> {
        let typed = |(text, datatype): &(&str, &str)| {
            let iri = format!("http://www.w3.org/2001/XMLSchema#{datatype}");
            Term::from(Literal::new_typed_literal(
                *text,
                NamedNode::new_unchecked(iri),
            ))
        };
        let mut terms: Vec<Term> = TEXTS.iter().map(typed).collect();
        terms.push(Literal::new_language_tagged_literal_unchecked("a", "en").into());
        terms.push(NamedNode::new_unchecked("http://e/1").into());
        terms
    }

    fn json(scalar: Scalar, term: &Term, numbers: Numbers) -> Option<Vec<u8>> {
        let mut out = Vec::new();
        write_scalar(&mut out, scalar, term, numbers).then_some(out)
    }

    #[test]
    fn equal_values_are_equal_json_in_every_scalar() {
        let terms = terms();
        let mut equal = 0;
        for &scalar in Scalar::ALL {
            for a in &terms {
                for numbers in [Numbers::Exact, Numbers::Number] {
                    let (value, json) = (canonical_value(scalar, a), json(scalar, a, numbers));
                    assert_eq!(value.is_some(), json.is_some(), "{scalar:?} {a}");
                    let written = value.map(|value| {
                        let mut out = Vec::new();
                        value.write(&mut out, scalar, numbers);
                        out
                    });
                    assert_eq!(written, json, "{scalar:?} {a}");
                }
                for b in &terms {
                    let (x, y) = (canonical_value(scalar, a), canonical_value(scalar, b));
                    let (Some(x), Some(y)) = (x, y) else { continue };
                    let shown = |term| json(scalar, term, Numbers::Exact);
                    assert_eq!(x == y, shown(a) == shown(b), "{scalar:?} {a} {b}");
                    equal += usize::from(x == y && a != b);
                    let sorted = sort_value(scalar, a).cmp(&sort_value(scalar, b));
                    // Different numbers may have the same nearest float, which is what answers
                    // show.
                    let is_rounded = scalar.is_float() && x == y;
                    if sorted.is_ne() && !is_rounded {
                        assert_eq!(x.cmp(&y), sorted, "{scalar:?} {a} {b}");
                    }
                }
            }
        }
        assert!(equal > 100, "some different terms are equal: {equal}");
    }
}
