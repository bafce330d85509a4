//! Numbers of all RDF datatypes, and their one order.

use std::cmp::Ordering;
use std::fmt;

use oxrdf::vocab::xsd;
use oxrdf::{LiteralRef, NamedNodeRef};
use soml_core::datatype::Scalar;

use super::decimal::{DecimalNumber, TextBuffer};
use super::lexical::collapsed;

/// A stored number of any numeric datatype.
///
/// Numbers are equal and ordered by value, exactly: `007` equals `7.0`, and integers of any length
/// keep their order. A floating-point number counts as the shortest decimal that identifies it, so
/// the `xsd:float` 0.1 equals the `xsd:decimal` 0.1. Infinities are beyond every other number.
/// Filters, sort keys, aggregates and cursors all use this order.
#[derive(Clone, Debug)]
pub struct Number(Value);

#[derive(Clone, Debug)]
enum Value {
    /// An integer or decimal number.
    Decimal(DecimalNumber),
    /// A floating-point number; neither zero nor NaN has a sign.
    Double(f64),
}

impl Number {
    /// Parses a literal of a numeric datatype; `None` if it is of another datatype or ill-formed.
    #[must_use]
    pub fn from_literal<'l>(literal: impl Into<LiteralRef<'l>>) -> Option<Number> {
        let literal = literal.into();
        let text = collapsed(literal.value());
        let datatype = literal.datatype();
        let value = if is_integer_datatype(datatype) {
            Value::Decimal(DecimalNumber::parse_integer(text)?)
        } else if datatype == xsd::DECIMAL {
            Value::Decimal(DecimalNumber::parse(text)?)
        } else if datatype == xsd::DOUBLE {
            return float_text(text)?.parse().ok().map(Number::from_double);
        } else if datatype == xsd::FLOAT {
            return single(float_text(text)?).map(Number::from_double);
        } else {
            return None;
        };
        Some(Number(value))
    }

    /// Parses a number in decimal notation.
    pub fn from_decimal_text(text: &str) -> Option<Number> {
        Some(Number(Value::Decimal(DecimalNumber::parse(text)?)))
    }

    /// Converts a floating-point number.
    #[must_use]
    pub fn from_double(value: f64) -> Number {
        // Neither zero nor NaN has a sign.
        let value = if value.is_nan() {
            f64::NAN
        } else {
            value + 0.0
        };
        Number(Value::Double(value))
    }

    /// Returns the number if it is a floating-point one.
    pub fn as_double(&self) -> Option<f64> {
        match self.0 {
            Value::Decimal(_) => None,
            Value::Double(value) => Some(value),
        }
    }

    /// Returns the nearest floating-point number.
    pub(crate) fn to_double(&self) -> f64 {
        match &self.0 {
            Value::Decimal(value) => value.to_double(),
            Value::Double(value) => *value,
        }
    }

    /// Returns the digits of the number, without an exponent; `None` for infinities and NaN.
    pub(crate) fn to_decimal_text(&self) -> Option<String> {
        let is_finite = self.as_double().is_none_or(f64::is_finite);
        is_finite.then(|| self.to_string())
    }

    /// Returns the exact decimal number; `None` for infinities and NaN.
    pub(crate) fn into_decimal(self) -> Option<DecimalNumber> {
        match self.0 {
            Value::Decimal(value) => Some(value),
            Value::Double(value) => DecimalNumber::from_double(value),
        }
    }

    /// Compares by value, exactly; `None` with NaN.
    #[must_use]
    pub fn compare(&self, other: &Number) -> Option<Ordering> {
        match (&self.0, &other.0) {
            (Value::Decimal(a), Value::Decimal(b)) => Some(a.cmp(b)),
            (Value::Decimal(a), Value::Double(b)) => a.compare_double(*b),
            (Value::Double(a), Value::Decimal(b)) => b.compare_double(*a).map(Ordering::reverse),
            // The shortest decimals of different floating-point numbers are in the same order.
            (Value::Double(a), Value::Double(b)) => a.partial_cmp(b),
        }
    }

    /// Returns whether this is NaN, which compares with no number.
    pub(crate) fn is_nan(&self) -> bool {
        matches!(self.0, Value::Double(value) if value.is_nan())
    }
}

impl fmt::Display for Number {
    /// Writes the digits of the number, without an exponent.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Value::Decimal(value) => value.fmt(f),
            Value::Double(value) => value.fmt(f),
        }
    }
}

impl Ord for Number {
    /// Compares by value; NaN equals itself and comes last.
    fn cmp(&self, other: &Self) -> Ordering {
        match (&self.0, &other.0) {
            // Most numbers are short and are compared with short ones.
            (Value::Decimal(DecimalNumber::Short(a)), Value::Decimal(DecimalNumber::Short(b))) => {
                a.cmp(b)
            }
            (Value::Double(a), Value::Double(b)) => a.total_cmp(b),
            _ => {
                let ordering = self.compare(other);
                ordering.unwrap_or_else(|| self.is_nan().cmp(&other.is_nan()))
            }
        }
    }
}

