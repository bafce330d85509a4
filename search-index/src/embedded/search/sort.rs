//! Sort keys: those of documents within a segment as integers, and across segments as values.

use std::cmp::Ordering;

use tantivy::DocId;
use tantivy::columnar::{Column, MonotonicallyMappableToU64, StrColumn, TermOrdHit};

use super::compile::Result;
use crate::dsl::{FieldSort, Missing, Sort, SortMode, Value};
use crate::embedded::bits::Bits;
use crate::embedded::error::failed;
use crate::embedded::layout::{Kind, Layout, Leaf, ROOT};
use crate::embedded::snapshot::Segment;
use crate::engine::EngineError;

/// A sort key of a search.
pub(super) enum Key {
    Score {
        ascending: bool,
    },
    Field {
        leaf: Leaf,
        descending: bool,
        mode: SortMode,
        missing: Missing,
        /// The level of the nested objects that have the values.
        nested: Option<usize>,
    },
}

impl Key {
    /// Returns the sort keys of a search; the score if it has none.
    pub(super) fn all(sort: &[Sort], layout: &Layout) -> Result<Vec<Key>> {
        if sort.is_empty() {
            return Ok(vec![Key::Score { ascending: false }]);
        }
        sort.iter().map(|sort| Key::new(sort, layout)).collect()
    }

    fn new(sort: &Sort, layout: &Layout) -> Result<Key> {
        let by = match sort {
            Sort::Score { ascending } => {
                return Ok(Key::Score {
                    ascending: *ascending,
                });
            }
            Sort::Field(by) => by,
        };
        let FieldSort {
            field, descending, ..
        } = by;
        let leaf = layout.leaf(field).cloned().ok_or_else(|| {
            EngineError::Unsupported(format!("there is no field `{field}` to sort by"))
        })?;
        let nested = by
            .nested
            .as_deref()
            .map(|path| layout.level(path))
            .transpose()?;
        let implied = if *descending {
            SortMode::Max
        } else {
            SortMode::Min
        };
        let mode = by.mode.unwrap_or(implied);
        let refusal = match (leaf.kind, mode) {
            (Kind::Text(_), _) => Some("is analysed text, which has no order"),
            (Kind::Keyword, SortMode::Sum | SortMode::Avg | SortMode::Median) => {
                Some("holds keywords, which only have a least and a greatest")
            }
            (_, SortMode::Median) if nested.is_some() => {
                Some("is one of nested objects, which have no median")
            }
            _ => None,
        };
        if let Some(refusal) = refusal {
            return Err(EngineError::Unsupported(format!(
                "the sort key `{field}` {refusal}"
            )));
        }
        Ok(Key::Field {
            leaf,
            descending: *descending,
            mode,
            missing: by.missing,
            nested,
        })
    }

    /// Returns whether scores are needed for it.
    pub(super) fn is_score(&self) -> bool {
        matches!(self, Key::Score { .. })
    }

    fn descending(&self) -> bool {
        match self {
            Key::Score { ascending } => !ascending,
            Key::Field { descending, .. } => *descending,
        }
    }

    /// Turns an integer around where greater ones come first.
    fn directed(&self, raw: u64) -> u64 {
        if self.descending() { !raw } else { raw }
    }

    /// Returns the integer of documents without a value: as in OpenSearch, the end of what numbers are sorted
    /// by, which documents may have as a value, too.
    fn missing(&self) -> u64 {
        let Key::Field {
            leaf,
            descending,
            missing,
            mode,
            ..
        } = self
        else {
            return u64::MAX;
        };
        let is_greatest = (*missing == Missing::Last) != *descending;
        match leaf.kind {
            Kind::Double if is_greatest => self.directed(f64::INFINITY.to_u64()),
            Kind::Double => self.directed(f64::NEG_INFINITY.to_u64()),
            kind if is_sorted_by_32_bits(kind, *mode) => {
                let end = if is_greatest { i32::MAX } else { i32::MIN };
                self.directed(i64::from(end).to_u64())
            }
            _ if *missing == Missing::First => 0,
            _ => u64::MAX,
        }
    }
}

/// A sort key over the documents of a segment.
pub(super) struct SegmentKey<'s> {
    key: &'s Key,
    column: Option<Column<u64>>,
    /// The values of keywords, which the column numbers.
    words: Option<StrColumn>,
    /// The nested objects, and the roots.
    nested: Option<(&'s Bits, &'s Bits)>,
}

impl<'s> SegmentKey<'s> {
    pub(super) fn new(key: &'s Key, segment: &'s Segment) -> Result<Self> {
        let mut found = SegmentKey {
            key,
            column: None,
            words: None,
            nested: None,
        };
        if let Key::Field { leaf, nested, .. } = key {
            found.column = segment.numbers(leaf)?;
            if leaf.kind == Kind::Keyword {
                let columns = segment.reader.fast_fields();
                found.words = columns.str(&leaf.column_name).map_err(failed)?;
            }
            if let Some(level) = nested {
                found.nested = Some((segment.level(*level)?, segment.level(ROOT)?));
            }
        }
        Ok(found)
    }

