//! Stored terms as JSON.

use std::borrow::Cow;
use std::str::FromStr;

use oxrdf::vocab::xsd;
use oxrdf::{LiteralRef, TermRef};
use oxsdatatypes::{DateTime, TimezoneOffset};
use soml_core::datatype::Scalar;
use soml_core::schema::{EnumType, LiteralMember, LiteralRange, Schema};

use super::decimal::DecimalNumber;
use super::lexical::{collapsed, is_lexical};
use super::number::{Number, integer_in_bounds, is_integer_of, short_integer};

/// How numbers are written that JSON parsers may not represent exactly.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Numbers {
    /// As strings, so that no digit is ever lost.
    #[default]
    Exact,
    /// As numbers where 64-bit floating point loses no digit, otherwise as strings.
    Number,
}

/// Integers up to this one are exact in 64-bit floating point.
const MAX_SAFE_INTEGER: u64 = 9_007_199_254_740_991;
/// Decimal numbers of up to this many digits survive a round trip through 64-bit floating point.
const MAX_SAFE_DIGITS: usize = 15;

/// Writes a string in quotes.
pub(crate) fn write_string(out: &mut Vec<u8>, text: &str) {
    write_joined(out, ["", text]);
}

/// Writes two texts as one JSON string in quotes.
pub fn write_joined(out: &mut Vec<u8>, parts: [&str; 2]) {
    let [first, second] = parts;
    if needs_no_escape(first) && needs_no_escape(second) {
        out.reserve(first.len() + second.len() + 2);
        out.push(b'"');
        out.extend_from_slice(first.as_bytes());
        out.extend_from_slice(second.as_bytes());
        out.push(b'"');
    } else {
        let text = parts.concat();
        serde_json::to_writer(out, &text).expect("writing to memory does not fail");
    }
}

/// Returns whether a text needs no escapes.
fn needs_no_escape(text: &str) -> bool {
    let bytes = text.as_bytes();
    let by_chunks = are_plain_by::<16>(bytes).or_else(|| are_plain_by::<8>(bytes));
    by_chunks.unwrap_or_else(|| are_plain(bytes))
}

/// Returns whether no byte needs an escape, looking at many at once; `None` where there are fewer.
fn are_plain_by<const MANY: usize>(bytes: &[u8]) -> Option<bool> {
    // The last chunk overlaps the one before, so that no bytes are left over.
    let last = bytes.last_chunk::<MANY>()?;
    let (chunks, _) = bytes.as_chunks::<MANY>();
    Some(are_plain(last) && chunks.iter().all(|chunk| are_plain(chunk)))
}

/// Returns whether no byte needs an escape. All are looked at, so that those of a chunk are at once.
#[inline]
fn are_plain(bytes: &[u8]) -> bool {
    let escaped = |byte: u8| (byte < 0x20) | (byte == b'"') | (byte == b'\\');
    let found = bytes
        .iter()
        .fold(0, |any, byte| any | u8::from(escaped(*byte)));
    found == 0
}

/// Writes a stored term as a value of `scalar`; writes nothing and returns false if it is
/// ill-typed.
pub fn write_scalar<'t>(
    out: &mut Vec<u8>,
    scalar: Scalar,
    term: impl Into<TermRef<'t>>,
    numbers: Numbers,
) -> bool {
    match (scalar, term.into()) {
        (Scalar::Iri, TermRef::NamedNode(node)) => {
            write_string(out, node.as_str());
            true
        }
        (_, TermRef::Literal(literal)) => write_literal(out, scalar, literal, numbers),
        _ => false,
    }
}

/// Writes a stored term as a value of an enumeration; returns false if it is not one.
#[must_use]
pub fn write_enum<'t>(out: &mut Vec<u8>, ty: &EnumType, term: impl Into<TermRef<'t>>) -> bool {
    let TermRef::Literal(literal) = term.into() else {
        return false;
    };
    let known = is_plain(literal) && ty.values.iter().any(|v| v.name == literal.value());
    if known {
        write_string(out, literal.value());
    }
    known
}

