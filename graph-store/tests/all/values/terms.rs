//! Awkward values: numbers, dates and strings in many lexical forms, good and bad.

use graph_store::value::integer_in_bounds;
use oxrdf::vocab::{rdf, xsd};
use oxrdf::{BlankNode, Literal, NamedNode, Term};
use soml_core::datatype::Scalar;

use super::extent::Extent;
use super::random::Random;

const XSD: &str = "http://www.w3.org/2001/XMLSchema#";

const INTEGERS: &[&str] = &[
    "0",
    "-0",
    "00",
    "1",
    "01",
    "+1",
    "-1",
    "5",
    "7",
    "007",
    "9",
    "10",
    "127",
    "128",
    "300",
    "-300",
    "16777217",
    "2147483648",
    "9007199254740991",
    "9007199254740992",
    "9007199254740993",
    "9223372036854775807",
    "-9223372036854775808",
];
/// Integers beyond 64 bits.
const LONG_INTEGERS: &[&str] = &[
    "9223372036854775808",
    "-9223372036854775809",
    "18446744073709551616",
    "0018446744073709551616",
    "1000000000000000000000000000000",
    "+1000000000000000000000000000001",
    "170141183460469231731687303715884105727",
    "170141183460469231731687303715884105728",
    "-170141183460469231731687303715884105729",
    "99999999999999999999999999999999999999999",
];
const DECIMALS: &[&str] = &[
    "0.0", "-0.0", "1.0", "1.", "+1.00", "01.0", ".5", "0.5", "0.50", "1.1", "1.10", "-1.0", "7.0",
    "0.1", "300.0", "-.5", "10.25", "128",
];
const LONG_DECIMALS: &[&str] = &[
    "0.100000000000000001",
    "0.1000000000000000000000001",
    "-0.1000000000000000000000001",
    "1.0000000000000000000000000",
    "1.0000000000000000000000001",
    "1000000000000000000000000000001.5",
    "9223372036854775808.0",
    "9007199254740993.0",
    "18446744073709551616.",
];
const BINARY: &[&str] = &[
    "1", "1e0", "1.0E0", "+1.0e+00", "10e-1", "-0.0", "0", "0.5", "5E-1", "1.5", "-1e0", "NaN",
    "INF", "-INF", "0.1", "1.1", "7.", ".5e1", "128", "1.28E2", "300",
];
const BINARY_OF_1_1: &[&str] = &["+INF"];
const LONG_BINARY: &[&str] = &[
    "1e30",
    "1E+30",
    "9007199254740992",
    "9007199254740993",
    "1.8446744073709552e19",
    "16777217",
    "1e400",
    "-1e400",
    "1e-400",
    "3.4028235e38",
    "1.7e300",
    "1e-25",
    "1e41",
];
const WHOLE_TYPES: &[&str] = &[
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
const NO_NUMBERS: &[&str] = &[
    "abc", "", "1,0", "0x1", "--1", "+-1", "+", ".", "1 2", "inf", "nan", "Infinity", "-NaN", "e1",
    "1e", "\u{661}", "1_000",
];
const STRINGS: &[&str] = &[
    "",
    "a",
    "A",
    "aa",
    "ab",
    "Ab",
    "abc",
    "abd",
    "abcd",
    "ac",
    "b",
    "B",
    "a b",
    " a",
    "a ",
    "c",
    "\u{e9}",
    "e\u{301}",
    "\u{c9}t\u{e9}",
    "\u{e9}t\u{e9}",
    "\u{df}",
    "ss",
    "SS",
    "\u{17f}s",
    "k",
    "\u{212a}",
    "K",
    "i",
    "I",
    "\u{130}",
    "\u{131}",
    "\u{1f600}",
    "\u{1f600}a",
    "ab\u{1f600}",
    "ab\u{ffff}",
    "ab\u{e000}",
    "ab\u{10ffff}",
    "\u{65e5}\u{672c}",
    "a\nb",
    "a.c",
    "a*",
    "^a",
    "a\\b",
    "a\"b",
    "[a]",
    "1",
    "01",
    "true",
    "2020-01-01",
    "http://e/1",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaac",
];
const TAGS: &[&str] = &[
    "en",
    "EN",
    "en-GB",
    "en-gb",
    "en-US",
    "eng",
    "de",
    "de-1996",
    "zh-Hant-TW",
    "fr",
    "de-x-ab",
];
const DATES: &[&str] = &[
    "2020-02-29",
    "2020-03-01",
    "1999-12-31",
    "2000-01-01",
    "2019-12-31",
    "2020-01-01",
    "0999-06-15",
    "0001-01-01",
];
const LONG_DATES: &[&str] = &["-0001-06-15", "12345-01-01", "-12345-12-31"];
/// Dates with times in the year 0, which XML Schema has since 1.1.
const DATES_OF_1_1: &[&str] = &["-0001-12-31", "0000-02-29"];
const NO_DATES: &[&str] = &[
    "2021-02-29",
    "012345-01-01",
    "20-01-01",
    "2020-1-1",
    "2020-13-01",
    "2020-04-31",
    "+2020-01-01",
    "abc-de-fg",
    "",
];
const TIMES: &[&str] = &[
    "00:00:00",
    "10:00:00",
    "12:30:00",
    "12:30:00.0",
    "12:30:00.5",
    "12:30:00.500",
    "23:59:59",
    "23:59:59.999",
    "14:00:00",
];
const LONG_TIMES: &[&str] = &["24:00:00", "24:00:00.0", "12:30:00.123456789"];
const PICOSECONDS: &[&str] = &["12:30:00.123456789012"];
const NO_TIMES: &[&str] = &[
    "24:00:01",
    "12:60:00",
    "23:59:60",
    "12:30",
    "1:00:00",
    "12:30:00.",
    "25:00:00",
    "ab:cd:ef",
];
const ZONES: &[&str] = &[
    "", "", "", "Z", "Z", "+00:00", "-00:00", "+02:00", "-05:30", "+14:00", "-14:00",
];
const NO_ZONES: &[&str] = &["+14:01", "z", "+2:00", "+02:60", " Z"];
const BOOLEANS: &[&str] = &["true", "false", "1", "0", "true", "false"];
const NO_BOOLEANS: &[&str] = &["TRUE", "yes", "", "01", "t"];
const IRIS: &[&str] = &[
    "http://e/1",
    "http://e/\u{e9}",
    "urn:x:1",
    "http://v/A",
    "http://e/10",
];

/// What the values of a property mostly are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Number,
    Text,
    Moment(Scalar),
    Boolean,
    Mixed,
    Link,
}

