//! `typeCast`: converts stored values to the declared datatype.

use std::borrow::Cow;

use oxrdf::vocab::xsd;
use oxrdf::{LiteralRef, NamedNodeRef, Term, TermRef};
use soml_core::datatype::Scalar;

use super::json::{is_plain, is_text};
use super::lexical::{collapsed, is_lexical};
use super::number::Number;

/// Returns a term as a value of `scalar`, cast from its lexical form if its datatype differs.
///
/// `None` if the lexical form is not in the lexical space of the scalar: such values count as
/// absent.
#[must_use]
pub fn cast(scalar: Scalar, term: &Term) -> Option<Cow<'_, Term>> {
    if is_of(scalar, term.as_ref()) {
        return Some(Cow::Borrowed(term));
    }
    converted(scalar, term.as_ref()).map(|value| Cow::Owned(value.into_owned()))
}

/// Does what [`cast`] does, without a copy of the text.
#[must_use]
pub fn cast_ref(scalar: Scalar, term: TermRef<'_>) -> Option<TermRef<'_>> {
    if is_of(scalar, term) {
        return Some(term);
    }
    converted(scalar, term)
}

/// Returns whether a term need not be cast.
fn is_of(scalar: Scalar, term: TermRef<'_>) -> bool {
    let TermRef::Literal(literal) = term else {
        return scalar == Scalar::Iri;
    };
    if scalar.is_numeric() {
        Number::from_literal(literal).is_some()
    } else if scalar == Scalar::String {
        // A tag stays, since languages choose by it.
        is_text(literal)
    } else {
        literal.datatype().as_str() == scalar.datatype_iri()
    }
}

/// Returns the value of another datatype that the lexical form of a literal stands for.
fn converted(scalar: Scalar, term: TermRef<'_>) -> Option<TermRef<'_>> {
    let TermRef::Literal(literal) = term else {
        return None;
    };
    let text = collapsed(literal.value());
    let typed = |datatype: NamedNodeRef<'static>| LiteralRef::new_typed_literal(text, datatype);
    let own = NamedNodeRef::new_unchecked(scalar.datatype_iri());
    let value: TermRef<'_> = match scalar {
        Scalar::Iri => NamedNodeRef::new(text).ok()?.into(),
        Scalar::String => LiteralRef::new_simple_literal(literal.value()).into(),
        Scalar::Boolean => matches!(text, "true" | "false" | "1" | "0")
            .then(|| typed(own))?
            .into(),
        number if number.is_numeric() => {
            let value = typed(if number.is_integer() {
                xsd::INTEGER
            } else if number.is_float() {
                xsd::DOUBLE
            } else {
                xsd::DECIMAL
            });
            Number::from_literal(value)?;
            value.into()
        }
        time => is_lexical(time, text).then(|| typed(own))?.into(),
    };
    Some(value)
}

/// Returns a term as the name of a value of an enumeration: the text of any literal, without a tag.
#[must_use]
pub fn cast_name(term: &Term) -> Option<Cow<'_, Term>> {
    let name = cast_name_ref(term.as_ref())?;
    Some(if name == term.as_ref() {
        Cow::Borrowed(term)
    } else {
        Cow::Owned(name.into_owned())
    })
}

/// Does what [`cast_name`] does, without a copy of the text.
#[must_use]
pub fn cast_name_ref(term: TermRef<'_>) -> Option<TermRef<'_>> {
    match term {
        TermRef::Literal(literal) if is_plain(literal) => Some(term),
        TermRef::Literal(literal) => Some(LiteralRef::new_simple_literal(literal.value()).into()),
        _ => None,
    }
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
                Scalar::String,
                Literal::new_language_tagged_literal_unchecked("a", "en").into(),
                Some("\"a\"@en".to_owned()),
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
