//! Decimal numbers of any length, compared exactly.
//!
//! Stored literals can be of any length, so everything here takes time and memory proportional to
//! the number of digits. Numbers are parsed from digits without exponents, so none takes more
//! memory than its lexical form.

use std::cmp::Ordering;
use std::fmt::{self, Write as _};

use super::exact::Exact;

/// A decimal number of any length.
///
/// Every number that fits is a `Short` one, so equal numbers have equal fields.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum DecimalNumber {
    /// Up to 38 digits before the decimal point and 18 after it, the range of arithmetic.
    Short(Exact),
    /// More digits, excluded from arithmetic.
    Long(LongDecimal),
}

/// The digits of a number that [`Exact`] cannot represent: without leading zeros before the decimal
/// point and trailing zeros after it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct LongDecimal {
    negative: bool,
    /// Number of digits before the decimal point.
    point: usize,
    digits: Box<[u8]>,
}

impl DecimalNumber {
    /// Parses the lexical form of an `xsd:decimal`.
    pub fn parse(text: &str) -> Option<DecimalNumber> {
        Digits::parse(text).map(DecimalNumber::from)
    }

    /// Parses the lexical form of an `xsd:integer`.
    pub fn parse_integer(text: &str) -> Option<DecimalNumber> {
        if text.contains('.') {
            return None;
        }
        DecimalNumber::parse(text)
    }

    /// Returns the shortest decimal that identifies a floating-point number; `None` for infinities
    /// and NaN.
    pub fn from_double(value: f64) -> Option<DecimalNumber> {
        let mut text = TextBuffer::default();
        text.digits_of_double(value).map(DecimalNumber::from)
    }

    /// Returns whether there are no fraction digits.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        match self {
            DecimalNumber::Short(number) => number.is_whole(),
            DecimalNumber::Long(number) => number.point == number.digits.len(),
        }
    }

    /// Returns whether the number is below zero.
    #[must_use]
    pub fn is_negative(&self) -> bool {
        match self {
            DecimalNumber::Short(number) => *number < Exact::from_integer(0),
            DecimalNumber::Long(number) => number.negative,
        }
    }

    /// Returns the nearest floating-point number; infinite if the number is out of range.
    pub fn to_double(&self) -> f64 {
        match self {
            DecimalNumber::Short(number) => match number.to_integer() {
                // Integers up to 2^53 are exact floating-point numbers.
                Some(whole) if whole.unsigned_abs() <= 1 << f64::MANTISSA_DIGITS => whole as f64,
                _ => {
                    let mut text = TextBuffer::default();
                    let text = text.print(number);
                    text.parse().expect("decimal digits are a binary number")
                }
            },
            DecimalNumber::Long(number) => {
                let text = number.to_string();
                text.parse().expect("decimal digits are a binary number")
            }
        }
    }

    /// Compares with a floating-point number, taken as the shortest decimal that identifies it;
    /// `None` for NaN.
    pub fn compare_double(&self, double: f64) -> Option<Ordering> {
        if let DecimalNumber::Short(number) = self
            && let Some(ordering) = by_approximation(*number, double)
        {
            return Some(ordering);
        }
        self.compare_digits_of_double(double)
    }

    #[cold]
    fn compare_digits_of_double(&self, double: f64) -> Option<Ordering> {
        let (mut own, mut other) = (TextBuffer::default(), TextBuffer::default());
        match other.digits_of_double(double) {
            Some(digits) => Some(self.digits(&mut own).cmp(&digits)),
            // An infinity is beyond every number, however large.
            None => 0.0.partial_cmp(&double),
        }
    }

    #[cold]
    fn compare_digits(&self, other: &DecimalNumber) -> Ordering {
        let (mut own, mut others) = (TextBuffer::default(), TextBuffer::default());
        self.digits(&mut own).cmp(&other.digits(&mut others))
    }

    fn digits<'d>(&'d self, text: &'d mut TextBuffer) -> Digits<'d> {
        match self {
            DecimalNumber::Short(number) => {
                Digits::parse(text.print(number)).expect("a number is written as digits")
            }
            DecimalNumber::Long(number) => number.digits(),
        }
    }
}

impl From<Exact> for DecimalNumber {
    fn from(number: Exact) -> Self {
        DecimalNumber::Short(number)
    }
}

impl From<Digits<'_>> for DecimalNumber {
    fn from(digits: Digits<'_>) -> Self {
        match Exact::from_digits(digits.negative, digits.whole, digits.fraction) {
            Some(number) => DecimalNumber::Short(number),
            None => DecimalNumber::Long(LongDecimal {
                negative: digits.negative,
                point: digits.whole.len(),
                digits: [digits.whole, digits.fraction].concat().into(),
            }),
        }
    }
}

impl Ord for DecimalNumber {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (DecimalNumber::Short(a), DecimalNumber::Short(b)) => a.cmp(b),
            _ => self.compare_digits(other),
        }
    }
}

impl PartialOrd for DecimalNumber {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for DecimalNumber {
    /// Writes the digits, without an exponent and redundant zeros.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DecimalNumber::Short(number) => number.fmt(f),
            DecimalNumber::Long(number) => number.fmt(f),
        }
    }
}

