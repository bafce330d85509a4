//! The lexical spaces of dates and times.

use std::str::FromStr;

use oxsdatatypes::{Date, DateTime, GYear, GYearMonth, Time};
use soml_core::datatype::Scalar;

/// Returns whether `text` is in the lexical space of a date or time scalar.
pub fn is_lexical(scalar: Scalar, text: &str) -> bool {
    match scalar {
        Scalar::DateTime => DateTime::from_str(text).is_ok(),
        Scalar::Date => Date::from_str(text).is_ok(),
        Scalar::Time => Time::from_str(text).is_ok(),
        Scalar::Year => GYear::from_str(text).is_ok(),
        Scalar::YearMonth => GYearMonth::from_str(text).is_ok(),
        _ => false,
    }
}
