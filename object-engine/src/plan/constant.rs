//! Converts operands from the values that clients send to RDF terms.

use std::borrow::Cow;
use std::str::FromStr;

use graph_store::query::Constant;
use graph_store::value::{integer_in_bounds, is_lexical};
use oxrdf::vocab::xsd;
use oxrdf::{Literal, NamedNode};
use oxsdatatypes::Decimal;
use soml_core::datatype::Scalar;

use super::input::Input;
use super::number::{digits_of, without_exponent};

/// Why an operand is refused.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum OperandError {
    /// Not a value of the scalar.
    Invalid(String),
    /// A value that stores cannot compare.
    Unsupported(String),
}

/// Converts an operand to a constant.
///
/// `Ok(None)` is a string that cannot be an IRI, so nothing equals it.
pub(crate) fn constant(scalar: Scalar, input: &Input) -> Result<Option<Constant>, OperandError> {
    let invalid = || {
        OperandError::Invalid(format!(
            "{} is not a value of the scalar {}",
            shown(input),
            scalar.graphql_name()
        ))
    };
    let literal = match (scalar, input) {
        // An id is a string or an integer (<https://spec.graphql.org/September2025/#sec-ID>).
        (Scalar::Iri, _) => {
            let text = input.as_text().ok_or_else(invalid)?;
            return Ok(NamedNode::new(text).ok().map(Constant::Iri));
        }
        // Values of enumerations are stored as strings (docs/schema.md, "Custom types").
        (Scalar::String, Input::String(text) | Input::Enum(text)) => {
            Literal::new_simple_literal(text)
        }
        (Scalar::Boolean, Input::Boolean(value)) => Literal::from(*value),
        (number, Input::Number(text) | Input::String(text)) if number.is_integer() => {
            integer(number, text, matches!(input, Input::Number(_)), invalid)?
        }
        (Scalar::Decimal, Input::Number(text) | Input::String(text)) => decimal(text, invalid)?,
        (float, Input::Number(text) | Input::String(text)) if float.is_float() => {
            let value = f64::from_str(text).map_err(|_| invalid())?;
            // NaN equals nothing and has no place in an order.
            if !float.float_in_bounds(value) || value.is_nan() {
                return Err(invalid());
            }
            Literal::from(value)
        }
        (time, Input::String(text)) if is_lexical(time, text) => {
            Literal::new_typed_literal(text, NamedNode::new_unchecked(time.datatype_iri()))
        }
        _ => return Err(invalid()),
    };
    Ok(Some(Constant::Literal(literal)))
}

fn integer(
    scalar: Scalar,
    text: &str,
    is_number: bool,
    invalid: impl Fn() -> OperandError,
) -> Result<Literal, OperandError> {
    // A JSON number such as 1e3 or 2.0 is an integer too: JSON does not tell integers from other
    // numbers.
    let whole = if is_number {
        whole_number(text).ok_or_else(&invalid)?
    } else {
        Cow::Borrowed(text)
    };
    let value = match i128::from_str(&whole) {
        Ok(value) => value,
        Err(_) if is_whole_number_text(&whole) => return Err(too_large(text)),
        Err(_) => return Err(invalid()),
    };
    if !integer_in_bounds(scalar, value) {
        return Err(invalid());
    }
    // Stores compare wider integers differently, so they are refused (docs/queries.md, "Filters").
    if i64::try_from(value).is_err() {
        return Err(too_large(text));
    }
    Ok(Literal::new_typed_literal(value.to_string(), xsd::INTEGER))
}

fn too_large(text: &str) -> OperandError {
    OperandError::Unsupported(format!(
        "{text} is beyond 64 bits, which stores cannot compare"
    ))
}

fn is_whole_number_text(text: &str) -> bool {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit())
}

/// Returns a number without its exponent and a fraction of zeros; `None` if it is not whole.
fn whole_number(text: &str) -> Option<Cow<'_, str>> {
    let plain = without_exponent(text)?;
    let Some((whole, fraction)) = plain.split_once('.') else {
        return Some(plain);
    };
    let is_whole = fraction.bytes().all(|digit| digit == b'0');
    is_whole.then(|| Cow::Owned(whole.to_owned()))
}