impl PartialOrd for Number {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Number {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Number {}

/// Converts the special values of XSD to the notation of Rust, and rejects those unknown to XSD.
fn float_text(text: &str) -> Option<&str> {
    match text {
        "INF" | "+INF" => Some("inf"),
        "-INF" => Some("-inf"),
        "NaN" => Some("NaN"),
        _ => text
            .bytes()
            .all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'-' | b'+' | b'e' | b'E'))
            .then_some(text),
    }
}

/// Parses a 32-bit floating-point number, as the 64-bit one with the same shortest decimal.
fn single(text: &str) -> Option<f64> {
    let digits = text
        .split(['e', 'E'])
        .next()
        .unwrap_or_default()
        .bytes()
        .filter(u8::is_ascii_digit)
        .count();
    // No two numbers with so few digits have the same nearest 32-bit number.
    if digits <= f32::DIGITS as usize {
        let value: f64 = text.parse().ok()?;
        let normal = f64::from(f32::MIN_POSITIVE)..=f64::from(f32::MAX);
        if normal.contains(&value.abs()) {
            return Some(value);
        }
    }
    let value: f32 = text.parse().ok()?;
    let mut shortest = TextBuffer::default();
    let double = shortest.print(value).parse();
    Some(double.expect("a number is read as it is written"))
}

/// Returns a key that finite numbers share if they differ only in their lexical forms: equal
/// integers of any datatypes, or equal numbers of the same other datatype.
#[must_use]
pub fn number_identity<'l>(literal: impl Into<LiteralRef<'l>>) -> Option<String> {
    let literal = literal.into();
    let number = Number::from_literal(literal)?.to_decimal_text()?;
    let datatype = match literal.datatype() {
        datatype if is_integer_datatype(datatype) => xsd::INTEGER,
        datatype => datatype,
    };
    Some(format!("{number}\0{}", datatype.as_str()))
}

/// Returns the value of a short integer in canonical form, as most numbers are.
pub(super) fn short_integer(literal: LiteralRef<'_>) -> Option<i128> {
    let text = literal.value();
    let digits = text.strip_prefix('-').unwrap_or(text);
    let is_canonical = match digits.as_bytes() {
        [b'0'] => digits.len() == text.len(),
        [b'1'..=b'9', rest @ ..] => rest.len() < 17 && rest.iter().all(u8::is_ascii_digit),
        _ => false,
    };
    let is_short = is_canonical && is_integer_datatype(literal.datatype());
    is_short.then(|| text.parse().ok())?
}

/// Returns whether a value is within the range of an integer scalar; false for any other scalar.
#[must_use]
pub fn integer_in_bounds(scalar: Scalar, value: i128) -> bool {
    scalar.integer_bounds().is_some_and(|(least, greatest)| {
        least.is_none_or(|least| value >= least) && greatest.is_none_or(|g| value <= g)
    })
}

/// Returns whether a number is a value of an integer scalar; false for any other scalar.
pub(super) fn is_integer_of(scalar: Scalar, number: &DecimalNumber) -> bool {
    match number {
        DecimalNumber::Short(number) => number
            .to_integer()
            .is_some_and(|value| integer_in_bounds(scalar, value)),
        // Beyond 128 bits, only an unbounded range contains it.
        long => scalar.integer_bounds().is_some_and(|(least, greatest)| {
            let bound = if long.is_negative() { least } else { greatest };
            long.is_whole() && bound.is_none()
        }),
    }
}

fn is_integer_datatype(datatype: NamedNodeRef<'_>) -> bool {
    const NAMES: [&str; 13] = [
        "integer",
        "int",
        "long",
        "short",
        "byte",
        "nonNegativeInteger",
        "positiveInteger",
        "nonPositiveInteger",
        "negativeInteger",
        "unsignedLong",
        "unsignedInt",
        "unsignedShort",
        "unsignedByte",
    ];
    datatype
        .as_str()
        .strip_prefix("http://www.w3.org/2001/XMLSchema#")
        .is_some_and(|name| NAMES.contains(&name))
}

#[cfg(test)]
mod tests {
    use std::cmp::Ordering;
    use std::time::{Duration, Instant};

    use num_bigint::BigInt;
    use oxrdf::{Literal, NamedNode};
    use proptest::prelude::*;

    use super::Number;

    fn read(text: &str, datatype: &str) -> Option<Number> {
        let iri = format!("http://www.w3.org/2001/XMLSchema#{datatype}");
        let literal = Literal::new_typed_literal(text, NamedNode::new_unchecked(iri));
        Number::from_literal(&literal)
    }

