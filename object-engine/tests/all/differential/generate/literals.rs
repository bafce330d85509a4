//! Stored values in all their forms, good and bad.

use num_bigint::BigInt;
use oxrdf::{Literal, NamedNode, Term};
use soml_core::datatype::Scalar;
use soml_core::schema::{LiteralRange, Range};

use crate::differential::random::Random;
use crate::differential::reference::{Number, fits};

const XSD: &str = "http://www.w3.org/2001/XMLSchema#";
const NUMBERS: &[&str] = &[
    "-300",
    "-7",
    "-1",
    "-0.5",
    "0",
    "0.1",
    "1",
    "1.5",
    "1.72",
    "2",
    "2.25",
    "5",
    "100",
    "128",
    "300",
    "70000",
    "3000000000",
];
/// Whole numbers around 64 and 128 bits and beyond, some of them binary numbers too.
const LONG_INTEGERS: &[&str] = &[
    "9007199254740992",
    "9007199254740993",
    "9223372036854775807",
    "9223372036854775808",
    "-9223372036854775809",
    "18446744073709551616",
    "999999999999999999999999999999",
    "1000000000000000000000000000000",
    "1000000000000000000000000000001",
    "1000000000000000000000000000002",
    "-1000000000000000000000000000001",
    "170141183460469231731687303715884105727",
    "170141183460469231731687303715884105728",
    "-170141183460469231731687303715884105728",
    "-170141183460469231731687303715884105729",
    "99999999999999999999999999999999999999999",
    "100000000000000000000000000000000000000000",
];
/// Decimal numbers of many digits, each close to another or to a binary number.
const LONG_DECIMALS: &[&str] = &[
    "0.1",
    "0.100000000000000001",
    "0.1000000000000000000000001",
    "-0.1000000000000000000000001",
    "0.0000000000000000000000001",
    "1.5000000000000000000000001",
    "1000000000000000000000000000001.5",
    "1000000000000000000000000000001.50000000000000000001",
];
const DOUBLES: &[&str] = &[
    "0.1",
    "1.5",
    "-0.1",
    "1e30",
    "-1E+30",
    "1e-25",
    "1.8446744073709552e19",
    "1e41",
    "1.7e300",
];
const TEXTS: &[&str] = &["a", "b", "B", "abc", "acb", "é", "E", "", "a b", "zz"];
const ZONED: &[Scalar] = &[
    Scalar::DateTime,
    Scalar::Date,
    Scalar::Time,
    Scalar::Year,
    Scalar::YearMonth,
];
const TAGS: &[&str] = &["en", "en-gb", "en-us", "de", "fr"];

pub(crate) fn typed(text: &str, datatype: &str) -> Term {
    let datatype = NamedNode::new_unchecked(format!("{XSD}{datatype}"));
    Literal::new_typed_literal(text, datatype).into()
}

/// A value of a range, in nine of ten cases one that fits; now and then a number of many digits,
/// where the store compares them.
pub(crate) fn value(random: &mut Random, range: Range, long_numbers: bool) -> Option<Term> {
    Some(match range {
        Range::Scalar(scalar) if scalar.is_numeric() && long_numbers && random.chance(25) => {
            let mut term = long_number(random);
            for _ in 0..20 {
                if fits(scalar, &term) {
                    break;
                }
                term = long_number(random);
            }
            term
        }
        Range::Scalar(scalar) => {
            let well_typed = random.chance(92);
            let mut term = scalar_value(random, scalar);
            for _ in 0..20 {
                if fits(scalar, &term) == well_typed {
                    break;
                }
                term = scalar_value(random, scalar);
            }
            term
        }
        Range::Enum(_) => {
            let names = ["GLAD", "SAD", "CALM", "GLAD", "SAD", "NONE"];
            Literal::new_simple_literal(random.choose(&names)).into()
        }
        Range::Literal(range) => literal(random, range),
        Range::Object(_) => return None,
    })
}

/// The text of a value as a literal of another datatype.
pub(crate) fn to_cast(random: &mut Random, value: &Term) -> Term {
    let text = match value {
        Term::Literal(literal) => literal.value(),
        Term::NamedNode(node) => node.as_str(),
        _ => return value.clone(),
    };
    match random.below(4) {
        0 => typed(text, "token"),
        1 => tagged(random, text),
        2 => typed(&format!(" {text}\n"), "string"),
        _ => typed(text, "string"),
    }
}

