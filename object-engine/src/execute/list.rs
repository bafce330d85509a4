//! Selects, orders and deduplicates the values of one field of one object.

use foldhash::HashSet;
use graph_store::value::{LiteralKey, SortValue, literal_key, number_identity, sort_value};
use oxrdf::TermRef;
use soml_core::datatype::Scalar;

use crate::plan::{ListOutput, ScalarKind, ValueOrder};

/// A value with its sort key and its text in the answer.
pub(super) struct Candidate {
    pub(super) sort: Vec<SortValue>,
    /// JSON text; `None` if the value is ill-typed.
    pub(super) json: Option<Vec<u8>>,
    /// Identifies equal values; `None` if their JSON text does.
    pub(super) identity: Option<String>,
    /// The stored term, for errors.
    pub(super) term: String,
}

/// Returns a string that identifies equal ill-typed values.
pub(super) fn ill_typed_identity(term: TermRef<'_>) -> String {
    let number = match term {
        TermRef::Literal(literal) => number_identity(literal),
        _ => None,
    };
    // No JSON text starts like this.
    format!("\0{}", number.unwrap_or_else(|| term.to_string()))
}

/// Returns the sort value of a scalar.
pub(super) fn scalar_sort(kind: ScalarKind, term: TermRef<'_>) -> SortValue {
    match kind {
        ScalarKind::Scalar(scalar) => sort_value(scalar, term),
        ScalarKind::Enum(_) => sort_value(Scalar::String, term),
    }
}

/// Returns the sort values of a literal: one per key, then all its parts.
pub(super) fn literal_sort(order: &[ValueOrder], term: TermRef<'_>) -> Vec<SortValue> {
    let TermRef::Literal(literal) = term else {
        return vec![SortValue::Missing; order.len()];
    };
    let all = [LiteralKey::Value, LiteralKey::Lang, LiteralKey::Datatype];
    let keys = order.iter().map(|key| key.part).chain(all);
    keys.map(|part| literal_key(part, literal)).collect()
}

/// Removes values that equal an earlier one.
pub(super) fn drop_equal(candidates: &mut Vec<Candidate>) {
    if candidates.len() < 2 {
        return;
    }
    let mut seen = HashSet::default();
    candidates.retain(|candidate| match (&candidate.identity, &candidate.json) {
        (Some(identity), _) => seen.insert(identity.clone().into_bytes()),
        (None, Some(json)) => seen.insert(json.clone()),
        (None, None) => unreachable!("what does not fit has an identity"),
    });
}

/// Orders the candidates for a single value: the first is displayed.
pub(super) fn smallest_first(candidates: &mut [Candidate]) {
    candidates.sort_by(|a, b| a.sort.cmp(&b.sort).then_with(|| a.json.cmp(&b.json)));
}

/// Sorts if an order or a page requires it, and cuts out the page.
pub(super) fn sort_and_cut(candidates: &mut Vec<Candidate>, list: &ListOutput) {
    if !list.order.is_empty() || !list.page.is_whole() {
        candidates.sort_by(|a, b| {
            for ((x, y), key) in a.sort.iter().zip(&b.sort).zip(&list.order) {
                let ordering = if key.is_descending {
                    y.cmp(x)
                } else {
                    x.cmp(y)
                };
                if ordering.is_ne() {
                    return ordering;
                }
            }
            let rest = list.order.len();
            a.sort[rest.min(a.sort.len())..]
                .cmp(&b.sort[rest.min(b.sort.len())..])
                .then_with(|| a.json.cmp(&b.json))
                .then_with(|| a.term.cmp(&b.term))
        });
    }
    let range = list.page.range(candidates.len());
    candidates.truncate(range.end);
    candidates.drain(..range.start);
}
