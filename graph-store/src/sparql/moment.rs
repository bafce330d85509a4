//! Portable comparisons of dates and times.
//!
//! Servers differ on values of which only one has a time zone, and on datatypes other than
//! `xsd:dateTime`. So the lexical form of a value is converted to that of an `xsd:dateTime` with a
//! time zone. Comparisons between values with and without a time zone follow XML Schema: a value
//! without one may be in any time zone between +14:00 and -14:00, and is less only if it is less in
//! all of them.

use std::borrow::Cow;

use oxrdf::Literal;
use oxrdf::vocab::xsd;
use soml_core::datatype::Scalar;
use spargebra::algebra::{Expression, Function};

use super::expression::{and, boolean, call, if_else, operation, text};
use crate::query::Comparison;
use crate::value::collapsed;

/// A time zone at the end of a lexical form.
const ZONE: &str = "(Z|[+-][0-9][0-9]:[0-9][0-9])";

/// How the lexical form of a date or time becomes that of an `xsd:dateTime`.
struct Shape {
    /// Prefix of the lexical form.
    before: &'static str,
    /// A regular expression for the lexical form without its time zone.
    body: &'static str,
    /// Inserted before the time zone.
    after: &'static str,
    /// Whether values are times of any day, so that the end of the day is its beginning.
    is_daily: bool,
}

fn shape(scalar: Scalar) -> Option<Shape> {
    let (before, body, after) = match scalar {
        Scalar::DateTime => ("", "-?[0-9]+-[0-9][0-9]-[0-9][0-9]T[0-9:.]+", ""),
        Scalar::Date => ("", "-?[0-9]+-[0-9][0-9]-[0-9][0-9]", "T00:00:00"),
        Scalar::Time => ("1972-12-31T", "[0-9][0-9]:[0-9:.]+", ""),
        Scalar::Year => ("", "-?[0-9]+", "-01-01T00:00:00"),
        Scalar::YearMonth => ("", "-?[0-9]+-[0-9][0-9]", "-01T00:00:00"),
        _ => return None,
    };
    Some(Shape {
        before,
        body,
        after,
        is_daily: scalar == Scalar::Time,
    })
}

/// Returns whether values of a scalar are dates or times.
pub(super) fn is_temporal(scalar: Scalar) -> bool {
    shape(scalar).is_some()
}

/// Tests whether a string is the lexical form of a date or time; an error counts as false.
pub(super) fn is_moment(scalar: Scalar, subject: &Expression) -> Expression {
    let Some(shape) = shape(scalar) else {
        return boolean(false);
    };
    let stored = || call(Function::Str, [subject.clone()]);
    let pattern = format!("^{}{ZONE}?$", shape.body);
    let has_shape = call(Function::Regex, [stored(), text(&pattern)]);
    and(
        has_shape,
        call(Function::IsLiteral, [shape.moment(stored(), "")]),
    )
}