impl LongDecimal {
    fn digits(&self) -> Digits<'_> {
        let (whole, fraction) = self.digits.split_at(self.point);
        Digits {
            negative: self.negative,
            whole,
            fraction,
        }
    }
}

impl fmt::Display for LongDecimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, fraction) = self.digits.split_at(self.point);
        let ascii = |digits| std::str::from_utf8(digits).expect("digits are ASCII");
        let sign = if self.negative { "-" } else { "" };
        let whole = if whole.is_empty() { "0" } else { ascii(whole) };
        write!(f, "{sign}{whole}")?;
        match fraction {
            [] => Ok(()),
            fraction => write!(f, ".{}", ascii(fraction)),
        }
    }
}

/// Compares a decimal and a floating-point number by approximation, if they differ by more than
/// rounding errors.
fn by_approximation(decimal: Exact, double: f64) -> Option<Ordering> {
    /// Relative difference from which approximations decide.
    const CLOSE: f64 = 1e-14;
    let near = decimal.approximation();
    if (near - double).abs() > near.abs().max(double.abs()) * CLOSE && double.is_finite() {
        return near.partial_cmp(&double);
    }
    // Integers of up to 15 digits are their own shortest decimals.
    (near == double && near.abs() < 1e15 && decimal.is_whole() && double.fract() == 0.0)
        .then_some(Ordering::Equal)
}

/// The ASCII digits of a number, without leading zeros before the decimal point and trailing zeros
/// after it. Zero has no digits and is not negative.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Digits<'d> {
    negative: bool,
    /// Before the decimal point.
    whole: &'d [u8],
    /// After the decimal point.
    fraction: &'d [u8],
}

impl<'d> Digits<'d> {
    /// Parses `(+|-)?([0-9]+(.[0-9]*)?|.[0-9]+)`.
    fn parse(text: &'d str) -> Option<Digits<'d>> {
        let (negative, text) = match text.as_bytes() {
            [b'-', digits @ ..] => (true, digits),
            [b'+', digits @ ..] => (false, digits),
            digits => (false, digits),
        };
        let is_digit = |byte: &u8| byte.is_ascii_digit();
        let point = text.iter().position(|byte| !is_digit(byte));
        let (whole, fraction) = match point.map(|point| text.split_at(point)) {
            None => (text, &[][..]),
            Some((whole, [b'.', fraction @ ..])) if fraction.iter().all(is_digit) => {
                (whole, fraction)
            }
            Some(_) => return None,
        };
        if whole.is_empty() && fraction.is_empty() {
            return None;
        }
        let is_significant = |byte: &u8| *byte != b'0';
        let zeros = whole.iter().position(is_significant);
        let whole = &whole[zeros.unwrap_or(whole.len())..];
        let last = fraction.iter().rposition(is_significant);
        let fraction = &fraction[..last.map_or(0, |last| last + 1)];
        Some(Digits {
            // Zero has no sign.
            negative: negative && !(whole.is_empty() && fraction.is_empty()),
            whole,
            fraction,
        })
    }
}

impl Ord for Digits<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        let size = |a: &Digits<'_>, b: &Digits<'_>| {
            let whole = a.whole.len().cmp(&b.whole.len());
            whole
                .then_with(|| a.whole.cmp(b.whole))
                .then_with(|| a.fraction.cmp(b.fraction))
        };
        match (self.negative, other.negative) {
            (false, false) => size(self, other),
            (true, true) => size(other, self),
            (true, false) => Ordering::Less,
            (false, true) => Ordering::Greater,
        }
    }
}

impl PartialOrd for Digits<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// A buffer for the digits of a floating-point number, or of an [`Exact`], without allocation.
pub(super) struct TextBuffer {
    bytes: [u8; TextBuffer::SIZE],
    length: usize,
}

impl TextBuffer {
    /// The smallest positive number has 324 digits after the decimal point, and others up to 17
    /// more.
    const SIZE: usize = 352;

    /// Writes a number, replacing the previous content.
    pub(super) fn print(&mut self, number: impl fmt::Display) -> &str {
        self.length = 0;
        write!(self, "{number}").expect("the buffer has room for every number");
        std::str::from_utf8(&self.bytes[..self.length]).expect("numbers are written in ASCII")
    }

    /// Returns the shortest digits that identify a floating-point number; `None` for infinities and
    /// NaN.
    fn digits_of_double(&mut self, value: f64) -> Option<Digits<'_>> {
        value.is_finite().then(|| {
            Digits::parse(self.print(value)).expect("a finite number is written as digits")
        })
    }
}

impl Default for TextBuffer {
    fn default() -> Self {
        TextBuffer {
            bytes: [0; TextBuffer::SIZE],
            length: 0,
        }
    }
}

impl fmt::Write for TextBuffer {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let end = self.length + text.len();
        let room = self.bytes.get_mut(self.length..end).ok_or(fmt::Error)?;
        room.copy_from_slice(text.as_bytes());
        self.length = end;
        Ok(())
    }
}
