//! Which literals Oxigraph keeps by value, so that their spelling is lost.

use std::fmt::Display;
use std::str::FromStr;

use oxigraph::model::{LiteralRef, TermRef};
use oxsdatatypes::{
    Boolean, Date, DateTime, DayTimeDuration, Decimal, Double, Duration, Float, GDay, GMonth,
    GMonthDay, GYear, GYearMonth, Time, YearMonthDuration,
};

const XSD: &str = "http://www.w3.org/2001/XMLSchema#";

/// Tells whether the store will give `term` back in another spelling or with another datatype.
pub(super) fn is_lost(term: TermRef<'_>) -> bool {
    let TermRef::Literal(literal) = term else {
        return false;
    };
    let Some(datatype) = literal.datatype().as_str().strip_prefix(XSD) else {
        return false;
    };
    match datatype {
        "string" => false,
        "integer" => respelled::<i64>(literal),
        // All of these become integers when their value fits into 64 bits.
        "byte" | "short" | "int" | "long" | "unsignedByte" | "unsignedShort" | "unsignedInt"
        | "unsignedLong" | "positiveInteger" | "negativeInteger" | "nonPositiveInteger"
        | "nonNegativeInteger" => literal.value().parse::<i64>().is_ok(),
        "boolean" => respelled::<Boolean>(literal),
        "decimal" => respelled::<Decimal>(literal),
        "float" => respelled::<Float>(literal),
        "double" => respelled::<Double>(literal),
        "dateTime" => respelled::<DateTime>(literal),
        "dateTimeStamp" => literal.value().parse::<DateTime>().is_ok(),
        "date" => respelled::<Date>(literal),
        "time" => respelled::<Time>(literal),
        "gYear" => respelled::<GYear>(literal),
        "gYearMonth" => respelled::<GYearMonth>(literal),
        "gMonth" => respelled::<GMonth>(literal),
        "gMonthDay" => respelled::<GMonthDay>(literal),
        "gDay" => respelled::<GDay>(literal),
        "duration" => respelled::<Duration>(literal),
        "yearMonthDuration" => respelled::<YearMonthDuration>(literal),
        "dayTimeDuration" => respelled::<DayTimeDuration>(literal),
        _ => false,
    }
}

/// Tells whether the text is a value of `T` that is written otherwise.
fn respelled<T: FromStr + Display>(literal: LiteralRef<'_>) -> bool {
    let value = literal.value();
    value
        .parse::<T>()
        .is_ok_and(|parsed| parsed.to_string() != value)
}

#[cfg(test)]
mod tests {
    use oxigraph::model::{GraphName, Literal, NamedNode, Quad};
    use oxigraph::store::Store;

    use super::*;

    /// The rule is the store's: what comes back differs exactly where the rule says so.
    #[test]
    fn the_rule_agrees_with_the_store() {
        let cases = [
            ("integer", "1"),
            ("integer", "01"),
            ("integer", "+1"),
            ("integer", "x"),
            ("integer", "99999999999999999999"),
            ("int", "1"),
            ("unsignedInt", "0007"),
            ("unsignedLong", "99999999999999999999"),
            ("decimal", "1.5"),
            ("decimal", "1.50"),
            ("double", "1.0E0"),
            ("double", "1.5"),
            ("float", "INF"),
            ("boolean", "true"),
            ("boolean", "1"),
            ("date", "2020-01-01"),
            ("dateTime", "2020-01-01T00:00:00Z"),
            ("dateTime", "2020-01-01T00:00:00+00:00"),
            ("dateTime", "2020-01-01T00:00:00.10Z"),
            ("gYear", "2020"),
            ("string", "01"),
            ("anyURI", "x"),
            ("duration", "PT60S"),
            ("time", "24:00:00"),
        ];
        let node = NamedNode::new_unchecked("http://example.org/s");
        for (datatype, value) in cases {
            let datatype = NamedNode::new_unchecked(format!("{XSD}{datatype}"));
            let literal = Literal::new_typed_literal(value, datatype);
            let store = Store::new().unwrap();
            store
                .insert(&Quad::new(
                    node.clone(),
                    node.clone(),
                    literal.clone(),
                    GraphName::DefaultGraph,
                ))
                .unwrap();
            let back = store.iter().next().unwrap().unwrap().object;
            let lost = back != literal.clone().into();
            assert_eq!(
                is_lost(literal.as_ref().into()),
                lost,
                "{literal} came back as {back}"
            );
        }
    }
}