/// Returns whether a literal is a string, with or without a language tag.
#[must_use]
pub fn is_text<'l>(literal: impl Into<LiteralRef<'l>>) -> bool {
    let literal = literal.into();
    literal.language().is_some() || literal.datatype() == xsd::STRING
}

/// Returns whether a literal is a string without a language tag.
#[must_use]
pub fn is_plain<'l>(literal: impl Into<LiteralRef<'l>>) -> bool {
    literal.into().datatype() == xsd::STRING
}

fn write_literal(
    out: &mut Vec<u8>,
    scalar: Scalar,
    literal: LiteralRef<'_>,
    numbers: Numbers,
) -> bool {
    if scalar == Scalar::String {
        let fits = is_text(literal);
        if fits {
            write_string(out, literal.value());
        }
        return fits;
    }
    let text = if scalar.is_numeric() {
        number_text(scalar, literal, numbers)
    } else if literal.datatype().as_str() == scalar.datatype_iri() {
        other_text(scalar, collapsed(literal.value()))
    } else {
        None
    };
    text.inspect(|text| write_text(out, text)).is_some()
}

/// The text of a JSON value.
enum Text<'t> {
    Bare(Cow<'t, str>),
    Quoted(Cow<'t, str>),
}

fn number_text(scalar: Scalar, literal: LiteralRef<'_>, numbers: Numbers) -> Option<Text<'_>> {
    // Values whose lexical form is also their JSON text need no copy.
    if scalar.is_integer()
        && let Some(value) = short_integer(literal)
    {
        let fits = integer_in_bounds(scalar, value);
        let text = Cow::Borrowed(literal.value());
        return fits.then(|| integer_json(scalar, text, Some(value), numbers));
    }
    let number = Number::from_literal(literal)?;
    if scalar.is_float() {
        return float_text(scalar, number.to_double(), numbers);
    }
    if scalar == Scalar::Decimal {
        return Some(decimal_json(number.to_decimal_text()?, numbers));
    }
    let number = number.into_decimal()?;
    is_integer_of(scalar, &number).then(|| decimal_text(scalar, &number, numbers))
}

/// Returns the text of a number that fits an integer scalar or `Decimal`.
fn decimal_text(scalar: Scalar, number: &DecimalNumber, numbers: Numbers) -> Text<'static> {
    let text = number.to_string();
    if !scalar.is_integer() {
        return decimal_json(text, numbers);
    }
    let value = match number {
        DecimalNumber::Short(number) => number.to_integer(),
        DecimalNumber::Long(_) => None,
    };
    integer_json(scalar, text.into(), value, numbers)
}

fn decimal_json(text: String, numbers: Numbers) -> Text<'static> {
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    if numbers == Numbers::Number && digits <= MAX_SAFE_DIGITS {
        Text::Bare(text.into())
    } else {
        Text::Quoted(text.into())
    }
}

/// `value` is `None` if it exceeds 128 bits.
fn integer_json<'t>(
    scalar: Scalar,
    text: Cow<'t, str>,
    value: Option<i128>,
    numbers: Numbers,
) -> Text<'t> {
    let bare = match scalar {
        Scalar::Int | Scalar::Short | Scalar::Byte | Scalar::Long => true,
        _ => {
            numbers == Numbers::Number
                && value.is_some_and(|v| v.unsigned_abs() <= u128::from(MAX_SAFE_INTEGER))
        }
    };
    if bare {
        Text::Bare(text)
    } else {
        Text::Quoted(text)
    }
}

/// Writes a number that fits an integer scalar or `Decimal` as a value of it.
pub(super) fn write_decimal(
    out: &mut Vec<u8>,
    scalar: Scalar,
    number: &DecimalNumber,
    numbers: Numbers,
) {
    write_text(out, &decimal_text(scalar, number, numbers));
}

/// Writes a floating-point number as a value of a scalar; returns false if it is ill-typed.
pub(super) fn write_float(out: &mut Vec<u8>, scalar: Scalar, value: f64, numbers: Numbers) -> bool {
    let text = float_text(scalar, value, numbers);
    text.inspect(|text| write_text(out, text)).is_some()
}