    /// Returns whether the values of all nested objects of a document are read for it.
    pub(super) fn is_nested(&self) -> bool {
        self.nested.is_some() && self.column.is_some()
    }

    /// Returns an integer for a document: the less, the further in front.
    pub(super) fn of(&self, doc: DocId, score: f32) -> u64 {
        let Key::Field { leaf, mode, .. } = self.key else {
            return self.key.directed(f64::from(score).to_u64());
        };
        let Some(column) = &self.column else {
            return self.key.missing();
        };
        let raw = match self.nested {
            None => pick(leaf.kind, *mode, column.values_for_doc(doc)),
            Some((level, roots)) => {
                let start = roots.start(doc);
                let children = (start..doc).filter(|child| level.contains(*child));
                pick(
                    leaf.kind,
                    *mode,
                    children.flat_map(|child| column.values_for_doc(child)),
                )
            }
        };
        match (raw, leaf.kind) {
            (None, _) => self.key.missing(),
            // Between any two there is room for a value that the segment does not have.
            (Some(ord), Kind::Keyword) => self.key.directed(2 * ord + 1),
            (Some(raw), _) => self.key.directed(raw),
        }
    }

    /// Returns the integer of a value of `search_after`.
    pub(super) fn after(&self, value: Option<&Value>) -> Result<u64> {
        let misfit =
            || EngineError::Unsupported("`search_after` does not fit the sort keys".to_owned());
        let Key::Field { leaf, .. } = self.key else {
            let score = match value {
                Some(Value::Double(score)) => *score as f32,
                Some(Value::Integer(score)) => *score as f32,
                _ => return Err(misfit()),
            };
            return Ok(self.key.directed(f64::from(score).to_u64()));
        };
        let raw = match (leaf.kind, value) {
            (_, None) => return Ok(self.key.missing()),
            (Kind::Keyword, Some(Value::Text(text))) => match &self.words {
                None => 0,
                Some(words) => {
                    let words = words.dictionary();
                    match words.term_ord_or_next(text).map_err(failed)? {
                        TermOrdHit::Exact(ord) => 2 * ord + 1,
                        // Behind the last one, the next is no number of a keyword.
                        TermOrdHit::Next(next) => 2 * next.min(words.num_terms() as u64),
                    }
                }
            },
            (Kind::Integer(..) | Kind::Boolean, Some(Value::Integer(number))) => number.to_u64(),
            (Kind::Boolean, Some(Value::Boolean(value))) => i64::from(*value).to_u64(),
            (Kind::Unsigned, Some(Value::Unsigned(number))) => *number,
            (Kind::Unsigned, Some(Value::Integer(number))) => {
                u64::try_from(*number).map_err(|_| misfit())?
            }
            (Kind::Double, Some(Value::Double(number))) => number.to_u64(),
            (Kind::Double, Some(Value::Integer(number))) => (*number as f64).to_u64(),
            _ => return Err(misfit()),
        };
        Ok(self.key.directed(raw))
    }

    /// Returns the integer of a document of this segment as a value that is the same in all segments.
    pub(super) fn value(&self, directed: u64) -> Result<SortValue> {
        let descending = self.key.descending();
        let raw = self.key.directed(directed);
        let number = |value| SortValue::Number {
            directed,
            value: Some(value),
        };
        let Key::Field { leaf, .. } = self.key else {
            return Ok(number(Value::Double(shown(f64::from_u64(raw) as f32))));
        };
        // As with OpenSearch, the 0 of an unsigned number may be one that is missing.
        let is_zero = leaf.kind == Kind::Unsigned && raw == 0;
        Ok(match leaf.kind {
            Kind::Keyword if directed == self.key.missing() => SortValue::Missing { directed },
            Kind::Keyword => {
                let mut text = String::new();
                if let Some(words) = &self.words {
                    words.ord_to_str(raw / 2, &mut text).map_err(failed)?;
                }
                SortValue::Text { text, descending }
            }
            _ if directed == self.key.missing() && !is_zero => SortValue::Number {
                directed,
                value: None,
            },
            kind => number(decoded(kind, raw)),
        })
    }
}

/// Returns a value from the integer that sorts as it does.
fn decoded(kind: Kind, raw: u64) -> Value {
    match kind {
        Kind::Double => Value::Double(f64::from_u64(raw)),
        Kind::Unsigned => i64::try_from(raw).map_or(Value::Unsigned(raw), Value::Integer),
        _ => Value::Integer(i64::from_u64(raw)),
    }
}