/// A neighbour of a value in the order of its scalar, as far as there is one nearby.
pub(crate) fn neighbour(random: &mut Random, scalar: Scalar, value: &Term) -> Option<Term> {
    let Term::Literal(literal) = value else {
        return None;
    };
    let text = literal.value();
    if ZONED.contains(&scalar) {
        // The same time elsewhere.
        let zones = ["Z", "+02:00", "-05:30"];
        let zone = zones.iter().find_map(|zone| text.strip_suffix(zone));
        let local = zone.unwrap_or(text);
        let next = format!("{local}{}", random.choose(&["", "Z", "+02:00", "-05:30"]));
        return Some(typed(&next, scalar.datatype_iri().trim_start_matches(XSD)));
    }
    let up = random.chance(50);
    if !scalar.is_numeric() {
        if scalar != Scalar::String {
            return None;
        }
        let next = match random.below(3) {
            0 => format!("{text}a"),
            1 => text
                .chars()
                .take(text.chars().count().saturating_sub(1))
                .collect(),
            _ => text.to_uppercase(),
        };
        return Some(typed(&next, "string"));
    }
    let plain = Number::from_literal(literal)?.plain()?;
    let next = match plain.parse::<BigInt>() {
        Ok(whole) if scalar.is_integer() || random.chance(50) => {
            let next: BigInt = whole + if up { 1 } else { -1 };
            next.to_string()
        }
        Ok(whole) => format!("{whole}.1"),
        Err(_) => format!("{plain}1"),
    };
    Some(typed(&next, "decimal"))
}

/// A value that may or may not fit a scalar.
pub(crate) fn scalar_value(random: &mut Random, scalar: Scalar) -> Term {
    match scalar {
        Scalar::String => string(random),
        Scalar::Boolean => {
            let text = random.choose(&["true", "false", "1", "0"]);
            typed(text, "boolean")
        }
        Scalar::Iri => match random.below(12) {
            0 => typed("x", "string"),
            n => NamedNode::new_unchecked(format!("http://e/x{}", n % 5)).into(),
        },
        Scalar::DateTime | Scalar::Date | Scalar::Time | Scalar::Year | Scalar::YearMonth => {
            moment(random, scalar)
        }
        _ => number(random),
    }
}

fn string(random: &mut Random) -> Term {
    let text = random.choose(TEXTS);
    match random.below(10) {
        0..3 => tagged(random, text),
        9 if random.chance(30) => typed("5", "integer"),
        _ => Literal::new_simple_literal(text).into(),
    }
}

fn tagged(random: &mut Random, text: &str) -> Term {
    let tag = random.choose(TAGS);
    Literal::new_language_tagged_literal_unchecked(text, tag).into()
}

/// A number in one of its lexical forms, of one of the numeric datatypes that hold it.
fn number(random: &mut Random) -> Term {
    let text = random.choose(NUMBERS);
    let whole = !text.contains('.');
    let negative = text.starts_with('-');
    match random.below(12) {
        0..5 if whole => {
            let small = text.len() < 6;
            let padded = format!("0{text}");
            let lexical = if random.chance(15) && !negative {
                padded.as_str()
            } else {
                text
            };
            match random.below(6) {
                0 if small => typed(lexical, "int"),
                1 => typed(lexical, "long"),
                2 if !negative => typed(lexical, "nonNegativeInteger"),
                3 if !negative && small => typed(lexical, "unsignedInt"),
                _ => typed(lexical, "integer"),
            }
        }
        0..8 => {
            let lexical = match (whole, random.below(4)) {
                (true, 0) => format!("{text}.0"),
                (false, 0) => format!("{text}0"),
                (_, 1) if !negative => format!("+{text}"),
                _ => text.to_owned(),
            };
            typed(&lexical, "decimal")
        }
        8 | 9 => {
            let lexical = match random.below(5) {
                0 => format!("{text}E0"),
                1 => format!("{text}e+00"),
                2 if random.chance(15) => random.choose(&["NaN", "INF", "-INF"]).to_string(),
                _ => text.to_owned(),
            };
            typed(&lexical, "double")
        }
        10 => typed(text, "float"),
        _ if random.chance(40) => typed("none", random.choose(&["string", "integer"])),
        _ => typed(text, if whole { "integer" } else { "decimal" }),
    }
}