fn write_text(out: &mut Vec<u8>, text: &Text<'_>) {
    match text {
        Text::Bare(text) => out.extend_from_slice(text.as_bytes()),
        Text::Quoted(text) => write_string(out, text),
    }
}

fn float_text(scalar: Scalar, value: f64, numbers: Numbers) -> Option<Text<'static>> {
    if !value.is_finite() || !scalar.float_in_bounds(value) {
        return None;
    }
    // Zero has no sign.
    let value = value + 0.0;
    let text = serde_json::to_string(&value).ok()?;
    let bare = scalar == Scalar::Double || numbers == Numbers::Number;
    Some(if bare {
        Text::Bare(text.into())
    } else {
        Text::Quoted(text.into())
    })
}

fn other_text(scalar: Scalar, text: &str) -> Option<Text<'_>> {
    match scalar {
        Scalar::Boolean => match text {
            "true" | "1" => Some(Text::Bare("true".into())),
            "false" | "0" => Some(Text::Bare("false".into())),
            _ => None,
        },
        Scalar::DateTime => date_time(text).map(|text| Text::Quoted(text.into())),
        _ => is_lexical(scalar, text).then(|| Text::Quoted(text.into())),
    }
}

/// Converts a `dateTime` with a time zone to UTC with at least three fraction digits.
pub(super) fn date_time(text: &str) -> Option<String> {
    let value = DateTime::from_str(text).ok()?;
    if value.timezone_offset().is_none() {
        return Some(text.to_owned());
    }
    let utc = value.adjust(Some(TimezoneOffset::UTC))?.to_string();
    let (seconds, zone) = utc.split_at(utc.len() - 1);
    debug_assert_eq!(zone, "Z", "UTC is written as Z");
    Some(match seconds.split_once('.') {
        None => format!("{seconds}.000Z"),
        Some((whole, fraction)) => format!("{whole}.{fraction:0<3}Z"),
    })
}

/// Which literals belong to a literal range.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LiteralTypes {
    /// All of them.
    Any,
    /// Some of them.
    Some {
        /// Strings with a language tag.
        tagged: bool,
        /// Literals of these datatypes, without a language tag.
        scalars: Vec<Scalar>,
    },
}

impl LiteralTypes {
    /// Returns the literals of a range.
    #[must_use]
    pub fn new(schema: &Schema, range: LiteralRange) -> Self {
        let (tagged, scalars) = match range {
            LiteralRange::Any => return LiteralTypes::Any,
            LiteralRange::LangString => (true, Vec::new()),
            LiteralRange::StringOrLangString => (true, vec![Scalar::String]),
            LiteralRange::DateOrYearOrMonth => {
                (false, vec![Scalar::Date, Scalar::Year, Scalar::YearMonth])
            }
            LiteralRange::Union(id) => {
                let members = &schema[id].members;
                let scalars = members.iter().filter_map(|member| match member {
                    LiteralMember::Scalar(scalar) => Some(*scalar),
                    LiteralMember::LangString => None,
                });
                (
                    members.contains(&LiteralMember::LangString),
                    scalars.collect(),
                )
            }
        };
        LiteralTypes::Some { tagged, scalars }
    }

    /// Returns whether a literal belongs to the range.
    #[must_use]
    pub fn accepts<'l>(&self, literal: impl Into<LiteralRef<'l>>) -> bool {
        let literal = literal.into();
        let LiteralTypes::Some { tagged, scalars } = self else {
            return true;
        };
        if literal.language().is_some() {
            return *tagged;
        }
        scalars.iter().any(|scalar| {
            let timely = matches!(scalar, Scalar::Date | Scalar::Year | Scalar::YearMonth);
            literal.datatype().as_str() == scalar.datatype_iri()
                && (!timely || is_lexical(*scalar, collapsed(literal.value())))
        })
    }
}

#[cfg(test)]
mod tests {
    use oxrdf::{Literal, NamedNode, Term};
    use soml_core::datatype::Scalar;

    use super::{Numbers, write_joined, write_scalar};

