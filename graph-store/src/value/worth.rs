//! What stored values are worth: equal for values that answers show equal, ordered as answers are.
//!
//! Aggregates count, compare and add values by worth; no text is made on the way.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::hash::{Hash, Hasher};
use std::str::FromStr;

use oxrdf::{Literal, Term};
use oxsdatatypes::{DateTime, Decimal};
use soml_core::datatype::Scalar;

use super::exact::Exact;
use super::json::{Numbers, date_time, is_text, write_exact, write_float, write_string};
use super::number::{Number, integer_in_bounds, short_integer};
use super::sort::instant;

/// The worth of a value among the values of one field.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Worth<'t> {
    /// A truth value.
    Boolean(bool),
    /// A whole or decimal number.
    Exact(Exact),
    /// A whole or decimal number of more digits, which take no part in arithmetic.
    Beyond(String),
    /// A binary number.
    Float(Float),
    /// A date or time.
    Moment(Moment<'t>),
    /// A text, the name of an enumeration, or an IRI.
    Text(Cow<'t, str>),
    /// A literal: its text, its language tag in lower case, its datatype.
    Literal(&'t str, String, &'t str),
}

/// A finite binary number; zero has one value, whatever its sign.
#[derive(Clone, Copy, Debug)]
pub struct Float(f64);

impl Float {
    pub fn new(value: f64) -> Float {
        Float(value + 0.0)
    }

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

/// A date or time. A `dateTime` with a zone is its instant; all else is shown as it is stored.
#[derive(Clone, Debug)]
pub struct Moment<'t> {
    at: Decimal,
    zoned: bool,
    text: Cow<'t, str>,
}

impl Moment<'_> {
    fn identity(&self) -> (Decimal, bool, &str) {
        let text = if self.zoned { "" } else { &self.text };
        (self.at, self.zoned, text)
    }
}

impl PartialEq for Moment<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.identity() == other.identity()
    }
}

impl Eq for Moment<'_> {}

impl Hash for Moment<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.identity().hash(state);
    }
}

impl PartialOrd for Moment<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Moment<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.identity().cmp(&other.identity())
    }
}

/// Returns the worth of a stored term as a value of `scalar`; `None` when it is none.
pub fn worth(scalar: Scalar, term: &Term) -> Option<Worth<'_>> {
    let literal = match term {
        Term::NamedNode(node) if scalar == Scalar::Iri => {
            return Some(Worth::Text(node.as_str().into()));
        }
        Term::Literal(literal) => literal,
        _ => return None,
    };
    if scalar.is_numeric() {
        return number(scalar, literal);
    }
    let text = literal.value();
    if scalar == Scalar::String {
        return is_text(literal).then(|| Worth::Text(text.into()));
    }
    if literal.datatype().as_str() != scalar.datatype_iri() {
        return None;
    }
    match (scalar, text) {
        (Scalar::Boolean, "true" | "1") => Some(Worth::Boolean(true)),
        (Scalar::Boolean, "false" | "0") => Some(Worth::Boolean(false)),
        (Scalar::Boolean, _) => None,
        _ => Some(Worth::Moment(Moment {
            at: instant(scalar, text)?,
            zoned: scalar == Scalar::DateTime
                && DateTime::from_str(text).ok()?.timezone_offset().is_some(),
            text: text.into(),
        })),
    }
}

fn number(scalar: Scalar, literal: &Literal) -> Option<Worth<'_>> {
    let exact = match short_integer(literal) {
        // Needs no text.
        Some(integer) => Ok(Exact::from_integer(integer)),
        None => {
            let number = Number::from_literal(literal)?;
            match number {
                _ if scalar.is_float() => return float(scalar, number.to_double()),
                Number::Decimal(value) => Ok(Exact::from_decimal(value)),
                other => {
                    let text = other.to_decimal_text()?;
                    Exact::parse(&text).ok_or(text)
                }
            }
        }
    };
    if scalar.is_float() {
        return float(scalar, Number::from_literal(literal)?.to_double());
    }
    match exact {
        Ok(exact) if scalar == Scalar::Decimal => Some(Worth::Exact(exact)),
        Ok(exact) => {
            let value = exact.to_integer()?;
            integer_in_bounds(scalar, value).then_some(Worth::Exact(exact))
        }
        Err(text) if scalar == Scalar::Decimal => Some(Worth::Beyond(text)),
        Err(text) => {
            let (least, greatest) = scalar.integer_bounds()?;
            let open = if text.starts_with('-') {
                least
            } else {
                greatest
            };
            (open.is_none() && !text.contains('.')).then_some(Worth::Beyond(text))
        }
    }
}

