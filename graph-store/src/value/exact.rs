//! Numbers without rounding, for sums over many values.

use std::str::FromStr;

use oxsdatatypes::Decimal;

/// One, in units of the last place.
const ONE: u64 = 1_000_000_000_000_000_000;
/// Digits behind the point.
const PLACES: usize = 18;

/// A number of up to 38 digits in front of the point and 18 behind it.
///
/// What is behind the point is never negative: -0.5 is -1 and a half. So the order of the members is
/// that of the numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Exact {
    /// The greatest whole number that is not greater.
    whole: i128,
    /// What is behind the point, in units of the last place.
    rest: u64,
}

impl Exact {
    pub fn from_integer(whole: i128) -> Exact {
        Exact { whole, rest: 0 }
    }

    pub fn from_decimal(value: Decimal) -> Exact {
        let units = i128::from_be_bytes(value.to_be_bytes());
        let rest = units.rem_euclid(i128::from(ONE));
        Exact {
            whole: units.div_euclid(i128::from(ONE)),
            rest: u64::try_from(rest).expect("a remainder is below its divisor"),
        }
    }

    /// Reads decimal digits; `None` when there are too many of them.
    pub fn parse(text: &str) -> Option<Exact> {
        let (negative, digits) = match text.strip_prefix('-') {
            Some(digits) => (true, digits),
            None => (false, text),
        };
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let fraction = fraction.trim_end_matches('0');
        if fraction.len() > PLACES {
            return None;
        }
        let magnitude = Exact {
            whole: i128::from_str(whole).ok()?,
            rest: format!("{fraction:0<PLACES$}").parse().ok()?,
        };
        if negative {
            magnitude.negated()
        } else {
            Some(magnitude)
        }
    }

    pub fn is_whole(self) -> bool {
        self.rest == 0
    }

    /// Returns the number when it is a whole one.
    pub fn to_integer(self) -> Option<i128> {
        self.is_whole().then_some(self.whole)
    }

    pub fn checked_add(self, other: Exact) -> Option<Exact> {
        let rest = self.rest + other.rest;
        let whole = self.whole.checked_add(other.whole)?;
        Some(Exact {
            whole: whole.checked_add(i128::from(rest >= ONE))?,
            rest: rest % ONE,
        })
    }

    /// Divides by a number of values; what is behind the last place is cut off, towards zero.
    ///
    /// `None` when there is nothing to divide by.
    pub fn divided_by(self, count: u64) -> Option<Exact> {
        let negative = self.whole < 0;
        let magnitude = if negative { self.negated()? } else { self };
        let count = i128::from(count);
        let whole = magnitude.whole.checked_div(count)?;
        let left = magnitude.whole % count;
        // The remainder is below 2^64 and one is below 2^60.
        let units = left * i128::from(ONE) + i128::from(magnitude.rest);
        let quotient = Exact {
            whole,
            rest: u64::try_from(units / count).expect("a remainder makes less than one"),
        };
        if negative {
            quotient.negated()
        } else {
            Some(quotient)
        }
    }

    /// Returns the decimal digits, without zeros at the end.
    pub fn to_text(self) -> String {
        // The least whole number has no positive counterpart in 128 bits.
        let (sign, whole, rest) = if self.whole < 0 {
            let magnitude = self.whole.unsigned_abs();
            if self.rest == 0 {
                ("-", magnitude, 0)
            } else {
                ("-", magnitude - 1, ONE - self.rest)
            }
        } else {
            ("", self.whole.unsigned_abs(), self.rest)
        };
        if rest == 0 {
            return format!("{sign}{whole}");
        }
        let fraction = format!("{rest:0>PLACES$}");
        format!("{sign}{whole}.{}", fraction.trim_end_matches('0'))
    }

    fn negated(self) -> Option<Exact> {
        Some(if self.rest == 0 {
            Exact::from_integer(self.whole.checked_neg()?)
        } else {
            Exact {
                // One below the negative: what is behind the point leads back up.
                whole: !self.whole,
                rest: ONE - self.rest,
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use std::str::FromStr;

    use oxsdatatypes::Decimal;
    use proptest::prelude::*;

    use super::Exact;

    fn exact(text: &str) -> Exact {
        Exact::parse(text).unwrap_or_else(|| panic!("{text}"))
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
            assert_eq!(exact(text).to_text(), text);
        }
        let least = Exact::from_integer(i128::MIN);
        assert_eq!(least.to_text(), i128::MIN.to_string());
        for text in [
            "170141183460469231731687303715884105728",
            "0.0000000000000000001",
            "",
            "x",
        ] {
            assert_eq!(Exact::parse(text), None, "{text}");
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
            let found = exact(sum).divided_by(count).map(Exact::to_text);
            assert_eq!(found.as_deref(), Some(average), "{sum} / {count}");
        }
        assert_eq!(exact("1").divided_by(0), None);
    }

    proptest! {
        #[test]
        fn sums_and_orders_are_those_of_decimals(
            a in -1_000_000_000_000_i64..1_000_000_000_000,
            b in -1_000_000_000_000_i64..1_000_000_000_000,
            places in 0..6_usize,
        ) {
            let decimal = |value: i64| {
                let digits = format!("{:0>12}", value.unsigned_abs());
                let (whole, fraction) = digits.split_at(digits.len() - places);
                let sign = if value < 0 { "-" } else { "" };
                Decimal::from_str(&format!("{sign}{whole}.{fraction}0")).expect("a decimal")
            };
            let (a, b) = (decimal(a), decimal(b));
            let sum = Exact::from_decimal(a).checked_add(Exact::from_decimal(b)).expect("small");
            let expected = a.checked_add(b).expect("small");
            prop_assert_eq!(sum.to_text(), expected.to_string());
            prop_assert_eq!(Exact::parse(&expected.to_string()), Some(sum));
            prop_assert_eq!(Exact::from_decimal(a).cmp(&Exact::from_decimal(b)), a.cmp(&b));
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