/// Returns the comparison of a term by its lexical form; `None` when the scalar is no date or time.
pub(super) fn compare_moment(
    scalar: Scalar,
    subject: &Expression,
    comparison: Comparison,
    constant: &Literal,
) -> Option<Expression> {
    let shape = shape(scalar)?;
    if comparison == Comparison::NotEqual {
        let equal = compare_moment(scalar, subject, Comparison::Equal, constant)?;
        return Some(super::expression::not(equal));
    }
    let stored = || call(Function::Str, [subject.clone()]);
    let has_shape = |zone: &str| {
        let pattern = format!("^{}{zone}$", shape.body);
        call(Function::Regex, [stored(), text(&pattern)])
    };
    let value = |zone: &str| shape.moment(stored(), zone);
    let (body, zone) = split_zone(collapsed(constant.value()));
    let body = match body.strip_prefix("24:") {
        Some(rest) if shape.is_daily => Cow::Owned(format!("00:{rest}")),
        _ => Cow::Borrowed(body),
    };
    let fixed = |zone: &str| {
        let text = format!("{}{body}{}{zone}", shape.before, shape.after);
        Expression::Literal(Literal::new_typed_literal(text, xsd::DATE_TIME))
    };
    // The earliest and the latest instants of a value without a time zone.
    let (earliest, latest) = ("+14:00", "-14:00");
    let (of_zoned, of_unzoned) = match (zone, comparison) {
        (Some(zone), Comparison::Equal) => (
            operation(value(""), comparison, fixed(zone)),
            boolean(false),
        ),
        (None, Comparison::Equal) => (
            boolean(false),
            operation(value("Z"), comparison, fixed("Z")),
        ),
        (Some(zone), Comparison::Less | Comparison::LessOrEqual) => (
            operation(value(""), comparison, fixed(zone)),
            operation(value(latest), Comparison::Less, fixed(zone)),
        ),
        (Some(zone), _) => (
            operation(value(""), comparison, fixed(zone)),
            operation(value(earliest), Comparison::Greater, fixed(zone)),
        ),
        (None, Comparison::Less | Comparison::LessOrEqual) => (
            operation(value(""), Comparison::Less, fixed(earliest)),
            operation(value("Z"), comparison, fixed("Z")),
        ),
        (None, _) => (
            operation(value(""), Comparison::Greater, fixed(latest)),
            operation(value("Z"), comparison, fixed("Z")),
        ),
    };
    let unzoned = if_else(has_shape(""), of_unzoned, boolean(false));
    Some(if_else(has_shape(ZONE), of_zoned, unzoned))
}

impl Shape {
    /// Returns the `xsd:dateTime` of a lexical form of this shape, with `zone` appended.
    fn moment(&self, stored: Expression, zone: &str) -> Expression {
        let stored = if self.is_daily {
            let end = format!("^24(:00:00([.]0+)?{ZONE}?)$");
            call(Function::Replace, [stored, text(&end), text("00$1")])
        } else {
            stored
        };
        let without = |pattern: String| {
            call(
                Function::Replace,
                [stored.clone(), text(&pattern), text("")],
            )
        };
        // Servers differ on the name of a group that letters follow, so no group is used.
        let parts = if self.after.is_empty() {
            vec![text(self.before), stored, text(zone)]
        } else {
            let (body, own_zone) = (
                without(format!("{ZONE}$")),
                without(format!("^{}", self.body)),
            );
            vec![
                text(self.before),
                body,
                text(self.after),
                own_zone,
                text(zone),
            ]
        };
        let moment = Expression::FunctionCall(Function::Concat, parts);
        call(Function::Custom(xsd::DATE_TIME.into_owned()), [moment])
    }
}

/// Splits a well-formed date or time into the part before its time zone, and the time zone.
fn split_zone(value: &str) -> (&str, Option<&str>) {
    if let Some(body) = value.strip_suffix('Z') {
        return (body, Some("Z"));
    }
    let end = value.len().saturating_sub(6);
    match (value.get(..end), value.get(end..)) {
        (Some(body), Some(zone))
            if zone.starts_with(['+', '-']) && zone.as_bytes().get(3) == Some(&b':') =>
        {
            (body, Some(zone))
        }
        _ => (value, None),
    }
}

#[cfg(test)]
mod tests {
    use super::split_zone;

    #[test]
    fn zones_are_told_from_what_looks_like_them() {
        for (value, body, zone) in [
            ("2020-01-01", "2020-01-01", None),
            ("2020-01-01Z", "2020-01-01", Some("Z")),
            ("2020-03+02:00", "2020-03", Some("+02:00")),
            ("-0044", "-0044", None),
            ("-0044-14:00", "-0044", Some("-14:00")),
            ("10:00:00", "10:00:00", None),
            (
                "2020-01-01T10:00:00-05:00",
                "2020-01-01T10:00:00",
                Some("-05:00"),
            ),
        ] {
            assert_eq!(split_zone(value), (body, zone), "{value}");
        }
    }
}