    fn number(text: &str, datatype: &str) -> Number {
        read(text, datatype).unwrap_or_else(|| panic!("{text}^^{datatype}"))
    }

    #[test]
    fn numbers_compare_by_value_across_datatypes() {
        let ascending = [
            number("-INF", "double"),
            number("-1e300", "double"),
            number("-170141183460469231731687303715884105729", "integer"),
            number("-170141183460469231731687303715884105728", "integer"),
            number("-100000000000000000000000000000", "integer"),
            number("-1.5", "decimal"),
            number("-1e-300", "double"),
            number("0", "byte"),
            number("1e-300", "double"),
            number("0.0000000000000000001", "decimal"),
            number("0.1", "float"),
            number("0.100000000000000001", "decimal"),
            number("0.1000000000000000011", "decimal"),
            number("9007199254740992", "double"),
            number("9007199254740993", "integer"),
            number("999999999999999999999999999999", "integer"),
            number("1e30", "double"),
            number("1000000000000000000000000000001", "integer"),
            number("1000000000000000000000000000001.5", "decimal"),
            number("1000000000000000000000000000002", "integer"),
            number("170141183460469231731687303715884105727", "integer"),
            number("170141183460469231731687303715884105728", "integer"),
            number("999999999999999999999999999999999999999999", "integer"),
            number("1000000000000000000000000000000000000000000", "integer"),
            number("INF", "float"),
        ];
        for (i, a) in ascending.iter().enumerate() {
            for (j, b) in ascending.iter().enumerate() {
                assert_eq!(a.compare(b), Some(i.cmp(&j)), "{a:?} {b:?}");
                assert_eq!(a.cmp(b), i.cmp(&j), "{a:?} {b:?}");
            }
        }
    }

    #[test]
    fn equal_numbers_are_equal_whatever_their_form() {
        for (a, b) in [
            (number("007", "unsignedInt"), number("7.0", "decimal")),
            (number(" +7\n", "integer"), number("7.", "decimal")),
            (number("-.50", "decimal"), number("-5E-1", "double")),
            (number("0.1", "float"), number("0.1", "double")),
            (number("-0", "double"), number("0", "integer")),
            (number("-0.00", "decimal"), number("0", "integer")),
            (
                number("1e30", "double"),
                number("1000000000000000000000000000000", "integer"),
            ),
            (
                number("0001000000000000000000000000000000000000001", "integer"),
                number("1000000000000000000000000000000000000001.0", "decimal"),
            ),
        ] {
            assert_eq!(a.compare(&b), Some(Ordering::Equal), "{a:?} {b:?}");
        }
    }

    #[test]
    fn nan_compares_with_nothing_and_comes_last() {
        let nan = number("NaN", "double");
        for other in [
            number("NaN", "float"),
            number("INF", "double"),
            number("1", "integer"),
        ] {
            assert_eq!(nan.compare(&other), None, "{other:?}");
            assert_eq!(other.compare(&nan), None, "{other:?}");
        }
        assert_eq!(nan, number("NaN", "float"));
        assert!(nan > number("INF", "double"));
        assert!(number("1", "integer") < nan);
    }

    #[test]
    fn ill_formed_numbers_are_none() {
        for (text, datatype) in [
            ("", "integer"),
            ("-", "integer"),
            ("5.0", "integer"),
            ("1e3", "integer"),
            ("\u{665}", "integer"),
            (".", "decimal"),
            ("1.2.3", "decimal"),
            ("1e3", "decimal"),
            ("+-1", "decimal"),
            ("inf", "double"),
            ("5", "string"),
        ] {
            assert_eq!(read(text, datatype), None, "{text}^^{datatype}");
        }
    }

    #[test]
    fn binary_numbers_are_the_nearest() {
        for (text, datatype) in [
            ("0.1", "decimal"),
            ("-0.3", "decimal"),
            ("1234567.000000000000000001", "decimal"),
            ("9007199254740993", "integer"),
            ("123456789012345678.123456789012345678", "decimal"),
            (
                "-123456789012345678901234567890123456789012345.5",
                "decimal",
            ),
        ] {
            let nearest: f64 = text.parse().expect("a number");
            let found = number(text, datatype).to_double();
            assert_eq!(found.to_bits(), nearest.to_bits(), "{text}");
        }
        assert!(
            number(&"9".repeat(400), "integer")
                .to_double()
                .is_infinite()
        );
    }

