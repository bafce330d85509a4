//! The order of values: numbers by value, times by instant, strings by code point.

use std::cmp::Ordering;
use std::str::FromStr;

use oxrdf::{LiteralRef, TermRef};
use oxsdatatypes::{Date, DateTime, Decimal, GYear, GYearMonth, Time};
use soml_core::datatype::Scalar;

use super::lexical::collapsed;
use super::number::Number;

/// A value that can be sorted. Missing values come first.
#[derive(Clone, Debug)]
pub enum SortValue {
    /// No value.
    Missing,
    /// A value that does not belong to the scalar, by its lexical form.
    IllTyped(String),
    /// A Boolean.
    Boolean(bool),
    /// A number.
    Number(Number),
    /// An instant in seconds; a time without a time zone counts as UTC.
    Instant(Decimal),
    /// A string.
    Text(String),
}

impl SortValue {
    fn rank(&self) -> u8 {
        match self {
            SortValue::Missing => 0,
            SortValue::IllTyped(_) => 1,
            SortValue::Boolean(_) => 2,
            SortValue::Number(_) => 3,
            SortValue::Instant(_) => 4,
            SortValue::Text(_) => 5,
        }
    }
}

impl Ord for SortValue {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (SortValue::Boolean(a), SortValue::Boolean(b)) => a.cmp(b),
            (SortValue::Number(a), SortValue::Number(b)) => a.cmp(b),
            (SortValue::Instant(a), SortValue::Instant(b)) => a.cmp(b),
            (SortValue::Text(a), SortValue::Text(b))
            | (SortValue::IllTyped(a), SortValue::IllTyped(b)) => a.cmp(b),
            _ => self.rank().cmp(&other.rank()),
        }
    }
}

impl PartialOrd for SortValue {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for SortValue {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for SortValue {}

/// Returns the sort value of a stored term as a value of `scalar`.
#[must_use]
pub fn sort_value<'t>(scalar: Scalar, term: impl Into<TermRef<'t>>) -> SortValue {
    let term = term.into();
    let value = match (scalar, term) {
        (Scalar::Iri, TermRef::NamedNode(node)) => Some(SortValue::Text(node.as_str().to_owned())),
        (_, TermRef::Literal(literal)) => of_literal(scalar, literal),
        _ => None,
    };
    value.unwrap_or_else(|| SortValue::IllTyped(term.to_string()))
}

fn of_literal(scalar: Scalar, literal: LiteralRef<'_>) -> Option<SortValue> {
    let text = literal.value();
    if scalar.is_numeric() {
        return Number::from_literal(literal).map(SortValue::Number);
    }
    if scalar == Scalar::String {
        return super::is_text(literal).then(|| SortValue::Text(text.to_owned()));
    }
    if literal.datatype().as_str() != scalar.datatype_iri() {
        return None;
    }
    let text = collapsed(text);
    match scalar {
        Scalar::Boolean => match text {
            "true" | "1" => Some(SortValue::Boolean(true)),
            "false" | "0" => Some(SortValue::Boolean(false)),
            _ => None,
        },
        _ => instant(scalar, text).map(SortValue::Instant),
    }
}

/// The part of a literal that an order compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LiteralKey {
    /// The lexical form.
    Value,
    /// The language tag.
    Lang,
    /// The datatype, unless there is a language tag.
    Datatype,
}

/// Returns the sort value of a part of a literal.
#[must_use]
pub fn literal_key<'l>(part: LiteralKey, literal: impl Into<LiteralRef<'l>>) -> SortValue {
    let literal = literal.into();
    match part {
        LiteralKey::Value => SortValue::Text(literal.value().to_owned()),
        LiteralKey::Lang => literal.language().map_or(SortValue::Missing, |tag| {
            SortValue::Text(tag.to_ascii_lowercase())
        }),
        LiteralKey::Datatype if literal.language().is_some() => SortValue::Missing,
        LiteralKey::Datatype => SortValue::Text(literal.datatype().as_str().to_owned()),
    }
}

/// Returns a date or time as a position on the time line.
pub(crate) fn instant(scalar: Scalar, text: &str) -> Option<Decimal> {
    let bytes: [u8; 18] = match scalar {
        Scalar::DateTime => DateTime::from_str(text).ok()?.to_be_bytes(),
        Scalar::Date => Date::from_str(text).ok()?.to_be_bytes(),
        Scalar::Time => Time::from_str(text).ok()?.to_be_bytes(),
        Scalar::Year => GYear::from_str(text).ok()?.to_be_bytes(),
        Scalar::YearMonth => GYearMonth::from_str(text).ok()?.to_be_bytes(),
        _ => return None,
    };
    Some(instant_of(bytes))
}

/// Returns the position on the time line of a serialized date or time.
pub(crate) fn instant_of(serialized: [u8; 18]) -> Decimal {
    // The first sixteen bytes are the instant, the rest is the time zone.
    let (instant, _) = serialized.split_at(16);
    let instant: [u8; 16] = instant.try_into().expect("it was split there");
    Decimal::from_be_bytes(instant)
}

#[cfg(test)]
mod tests {
    use oxrdf::{Literal, NamedNode, Term};
    use soml_core::datatype::Scalar;

    use super::sort_value;

    fn typed(text: &str, datatype: &str) -> Term {
        let iri = format!("http://www.w3.org/2001/XMLSchema#{datatype}");
        Literal::new_typed_literal(text, NamedNode::new_unchecked(iri)).into()
    }

    #[test]
    fn values_sort_in_value_space() {
        let ascending = [
            (
                Scalar::Decimal,
                vec![
                    typed("-1", "integer"),
                    typed("0.5", "float"),
                    typed("1e2", "double"),
                ],
            ),
            (
                Scalar::DateTime,
                vec![
                    typed("2020-01-01T00:00:00+02:00", "dateTime"),
                    typed("2020-01-01T00:00:00Z", "dateTime"),
                    typed("2020-01-01T01:00:00.5Z", "dateTime"),
                ],
            ),
            (
                Scalar::Year,
                vec![typed("0999", "gYear"), typed("2020", "gYear")],
            ),
            (
                Scalar::String,
                vec![
                    typed("B", "string"),
                    typed("a", "string"),
                    typed("é", "string"),
                ],
            ),
            (
                Scalar::Boolean,
                vec![typed("0", "boolean"), typed("true", "boolean")],
            ),
        ];
        for (scalar, terms) in ascending {
            for pair in terms.windows(2) {
                assert!(
                    sort_value(scalar, &pair[0]) < sort_value(scalar, &pair[1]),
                    "{} < {}",
                    pair[0],
                    pair[1]
                );
            }
        }
    }

    #[test]
    fn equal_values_are_equal_whatever_the_text() {
        assert_eq!(
            sort_value(Scalar::Decimal, &typed("1.50", "decimal")),
            sort_value(Scalar::Decimal, &typed("1.5", "float"))
        );
        assert_eq!(
            sort_value(Scalar::Double, &typed("-0", "double")),
            sort_value(Scalar::Double, &typed("0", "integer"))
        );
    }
}
