//! The lexical spaces of datatypes.

use std::str::FromStr;

use oxsdatatypes::{Date, DateTime, GYear, GYearMonth, Time};
use soml_core::datatype::Scalar;

/// Returns the lexical form of a number, a date or time, or a Boolean without the white space around it,
/// which [XML Schema](https://www.w3.org/TR/xmlschema11-2/#rf-whiteSpace) collapses; inside of it
/// none is allowed.
#[must_use]
pub fn collapsed(text: &str) -> &str {
    text.trim_matches([' ', '\t', '\r', '\n'])
}

/// Returns whether `text` is in the lexical space of a date or time scalar.
pub fn is_lexical(scalar: Scalar, text: &str) -> bool {
    match scalar {
        Scalar::DateTime => DateTime::from_str(text).is_ok(),
        Scalar::Date => Date::from_str(text).is_ok(),
        Scalar::Time => Time::from_str(text).is_ok(),
        Scalar::Year => GYear::from_str(text).is_ok(),
        Scalar::YearMonth => GYearMonth::from_str(text).is_ok(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use oxrdf::{Literal, NamedNode};
    use soml_core::datatype::Scalar;

    use super::super::{Numbers, canonical_value, cast, sort_value, write_scalar};

    #[test]
    fn white_space_around_a_value_is_no_part_of_it() {
        for (scalar, text) in [
            (Scalar::Integer, "7"),
            (Scalar::Long, "8"),
            (Scalar::Decimal, "1.5"),
            (Scalar::Double, "1.5"),
            (Scalar::Boolean, "true"),
            (Scalar::DateTime, "2025-07-23T12:00:00+02:00"),
            (Scalar::DateTime, "2025-07-23T12:00:00"),
            (Scalar::Date, "2025-07-23"),
            (Scalar::Time, "12:00:00"),
            (Scalar::Year, "2025"),
            (Scalar::YearMonth, "2025-07"),
        ] {
            let literal = |text: &str| {
                let datatype = NamedNode::new_unchecked(scalar.datatype_iri());
                Literal::new_typed_literal(text, datatype)
            };
            let shown = |literal: &Literal| {
                let mut out = Vec::new();
                let fits = write_scalar(&mut out, scalar, literal, Numbers::Exact);
                assert!(fits, "{literal}");
                out
            };
            let plain = literal(text);
            for spaced in [format!(" {text} "), format!("\n\t{text}\r")] {
                let spaced = literal(&spaced);
                assert_eq!(shown(&spaced), shown(&plain));
                assert_eq!(sort_value(scalar, &spaced), sort_value(scalar, &plain));
                let value = canonical_value(scalar, &spaced);
                assert!(value.is_some() && value == canonical_value(scalar, &plain));
                assert!(cast(scalar, &spaced.clone().into()).is_some());
            }
            let broken = literal(&format!("{text} {text}"));
            assert!(!write_scalar(
                &mut Vec::new(),
                scalar,
                &broken,
                Numbers::Exact
            ));
        }
    }
}
