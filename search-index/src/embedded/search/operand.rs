//! Operands of clauses as fields hold their values.

use std::ops::{Bound as Limit, RangeInclusive};

use tantivy::columnar::MonotonicallyMappableToU64;

use crate::dsl::{Bound, Value};
use crate::embedded::layout::{Kind, Leaf};
use crate::engine::EngineError;

/// Returns an operand as text.
pub(super) fn text_of(value: &Value) -> String {
    match value {
        Value::Text(text) => text.clone(),
        Value::Integer(number) => number.to_string(),
        Value::Unsigned(number) => number.to_string(),
        Value::Double(number) => format!("{number:?}"),
        Value::Boolean(value) => value.to_string(),
    }
}

/// Returns a Boolean operand.
pub(super) fn boolean_of(leaf: &Leaf, value: &Value) -> Result<bool, EngineError> {
    match value {
        Value::Boolean(value) => Ok(*value),
        Value::Text(text) if text == "true" => Ok(true),
        Value::Text(text) if text == "false" => Ok(false),
        _ => Err(misfit(leaf, value)),
    }
}

fn misfit(leaf: &Leaf, value: &Value) -> EngineError {
    let text: String = text_of(value).chars().take(80).collect();
    EngineError::Unsupported(format!(
        "`{text}` is not a value of the field `{}`",
        leaf.path
    ))
}

/// Returns the numbers that are equal to an operand, as integers that sort as they do; `None` if the
/// field cannot have it.
pub(super) fn number(leaf: &Leaf, value: &Value) -> Result<Option<u64>, EngineError> {
    let at = |inclusive| {
        Some(Bound {
            value: value.clone(),
            inclusive,
        })
    };
    let range = numbers(leaf, at(true).as_ref(), at(true).as_ref())?;
    Ok((range.start() == range.end()).then_some(*range.start()))
}

/// Returns the numbers between two bounds, as integers that sort as they do.
pub(super) fn numbers(
    leaf: &Leaf,
    lower: Option<&Bound>,
    upper: Option<&Bound>,
) -> Result<RangeInclusive<u64>, EngineError> {
    match leaf.kind {
        Kind::Double => doubles(leaf, lower, upper),
        Kind::Unsigned => {
            let range = integers(leaf, lower, upper, 0, u64::MAX.into())?;
            Ok(range.map_or(EMPTY, |(least, greatest)| {
                clamped::<u64>(least)..=clamped::<u64>(greatest)
            }))
        }
        _ => {
            let range = integers(leaf, lower, upper, i64::MIN.into(), i64::MAX.into())?;
            Ok(range.map_or(EMPTY, |(least, greatest)| {
                clamped::<i64>(least).to_u64()..=clamped::<i64>(greatest).to_u64()
            }))
        }
    }
}

/// No number.
#[expect(
    clippy::reversed_empty_ranges,
    reason = "an empty range is what is meant"
)]
const EMPTY: RangeInclusive<u64> = 1..=0;

/// Converts a number that is in range.
fn clamped<T: TryFrom<i128>>(number: i128) -> T {
    T::try_from(number).ok().expect("the number is in range")
}

/// An operand of a field of integers.
struct Whole {
    floor: i128,
    is_whole: bool,
}

fn whole(leaf: &Leaf, value: &Value) -> Result<Whole, EngineError> {
    let exact = |floor| Whole {
        floor,
        is_whole: true,
    };
    match value {
        Value::Integer(number) => return Ok(exact((*number).into())),
        Value::Unsigned(number) => return Ok(exact((*number).into())),
        Value::Text(text) => {
            if let Ok(number) = text.parse() {
                return Ok(exact(number));
            }
        }
        _ => {}
    }
    let number = double(leaf, value)?;
    Ok(Whole {
        floor: number.floor() as i128,
        is_whole: number.fract() == 0.0,
    })
}

fn double(leaf: &Leaf, value: &Value) -> Result<f64, EngineError> {
    let number = match value {
        Value::Integer(number) => *number as f64,
        Value::Unsigned(number) => *number as f64,
        Value::Double(number) => *number,
        Value::Text(text) => text.parse().map_err(|_| misfit(leaf, value))?,
        Value::Boolean(_) => return Err(misfit(leaf, value)),
    };
    if number.is_finite() {
        Ok(number)
    } else {
        Err(misfit(leaf, value))
    }
}

/// Returns the least and the greatest integer between two bounds; `None` if there is none.
fn integers(
    leaf: &Leaf,
    lower: Option<&Bound>,
    upper: Option<&Bound>,
    least: i128,
    greatest: i128,
) -> Result<Option<(i128, i128)>, EngineError> {
    let lower = match lower {
        None => least,
        Some(bound) => {
            let Whole { floor, is_whole } = whole(leaf, &bound.value)?;
            if is_whole && bound.inclusive {
                floor
            } else {
                floor.saturating_add(1)
            }
        }
    };
    let upper = match upper {
        None => greatest,
        Some(bound) => {
            let Whole { floor, is_whole } = whole(leaf, &bound.value)?;
            if is_whole && !bound.inclusive {
                floor.saturating_sub(1)
            } else {
                floor
            }
        }
    };
    let (lower, upper) = (lower.max(least), upper.min(greatest));
    Ok((lower <= upper).then_some((lower, upper)))
}

fn doubles(
    leaf: &Leaf,
    lower: Option<&Bound>,
    upper: Option<&Bound>,
) -> Result<RangeInclusive<u64>, EngineError> {
    let lower = match lower {
        None => 0,
        Some(bound) => {
            let at = double(leaf, &bound.value)?.to_u64();
            if bound.inclusive { at } else { at + 1 }
        }
    };
    let upper = match upper {
        None => u64::MAX,
        Some(bound) => {
            let at = double(leaf, &bound.value)?.to_u64();
            if bound.inclusive { at } else { at - 1 }
        }
    };
    Ok(lower..=upper)
}

/// Returns a bound of terms.
pub(super) fn term_bound(bound: Option<&Bound>) -> Limit<Vec<u8>> {
    match bound {
        None => Limit::Unbounded,
        Some(bound) => {
            let term = text_of(&bound.value).into_bytes();
            if bound.inclusive {
                Limit::Included(term)
            } else {
                Limit::Excluded(term)
            }
        }
    }
}
