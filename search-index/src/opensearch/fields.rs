//! How the engine treats the values of a field, found by its name.

use crate::dsl::{FieldSort, Missing, Sort, SortMode, Value};
use crate::mapping::{
    Content, FACTS, IndexDefinition, IntegerType, Leaf, ObjectFields, ScalarIndex,
};

/// How the engine holds the values of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Strings; one that is missing is null.
    Keyword,
    /// Integers that are sorted as 32 bits.
    Short,
    /// Integers of 64 bits.
    Long,
    /// Integers of 64 bits without a sign.
    Unsigned,
    /// Floating-point numbers.
    Double,
    /// Booleans, which are sorted as 0 and 1.
    Boolean,
    /// No field: the score.
    Score,
}

/// What the engine gives and takes for a value that is missing, by which it sorts.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct SortKey {
    pub(super) kind: Kind,
    /// It is the greatest of all.
    missing_is_greatest: bool,
    /// Integers of 32 bits are sorted as those of 64, since their sums may need them.
    pub(super) is_widened: bool,
}

impl Kind {
    /// Finds a field of an index.
    pub(super) fn of(index: &IndexDefinition, path: &str) -> Kind {
        match find(&index.fields, path) {
            Some(ScalarIndex::Boolean) => Kind::Boolean,
            Some(ScalarIndex::Integer(IntegerType::UnsignedLong)) => Kind::Unsigned,
            Some(ScalarIndex::Integer(IntegerType::Long) | ScalarIndex::Instant) => Kind::Long,
            Some(ScalarIndex::Integer(_)) => Kind::Short,
            Some(ScalarIndex::Double | ScalarIndex::Exact) => Kind::Double,
            // `id`, `type`, whole values and exact numbers among them.
            Some(ScalarIndex::Text | ScalarIndex::Keyword | ScalarIndex::Time) | None => {
                Kind::Keyword
            }
        }
    }
}

/// Returns whether a field holds instants.
pub(super) fn is_instant(index: &IndexDefinition, path: &str) -> bool {
    find(&index.fields, path) == Some(ScalarIndex::Instant)
}

/// Returns whether a field holds texts, as far as its name says.
pub(super) fn may_be_text(index: &IndexDefinition, path: &str) -> bool {
    let is_text = matches!(find(&index.fields, path), Some(ScalarIndex::Text) | None);
    is_text && !matches!(path, "id" | "type" | FACTS)
}

/// Finds how a scalar field is indexed by the full name of the field.
fn find(object: &ObjectFields, path: &str) -> Option<ScalarIndex> {
    let (name, rest) = match path.split_once('.') {
        Some((name, rest)) => (name, Some(rest)),
        None => (path, None),
    };
    match (object.fields.get(name).map(|field| &field.content), rest) {
        (Some(Content::Object(embedded)), Some(rest)) => find(&embedded.fields, rest),
        (Some(Content::Leaf(Leaf::Scalar { index, .. })), None) => Some(*index),
        _ => None,
    }
}

impl SortKey {
    /// Describes a sort key of a search.
    pub(super) fn new(index: &IndexDefinition, sort: &Sort) -> SortKey {
        match sort {
            Sort::Score { .. } => SortKey {
                kind: Kind::Score,
                missing_is_greatest: false,
                is_widened: false,
            },
            Sort::Field(FieldSort {
                field,
                descending,
                missing,
                mode,
                ..
            }) => {
                let kind = Kind::of(index, field);
                let is_widened = kind == Kind::Short && *mode == Some(SortMode::Sum);
                SortKey {
                    kind: if is_widened { Kind::Long } else { kind },
                    missing_is_greatest: (*missing == Missing::Last) != *descending,
                    is_widened,
                }
            }
        }
    }

    /// Returns what stands for a missing value; `None` where null does.
    pub(super) fn missing(&self) -> Option<Value> {
        let greatest = self.missing_is_greatest;
        let choose =
            |least: i64, most: i64| Some(Value::Integer(if greatest { most } else { least }));
        match self.kind {
            Kind::Keyword | Kind::Score => None,
            Kind::Short | Kind::Boolean => choose(i32::MIN.into(), i32::MAX.into()),
            Kind::Long => choose(i64::MIN, i64::MAX),
            Kind::Unsigned if greatest => Some(Value::Unsigned(u64::MAX)),
            Kind::Unsigned => Some(Value::Integer(0)),
            Kind::Double if greatest => Some("Infinity".into()),
            Kind::Double => Some("-Infinity".into()),
        }
    }

    /// Reads what a hit is sorted by; `None` if the document has no value.
    pub(super) fn read(&self, value: serde_json::Value) -> Option<Value> {
        let value = scalar(self.kind, value)?;
        match (self.kind, &value) {
            // Most documents that are sorted as 0 have it.
            (Kind::Unsigned, Value::Integer(0)) => Some(value),
            _ if Some(&value) == self.missing().as_ref() => None,
            _ => Some(value),
        }
    }
}

/// Reads a value that the engine gives; `None` for null.
pub(super) fn scalar(kind: Kind, value: serde_json::Value) -> Option<Value> {
    use serde_json::Value as Json;
    match value {
        Json::String(text) => Some(Value::Text(text)),
        Json::Bool(value) => Some(Value::Boolean(value)),
        Json::Number(number) if matches!(kind, Kind::Double | Kind::Score) => {
            number.as_f64().map(Value::Double)
        }
        Json::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(number), _) => Some(Value::Integer(number)),
            (None, Some(number)) => Some(Value::Unsigned(number)),
            (None, None) => number.as_f64().map(Value::Double),
        },
        Json::Null | Json::Array(_) | Json::Object(_) => None,
    }
}
