//! Exact fixed-point numbers, for sums over many values.

use std::fmt;

/// One, in units of the last decimal place.
const ONE: u64 = 1_000_000_000_000_000_000;
/// Digits after the decimal point.
const PLACES: usize = 18;
/// Digits of the maximum whole part, `i128::MAX`.
const WHOLE_DIGITS: usize = 39;
/// Number of digits that always fit into 64 bits.
const SHORT_DIGITS: usize = 19;
/// One more than the maximum number of that many digits.
const SHORT_LIMIT: u128 = 10_000_000_000_000_000_000;

/// A number of up to 38 digits before the decimal point, or 39 as far as `i128` reaches, and 18 after it.
///
/// The fraction is never negative: -0.5 is -1 and a half. So the order of the fields is that of the
/// numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Exact {
    /// The floor of the number.
    whole: i128,
    /// The fraction, in units of the last decimal place.
    rest: u64,
}

impl Exact {
    /// Converts an integer.
    #[must_use]
    pub fn from_integer(whole: i128) -> Exact {
        Exact { whole, rest: 0 }
    }

    /// Parses the ASCII digits before and after the decimal point; `None` if there are too many.
    ///
    /// There must be no leading zeros before the decimal point and no trailing zeros after it.
    pub(super) fn from_digits(negative: bool, whole: &[u8], fraction: &[u8]) -> Option<Exact> {
        if whole.len() > WHOLE_DIGITS || fraction.len() > PLACES {
            return None;
        }
        // Short numbers need no 128-bit arithmetic.
        let (rest, whole) = whole.split_at(whole.len().saturating_sub(SHORT_DIGITS));
        let low = read_short(whole);
        let whole = if rest.is_empty() {
            u128::from(low)
        } else {
            let high = rest
                .iter()
                .fold(0, |value, digit| value * 10 + u128::from(digit - b'0'));
            high.checked_mul(SHORT_LIMIT)?.checked_add(low.into())?
        };
        let missing = PLACES - fraction.len();
        let scale = 10_u64.pow(u32::try_from(missing).expect("at most 18 places"));
        Exact::from_magnitude(negative, whole, read_short(fraction) * scale)
    }

    /// Creates a number from its sign, whole part and units of the last decimal place.
    fn from_magnitude(negative: bool, whole: u128, rest: u64) -> Option<Exact> {
        Some(match (negative, rest) {
            (false, _) => Exact {
                whole: i128::try_from(whole).ok()?,
                rest,
            },
            (true, 0) => Exact::from_integer(0_i128.checked_sub_unsigned(whole)?),
            (true, _) => Exact {
                // The floor of a negative number is one lower; the fraction makes up for it.
                whole: !i128::try_from(whole).ok()?,
                rest: ONE - rest,
            },
        })
    }

    /// Returns the sign, the whole part and the units of the last decimal place.
    fn to_magnitude(self) -> (bool, u128, u64) {
        let magnitude = self.whole.unsigned_abs();
        match (self.whole < 0, self.rest) {
            (true, 0) => (true, magnitude, 0),
            (true, rest) => (true, magnitude - 1, ONE - rest),
            (false, rest) => (false, magnitude, rest),
        }
    }

    /// Returns a floating-point number within a few units in the last place, cheaply.
    pub(super) fn approximation(self) -> f64 {
        let (negative, whole, rest) = self.to_magnitude();
        let value = whole as f64 + rest as f64 / ONE as f64;
        if negative { -value } else { value }
    }

    /// Returns whether there are no fraction digits.
    #[must_use]
    pub fn is_whole(self) -> bool {
        self.rest == 0
    }

    /// Returns the number if it is an integer.
    pub fn to_integer(self) -> Option<i128> {
        self.is_whole().then_some(self.whole)
    }

    /// Adds; `None` on overflow.
    #[must_use]
    pub fn checked_add(self, other: Exact) -> Option<Exact> {
        let rest = self.rest + other.rest;
        let whole = self.whole.checked_add(other.whole)?;
        Some(Exact {
            whole: whole.checked_add(i128::from(rest >= ONE))?,
            rest: rest % ONE,
        })
    }

