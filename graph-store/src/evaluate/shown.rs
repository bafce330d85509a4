//! Sort keys: the value that a single-valued field displays.

use std::borrow::Cow;

use oxrdf::{Literal, Term};
use soml_core::datatype::Scalar;
use soml_core::lang::LangSpec;

use crate::query::SortBy;
use crate::value::{
    Choice, Languages, LiteralKey, Numbers, SortValue, cast, is_plain, is_text, literal_key,
    sort_value, write_scalar,
};

/// Returns the sort value of a single-valued field. The field chooses among its stored values by
/// language, then the smallest of those that fit its range.
#[must_use]
pub fn shown(by: &SortBy, values: &[Term], accept_language: &[String]) -> SortValue {
    match by {
        SortBy::Scalar { scalar, cast, lang } => {
            shown_scalar(*scalar, *cast, lang.as_ref(), values, accept_language)
        }
        SortBy::Enum { names, cast } => {
            let texts = literals(values).filter(|literal| *cast || is_plain(literal));
            let known = texts.filter(|literal| names.iter().any(|name| name == literal.value()));
            let smallest = known.map(|literal| literal.value()).min();
            smallest.map_or(SortValue::Missing, |name| SortValue::Text(name.to_owned()))
        }
        SortBy::Literal { part, lang, types } => {
            let languages = Languages {
                spec: lang.as_ref(),
                accepted: accept_language,
            };
            let fits =
                |term: &Term| matches!(term, Term::Literal(literal) if types.accepts(literal));
            let choice = languages.single(values, fits);
            let parts = [LiteralKey::Value, LiteralKey::Lang, LiteralKey::Datatype];
            let smallest = |terms: &[&Term]| {
                literals(terms.iter().copied())
                    .filter(|literal| types.accepts(literal))
                    .min_by_key(|literal| parts.map(|part| literal_key(part, literal)))
                    .cloned()
            };
            let smallest = smallest(&choice.chosen).or_else(|| smallest(&choice.others));
            let smallest = smallest.as_ref();
            smallest.map_or(SortValue::Missing, |literal| literal_key(*part, literal))
        }
        SortBy::Iri | SortBy::TypeName(_) | SortBy::Constant(_) => SortValue::Missing,
    }
}

fn shown_scalar(
    scalar: Scalar,
    is_cast: bool,
    lang: Option<&LangSpec>,
    values: &[Term],
    accept_language: &[String],
) -> SortValue {
    let cast_values: Vec<Term>;
    let values = if is_cast {
        cast_values = values
            .iter()
            .filter_map(|value| cast(scalar, value))
            .map(Cow::into_owned)
            .collect();
        &cast_values
    } else {
        values
    };
    let choice = match (scalar, lang, values) {
        (Scalar::String, None, [] | [_]) => Choice::all(values),
        (Scalar::String, spec, _) => {
            let languages = Languages {
                spec,
                accepted: accept_language,
            };
            let fits = |term: &Term| matches!(term, Term::Literal(literal) if is_text(literal));
            languages.single(values, fits)
        }
        _ => Choice::all(values),
    };
    let mut scratch = Vec::new();
    let fitting = choice.chosen.into_iter().filter_map(|value| {
        scratch.clear();
        write_scalar(&mut scratch, scalar, value, Numbers::Exact).then(|| sort_value(scalar, value))
    });
    fitting.min().unwrap_or(SortValue::Missing)
}

/// Keeps the literals among values.
fn literals<'v>(values: impl IntoIterator<Item = &'v Term>) -> impl Iterator<Item = &'v Literal> {
    values.into_iter().filter_map(|value| match value {
        Term::Literal(literal) => Some(literal),
        _ => None,
    })
}