/// A number of many digits, or one next to it, in one of its lexical forms.
fn long_number(random: &mut Random) -> Term {
    let sign = |random: &mut Random, text: &str| match text.strip_prefix('-') {
        Some(digits) if random.chance(50) => format!("-00{digits}"),
        None if random.chance(30) => format!("+{text}"),
        None if random.chance(30) => format!("00{text}"),
        _ => text.to_owned(),
    };
    match random.below(8) {
        0..4 => {
            let text = random.choose(LONG_INTEGERS);
            let lexical = sign(random, text);
            match random.below(4) {
                0 => typed(
                    &format!("{lexical}.{}", random.choose(&["0", "00", ""])),
                    "decimal",
                ),
                1 if !text.starts_with('-') => typed(&lexical, "nonNegativeInteger"),
                _ => typed(&lexical, "integer"),
            }
        }
        4..6 => {
            let text = random.choose(LONG_DECIMALS);
            let zeros = random.choose(&["", "0", "0000000000000000000000"]);
            let lexical = sign(random, text) + zeros;
            typed(&lexical, "decimal")
        }
        6 => typed(random.choose(DOUBLES), "double"),
        _ => typed(
            random.choose(&["0.1", "1.5", "1e30", "9007199254740992"]),
            "float",
        ),
    }
}

/// Returns whether operands of a scalar may have these digits: 64 bits, or 18 digits behind the point,
/// and for floats the shortest digits of one, below 2^53 - 1, from which on whole numbers in variables are no `Float`.
pub(crate) fn is_operand(scalar: Scalar, plain: &str) -> bool {
    if scalar.is_float() {
        let nearest: f64 = plain.parse().expect("digits");
        return nearest.abs() < 9_007_199_254_740_991.0 && nearest.to_string() == plain;
    }
    let (whole, fraction) = plain.split_once('.').unwrap_or((plain, ""));
    whole.parse::<i64>().is_ok() && fraction.len() <= 18
}

fn moment(random: &mut Random, scalar: Scalar) -> Term {
    let (date, time) = (
        random.choose(&["2020-02-28", "2020-02-29", "1999-12-31", "2020-03-01"]),
        random.choose(&["00:00:00", "12:30:00", "23:59:59.5", "12:30:00.123"]),
    );
    let zone = random.choose(&["", "", "Z", "+02:00", "-05:30"]);
    let text = match scalar {
        Scalar::DateTime => format!("{date}T{time}{zone}"),
        Scalar::Date => format!("{date}{zone}"),
        Scalar::Time => format!("{time}{zone}"),
        Scalar::Year => format!("{}{zone}", &date[..4]),
        _ => format!("{}{zone}", &date[..7]),
    };
    let datatype = scalar.datatype_iri().trim_start_matches(XSD);
    match random.below(20) {
        0 => typed(&text, "string"),
        _ => typed(&text, datatype),
    }
}

/// A literal whose text and datatype every store keeps.
fn literal(random: &mut Random, range: LiteralRange) -> Term {
    let text = random.choose(TEXTS);
    let plain = || Literal::new_simple_literal(text).into();
    match (range, random.below(12)) {
        (LiteralRange::DateOrYearOrMonth, n) => match n {
            0..4 => typed(random.choose(&["2020-02-29", "1999-12-31"]), "date"),
            4..7 => typed(random.choose(&["2020", "1999"]), "gYear"),
            7..11 => typed(random.choose(&["2020-02", "1999-12"]), "gYearMonth"),
            _ => plain(),
        },
        (LiteralRange::LangString, 11) => plain(),
        (LiteralRange::LangString, _) => tagged(random, text),
        (_, 0..5) => tagged(random, text),
        (LiteralRange::StringOrLangString, 11) => typed("5", "integer"),
        (LiteralRange::StringOrLangString, _) | (_, 5..8) => plain(),
        (_, 8) => typed(random.choose(&["5", "10"]), "integer"),
        (_, 9) => typed("true", "boolean"),
        (_, 10) => typed("2020-02-29", "date"),
        _ => {
            let datatype = NamedNode::new_unchecked("http://v/colour");
            Literal::new_typed_literal(text, datatype).into()
        }
    }
}