/// Dates and times.
pub(super) const MOMENTS: [Scalar; 5] = [
    Scalar::DateTime,
    Scalar::Date,
    Scalar::Time,
    Scalar::Year,
    Scalar::YearMonth,
];

/// Returns a literal of a datatype of XML Schema.
pub(super) fn typed(text: &str, datatype: &str) -> Literal {
    Literal::new_typed_literal(text, NamedNode::new_unchecked(format!("{XSD}{datatype}")))
}

pub(super) fn tagged(text: &str, tag: &str) -> Literal {
    Literal::new_language_tagged_literal_unchecked(text, tag)
}

/// Returns a value of a kind, and one of ten times any other.
pub(super) fn term(random: &mut Random, kind: Kind, extent: Extent) -> Term {
    if random.chance(10) {
        return odd(random, extent);
    }
    match kind {
        Kind::Number => number(random, extent).into(),
        Kind::Text => string(random).into(),
        Kind::Moment(scalar) => moment(random, scalar, extent).into(),
        Kind::Boolean => boolean(random, extent).into(),
        Kind::Mixed | Kind::Link => any(random, extent),
    }
}

fn any(random: &mut Random, extent: Extent) -> Term {
    match random.below(6) {
        0 => number(random, extent).into(),
        1 => string(random).into(),
        2 => {
            let scalar = random.choose(&MOMENTS);
            moment(random, scalar, extent).into()
        }
        3 => boolean(random, extent).into(),
        4 => NamedNode::new_unchecked(random.choose(IRIS)).into(),
        _ => odd(random, extent),
    }
}

