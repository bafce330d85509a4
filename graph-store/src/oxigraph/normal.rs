//! Literals as Oxigraph returns them.
//!
//! It keeps numbers, dates and other values instead of their text, so `"03"^^xsd:int` comes back as
//! `"3"^^xsd:integer`, and both are the same term to it. A transaction must take them for the same too.

use std::str::FromStr;

use oxrdf::vocab::xsd;
use oxrdf::{Literal, NamedNodeRef, Quad, Term};
use oxsdatatypes::{
    Boolean, Date, DateTime, DayTimeDuration, Decimal, Double, Duration, Float, GDay, GMonth,
    GMonthDay, GYear, GYearMonth, Integer, Time, YearMonthDuration,
};

/// The datatypes whose values are integers.
const INTEGERS: [NamedNodeRef<'static>; 13] = [
    xsd::INTEGER,
    xsd::BYTE,
    xsd::SHORT,
    xsd::INT,
    xsd::LONG,
    xsd::UNSIGNED_BYTE,
    xsd::UNSIGNED_SHORT,
    xsd::UNSIGNED_INT,
    xsd::UNSIGNED_LONG,
    xsd::POSITIVE_INTEGER,
    xsd::NEGATIVE_INTEGER,
    xsd::NON_POSITIVE_INTEGER,
    xsd::NON_NEGATIVE_INTEGER,
];

/// Returns a quad as it comes back.
pub(super) fn normal(quad: Quad) -> Quad {
    Quad {
        object: normal_term(quad.object),
        ..quad
    }
}

/// Returns a term as it comes back.
pub(super) fn normal_term(term: Term) -> Term {
    match &term {
        Term::Literal(literal) => by_value(literal).map_or(term, Term::from),
        _ => term,
    }
}

/// Returns the literal of the value of a literal, if the value is kept instead of the text.
fn by_value(literal: &Literal) -> Option<Literal> {
    let text = literal.value();
    match literal.datatype() {
        xsd::STRING => None,
        xsd::BOOLEAN => read::<Boolean>(text),
        xsd::FLOAT => read::<Float>(text),
        xsd::DOUBLE => read::<Double>(text),
        xsd::DECIMAL => read::<Decimal>(text),
        xsd::DATE_TIME | xsd::DATE_TIME_STAMP => read::<DateTime>(text),
        xsd::TIME => read::<Time>(text),
        xsd::DATE => read::<Date>(text),
        xsd::G_YEAR_MONTH => read::<GYearMonth>(text),
        xsd::G_YEAR => read::<GYear>(text),
        xsd::G_MONTH_DAY => read::<GMonthDay>(text),
        xsd::G_DAY => read::<GDay>(text),
        xsd::G_MONTH => read::<GMonth>(text),
        xsd::DURATION => read::<Duration>(text),
        xsd::YEAR_MONTH_DURATION => read::<YearMonthDuration>(text),
        xsd::DAY_TIME_DURATION => read::<DayTimeDuration>(text),
        datatype if INTEGERS.contains(&datatype) => read::<Integer>(text),
        _ => None,
    }
}

fn read<T: FromStr + Into<Literal>>(text: &str) -> Option<Literal> {
    text.parse::<T>().ok().map(Into::into)
}

#[cfg(test)]
mod tests {
    use oxigraph::store::Store;
    use oxrdf::{GraphName, NamedNode};

    use super::*;

    #[test]
    fn literals_are_those_that_the_store_returns() {
        let texts = [
            "1",
            "01",
            "+1",
            "-0",
            "1.0",
            "1.50",
            "1e2",
            "1E02",
            "INF",
            "NaN",
            "-0.0",
            "true",
            "0",
            "2020-01-01T00:00:00Z",
            "2020-01-01T00:00:00.500+00:00",
            "2020-01-01T24:00:00",
            "2020-01-01",
            "2020-01-01+14:00",
            "12:00:00.0",
            "24:00:00",
            "2020-01",
            "2020",
            "02020",
            "--01-01",
            "---01",
            "--01",
            "P1Y",
            "P12M",
            "P1DT24H",
            "PT0S",
            "-P1M",
            "P1Y1D",
            "text",
            "",
            "99999999999999999999",
            " 1 ",
        ];
        let datatypes = INTEGERS.into_iter().chain([
            xsd::STRING,
            xsd::BOOLEAN,
            xsd::FLOAT,
            xsd::DOUBLE,
            xsd::DECIMAL,
            xsd::DATE_TIME,
            xsd::DATE_TIME_STAMP,
            xsd::TIME,
            xsd::DATE,
            xsd::G_YEAR_MONTH,
            xsd::G_YEAR,
            xsd::G_MONTH_DAY,
            xsd::G_DAY,
            xsd::G_MONTH,
            xsd::DURATION,
            xsd::YEAR_MONTH_DURATION,
            xsd::DAY_TIME_DURATION,
            xsd::ANY_URI,
        ]);
        let node = NamedNode::new_unchecked("http://e/a");
        for datatype in datatypes {
            for text in texts {
                let literal = Literal::new_typed_literal(text, datatype);
                let graph = GraphName::DefaultGraph;
                let quad = Quad::new(node.clone(), node.clone(), literal, graph);
                let store = Store::new().unwrap();
                store.insert(&quad).unwrap();
                let kept = store.iter().next().unwrap().unwrap();
                assert_eq!(normal(quad.clone()), kept, "{quad}");
                assert_eq!(normal(kept.clone()), kept, "{quad}");
            }
        }
    }
}
