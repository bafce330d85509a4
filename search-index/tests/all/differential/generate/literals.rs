//! Random values of properties, few and often equal: bounds of types, several forms of one value, and
//! now and then one that does not fit.

use oxrdf::{Literal, NamedNode, Term};
use search_index::soml_core::datatype::Scalar;
use search_index::soml_core::schema::{LiteralRange, Range};
use test_support::random::Random;

const XSD: &str = "http://www.w3.org/2001/XMLSchema#";

/// Words with what the rules of analyzers are about.
pub(crate) const WORDS: &[&str] = &[
    "red",
    "Red",
    "planet",
    "planets",
    "the",
    "of",
    "sun",
    "SUN",
    "x-ray",
    "don't",
    "3.14",
    "1,000",
    "a.b",
    "A1",
    "snake_case",
    "Zürich",
    "ΣΑΣ",
    "東京",
    "moon",
    "moonlight",
    "a:b",
    "🚀",
];

const INTEGERS: &[&str] = &[
    "-9223372036854775808",
    "-2147483649",
    "-2147483648",
    "-32769",
    "-129",
    "-128",
    "-7",
    "-1",
    "0",
    "1",
    "2",
    "5",
    "007",
    "+5",
    "100",
    "127",
    "128",
    "255",
    "256",
    "32767",
    "65535",
    "2147483647",
    "4294967295",
    "9007199254740993",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "100000000000000000000000000001",
];
const DECIMALS: &[&str] = &[
    "-12.50",
    "-0.1",
    "0.0",
    "0.1",
    "1",
    "1.50",
    "1.5",
    "2.25",
    "9007199254740993.5",
    "0.1000000000000000000000001",
    "-100000000000000000000000000.5",
    "100000000000000000000000000.5",
];
const DOUBLES: &[&str] = &[
    "-1e30", "-1.5", "-0.1", "-0.0", "0", "0.1", "1.5", "2.0", "2", "3.25", "1e30", "1.7e300",
    "5e-324", "INF", "NaN",
];
const DATES: &[&str] = &[
    "-9999-01-01",
    "0001-12-31",
    "1969-12-31",
    "1970-01-01",
    "2000-02-29",
    "2020-03-01",
    "99999-12-31",
    "100000-01-01",
];
const TIMES: &[&str] = &[
    "00:00:00",
    "12:30:00",
    "12:30:00.5",
    "12:30:00.1239",
    "23:59:59.999",
];
const ZONES: &[&str] = &["", "", "Z", "+02:00", "-05:30"];
const TAGS: &[&str] = &["en", "en-GB", "en-US", "de", "de-CH", "fr"];

/// Makes the values of one property: a few that its objects share.
pub(crate) fn values(random: &mut Random, range: Range) -> Vec<Term> {
    let count = random.between(2, 6);
    (0..count).map(|_| value(random, range)).collect()
}

fn value(random: &mut Random, range: Range) -> Term {
    if random.chance(4) {
        return misfit(random);
    }
    match range {
        Range::Scalar(scalar) => scalar_value(random, scalar),
        Range::Enum(_) => {
            let name = random.word(&["GLAD", "SAD", "CALM"]);
            Literal::new_simple_literal(name).into()
        }
        Range::Literal(LiteralRange::DateOrYearOrMonth) => {
            let scalar = *random.pick(&[Scalar::Date, Scalar::Year, Scalar::YearMonth]);
            scalar_value(random, scalar)
        }
        Range::Literal(LiteralRange::StringOrLangString) if random.chance(40) => plain(random),
        Range::Literal(_) => {
            let (text, tag) = (text(random), random.word(TAGS));
            Literal::new_language_tagged_literal_unchecked(text, tag.to_lowercase()).into()
        }
        Range::Object(_) => misfit(random),
    }
}

fn misfit(random: &mut Random) -> Term {
    match random.below(3) {
        0 => typed("many", "integer"),
        1 => Literal::new_simple_literal("not 5").into(),
        _ => typed("2020-99-01", "date"),
    }
}

fn typed(text: &str, datatype: &str) -> Term {
    Literal::new_typed_literal(text, NamedNode::new_unchecked(format!("{XSD}{datatype}"))).into()
}

fn plain(random: &mut Random) -> Term {
    Literal::new_simple_literal(text(random)).into()
}

/// Makes a text of a few words; now and then an empty one, a long one, or one long word.
fn text(random: &mut Random) -> String {
    match random.below(60) {
        0 => String::new(),
        1 => "red planet ".repeat(900),
        2 => "ab".repeat(300),
        3 => "- ... -".to_owned(),
        _ => {
            let count = random.between(1, 6);
            let words: Vec<&str> = (0..count).map(|_| random.word(WORDS)).collect();
            words.join(random.word(&[" ", " ", " ", ", ", " - "]))
        }
    }
}

fn scalar_value(random: &mut Random, scalar: Scalar) -> Term {
    let own = |text: &str| -> Term {
        let datatype = NamedNode::new_unchecked(scalar.datatype_iri());
        Literal::new_typed_literal(text, datatype).into()
    };
    match scalar {
        Scalar::String => plain(random),
        Scalar::Iri => {
            let iri = random.word(&[
                "http://e/a1",
                "http://e/b1",
                "http://e/B1",
                "urn:x:1",
                "urn:x:10",
            ]);
            NamedNode::new_unchecked(iri).into()
        }
        Scalar::Boolean => own(random.word(&["true", "false", "1", "0"])),
        Scalar::Time => own(&format!("{}{}", random.word(TIMES), random.word(ZONES))),
        Scalar::DateTime => {
            let (date, time, zone) = (random.word(DATES), random.word(TIMES), random.word(ZONES));
            own(&format!("{date}T{time}{zone}"))
        }
        Scalar::Date => own(&format!("{}{}", random.word(DATES), random.word(ZONES))),
        Scalar::Year | Scalar::YearMonth => {
            let (date, zone) = (random.word(DATES), random.word(ZONES));
            let cut = if scalar == Scalar::Year { 6 } else { 3 };
            own(&format!("{}{zone}", &date[..date.len() - cut]))
        }
        Scalar::Decimal => {
            if random.chance(50) {
                own(random.word(DECIMALS))
            } else {
                typed(random.word(INTEGERS), "integer")
            }
        }
        scalar if scalar.is_float() => fitting(random, scalar, DOUBLES, "double"),
        scalar => fitting(random, scalar, INTEGERS, "integer"),
    }
}

/// Picks a number that is a value of a scalar.
fn fitting(random: &mut Random, scalar: Scalar, numbers: &[&str], datatype: &str) -> Term {
    let fits = |text: &&&str| {
        let term = typed(text, datatype);
        search_index::graph_store::value::canonical_value(scalar, &term).is_some()
    };
    let numbers: Vec<&str> = numbers.iter().filter(fits).copied().collect();
    typed(random.word(&numbers), datatype)
}