/// Picks from the second list in so many cases of a hundred.
fn mostly<'t>(random: &mut Random, most: &[&'t str], other: &[&'t str], percent: usize) -> &'t str {
    let is_other = !other.is_empty() && random.chance(percent);
    random.choose(if is_other { other } else { most })
}

/// Puts white space around a text now and then, where the store takes it for no part of a value.
fn spaced(random: &mut Random, text: &str, extent: Extent) -> String {
    match random.below(30) {
        _ if !extent.collapses_space() => text.to_owned(),
        0 => format!(" {text}"),
        1 => format!("{text}\n"),
        2 => format!("\t{text} "),
        _ => text.to_owned(),
    }
}

/// Returns a number, in some cases one that is none.
pub(super) fn number(random: &mut Random, extent: Extent) -> Literal {
    let long = if extent.is_exact() { 30 } else { 0 };
    if random.chance(6) {
        let datatype = random.choose(&["integer", "decimal", "double", "float", "int"]);
        return typed(random.choose(NO_NUMBERS), datatype);
    }
    if extent.knows_schema_1_1() && random.chance(3) {
        return typed(
            random.choose(BINARY_OF_1_1),
            random.choose(&["double", "float"]),
        );
    }
    let (text, datatype) = match random.below(8) {
        0 | 1 => (mostly(random, INTEGERS, LONG_INTEGERS, long), "integer"),
        2 => (
            mostly(random, INTEGERS, LONG_INTEGERS, long),
            random.choose(WHOLE_TYPES),
        ),
        3 => (mostly(random, INTEGERS, LONG_INTEGERS, long), "decimal"),
        4 | 5 => (mostly(random, DECIMALS, LONG_DECIMALS, long), "decimal"),
        6 => (mostly(random, BINARY, LONG_BINARY, long), "double"),
        _ => (mostly(random, BINARY, LONG_BINARY, long), "float"),
    };
    let fits = extent.ignores_ranges() || is_in_range(text, datatype);
    let datatype = if fits { datatype } else { "integer" };
    typed(&spaced(random, text, extent), datatype)
}

/// Returns whether a number is none of a derived datatype, or in its range.
fn is_in_range(text: &str, datatype: &str) -> bool {
    let iri = format!("{XSD}{datatype}");
    let scalar = Scalar::ALL
        .iter()
        .find(|scalar| scalar.datatype_iri() == iri);
    scalar.is_none_or(|scalar| match (scalar.integer_bounds(), text.parse()) {
        (Some(_), Ok(value)) => integer_in_bounds(*scalar, value),
        _ => true,
    })
}

/// Returns a string, with a language tag in two of five cases.
pub(super) fn string(random: &mut Random) -> Literal {
    let text = random.choose(STRINGS);
    if random.chance(40) {
        return tagged(text, random.choose(TAGS));
    }
    Literal::new_simple_literal(text)
}

pub(super) fn boolean(random: &mut Random, extent: Extent) -> Literal {
    let text = mostly(random, BOOLEANS, NO_BOOLEANS, 10);
    typed(&spaced(random, text, extent), "boolean")
}

/// Returns a date or time, in some cases one that is none.
pub(super) fn moment(random: &mut Random, scalar: Scalar, extent: Extent) -> Literal {
    let with = |common: &[&'static str], rare: &[_], is_known| {
        if is_known {
            [common, rare].concat()
        } else {
            common.to_vec()
        }
    };
    let long_dates = with(LONG_DATES, DATES_OF_1_1, extent.knows_schema_1_1());
    let long_times = with(LONG_TIMES, PICOSECONDS, extent.knows_picoseconds());
    let bad = random.chance(10);
    let (date, time, zone) = match (bad, random.below(3)) {
        (true, 0) => (random.choose(NO_DATES), random.choose(TIMES), ""),
        (true, 1) => (random.choose(DATES), random.choose(NO_TIMES), "Z"),
        (true, _) => (
            random.choose(DATES),
            random.choose(TIMES),
            random.choose(NO_ZONES),
        ),
        _ => (
            mostly(random, DATES, &long_dates, 20),
            mostly(random, TIMES, &long_times, 15),
            random.choose(ZONES),
        ),
    };
    let cut = |parts: usize| {
        let cut = date.rmatch_indices('-').nth(parts);
        cut.map_or(date, |(at, _)| &date[..at])
    };
    let text = match scalar {
        Scalar::DateTime => format!("{date}T{time}{zone}"),
        Scalar::Time => format!("{time}{zone}"),
        Scalar::Date => format!("{date}{zone}"),
        Scalar::YearMonth => format!("{}{zone}", cut(0)),
        _ => format!("{}{zone}", cut(1)),
    };
    let text = spaced(random, &text, extent);
    Literal::new_typed_literal(text, NamedNode::new_unchecked(scalar.datatype_iri()))
}

/// Returns a term that is out of place among numbers, strings and dates.
fn odd(random: &mut Random, extent: Extent) -> Term {
    let text = random.choose(STRINGS);
    let literal = match random.below(12) {
        0 => return BlankNode::new_unchecked(format!("b{}", random.below(4))).into(),
        1 | 2 => return NamedNode::new_unchecked(random.choose(IRIS)).into(),
        3 => typed(random.choose(IRIS), "anyURI"),
        4 => Literal::new_typed_literal(text, NamedNode::new_unchecked("http://v/colour")),
        5 => typed("P1D", "duration"),
        6 => typed("--12", "gMonth"),
        // A literal that no syntax can write.
        7 if extent.holds_any_literal() => Literal::new_typed_literal(text, rdf::LANG_STRING),
        7 => typed("0a", "hexBinary"),
        8 => Literal::new_simple_literal(random.choose(INTEGERS)),
        9 => Literal::new_simple_literal(random.choose(IRIS)),
        10 => tagged(random.choose(&["1", "true", "2020-01-01"]), "en"),
        _ => Literal::new_typed_literal(random.choose(INTEGERS), xsd::TOKEN),
    };
    literal.into()
}

/// Returns the datatypes that conditions ask for.
pub(super) fn datatypes() -> Vec<NamedNode> {
    let mut all = vec![
        xsd::STRING.into_owned(),
        xsd::INTEGER.into_owned(),
        xsd::DECIMAL.into_owned(),
        xsd::DOUBLE.into_owned(),
        xsd::DATE_TIME.into_owned(),
        xsd::DATE.into_owned(),
        xsd::BOOLEAN.into_owned(),
        rdf::LANG_STRING.into_owned(),
    ];
    all.push(NamedNode::new_unchecked("http://v/colour"));
    all
}
