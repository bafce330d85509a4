//! `typeCast`: stored values as if they were of the declared datatype.

use std::borrow::Cow;

use oxrdf::vocab::xsd;
use oxrdf::{Literal, NamedNode, Term};
use soml_core::datatype::Scalar;

use super::lexical::is_lexical;
use super::number::Number;

/// Returns a term as a value of `scalar`, from its text where its datatype does not fit already.
///
/// `None` when the text is not in the lexical space of the scalar: such values are as if absent.
#[must_use]
pub fn cast(scalar: Scalar, term: &Term) -> Option<Cow<'_, Term>> {
    let Term::Literal(literal) = term else {
        return (scalar == Scalar::Iri).then_some(Cow::Borrowed(term));
    };
    let text = literal.value().trim_matches([' ', '\t', '\r', '\n']);
    let fits = if scalar.is_numeric() {
        Number::from_literal(literal).is_some()
    } else {
        literal.datatype().as_str() == scalar.datatype_iri()
    };
    if fits {
        return Some(Cow::Borrowed(term));
    }
    let typed =
        |datatype: &str| Literal::new_typed_literal(text, NamedNode::new_unchecked(datatype));
    let value: Term = match scalar {
        Scalar::Iri => NamedNode::new(text).ok()?.into(),
        Scalar::String => Literal::new_simple_literal(literal.value()).into(),
        Scalar::Boolean => matches!(text, "true" | "false" | "1" | "0")
            .then(|| typed(scalar.datatype_iri()))?
            .into(),
        number if number.is_numeric() => {
            let datatype = if number.is_integer() {
                xsd::INTEGER
            } else if number.is_float() {
                xsd::DOUBLE
            } else {
                xsd::DECIMAL
            };
            let value = typed(datatype.as_str());
            Number::from_literal(&value)?;
            value.into()
        }
        time => is_lexical(time, text)
            .then(|| typed(time.datatype_iri()))?
            .into(),
    };
    Some(Cow::Owned(value))
}

#[cfg(test)]
mod tests {
    use oxrdf::{Literal, NamedNode, Term};
    use soml_core::datatype::Scalar;

    use super::cast;

    #[test]
    fn values_are_taken_from_their_text() {
        let text = |text: &str| Term::from(Literal::new_simple_literal(text));
        let xsd = "http://www.w3.org/2001/XMLSchema#";
        let shown = |scalar, term: &Term| cast(scalar, term).map(|term| term.to_string());
        let cases = [
            (
                Scalar::Integer,
                text(" 12 "),
                Some(format!("\"12\"^^<{xsd}integer>")),
            ),
            (Scalar::Integer, text("none"), None),
            (
                Scalar::Double,
                text("1e3"),
                Some(format!("\"1e3\"^^<{xsd}double>")),
            ),
            (Scalar::Decimal, text("1e3"), None),
            (
                Scalar::Boolean,
                text("true"),
                Some(format!("\"true\"^^<{xsd}boolean>")),
            ),
            (
                Scalar::Date,
                text("2020-01-01"),
                Some(format!("\"2020-01-01\"^^<{xsd}date>")),
            ),
            (Scalar::Date, text("2020-13-01"), None),
            (
                Scalar::Iri,
                text("http://r/1"),
                Some("<http://r/1>".to_owned()),
            ),
            (
                Scalar::String,
                Literal::from(5).into(),
                Some("\"5\"".to_owned()),
            ),
            (
                Scalar::Integer,
                Term::from(NamedNode::new_unchecked("http://r/1")),
                None,
            ),
        ];
        for (scalar, term, expected) in cases {
            assert_eq!(shown(scalar, &term), expected, "{scalar:?} {term}");
        }
    }
}
