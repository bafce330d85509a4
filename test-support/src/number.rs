//! Numbers of any size and datatype, compared by value.

use std::cmp::Ordering;

use oxrdf::Literal;

pub const XSD: &str = "http://www.w3.org/2001/XMLSchema#";

/// A number: its decimal digits, or one of the special values of binary numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Number {
    NaN,
    Infinite {
        negative: bool,
    },
    /// `±0.digits × 10^point`, digits without zeros at either end; none for zero.
    Finite {
        negative: bool,
        digits: Vec<u8>,
        point: i64,
    },
}

impl Number {
    /// Reads a literal of a numeric datatype; `None` for any other and for ill-formed text.
    ///
    /// A binary number is worth the shortest decimal that names it.
    pub fn from_literal(literal: &Literal) -> Option<Number> {
        let text = literal.value();
        let name = literal.datatype().as_str().strip_prefix(XSD)?;
        match name {
            "decimal" => Number::decimal(text),
            "double" => Number::binary(text, |t| t.parse::<f64>().ok().map(|v| v.to_string())),
            "float" => Number::binary(text, |t| t.parse::<f32>().ok().map(|v| v.to_string())),
            "integer" | "int" | "long" | "short" | "byte" | "nonNegativeInteger"
            | "positiveInteger" | "nonPositiveInteger" | "negativeInteger" | "unsignedLong"
            | "unsignedInt" | "unsignedShort" | "unsignedByte" => {
                (!text.contains('.')).then(|| Number::decimal(text))?
            }
            _ => None,
        }
    }

    /// Reads the text of a GraphQL number, which may have an exponent.
    pub fn from_input(text: &str) -> Option<Number> {
        Number::decimal(text)
            .or_else(|| Number::binary(text, |t| t.parse::<f64>().ok().map(|v| v.to_string())))
    }

    fn binary(text: &str, shortest: impl Fn(&str) -> Option<String>) -> Option<Number> {
        match text {
            "NaN" => Some(Number::NaN),
            "INF" | "+INF" => Some(Number::Infinite { negative: false }),
            "-INF" => Some(Number::Infinite { negative: true }),
            _ if text
                .chars()
                .any(|c| c.is_ascii_alphabetic() && !"eE".contains(c)) =>
            {
                None
            }
            _ => Number::decimal(&shortest(text)?),
        }
    }

    fn decimal(text: &str) -> Option<Number> {
        let (negative, rest) = match text.as_bytes().first()? {
            b'-' => (true, &text[1..]),
            b'+' => (false, &text[1..]),
            _ => (false, text),
        };
        let (whole, fraction) = rest.split_once('.').unwrap_or((rest, ""));
        let all = format!("{whole}{fraction}");
        if all.is_empty() || !all.bytes().all(|b| b.is_ascii_digit()) {
            return None;
        }
        let mut digits: Vec<u8> = all.bytes().map(|b| b - b'0').collect();
        let mut point = i64::try_from(whole.len()).expect("a short text");
        while digits.first() == Some(&0) {
            digits.remove(0);
            point -= 1;
        }
        while digits.last() == Some(&0) {
            digits.pop();
        }
        if digits.is_empty() {
            point = 0;
        }
        Some(Number::Finite {
            negative: negative && !digits.is_empty(),
            digits,
            point,
        })
    }

    /// Returns whether the number is whole.
    pub fn is_whole(&self) -> bool {
        matches!(self, Number::Finite { digits, point, .. }
            if *point >= i64::try_from(digits.len()).expect("a short text"))
    }

    /// The decimal digits without an exponent; `None` for the special values.
    pub fn plain(&self) -> Option<String> {
        let Number::Finite {
            negative,
            digits,
            point,
        } = self
        else {
            return None;
        };
        if digits.is_empty() {
            return Some("0".to_owned());
        }
        let mut text = String::new();
        if *negative {
            text.push('-');
        }
        if *point <= 0 {
            text.push_str("0.");
            (0..-*point).for_each(|_| text.push('0'));
        }
        for (at, digit) in (0i64..).zip(digits) {
            if at > 0 && at == *point {
                text.push('.');
            }
            text.push(char::from(b'0' + digit));
        }
        let written = i64::try_from(digits.len()).expect("a short text");
        (written..*point).for_each(|_| text.push('0'));
        Some(text)
    }

    /// Compares by value; `None` with NaN.
    pub fn compare(&self, other: &Number) -> Option<Ordering> {
        let sign = |number: &Number| match number {
            Number::NaN => None,
            Number::Infinite { negative } => Some(if *negative { -2 } else { 2 }),
            Number::Finite { digits, .. } if digits.is_empty() => Some(0),
            Number::Finite { negative, .. } => Some(if *negative { -1 } else { 1 }),
        };
        let (a, b) = (sign(self)?, sign(other)?);
        let size = match (self, other) {
            (
                Number::Finite { digits, point, .. },
                Number::Finite {
                    digits: other_digits,
                    point: other_point,
                    ..
                },
            ) if a == b => point
                .cmp(other_point)
                .then_with(|| digits.cmp(other_digits)),
            _ => return Some(a.cmp(&b)),
        };
        Some(if a < 0 { size.reverse() } else { size })
    }
}
