//! Decimal numbers of any length, compared exactly.
//!
//! Stored literals are as long as whoever wrote them likes: all that is done here takes time and
//! memory in proportion to the digits that are given. Numbers are read from digits without exponents,
//! so none takes more memory than its text.

use std::cmp::Ordering;
use std::fmt::{self, Write as _};

use super::exact::Exact;

/// A decimal number of any length.
///
/// A number that fits is always a short one, so equal numbers have equal members.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum DecimalNumber {
    /// Up to 38 digits in front of the point and 18 behind it, as arithmetic holds them.
    Short(Exact),
    /// More digits, which take no part in arithmetic.
    Long(LongDecimal),
}

/// The digits of a number that [`Exact`] does not hold: the first in front of the point is no zero, nor
/// is the last behind it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct LongDecimal {
    negative: bool,
    /// How many of the digits stand in front of the point.
    point: usize,
    digits: Box<[u8]>,
}

impl DecimalNumber {
    /// Reads a number in the lexical space of `xsd:decimal`.
    pub fn parse(text: &str) -> Option<DecimalNumber> {
        Digits::parse(text).map(DecimalNumber::from)
    }

    /// Reads a number in the lexical space of `xsd:integer`.
    pub fn parse_integer(text: &str) -> Option<DecimalNumber> {
        if text.contains('.') {
            return None;
        }
        DecimalNumber::parse(text)
    }

    /// Returns the shortest decimal number that names a binary one; `None` for infinities and NaN.
    pub fn from_double(value: f64) -> Option<DecimalNumber> {
        let mut text = TextBuffer::default();
        text.digits_of_double(value).map(DecimalNumber::from)
    }

    /// Tells whether there are no fraction digits.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        match self {
            DecimalNumber::Short(number) => number.is_whole(),
            DecimalNumber::Long(number) => number.point == number.digits.len(),
        }
    }

    /// Tells whether the number is below zero.
    #[must_use]
    pub fn is_negative(&self) -> bool {
        match self {
            DecimalNumber::Short(number) => *number < Exact::from_integer(0),
            DecimalNumber::Long(number) => number.negative,
        }
    }

    /// Returns the nearest binary number; what is beyond all of them is infinite.
    pub fn to_double(&self) -> f64 {
        match self {
            DecimalNumber::Short(number) => match number.to_integer() {
                // Up to 2^53 whole numbers are binary ones.
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

    /// Compares with a binary number, which counts as the shortest decimal that names it; `None`
    /// with NaN.
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
    /// Writes the digits, without an exponent and without zeros that change nothing.
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

/// Decides between a decimal and a binary number that are not so close that rounding could.
fn by_approximation(decimal: Exact, double: f64) -> Option<Ordering> {
    /// How far apart approximations are, in proportion, when they decide.
    const CLOSE: f64 = 1e-14;
    let near = decimal.approximation();
    if (near - double).abs() > near.abs().max(double.abs()) * CLOSE && double.is_finite() {
        return near.partial_cmp(&double);
    }
    // Whole numbers of up to 15 digits name themselves.
    (near == double && near.abs() < 1e15 && decimal.is_whole() && double.fract() == 0.0)
        .then_some(Ordering::Equal)
}

/// The ASCII digits of a number: the first in front of the point is no zero, nor is the last behind it.
/// Zero has none and is not negative.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Digits<'d> {
    negative: bool,
    /// In front of the point.
    whole: &'d [u8],
    /// Behind the point.
    fraction: &'d [u8],
}

impl<'d> Digits<'d> {
    /// Reads `(+|-)?([0-9]+(.[0-9]*)?|.[0-9]+)`.
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
            // Zero has one value, whatever its sign.
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

/// Room for the digits of a binary number, or of an [`Exact`], that needs no allocation.
pub(super) struct TextBuffer {
    bytes: [u8; TextBuffer::SIZE],
    length: usize,
}

impl TextBuffer {
    /// The smallest binary number has 324 digits behind the point, and others up to 17 from there.
    const SIZE: usize = 352;

    /// Writes a number in place of what was there.
    pub(super) fn print(&mut self, number: impl fmt::Display) -> &str {
        self.length = 0;
        write!(self, "{number}").expect("the buffer has room for every number");
        std::str::from_utf8(&self.bytes[..self.length]).expect("numbers are written in ASCII")
    }

    /// Returns the shortest digits that name a binary number; `None` for infinities and NaN.
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
