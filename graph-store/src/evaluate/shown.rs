//! Sort keys: the value that a single-valued field displays.

use oxrdf::{LiteralRef, TermRef};
use soml_core::datatype::Scalar;
use soml_core::lang::LangSpec;

use crate::query::SortBy;
use crate::value::{
    AsTerm, Choice, Languages, LiteralKey, Numbers, SortValue, cast_ref, is_plain, is_text,
    literal_key, sort_value, write_scalar,
};

/// Returns the sort value of a single-valued field. The field chooses among its stored values by
/// language, then the smallest of those that fit its range.
#[must_use]
pub fn shown<T: AsTerm>(by: &SortBy, values: &[T], accept_language: &[String]) -> SortValue {
    match by {
        SortBy::Scalar {
            scalar,
            cast: false,
            lang,
        } => shown_scalar(*scalar, lang.as_ref(), values, accept_language),
        SortBy::Scalar {
            scalar,
            cast: true,
            lang,
        } => {
            let values = values.iter();
            let cast: Vec<TermRef<'_>> = values
                .filter_map(|value| cast_ref(*scalar, value.as_term()))
                .collect();
            shown_scalar(*scalar, lang.as_ref(), &cast, accept_language)
        }
        SortBy::Enum { names, cast } => {
            let texts = literals(values).filter(|literal| *cast || is_plain(*literal));
            let known = texts.filter(|literal| names.iter().any(|name| name == literal.value()));
            let smallest = known.map(|literal| literal.value()).min();
            smallest.map_or(SortValue::Missing, |name| SortValue::Text(name.to_owned()))
        }
        SortBy::Literal { part, lang, types } => {
            let languages = Languages {
                spec: lang.as_ref(),
                accepted: accept_language,
            };
            let fits = |term: &T| matches!(term.as_term(), TermRef::Literal(literal) if types.accepts(literal));
            let choice = languages.single(values, fits);
            let parts = [LiteralKey::Value, LiteralKey::Lang, LiteralKey::Datatype];
            let smallest = |terms: &[&'_ T]| {
                literals(terms.iter().copied())
                    .filter(|literal| types.accepts(*literal))
                    .min_by_key(|literal| parts.map(|part| literal_key(part, *literal)))
                    .map(|literal| literal_key(*part, literal))
            };
            let smallest = smallest(&choice.chosen).or_else(|| smallest(&choice.others));
            smallest.unwrap_or(SortValue::Missing)
        }
        SortBy::Iri | SortBy::TypeName(_) | SortBy::Constant(_) => SortValue::Missing,
    }
}

fn shown_scalar<T: AsTerm>(
    scalar: Scalar,
    lang: Option<&LangSpec>,
    values: &[T],
    accept_language: &[String],
) -> SortValue {
    let choice = match (scalar, lang, values) {
        (Scalar::String, None, [] | [_]) => Choice::all(values),
        (Scalar::String, spec, _) => {
            let languages = Languages {
                spec,
                accepted: accept_language,
            };
            let fits =
                |term: &T| matches!(term.as_term(), TermRef::Literal(literal) if is_text(literal));
            languages.single(values, fits)
        }
        _ => Choice::all(values),
    };
    let mut scratch = Vec::new();
    let fitting = choice.chosen.into_iter().filter_map(|value| {
        scratch.clear();
        let value = value.as_term();
        write_scalar(&mut scratch, scalar, value, Numbers::Exact).then(|| sort_value(scalar, value))
    });
    fitting.min().unwrap_or(SortValue::Missing)
}

/// Keeps the literals among values.
fn literals<'v, T: AsTerm + 'v>(
    values: impl IntoIterator<Item = &'v T>,
) -> impl Iterator<Item = LiteralRef<'v>> {
    values
        .into_iter()
        .filter_map(|value| match value.as_term() {
            TermRef::Literal(literal) => Some(literal),
            _ => None,
        })
}
