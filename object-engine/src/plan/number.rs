//! The text of numbers: without its exponent, and its digits.

use std::borrow::Cow;
use std::str::FromStr;

/// The largest exponent of a double.
const MAX_EXPONENT: i32 = 308;

/// Returns a number with an exponent as a decimal number of exactly the same value, and any other text as it is; `None`
/// if what has an exponent is no number, or the exponent is beyond those of doubles, so that a short text does not become
/// a long one.
pub(super) fn without_exponent(text: &str) -> Option<Cow<'_, str>> {
    let Some((mantissa, exponent)) = text.split_once(['e', 'E']) else {
        return Some(Cow::Borrowed(text));
    };
    let exponent = i32::from_str(exponent)
        .ok()
        .filter(|exponent| exponent.abs() <= MAX_EXPONENT)?;
    let sign = if mantissa.starts_with('-') { "-" } else { "" };
    let (whole, fraction) = digits_of(mantissa)?;
    let digits = format!("{whole}{fraction}");
    let point = i32::try_from(whole.len()).ok()? + exponent;
    let zeros = |count: i32| "0".repeat(usize::try_from(count).unwrap_or(0));
    let before = zeros(1 - point);
    let after = zeros(point - i32::try_from(digits.len()).ok()?);
    let padded = format!("{before}{digits}{after}");
    let (whole, fraction) = padded.split_at(usize::try_from(point.max(1)).ok()?);
    let fraction = fraction.trim_end_matches('0');
    let dot = if fraction.is_empty() { "" } else { "." };
    Some(Cow::Owned(format!("{sign}{whole}{dot}{fraction}")))
}

/// Returns the digits of a number without an exponent, those before its point and those behind it; `None` if it is
/// none.
pub(super) fn digits_of(text: &str) -> Option<(&str, &str)> {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
    let mut digits = whole.bytes().chain(fraction.bytes()).peekable();
    let is_number = digits.peek().is_some() && digits.all(|byte| byte.is_ascii_digit());
    is_number.then_some((whole, fraction))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_with_an_exponent_are_written_exactly() {
        for (text, plain) in [
            ("12345678901234567891e0", Some("12345678901234567891")),
            ("1.50e1", Some("15")),
            ("-1.25E+1", Some("-12.5")),
            ("+25e-3", Some("0.025")),
            ("1.2345e2", Some("123.45")),
            ("0.001e1", Some("00.01")),
            ("5e3", Some("5000")),
            ("1e309", None),
            ("1e-309", None),
            ("1e99999999999", None),
            ("e1", None),
            ("1.2.3e1", None),
            ("-+1e1", None),
            ("1e", None),
        ] {
            assert_eq!(without_exponent(text).as_deref(), plain, "{text}");
        }
        let smallest = without_exponent("1e-308").unwrap();
        assert_eq!((smallest.len(), smallest.ends_with("01")), (310, true));
    }
}
