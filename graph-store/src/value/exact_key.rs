//! Numbers of any length as keys that sort like the numbers.

use std::fmt;

use super::DecimalNumber;

/// A number as a string of ASCII characters: equal numbers have equal keys, and keys sort by code
/// point as the numbers do.
///
/// The first character is the sign, `0` below zero, `1` for zero, `2` above. Five digits of exponent
/// follow, then the significant digits. Below zero all digits are complemented, and a `~` ends the
/// key, so that more digits come first.
///
/// ```
/// use graph_store::value::ExactKey;
///
/// let key = |text| ExactKey::parse(text).expect("a number");
/// assert!(key("-12.5") < key("-12.45") && key("-0.1") < key("0") && key("9") < key("10.0"));
/// assert_eq!(key("+07.50"), key("7.5"));
/// assert_eq!(key("-12.50").to_number(), "-12.5");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ExactKey(String);

/// Added to exponents, so that all that can occur are positive.
const BIAS: i64 = 50_000;

impl ExactKey {
    /// Maximum number of digits of a number that has a key.
    pub const MAX_DIGITS: usize = 8_000;

    /// Returns the key of a number in the lexical form of `xsd:decimal`; `None` if it is none, or
    /// has more than [`ExactKey::MAX_DIGITS`] digits.
    #[must_use]
    pub fn parse(text: &str) -> Option<ExactKey> {
        DecimalNumber::parse(text).and_then(|number| ExactKey::new(&number))
    }

    /// Returns the key of a number; `None` if it has more than [`ExactKey::MAX_DIGITS`] digits.
    #[must_use]
    pub fn new(number: &DecimalNumber) -> Option<ExactKey> {
        let text = number.to_string();
        let (negative, text) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text.as_str()),
        };
        let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
        let whole = whole.trim_start_matches('0');
        if whole.len() + fraction.len() > ExactKey::MAX_DIGITS {
            return None;
        }
        let zeros = fraction.len() - fraction.trim_start_matches('0').len();
        let (exponent, significant) = match whole {
            "" => (-(zeros as i64), &fraction[zeros..]),
            _ => (whole.len() as i64, fraction),
        };
        let digits = format!("{whole}{significant}");
        let digits = digits.trim_end_matches('0');
        if digits.is_empty() {
            return Some(ExactKey("1".to_owned()));
        }
        let key = format!("{:05}{digits}", BIAS + exponent);
        Some(ExactKey(if negative {
            format!("0{}~", complement(&key))
        } else {
            format!("2{key}")
        }))
    }

    /// Takes a key as an engine returns it; `None` if it is none.
    #[must_use]
    pub fn from_engine(key: &str) -> Option<ExactKey> {
        let body = match key.as_bytes() {
            [b'1'] => return Some(ExactKey(key.to_owned())),
            [b'2', body @ ..] => body,
            [b'0', body @ .., b'~'] => body,
            _ => return None,
        };
        let is_key = body.len() > 5 && body.iter().all(u8::is_ascii_digit);
        is_key.then(|| ExactKey(key.to_owned()))
    }

    /// Returns the key.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the number in canonical lexical form.
    #[must_use]
    pub fn to_number(&self) -> String {
        let (sign, body) = match self.0.as_bytes()[0] {
            b'1' => return "0".to_owned(),
            b'2' => ("", self.0[1..].to_owned()),
            _ => ("-", complement(&self.0[1..self.0.len() - 1])),
        };
        let (exponent, digits) = body.split_at(5);
        let exponent = exponent.parse::<i64>().unwrap_or(BIAS) - BIAS;
        let Ok(point) = usize::try_from(exponent) else {
            let zeros = "0".repeat(exponent.unsigned_abs() as usize);
            return format!("{sign}0.{zeros}{digits}");
        };
        match digits.len() {
            length if length <= point => format!("{sign}{digits}{}", "0".repeat(point - length)),
            _ if point == 0 => format!("{sign}0.{digits}"),
            _ => format!("{sign}{}.{}", &digits[..point], &digits[point..]),
        }
    }
}

impl fmt::Display for ExactKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Replaces each digit by what is missing to nine.
fn complement(digits: &str) -> String {
    let nine_minus = |digit: char| char::from(b'9' - (digit as u8 - b'0'));
    digits.chars().map(nine_minus).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::DecimalNumber;
    use super::ExactKey;

    fn number() -> impl Strategy<Value = String> {
        prop_oneof![
            "-?[0-9]{1,45}",
            "-?[0-9]{0,3}\\.[0-9]{1,4}",
            "[-+]?0{0,3}[0-9]{1,25}\\.[0-9]{1,25}0{0,3}",
            "-?0\\.0{0,9}[0-9]{1,3}",
            "-?[1-9]0{0,12}",
        ]
    }

    proptest! {
        #[test]
        fn keys_sort_and_return_as_the_numbers_do(a in number(), b in number()) {
            let parse = |text: &str| DecimalNumber::parse(text).expect("a number");
            let (x, y) = (parse(&a), parse(&b));
            let (k, l) = (ExactKey::new(&x).expect("short"), ExactKey::new(&y).expect("short"));
            prop_assert_eq!(k.cmp(&l), x.cmp(&y), "{} {}", a, b);
            prop_assert_eq!(k.as_str().as_bytes().cmp(l.as_str().as_bytes()), x.cmp(&y));
            prop_assert_eq!(k.to_number(), x.to_string());
            prop_assert_eq!(ExactKey::from_engine(k.as_str()), Some(k));
        }
    }

    #[test]
    fn numbers_of_too_many_digits_and_other_strings_have_no_key() {
        assert_eq!(ExactKey::parse(&"1".repeat(ExactKey::MAX_DIGITS + 1)), None);
        assert!(ExactKey::parse(&"1".repeat(ExactKey::MAX_DIGITS)).is_some());
        assert_eq!(ExactKey::parse("1e5"), None);
        for text in ["", "3", "2abcdef1", "250001", "0499999"] {
            assert_eq!(ExactKey::from_engine(text), None, "{text}");
        }
    }
}