    #[test]
    fn strings_are_written_as_by_serde_json() {
        let texts = [
            "",
            "plain",
            "é ü 𝄞",
            "a\"b",
            "\\",
            "line\nend\u{7f}",
            "\u{1}\u{1f} ",
            "\u{2028}",
        ];
        for first in texts {
            for second in texts {
                let mut out = b"before".to_vec();
                write_joined(&mut out, [first, second]);
                let expected = serde_json::to_string(&[first, second].concat()).unwrap();
                assert_eq!(out, ["before", &expected].concat().as_bytes());
            }
        }
    }

    fn shown(scalar: Scalar, text: &str, datatype: &str, numbers: Numbers) -> Option<String> {
        let iri = format!("http://www.w3.org/2001/XMLSchema#{datatype}");
        let term = Term::from(Literal::new_typed_literal(
            text,
            NamedNode::new_unchecked(iri),
        ));
        let mut out = Vec::new();
        write_scalar(&mut out, scalar, &term, numbers)
            .then(|| String::from_utf8(out).expect("JSON is UTF-8"))
    }

    #[test]
    fn values_are_converted_where_they_fit() {
        let exact = |scalar, text, datatype| shown(scalar, text, datatype, Numbers::Exact);
        let cases = [
            (Scalar::Decimal, "1.72", "float", Some("\"1.72\"")),
            (Scalar::Decimal, "+01.50", "decimal", Some("\"1.5\"")),
            (Scalar::Decimal, "7", "integer", Some("\"7\"")),
            (Scalar::Decimal, "INF", "double", None),
            (Scalar::Integer, "5.0", "decimal", Some("\"5\"")),
            (Scalar::Integer, "none", "integer", None),
            (Scalar::Integer, "none", "string", None),
            (
                Scalar::Integer,
                "0012345678901234567890123456789012345678901",
                "integer",
                Some("\"12345678901234567890123456789012345678901\""),
            ),
            (Scalar::Int, "3000000000", "long", None),
            (Scalar::Int, "-7", "byte", Some("-7")),
            (
                Scalar::Long,
                "9223372036854775807",
                "integer",
                Some("9223372036854775807"),
            ),
            (Scalar::Double, "1.72", "float", Some("1.72")),
            (Scalar::Double, "2", "integer", Some("2.0")),
            (Scalar::PositiveFloat, "2.5", "double", Some("\"2.5\"")),
            (Scalar::PositiveFloat, "-2.5", "double", None),
            (Scalar::Boolean, "1", "boolean", Some("true")),
            (
                Scalar::DateTime,
                "2020-01-01T02:00:00+02:00",
                "dateTime",
                Some("\"2020-01-01T00:00:00.000Z\""),
            ),
            (
                Scalar::DateTime,
                "2020-01-01T02:00:00.1234Z",
                "dateTime",
                Some("\"2020-01-01T02:00:00.1234Z\""),
            ),
            (
                Scalar::DateTime,
                "2020-01-01T02:00:00",
                "dateTime",
                Some("\"2020-01-01T02:00:00\""),
            ),
            (Scalar::Date, "2020-02-30", "date", None),
            (Scalar::Year, "1999", "gYear", Some("\"1999\"")),
            (Scalar::String, "5", "integer", None),
        ];
        for (scalar, text, datatype, expected) in cases {
            assert_eq!(
                exact(scalar, text, datatype).as_deref(),
                expected,
                "{text}^^{datatype}"
            );
        }
    }

    #[test]
    fn numbers_are_bare_only_where_no_digit_is_lost() {
        let number = |scalar, text, datatype| shown(scalar, text, datatype, Numbers::Number);
        assert_eq!(
            number(Scalar::Integer, "5", "integer").as_deref(),
            Some("5")
        );
        assert_eq!(
            number(Scalar::Integer, "9007199254740993", "integer").as_deref(),
            Some("\"9007199254740993\"")
        );
        assert_eq!(
            number(Scalar::Decimal, "0.1", "decimal").as_deref(),
            Some("0.1")
        );
    }
}
