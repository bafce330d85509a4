//! Literals of the families that GraphQL sees as `Literal`.

use std::cmp::Ordering;

use oxrdf::{Literal, Term};
use soml_core::datatype::Scalar;
use soml_core::schema::{LiteralMember, LiteralRange, Schema};

use super::scalar::{fits, is_string};

/// Returns whether a term belongs to a literal family.
pub(crate) fn belongs(schema: &Schema, range: LiteralRange, term: &Term) -> bool {
    let Term::Literal(literal) = term else {
        return false;
    };
    let is = |scalar: Scalar| {
        literal.language().is_none()
            && literal.datatype().as_str() == scalar.datatype_iri()
            && fits(scalar, term)
    };
    match range {
        LiteralRange::Any => true,
        LiteralRange::LangString => literal.language().is_some(),
        LiteralRange::StringOrLangString => is_string(literal),
        LiteralRange::DateOrYearOrMonth => {
            is(Scalar::Date) || is(Scalar::Year) || is(Scalar::YearMonth)
        }
        LiteralRange::Union(id) => schema[id].members.iter().any(|member| match member {
            LiteralMember::Scalar(scalar) => is(*scalar),
            LiteralMember::LangString => literal.language().is_some(),
        }),
    }
}

/// The tag of a term in lower case.
pub(crate) fn tag(term: &Term) -> Option<String> {
    match term {
        Term::Literal(literal) => literal.language().map(str::to_ascii_lowercase),
        _ => None,
    }
}

/// The datatype that a literal shows: none beside a language tag.
pub(crate) fn datatype(literal: &Literal) -> Option<&str> {
    let tagged = literal.language().is_some();
    (!tagged).then(|| literal.datatype().as_str())
}

/// Compares by text, then tag, then datatype.
pub(crate) fn compare(a: &Literal, b: &Literal) -> Ordering {
    let lower = |literal: &Literal| literal.language().map(str::to_ascii_lowercase);
    a.value()
        .chars()
        .cmp(b.value().chars())
        .then_with(|| lower(a).cmp(&lower(b)))
        .then_with(|| datatype(a).cmp(&datatype(b)))
}
