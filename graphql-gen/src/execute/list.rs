//! Values of one field of one object: which of them, in which order, each once.

use oxrdf::Term;
use soml_core::datatype::Scalar;
use soml_core::lang::LangSpec;

use crate::plan::{ListOutput, ScalarKind, SortBy};
use crate::value::{SortValue, sort_value, text_sort_value};

/// Returns the values that a language specification wants, in its order.
pub(super) fn of_language<'v>(
    values: &'v [Term],
    spec: Option<&LangSpec>,
    accept_language: &[String],
) -> Vec<&'v Term> {
    match spec {
        None => values.iter().collect(),
        Some(spec) => {
            let tags = values.iter().map(|value| match value {
                Term::Literal(literal) => literal.language(),
                _ => None,
            });
            spec.pick(tags, accept_language)
                .into_iter()
                .map(|wanted| &values[wanted])
                .collect()
        }
    }
}

/// A value with its place in the order and its text in the answer.
pub(super) struct Candidate {
    pub(super) sort: Vec<SortValue>,
    /// JSON text; `None` when the value is ill typed.
    pub(super) json: Option<Vec<u8>>,
    /// The stored term, for errors.
    pub(super) term: String,
}

/// Returns the sort value of a scalar.
pub(super) fn scalar_sort(kind: ScalarKind, term: &Term) -> SortValue {
    match kind {
        ScalarKind::Scalar(scalar) => sort_value(scalar, term),
        ScalarKind::Enum(_) => sort_value(Scalar::String, term),
    }
}

/// Returns the sort values of a literal, one per key.
pub(super) fn literal_sort(order: &[(SortBy, bool)], term: &Term) -> Vec<SortValue> {
    let values = std::slice::from_ref(term);
    order
        .iter()
        .map(|(by, _)| text_sort_value(by, values))
        .collect()
}

/// Drops values that look the same as one before.
pub(super) fn drop_equal(candidates: &mut Vec<Candidate>) {
    let mut seen = std::collections::HashSet::new();
    candidates.retain(|candidate| match &candidate.json {
        Some(json) => seen.insert(json.clone()),
        None => true,
    });
}

/// Sorts where an order or a page asks for it, and cuts the page out.
pub(super) fn sort_and_cut(candidates: &mut Vec<Candidate>, list: &ListOutput) {
    if !list.order.is_empty() || !list.page.is_whole() {
        candidates.sort_by(|a, b| {
            for ((x, y), (_, descending)) in a.sort.iter().zip(&b.sort).zip(&list.order) {
                let ordering = if *descending { y.cmp(x) } else { x.cmp(y) };
                if ordering.is_ne() {
                    return ordering;
                }
            }
            let rest = list.order.len();
            a.sort[rest.min(a.sort.len())..]
                .cmp(&b.sort[rest.min(b.sort.len())..])
                .then_with(|| a.json.cmp(&b.json))
        });
    }
    let range = list.page.range(candidates.len());
    candidates.truncate(range.end);
    candidates.drain(..range.start);
}