/// Returns a score as the shortest number that tells it apart.
pub(super) fn shown(score: f32) -> f64 {
    score
        .to_string()
        .parse()
        .unwrap_or_else(|_| f64::from(score))
}

/// Chooses among the values of a document.
fn pick(kind: Kind, mode: SortMode, values: impl Iterator<Item = u64>) -> Option<u64> {
    // Booleans sort as the integers 0 and 1.
    let values = values.map(|raw| match kind {
        Kind::Boolean => i64::from(raw == 1).to_u64(),
        _ => raw,
    });
    match mode {
        SortMode::Min => values.min(),
        SortMode::Max => values.max(),
        SortMode::Sum | SortMode::Avg | SortMode::Median => {
            let mut values: Vec<u64> = values.collect();
            if values.is_empty() {
                return None;
            }
            values.sort_unstable();
            Some(match kind {
                Kind::Double => middle_of_doubles(mode, &values).to_u64(),
                Kind::Unsigned => {
                    let values: Vec<i64> = values.iter().map(|raw| *raw as i64).collect();
                    middle(mode, &values, true) as u64
                }
                _ => {
                    let values: Vec<i64> = values.iter().map(|raw| i64::from_u64(*raw)).collect();
                    middle(mode, &values, false).to_u64()
                }
            })
        }
    }
}

/// Returns whether a sort key has 32 bits. The sum of integers has 64.
fn is_sorted_by_32_bits(kind: Kind, mode: SortMode) -> bool {
    kind.has_32_bits() && (mode != SortMode::Sum || kind == Kind::Boolean)
}

/// Returns sum, mean or median of integers in ascending order, as OpenSearch works them out: with 64 bits,
/// of which the upper ones are lost, unsigned integers divided as integers and all others as floating-point
/// numbers. Halves are rounded up.
fn middle(mode: SortMode, values: &[i64], is_unsigned: bool) -> i64 {
    let wrapping = values.iter().fold(0_i64, |sum, n| sum.wrapping_add(*n));
    let mean = |sum: i64, double: f64, count: usize| {
        if is_unsigned {
            let (sum, count) = (u128::from(sum as u64), count as u128);
            ((2 * sum + count) / (2 * count)) as i64
        } else {
            rounded(double / count as f64)
        }
    };
    let (count, middle) = (values.len(), values.len() / 2);
    match mode {
        SortMode::Avg if count > 1 => mean(wrapping, wrapping as f64, count),
        SortMode::Median if count.is_multiple_of(2) => {
            let (one, other) = (values[middle - 1], values[middle]);
            mean(one.wrapping_add(other), one as f64 + other as f64, 2)
        }
        SortMode::Median => values[middle],
        _ => wrapping,
    }
}

/// Rounds a number; halves go up. Adding a half would round those above 2^52 that are whole.
fn rounded(number: f64) -> i64 {
    let floor = number.floor();
    let is_upper_half = number - floor >= 0.5;
    (floor + f64::from(u8::from(is_upper_half))) as i64
}

fn middle_of_doubles(mode: SortMode, values: &[u64]) -> f64 {
    let at = |at: usize| f64::from_u64(values[at]);
    let count = values.len();
    let sum = values.iter().map(|raw| f64::from_u64(*raw)).sum::<f64>();
    match mode {
        SortMode::Avg => sum / count as f64,
        SortMode::Median if count.is_multiple_of(2) => (at(count / 2 - 1) + at(count / 2)) / 2.0,
        SortMode::Median => at(count / 2),
        _ => sum,
    }
}

/// The value of a sort key, whatever the segment.
#[derive(Clone, Debug)]
pub(super) enum SortValue {
    Number {
        directed: u64,
        /// `None` if it is missing.
        value: Option<Value>,
    },
    Text {
        text: String,
        descending: bool,
    },
    /// That of a keyword.
    Missing {
        directed: u64,
    },
}

impl SortValue {
    /// Compares two values of the same key.
    pub(super) fn compare(&self, other: &SortValue) -> Ordering {
        use SortValue::{Missing, Number, Text};
        match (self, other) {
            (Number { directed: a, .. }, Number { directed: b, .. }) => a.cmp(b),
            (
                Text {
                    text: a,
                    descending,
                },
                Text { text: b, .. },
            ) => match descending {
                true => b.cmp(a),
                false => a.cmp(b),
            },
            (Missing { directed }, Text { .. } | Number { .. }) => match directed {
                0 => Ordering::Less,
                _ => Ordering::Greater,
            },
            (Text { .. } | Number { .. }, Missing { .. }) => other.compare(self).reverse(),
            _ => Ordering::Equal,
        }
    }

    /// Returns the value as answers have it.
    pub(super) fn into_value(self) -> Option<Value> {
        match self {
            SortValue::Number { value, .. } => value,
            SortValue::Text { text, .. } => Some(Value::Text(text)),
            SortValue::Missing { .. } => None,
        }
    }
}
