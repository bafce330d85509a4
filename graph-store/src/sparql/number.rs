//! Portable comparisons of numbers.
//!
//! Servers read the numbers of a query differently: not all of them know each datatype that is derived from
//! `xsd:integer`, or each lexical form. So a query has numbers in canonical form only.

use std::borrow::Cow;
use std::cmp::Ordering;

use oxrdf::Literal;
use oxrdf::vocab::xsd;
use spargebra::algebra::{Expression, Function};

use super::expression::{boolean, call, equal, if_else, is_one_of, is_well_formed, operation};
use crate::query::Comparison;
use crate::value::Number;

/// The lexical forms of `xsd:float` and `xsd:double`.
pub(super) const FLOAT: &str =
    "([+-]?([0-9]+([.][0-9]*)?|[.][0-9]+)([eE][+-]?[0-9]+)?|[+-]?INF|NaN)";
/// The lexical forms of `xsd:decimal`.
const DECIMAL: &str = "[+-]?([0-9]+([.][0-9]*)?|[.][0-9]+)";
/// The lexical forms of `xsd:integer`.
pub(super) const INTEGER: &str = "[+-]?[0-9]+";

/// Tests whether a number is in the lexical space of its datatype; RDF4J accepts any string.
pub(super) fn is_well_formed_number(subject: &Expression) -> Expression {
    let matches = |pattern| is_well_formed(subject, pattern);
    let datatype = || call(Function::Datatype, [subject.clone()]);
    let floats = [xsd::DOUBLE.into_owned(), xsd::FLOAT.into_owned()];
    if_else(
        is_one_of(datatype(), &floats),
        matches(FLOAT),
        if_else(
            equal(datatype(), xsd::DECIMAL.into_owned().into()),
            matches(DECIMAL),
            matches(INTEGER),
        ),
    )
}

/// Returns a number as an `xsd:integer`, `xsd:decimal` or `xsd:double` in canonical form, and any other literal
/// as it is.
pub(super) fn canonical(literal: &Literal) -> Cow<'_, Literal> {
    let Some(number) = Number::from_literal(literal) else {
        return Cow::Borrowed(literal);
    };
    Cow::Owned(match number.as_double() {
        Some(double) => double.into(),
        None if literal.datatype() == xsd::DECIMAL => {
            Literal::new_typed_literal(number.to_string(), xsd::DECIMAL)
        }
        None => Literal::new_typed_literal(number.to_string(), xsd::INTEGER),
    })
}

/// Compares with a constant that is no date or time.
pub(super) fn compare_literal(
    subject: &Expression,
    comparison: Comparison,
    literal: &Literal,
) -> Expression {
    let with = |value: Expression| {
        let constant = canonical(literal).into_owned();
        operation(value, comparison, constant.into())
    };
    let number = Number::from_literal(literal);
    if number.as_ref().is_some_and(Number::is_nan) {
        // To Fuseki, it equals itself.
        return boolean(comparison == Comparison::NotEqual);
    }
    if number.as_ref().is_some_and(is_zero) {
        // RDF4J and Fuseki take the negative zero of floating-point numbers for less than zero. No sum with
        // zero is negative zero.
        let zero = Expression::Literal(0.into());
        return with(Expression::Add(Box::new(subject.clone()), Box::new(zero)));
    }
    if is_single(literal) {
        return with(subject.clone());
    }
    // A stored `xsd:float` is displayed as the shortest decimal that identifies it. Compared
    // directly, either it or the constant would be rounded first.
    let shown = call(Function::Str, [subject.clone()]);
    let shown = call(Function::Custom(xsd::DOUBLE.into_owned()), [shown]);
    let datatype = call(Function::Datatype, [subject.clone()]);
    let is_float = equal(datatype, xsd::FLOAT.into_owned().into());
    if_else(is_float, with(shown), with(subject.clone()))
}

/// Returns whether a list that contains a literal finds the values that [`compare_literal`] finds equal to it.
pub(super) fn is_listed(literal: &Literal) -> bool {
    let number = Number::from_literal(literal);
    is_single(literal) && number.is_none_or(|number| !number.is_nan() && !is_zero(&number))
}

fn is_zero(number: &Number) -> bool {
    number.compare(&Number::from_double(0.0)) == Some(Ordering::Equal)
}

/// Returns whether a literal is not a number, or one that an `xsd:float` represents exactly.
fn is_single(literal: &Literal) -> bool {
    let literal = canonical(literal);
    let datatype = literal.datatype();
    let text = literal.value();
    if datatype == xsd::INTEGER {
        let single = text.parse::<f32>().map(|single| single.to_string());
        return single.is_ok_and(|single| single.parse::<i128>() == text.parse());
    }
    if datatype != xsd::DOUBLE && datatype != xsd::DECIMAL {
        return true;
    }
    match (text.parse::<f64>(), text.parse::<f32>()) {
        (Ok(double), Ok(single)) => f64::from(single) == double,
        _ => true,
    }
}