    /// Divides by a number of values; digits beyond the last decimal place are truncated towards
    /// zero.
    ///
    /// `None` if `count` is zero.
    pub fn divided_by(self, count: u64) -> Option<Exact> {
        let (negative, magnitude, rest) = self.to_magnitude();
        let count = u128::from(count);
        let whole = magnitude.checked_div(count)?;
        // The remainder is less than 2^64, and `ONE` is less than 2^60.
        let units = (magnitude % count) * u128::from(ONE) + u128::from(rest);
        let rest = u64::try_from(units / count).expect("a remainder makes less than one");
        Exact::from_magnitude(negative, whole, rest)
    }
}

impl fmt::Display for Exact {
    /// Writes the decimal digits, without trailing zeros.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (negative, whole, mut rest) = self.to_magnitude();
        if negative {
            f.write_str("-")?;
        }
        if rest == 0 {
            return whole.fmt(f);
        }
        let mut places = PLACES;
        while rest.is_multiple_of(10) {
            rest /= 10;
            places -= 1;
        }
        write!(f, "{whole}.{rest:0>places$}")
    }
}

/// Parses up to 19 ASCII digits.
fn read_short(digits: &[u8]) -> u64 {
    digits
        .iter()
        .fold(0, |value, digit| value * 10 + u64::from(digit - b'0'))
}

#[cfg(test)]
mod tests {
    use std::str::FromStr;

    use oxsdatatypes::Decimal;
    use proptest::prelude::*;

    use super::Exact;
    use crate::value::DecimalNumber;

    fn parse(text: &str) -> Option<Exact> {
        match DecimalNumber::parse(text)? {
            DecimalNumber::Short(number) => Some(number),
            DecimalNumber::Long(_) => None,
        }
    }

    fn exact(text: &str) -> Exact {
        parse(text).unwrap_or_else(|| panic!("{text}"))
    }

    #[test]
    fn digits_are_kept() {
        for text in [
            "0",
            "-1",
            "0.5",
            "-0.5",
            "-1.5",
            "-0.000000000000000001",
            "170141183460469231731687303715884105727.999999999999999999",
            "-170141183460469231731687303715884105727.999999999999999999",
        ] {
            assert_eq!(exact(text).to_string(), text);
        }
        let least = Exact::from_integer(i128::MIN);
        assert_eq!(least.to_string(), i128::MIN.to_string());
        for text in [
            "170141183460469231731687303715884105728",
            "0.0000000000000000001",
            "",
            "x",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }

    #[test]
    fn averages_are_cut_behind_the_last_place() {
        let cases = [
            ("10", 4, "2.5"),
            ("1", 3, "0.333333333333333333"),
            ("-2", 3, "-0.666666666666666666"),
            ("-0.5", 1, "-0.5"),
            (
                "100000000000000000000000000000000000001",
                2,
                "50000000000000000000000000000000000000.5",
            ),
        ];
        for (sum, count, average) in cases {
            let found = exact(sum).divided_by(count).map(|value| value.to_string());
            assert_eq!(found.as_deref(), Some(average), "{sum} / {count}");
        }
        assert_eq!(exact("1").divided_by(0), None);
    }

    proptest! {
        #[test]
        fn sums_and_orders_are_those_of_decimals(
            a in -1_000_000_000_000_i64..1_000_000_000_000,
            b in -1_000_000_000_000_i64..1_000_000_000_000,
            places_of_a in 0..6_usize,
            places_of_b in 0..6_usize,
        ) {
            let decimal = |value: i64, places: usize| {
                let digits = format!("{:0>12}", value.unsigned_abs());
                let (whole, fraction) = digits.split_at(digits.len() - places);
                let sign = if value < 0 { "-" } else { "" };
                Decimal::from_str(&format!("{sign}{whole}.{fraction}0")).expect("a decimal")
            };
            let (a, b) = (decimal(a, places_of_a), decimal(b, places_of_b));
            let [x, y] = [a, b].map(|value| exact(&value.to_string()));
            let sum = x.checked_add(y).expect("small");
            let expected = a.checked_add(b).expect("small");
            prop_assert_eq!(sum.to_string(), expected.to_string());
            prop_assert_eq!(parse(&expected.to_string()), Some(sum));
            prop_assert_eq!(x.cmp(&y), a.cmp(&b));
        }
    }

    #[test]
    fn too_large_a_sum_is_refused() {
        let greatest = Exact::from_integer(i128::MAX);
        assert_eq!(greatest.checked_add(exact("1")), None);
        let almost = exact("170141183460469231731687303715884105727.5");
        assert_eq!(almost.checked_add(exact("0.5")), None);
    }
}