    /// A number of many digits is compared and written in time proportional to its length.
    #[test]
    fn very_long_numbers_take_linear_time() {
        let digits = "7".repeat(4_000_000);
        let started = Instant::now();
        let long = number(&digits, "integer");
        let next = number(&format!("{digits}.5"), "decimal");
        assert!(long < next);
        assert!(number("1e308", "double") < long);
        assert_eq!(number(&format!("000{digits}.000"), "decimal"), long);
        assert!(long.to_double().is_infinite());
        assert_eq!(long.to_string().len(), digits.len());
        // Naive arithmetic on so many digits takes many minutes.
        assert!(started.elapsed() < Duration::from_secs(60));
    }

    /// A naive reference model of a number: an integer and its power of ten.
    #[derive(Clone, Debug)]
    struct Model(BigInt, u32);

    impl Model {
        /// Parses decimal digits.
        fn read(text: &str) -> Model {
            let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
            let digits = format!("{whole}{fraction}").parse().expect("digits");
            Model(digits, u32::try_from(fraction.len()).expect("few digits"))
        }

        fn compare(&self, other: &Model) -> Ordering {
            let places = self.1.max(other.1);
            let scaled = |model: &Model| &model.0 * BigInt::from(10).pow(places - model.1);
            scaled(self).cmp(&scaled(other))
        }
    }

    fn literal() -> impl Strategy<Value = (Number, Model)> {
        let integer = "[+-]?0{0,2}[0-9]{1,45}".prop_map(|text| (text, "integer"));
        let decimal = "[+-]?[0-9]{1,40}\\.[0-9]{0,25}0{0,2}".prop_map(|text| (text, "decimal"));
        // Few digits, so that different lexical forms are sometimes equal.
        let small = prop_oneof![
            "[+-]?0{0,2}[0-2]".prop_map(|text| (text, "integer")),
            "-?[0-2]?\\.[0-2]0{0,2}".prop_map(|text| (text, "decimal")),
        ];
        let around = (any::<i128>(), 0..4_u8).prop_map(|(base, way)| {
            let base = [i128::MAX, i128::MIN, 1 << 64, base][usize::from(way)];
            let near: BigInt = BigInt::from(base) + (i32::from(way) - 2);
            (near.to_string(), "integer")
        });
        let exact = prop_oneof![integer, decimal, small, around].prop_map(
            |(text, datatype): (String, _)| {
                let model = Model::read(&text);
                (number(&text, datatype), model)
            },
        );
        let binary = prop_oneof![
            any::<f64>(),
            any::<f32>().prop_map(f64::from),
            (-3..3_i8).prop_map(|value| f64::from(value) / 10.0),
            any::<i64>().prop_map(|value| value as f64),
        ];
        let binary = binary.prop_filter_map("a finite number", |value: f64| {
            let number = number(&format!("{value:e}"), "double");
            value
                .is_finite()
                .then(|| (number, Model::read(&value.to_string())))
        });
        prop_oneof![3 => exact, 2 => binary]
    }

    /// A number, and another that is often equal or close to it.
    fn pair() -> impl Strategy<Value = [(Number, Model); 2]> {
        (literal(), literal(), 0..4_u8, 1..30_usize).prop_map(|(a, b, way, places)| {
            let text = a.0.to_string();
            let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
            let near = match way {
                0 => format!("{whole}.{fraction}{}1", "0".repeat(places)),
                1 => format!("{whole}.{fraction}{}", "0".repeat(places)),
                _ => return [a, b],
            };
            let model = Model::read(&near);
            [a, (number(&near, "decimal"), model)]
        })
    }

    proptest! {
        #[test]
        fn floats_are_worth_their_shortest_digits(value in any::<f32>(), places in 0..5_usize) {
            prop_assume!(value.is_finite());
            for text in [value.to_string(), format!("{value:e}"), format!("{value:.places$e}")] {
                let single: f32 = text.parse().expect("a float");
                if single.is_finite() {
                    let shortest: f64 = single.to_string().parse().expect("a double");
                    prop_assert_eq!(number(&text, "float").to_double(), shortest, "{}", text);
                }
            }
        }

        #[test]
        fn the_order_is_that_of_exact_arithmetic([(a, a_model), (b, b_model)] in pair()) {
            prop_assert_eq!(a.compare(&b), Some(a_model.compare(&b_model)));
            prop_assert_eq!(b.compare(&a), Some(b_model.compare(&a_model)));
            let (x, y) = (a.clone().into_decimal(), b.clone().into_decimal());
            prop_assert_eq!(x.cmp(&y), a_model.compare(&b_model));
            prop_assert_eq!(x == y, a_model.compare(&b_model).is_eq());
        }

        #[test]
        fn numbers_are_written_as_they_are_read((number, model) in literal()) {
            let text = number.to_string();
            prop_assert_eq!(Model::read(&text).compare(&model), Ordering::Equal);
            let again = Number::from_decimal_text(&text).expect("digits");
            prop_assert_eq!(again.to_string(), text);
            prop_assert_eq!(again.to_double().to_bits(), number.to_double().to_bits());
        }
    }
}