fn decimal(text: &str, invalid: impl Fn() -> OperandError) -> Result<Literal, OperandError> {
    let plain = without_exponent(text).ok_or_else(&invalid)?;
    // 18 decimal places at most (docs/queries.md, "Filters").
    if let Ok(value) = Decimal::from_str(&plain) {
        return Ok(Literal::new_typed_literal(value.to_string(), xsd::DECIMAL));
    }
    if digits_of(&plain).is_none() {
        return Err(invalid());
    }
    Err(OperandError::Unsupported(format!(
        "{text} has more digits than stores can compare"
    )))
}

fn shown(input: &Input) -> String {
    match input {
        Input::Null => "null".to_owned(),
        Input::Boolean(b) => b.to_string(),
        Input::Number(text) | Input::Enum(text) => text.clone(),
        Input::String(text) => format!("{:?}", text.chars().take(80).collect::<String>()),
        Input::List(_) => "a list".to_owned(),
        Input::Object(_) => "an object".to_owned(),
        Input::Claim(path) => format!("the claim {path}"),
    }
}

#[cfg(test)]
mod tests {
    use super::{Constant, Input, OperandError, Scalar, constant};

    fn shown(scalar: Scalar, input: &Input) -> Result<String, OperandError> {
        Ok(match constant(scalar, input)? {
            None => "nothing".to_owned(),
            Some(Constant::Iri(iri)) => iri.to_string(),
            Some(Constant::Literal(literal)) => literal.to_string(),
        })
    }

    #[test]
    fn operands_become_terms() {
        let text = |s: &str| Input::String(s.to_owned());
        let number = |s: &str| Input::Number(s.to_owned());
        let xsd = "http://www.w3.org/2001/XMLSchema#";
        let cases = [
            (Scalar::Int, number("5"), format!("\"5\"^^<{xsd}integer>")),
            (
                Scalar::Integer,
                text("007"),
                format!("\"7\"^^<{xsd}integer>"),
            ),
            (Scalar::Int, number("3.0"), format!("\"3\"^^<{xsd}integer>")),
            (
                Scalar::Decimal,
                text("1.50"),
                format!("\"1.5\"^^<{xsd}decimal>"),
            ),
            (
                Scalar::Decimal,
                number("1e2"),
                format!("\"100\"^^<{xsd}decimal>"),
            ),
            (
                Scalar::Decimal,
                text("12345678901234567.89e-1"),
                format!("\"1234567890123456.789\"^^<{xsd}decimal>"),
            ),
            (
                Scalar::Integer,
                number("922337203685477580.70e1"),
                format!("\"9223372036854775807\"^^<{xsd}integer>"),
            ),
            (Scalar::String, text("a\"b"), "\"a\\\"b\"".to_owned()),
            (Scalar::Iri, text("not an iri"), "nothing".to_owned()),
            (
                Scalar::Date,
                text("2020-02-29"),
                format!("\"2020-02-29\"^^<{xsd}date>"),
            ),
        ];
        for (scalar, input, expected) in cases {
            assert_eq!(shown(scalar, &input), Ok(expected), "{scalar:?} {input:?}");
        }
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let text = |s: &str| Input::String(s.to_owned());
        for (scalar, input) in [
            (Scalar::Date, text("2020-02-30")),
            (Scalar::PositiveInteger, text("0")),
            (Scalar::UnsignedByte, Input::Number("256".to_owned())),
            (Scalar::Integer, text("x")),
            (Scalar::Integer, text("1e2")),
            (Scalar::Integer, Input::Number("15e-1".to_owned())),
            (Scalar::Decimal, text("1.2.3")),
            (Scalar::Decimal, text("-")),
            (Scalar::Decimal, text("INF")),
            (Scalar::NegativeFloat, Input::Number("1.5".to_owned())),
            (Scalar::String, Input::Boolean(true)),
        ] {
            assert!(
                matches!(constant(scalar, &input), Err(OperandError::Invalid(_))),
                "{scalar:?} {input:?}"
            );
        }
        for (scalar, input) in [
            (Scalar::Integer, text("123456789012345678901234567890")),
            (Scalar::Integer, Input::Number("1e30".to_owned())),
            (Scalar::Decimal, Input::Number("1e-30".to_owned())),
        ] {
            assert!(
                matches!(constant(scalar, &input), Err(OperandError::Unsupported(_))),
                "{scalar:?} {input:?}"
            );
        }
    }
}
