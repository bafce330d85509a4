//! Sort keys: what a single-valued field shows of its stored values.

use std::borrow::Cow;

use oxrdf::{Literal, Term};
use soml_core::datatype::Scalar;
use soml_core::lang::LangSpec;

use crate::query::SortBy;
use crate::value::{
    LiteralKey, Numbers, SortValue, cast, is_plain, literal_key, of_language, sort_value,
    write_scalar,
};

/// Returns the sort value of what a single-valued field shows of its stored values; the field
/// chooses by language, then the smallest of what fits its range.
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
            let spec = lang.as_ref().unwrap_or_else(|| LangSpec::any());
            let chosen = of_language(values, spec, accept_language);
            let parts = [LiteralKey::Value, LiteralKey::Lang, LiteralKey::Datatype];
            let smallest = literals(chosen)
                .filter(|literal| types.accepts(literal))
                .min_by_key(|literal| parts.map(|part| literal_key(part, literal)));
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
    let chosen = match (scalar, lang, values) {
        (Scalar::String, Some(spec), _) => of_language(values, spec, accept_language),
        (Scalar::String, None, [_, _, ..]) => of_language(values, LangSpec::any(), accept_language),
        _ => values.iter().collect(),
    };
    let mut scratch = Vec::new();
    let fitting = chosen.into_iter().filter_map(|value| {
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