fn float<'t>(scalar: Scalar, value: f64) -> Option<Worth<'t>> {
    let fits = value.is_finite() && scalar.float_in_bounds(value);
    fits.then(|| Worth::Float(Float::new(value)))
}

impl<'t> Worth<'t> {
    /// Returns the worth of a literal as a value of its own kind.
    pub fn of_literal(literal: &'t Literal) -> Worth<'t> {
        let tag = literal.language().unwrap_or_default().to_ascii_lowercase();
        Worth::Literal(literal.value(), tag, literal.datatype().as_str())
    }

    /// Takes the texts along, so that the term is not needed any more.
    ///
    /// `None` for a literal of its own kind, which is never made from another term.
    pub fn into_owned(self) -> Option<Worth<'static>> {
        Some(match self {
            Worth::Boolean(value) => Worth::Boolean(value),
            Worth::Exact(value) => Worth::Exact(value),
            Worth::Beyond(text) => Worth::Beyond(text),
            Worth::Float(value) => Worth::Float(value),
            Worth::Moment(moment) => Worth::Moment(Moment {
                at: moment.at,
                zoned: moment.zoned,
                text: Cow::Owned(moment.text.into_owned()),
            }),
            Worth::Text(text) => Worth::Text(Cow::Owned(text.into_owned())),
            Worth::Literal(..) => return None,
        })
    }

    /// Writes the value as one of `scalar`, for which it was read; enumerations are strings.
    pub fn write(&self, out: &mut Vec<u8>, scalar: Scalar, numbers: Numbers) {
        match self {
            Worth::Boolean(value) => {
                out.extend_from_slice(if *value { b"true" } else { b"false" });
            }
            Worth::Exact(value) => write_exact(out, scalar, *value, numbers),
            Worth::Float(value) => {
                write_float(out, scalar, value.get(), numbers);
            }
            Worth::Moment(moment) if moment.zoned => {
                let utc = date_time(&moment.text);
                write_string(out, utc.as_deref().unwrap_or(&moment.text));
            }
            Worth::Moment(moment) => write_string(out, &moment.text),
            Worth::Beyond(text) | Worth::Text(Cow::Owned(text)) => write_string(out, text),
            Worth::Text(Cow::Borrowed(text)) | Worth::Literal(text, ..) => write_string(out, text),
        }
    }
}

#[cfg(test)]
mod tests {
    use oxrdf::{Literal, NamedNode, Term};
    use soml_core::datatype::Scalar;

    use super::worth;
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
        ("none", "integer"),
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
    fn equal_worth_is_equal_json_in_every_scalar() {
        let terms = terms();
        let mut equal = 0;
        for &scalar in Scalar::ALL {
            for a in &terms {
                for numbers in [Numbers::Exact, Numbers::Number] {
                    let (worth, json) = (worth(scalar, a), json(scalar, a, numbers));
                    assert_eq!(worth.is_some(), json.is_some(), "{scalar:?} {a}");
                    let written = worth.map(|worth| {
                        let mut out = Vec::new();
                        worth.write(&mut out, scalar, numbers);
                        out
                    });
                    // Digits beyond what arithmetic holds are never written by aggregates as numbers.
                    assert_eq!(written, json, "{scalar:?} {a}");
                }
                for b in &terms {
                    let (x, y) = (worth(scalar, a), worth(scalar, b));
                    let (Some(x), Some(y)) = (x, y) else { continue };
                    let shown = |term| json(scalar, term, Numbers::Exact);
                    assert_eq!(x == y, shown(a) == shown(b), "{scalar:?} {a} {b}");
                    equal += usize::from(x == y && a != b);
                    let sorted = sort_value(scalar, a).cmp(&sort_value(scalar, b));
                    let either_beyond = [&x, &y]
                        .iter()
                        .any(|w| matches!(w, super::Worth::Beyond(_)));
                    if sorted.is_ne() && !either_beyond {
                        assert_eq!(x.cmp(&y), sorted, "{scalar:?} {a} {b}");
                    }
                }
            }
        }
        assert!(equal > 100, "some different terms are equal: {equal}");
    }
}
