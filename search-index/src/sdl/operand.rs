//! Operands of clauses, in the form in which the index holds values.

use graph_store::value::{DecimalNumber, ExactKey};

use super::input::Input;
use super::target::Target;
use crate::dsl::{Bound, Value};
use crate::mapping::{IntegerType, ScalarIndex};
use crate::value::{millis_of_filter, time_key};

/// Why an operand is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum OperandError {
    /// It is no value of the type of the field.
    Invalid(&'static str),
    /// It is no date in the form that filters have.
    DateFormat,
}

/// What an operand is equal to.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Operand {
    /// Values of the field.
    Value(Value),
    /// No value that the field can have.
    Nothing,
}

/// Reads what values of a target may be equal to.
pub(super) fn operand(target: Target<'_>, input: &Input) -> Result<Operand, OperandError> {
    let text = input
        .text()
        .ok_or(OperandError::Invalid("a string, a number or a Boolean"))?;
    let value = match target.index() {
        ScalarIndex::Text | ScalarIndex::Keyword => Value::Text(text.to_owned()),
        ScalarIndex::Boolean => match text {
            "true" => Value::Boolean(true),
            "false" => Value::Boolean(false),
            _ => return Err(OperandError::Invalid("a Boolean")),
        },
        ScalarIndex::Integer(ty) => {
            let number = decimal(text)?;
            let whole = number
                .filter(DecimalNumber::is_whole)
                .as_ref()
                .and_then(floor);
            match whole.and_then(|whole| ty.value(whole)) {
                // A number that the type cannot have equals nothing; engines take it for an error.
                Some(value) => value,
                None => return Ok(Operand::Nothing),
            }
        }
        ScalarIndex::Double => match double(text)? {
            number if number.is_finite() => Value::Double(number),
            _ => return Ok(Operand::Nothing),
        },
        ScalarIndex::Exact => match decimal(text)?.as_ref().and_then(ExactKey::new) {
            Some(key) => Value::Text(key.to_string()),
            None => return Ok(Operand::Nothing),
        },
        ScalarIndex::Instant => {
            // One form of dates for both engines (docs/search.md, "Dates").
            Value::Integer(millis_of_filter(text).ok_or(OperandError::DateFormat)?)
        }
        ScalarIndex::Time => {
            Value::Text(time_key(text).ok_or(OperandError::Invalid("a time of day"))?)
        }
    };
    Ok(Operand::Value(value))
}

/// A bound of values.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Limit {
    /// Values up to here.
    At(Bound),
    /// All values that the field can have.
    All,
    /// None of them.
    Nothing,
}

/// Which end of a range a bound is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    Lower,
    Upper,
}

/// Reads a bound of the values of a target.
pub(super) fn bound(
    target: Target<'_>,
    end: End,
    inclusive: bool,
    input: &Input,
) -> Result<Limit, OperandError> {
    let text = input
        .text()
        .ok_or(OperandError::Invalid("a string, a number or a Boolean"))?;
    let at = |value| Limit::At(Bound { value, inclusive });
    Ok(match target.index() {
        ScalarIndex::Integer(ty) => integer_bound(ty, end, inclusive, decimal(text)?, text),
        ScalarIndex::Double => match double(text)? {
            number if number.is_finite() => at(Value::Double(number)),
            number => beyond(end, number > 0.0),
        },
        ScalarIndex::Exact => match decimal(text)?.as_ref().map(ExactKey::new) {
            Some(Some(key)) => at(Value::Text(key.to_string())),
            Some(None) => return Err(OperandError::Invalid("a number of at most 8,000 digits")),
            None => beyond(end, !text.starts_with('-')),
        },
        _ => match operand(target, input)? {
            Operand::Value(value) => at(value),
            Operand::Nothing => Limit::Nothing,
        },
    })
}

/// Returns the limit for a bound that is above or below all values.
fn beyond(end: End, is_above: bool) -> Limit {
    match (end, is_above) {
        (End::Lower, true) | (End::Upper, false) => Limit::Nothing,
        (End::Lower, false) | (End::Upper, true) => Limit::All,
    }
}

/// Moves a bound to the nearest integer inside of it, so that fractions compare by value.
fn integer_bound(
    ty: IntegerType,
    end: End,
    inclusive: bool,
    number: Option<DecimalNumber>,
    text: &str,
) -> Limit {
    let floor = number
        .as_ref()
        .and_then(|number| Some((floor(number)?, number.is_whole())));
    let Some((floor, is_whole)) = floor else {
        return beyond(end, !text.starts_with('-'));
    };
    let nearest = match (end, is_whole, inclusive) {
        (End::Lower, true, true) | (End::Upper, true, true) | (End::Upper, false, _) => floor,
        (End::Lower, true, false) | (End::Lower, false, _) => floor.saturating_add(1),
        (End::Upper, true, false) => floor.saturating_sub(1),
    };
    match ty.value(nearest) {
        Some(value) => Limit::At(Bound {
            value,
            inclusive: true,
        }),
        None => beyond(end, nearest > 0),
    }
}

/// Reads a number; `None` for one that no field but a floating-point one can come near, an infinity.
fn decimal(text: &str) -> Result<Option<DecimalNumber>, OperandError> {
    match DecimalNumber::parse(text) {
        Some(number) => Ok(Some(number)),
        None => Ok(DecimalNumber::from_double(double(text)?)),
    }
}

fn double(text: &str) -> Result<f64, OperandError> {
    let invalid = OperandError::Invalid("a number");
    // What Rust takes for a number beside digits, such as `inf`, is none here.
    let is_number = text
        .bytes()
        .all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte));
    match text.parse::<f64>() {
        Ok(number) if is_number => Ok(number + 0.0),
        _ => Err(invalid),
    }
}

/// Returns the greatest integer up to a number; `None` if that has more than 128 bits.
fn floor(number: &DecimalNumber) -> Option<i128> {
    let text = number.to_string();
    let whole = text.split('.').next()?;
    // Between -1 and 0, the digits before the point are `-0`.
    let whole: i128 = whole.parse().ok()?;
    if number.is_negative() && !number.is_whole() {
        whole.checked_sub(1)
    } else {
        Some(whole)
    }
}

impl IntegerType {
    /// Returns an integer as a value of the type; `None` if it is out of range.
    fn value(self, number: i128) -> Option<Value> {
        let fits = |min: i64, max: i64| {
            let number = i64::try_from(number).ok()?;
            (min..=max)
                .contains(&number)
                .then_some(Value::Integer(number))
        };
        match self {
            IntegerType::Byte => fits(i8::MIN.into(), i8::MAX.into()),
            IntegerType::Short => fits(i16::MIN.into(), i16::MAX.into()),
            IntegerType::Integer => fits(i32::MIN.into(), i32::MAX.into()),
            IntegerType::Long => fits(i64::MIN, i64::MAX),
            IntegerType::UnsignedLong => {
                let number = u64::try_from(number).ok()?;
                let small = i64::try_from(number).map(Value::Integer);
                Some(small.unwrap_or(Value::Unsigned(number)))
            }
        }
    }
}
