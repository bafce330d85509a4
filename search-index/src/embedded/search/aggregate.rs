//! Aggregations of what a search matches.
//!
//! Each is worked out from a list of documents: first all counts, then, for the buckets that are returned,
//! the documents of each, from which the aggregations inside are worked out in the same way. So memory
//! grows with the number of distinct values and with the documents of the buckets that are returned, and
//! both are counted.

use std::cell::Cell;
use std::collections::{HashMap, HashSet};

use tantivy::DocId;
use tantivy::columnar::{Column, MonotonicallyMappableToU64, StrColumn};

use super::compile::{Compiler, Result};
use super::node::Runner;
use super::operand::{boolean_of, number, text_of};
use super::watch::Watch;
use crate::dsl::{
    Aggregation, AggregationKind, BucketOrder, Counted, Query, TermsAggregation, Value,
};
use crate::embedded::error::{failed, problem};
use crate::embedded::layout::{Kind, Layout, Leaf, ROOT};
use crate::embedded::snapshot::{Segment, Snapshot};
use crate::engine::{AggregationAnswer, AggregationContent, Bucket, EngineError};

/// Maximum number of buckets of an answer.
const MAX_BUCKETS: u64 = 65_536;

/// Memory of a distinct value, its text aside, in bytes.
const VALUE_MEMORY: usize = 64;

/// Values that are read from a dictionary at once.
const KEYS: usize = 1_024;

/// Documents by segment.
type Documents = [Vec<DocId>];

/// Works out aggregations.
pub(super) struct Aggregator<'a> {
    snapshot: &'a Snapshot,
    layout: &'a Layout,
    watch: &'a Watch,
    /// Number of buckets so far.
    buckets: Cell<u64>,
}

/// A value, in the order of its field.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Key {
    /// As the integer that sorts as it does.
    Number(u64),
    Text(String),
}

/// What a value counts.
#[derive(Clone, Copy, Debug, Default)]
struct Count {
    /// Documents that have it.
    documents: u64,
    /// What the bucket counts: these, or their roots.
    counted: u64,
}

impl Count {
    fn add(&mut self, other: Count) {
        self.documents += other.documents;
        self.counted += other.counted;
    }
}

/// Counts the documents, or the roots, of one value in a segment. Documents come in ascending order, so those of one
/// root come one after the other.
#[derive(Default)]
struct Counting {
    count: Count,
    last_root: Option<DocId>,
}

impl Counting {
    fn add(&mut self, root: Option<DocId>) {
        self.count.documents += 1;
        if root.is_none() || root != self.last_root {
            self.count.counted += 1;
            self.last_root = root;
        }
    }
}

impl<'a> Aggregator<'a> {
    pub(super) fn new(snapshot: &'a Snapshot, layout: &'a Layout, watch: &'a Watch) -> Self {
        Aggregator {
            snapshot,
            layout,
            watch,
            buckets: Cell::new(0),
        }
    }

    /// Works out aggregations of documents of a level.
    pub(super) fn run(
        &self,
        aggregations: &[Aggregation],
        documents: &Documents,
        level: usize,
    ) -> Result<Vec<AggregationAnswer>> {
        let answers = aggregations.iter().map(|aggregation| {
            let content = match &aggregation.kind {
                AggregationKind::Terms(terms) => {
                    self.terms(terms, &aggregation.aggregations, documents, level)?
                }
                AggregationKind::Nested { path } => {
                    self.nested(path, &aggregation.aggregations, documents, level)?
                }
                AggregationKind::Filter(query) => {
                    self.filter(query, &aggregation.aggregations, documents, level)?
                }
            };
            Ok(AggregationAnswer {
                name: aggregation.name.clone(),
                content,
            })
        });
        answers.collect()
    }

    fn filter(
        &self,
        query: &Query,
        inner: &[Aggregation],
        documents: &Documents,
        level: usize,
    ) -> Result<AggregationContent> {
        self.count_bucket()?;
        let compiler = Compiler::new(self.layout, self.snapshot, self.watch);
        let node = compiler.compile(query, 1.0, level)?;
        let mut kept = Vec::with_capacity(documents.len());
        let mut count = 0;
        for (segment, documents) in self.snapshot.segments.iter().zip(documents) {
            let mut own = Vec::new();
            if let Some(mut matching) = Runner::new(segment, self.watch).scorer(&node, false)? {
                self.watch.steps(documents.len())?;
                let matches = documents.iter().filter(|doc| matching.seek(**doc) == **doc);
                own.extend(matches);
            }
            self.watch.hold(size_of_val(own.as_slice()))?;
            count += own.len() as u64;
            kept.push(own);
        }
        Ok(AggregationContent::Nested {
            count,
            aggregations: self.run(inner, &kept, level)?,
        })
    }

    fn nested(
        &self,
        path: &str,
        inner: &[Aggregation],
        documents: &Documents,
        above: usize,
    ) -> Result<AggregationContent> {
        let level = self.layout.level(path)?;
        if !self.layout.is_below(level, above) {
            return Err(EngineError::Unsupported(format!(
                "the nested objects `{path}` are not below those that are aggregated"
            )));
        }
        self.count_bucket()?;
        let mut children = Vec::with_capacity(documents.len());
        let mut count = 0;
        for (segment, documents) in self.snapshot.segments.iter().zip(documents) {
            let (level, parents) = (segment.level(level)?, segment.level(above)?);
            let mut own = Vec::new();
            for doc in documents {
                let start = parents.start(*doc);
                self.watch.steps(1 + (*doc - start) as usize / 16)?;
                own.extend((start..*doc).filter(|child| level.contains(*child)));
            }
            self.watch.hold(size_of_val(own.as_slice()))?;
            count += own.len() as u64;
            children.push(own);
        }
        Ok(AggregationContent::Nested {
            count,
            aggregations: self.run(inner, &children, level)?,
        })
    }

    fn terms(
        &self,
        terms: &TermsAggregation,
        inner: &[Aggregation],
        documents: &Documents,
        level: usize,
    ) -> Result<AggregationContent> {
        let leaf = self.layout.leaf(&terms.field).ok_or_else(|| {
            EngineError::Unsupported(format!("there is no field `{}` to aggregate", terms.field))
        })?;
        if matches!(leaf.kind, Kind::Text(_)) {
            return Err(EngineError::Unsupported(format!(
                "the field `{}` is analysed text, which has no buckets",
                leaf.path
            )));
        }
        let missing = terms
            .missing
            .as_ref()
            .map(|value| missing_key(leaf, value))
            .transpose()?;
        let mut counts: HashMap<Key, Count> = HashMap::new();
        for (segment, documents) in self.snapshot.segments.iter().zip(documents) {
            let values = SegmentValues::new(segment, leaf)?;
            let roots = match terms.counts {
                Counted::Documents => None,
                Counted::Roots => Some(segment.level(ROOT)?),
            };
            let root_of = |doc| roots.and_then(|roots| roots.next(doc));
            self.count(&values, documents, root_of, missing.as_ref(), &mut counts)?;
            if terms.min_doc_count == 0 {
                self.add_others(&values, leaf.level, &mut counts)?;
            }
        }
        let (kept, other) = chosen(terms, counts);
        kept.iter().try_for_each(|_| self.count_bucket())?;
        let mut inner_answers = vec![Vec::new(); kept.len()];
        if !inner.is_empty() {
            let parts = self.parts(leaf, &kept, missing.as_ref(), documents)?;
            for (answers, documents) in inner_answers.iter_mut().zip(parts) {
                *answers = self.run(inner, &documents, level)?;
            }
        }
        let buckets = kept
            .into_iter()
            .zip(inner_answers)
            .map(|((key, count), aggregations)| Bucket {
                key: value_of(leaf.kind, key),
                count,
                aggregations,
            });
        Ok(AggregationContent::Buckets {
            buckets: buckets.collect(),
            other,
            error: 0,
        })
    }

    fn count_bucket(&self) -> Result<()> {
        self.buckets.set(self.buckets.get() + 1);
        if self.buckets.get() > MAX_BUCKETS {
            Err(EngineError::Unsupported(format!(
                "the aggregations have more than {MAX_BUCKETS} buckets"
            )))
        } else {
            Ok(())
        }
    }

    /// Counts the documents of each value.
    fn count(
        &self,
        values: &SegmentValues,
        documents: &[DocId],
        root_of: impl Fn(DocId) -> Option<DocId>,
        missing: Option<&Key>,
        counts: &mut HashMap<Key, Count>,
    ) -> Result<()> {
        let mut own: HashMap<u64, Counting> = HashMap::new();
        let (mut scratch, mut without) = (Vec::new(), Counting::default());
        // Where others of the segment have that value, its objects are not counted twice.
        let stand_in = missing.map(|key| values.raw(key)).transpose()?.flatten();
        for doc in documents {
            self.watch.step()?;
            values.read(*doc, &mut scratch);
            let root = root_of(*doc);
            match stand_in {
                Some(raw) if scratch.is_empty() => scratch.push(raw),
                None if scratch.is_empty() => without.add(root),
                _ => {}
            }
            for raw in &scratch {
                own.entry(*raw).or_default().add(root);
            }
        }
        let memory = own.len() * VALUE_MEMORY;
        self.watch.hold(memory)?;
        if let Some(missing) = missing.filter(|_| without.count.documents > 0) {
            counts
                .entry(missing.clone())
                .or_default()
                .add(without.count);
        }
        let own = own.into_iter().map(|(raw, found)| (raw, found.count));
        self.merge(values, own.collect(), counts)?;
        self.watch.reuse(memory);
        Ok(())
    }

    /// Adds the counts of a segment to those of all.
    fn merge(
        &self,
        values: &SegmentValues,
        mut own: Vec<(u64, Count)>,
        counts: &mut HashMap<Key, Count>,
    ) -> Result<()> {
        own.sort_unstable_by_key(|(raw, _)| *raw);
        for own in own.chunks(KEYS) {
            let keys = values.keys(own.iter().map(|(raw, _)| *raw).collect())?;
            for (key, (_, count)) in keys.into_iter().zip(own) {
                self.watch.step()?;
                let memory = match &key {
                    Key::Text(text) => text.len(),
                    Key::Number(_) => 0,
                };
                let known = counts.len();
                counts.entry(key).or_default().add(*count);
                if counts.len() > known {
                    self.watch.hold(VALUE_MEMORY + memory)?;
                }
            }
        }
        Ok(())
    }

    /// Adds the values of the index that no document has.
    fn add_others(
        &self,
        values: &SegmentValues,
        level: usize,
        counts: &mut HashMap<Key, Count>,
    ) -> Result<()> {
        let mut own = HashSet::new();
        let mut scratch = Vec::new();
        for doc in values.segment.level(level)?.iter() {
            self.watch.step()?;
            if values.segment.is_alive(doc) {
                values.read(doc, &mut scratch);
                own.extend(scratch.iter().copied());
            }
        }
        let memory = own.len() * VALUE_MEMORY / 2;
        self.watch.hold(memory)?;
        let own = own.into_iter().map(|raw| (raw, Count::default()));
        self.merge(values, own.collect(), counts)?;
        self.watch.reuse(memory);
        Ok(())
    }

    /// Returns the documents of each bucket.
    fn parts(
        &self,
        leaf: &Leaf,
        kept: &[(Key, u64)],
        missing: Option<&Key>,
        documents: &Documents,
    ) -> Result<Vec<Vec<Vec<DocId>>>> {
        let mut parts: Vec<Vec<Vec<DocId>>> = vec![Vec::with_capacity(documents.len()); kept.len()];
        let missing = missing.and_then(|missing| kept.iter().position(|(key, _)| key == missing));
        let mut scratch = Vec::new();
        for (segment, documents) in self.snapshot.segments.iter().zip(documents) {
            let values = SegmentValues::new(segment, leaf)?;
            let mut positions = HashMap::new();
            for (at, (key, _)) in kept.iter().enumerate() {
                positions.extend(values.raw(key)?.map(|raw| (raw, at)));
                parts[at].push(Vec::new());
            }
            for doc in documents {
                self.watch.step()?;
                values.read(*doc, &mut scratch);
                let without = missing.filter(|_| scratch.is_empty());
                let found = scratch.iter().filter_map(|raw| positions.get(raw).copied());
                for at in found.chain(without) {
                    self.watch.hold(size_of::<DocId>())?;
                    let part = parts[at].last_mut().expect("there is one for this segment");
                    part.push(*doc);
                }
            }
        }
        Ok(parts)
    }
}

/// The values of a field in a segment.
struct SegmentValues<'s> {
    segment: &'s Segment,
    column: Option<Column<u64>>,
    /// The values of keywords, which the column numbers.
    words: Option<StrColumn>,
}

impl<'s> SegmentValues<'s> {
    fn new(segment: &'s Segment, leaf: &Leaf) -> Result<Self> {
        let words = match leaf.kind {
            Kind::Keyword => segment
                .reader
                .fast_fields()
                .str(&leaf.column_name)
                .map_err(failed)?,
            _ => None,
        };
        Ok(SegmentValues {
            segment,
            column: segment.numbers(leaf)?,
            words,
        })
    }

    /// Reads the values of a document, each once.
    fn read(&self, doc: DocId, values: &mut Vec<u64>) {
        values.clear();
        if let Some(column) = &self.column {
            values.extend(column.values_for_doc(doc));
            values.sort_unstable();
            values.dedup();
        }
    }

    /// Returns the keys of values in ascending order: a dictionary is read from its beginning to its end.
    fn keys(&self, raw: Vec<u64>) -> Result<Vec<Key>> {
        let Some(words) = &self.words else {
            return Ok(raw.into_iter().map(Key::Number).collect());
        };
        let mut keys = Vec::with_capacity(raw.len());
        let dictionary = words.dictionary();
        let read = dictionary.sorted_ords_to_term_cb(&raw, |text| {
            keys.push(Key::Text(String::from_utf8_lossy(text).into_owned()));
        });
        if read.map_err(failed)? {
            Ok(keys)
        } else {
            Err(problem("a value is not in its dictionary"))
        }
    }

    fn raw(&self, key: &Key) -> Result<Option<u64>> {
        match (key, &self.words) {
            (Key::Number(raw), _) => Ok(Some(*raw)),
            (Key::Text(text), Some(words)) => words.dictionary().term_ord(text).map_err(failed),
            (Key::Text(_), None) => Ok(None),
        }
    }
}

/// Returns the key of documents without a value.
fn missing_key(leaf: &Leaf, value: &Value) -> Result<Key> {
    Ok(match leaf.kind {
        Kind::Keyword | Kind::Text(_) => Key::Text(text_of(value)),
        Kind::Boolean => Key::Number(boolean_of(leaf, value)?.into()),
        Kind::Integer(..) | Kind::Unsigned | Kind::Double => {
            Key::Number(number(leaf, value)?.ok_or_else(|| {
                let text = text_of(value);
                let message = format!("`{text}` is not a value of the field `{}`", leaf.path);
                EngineError::Unsupported(message)
            })?)
        }
    })
}

/// Returns a key as answers have it.
fn value_of(kind: Kind, key: Key) -> Value {
    match (key, kind) {
        (Key::Text(text), _) => Value::Text(text),
        (Key::Number(raw), Kind::Boolean) => Value::Boolean(raw == 1),
        (Key::Number(raw), Kind::Double) => Value::Double(f64::from_u64(raw)),
        (Key::Number(raw), Kind::Unsigned) => {
            i64::try_from(raw).map_or(Value::Unsigned(raw), Value::Integer)
        }
        (Key::Number(raw), _) => Value::Integer(i64::from_u64(raw)),
    }
}

/// Chooses the buckets of an answer, in their order, and counts the documents of the others.
///
/// As an engine with one shard does it: the shard chooses a number of buckets whatever their size, and what is
/// too small is left out of them, uncounted.
fn chosen(terms: &TermsAggregation, counts: HashMap<Key, Count>) -> (Vec<(Key, u64)>, u64) {
    let size = usize::try_from(terms.size).unwrap_or(usize::MAX);
    let mut all: Vec<_> = counts.into_iter().collect();
    all.sort_by(|(a, a_count), (b, b_count)| match terms.order {
        BucketOrder::CountDescending => {
            let by_count = b_count.counted.cmp(&a_count.counted);
            by_count.then_with(|| a.cmp(b))
        }
        BucketOrder::CountAscending => {
            let by_count = a_count.counted.cmp(&b_count.counted);
            by_count.then_with(|| a.cmp(b))
        }
        BucketOrder::KeyAscending => a.cmp(b),
        BucketOrder::KeyDescending => b.cmp(a),
    });
    let by_count = matches!(
        terms.order,
        BucketOrder::CountDescending | BucketOrder::CountAscending
    );
    let in_shard = match terms.shard_size() {
        Some(asked) => usize::try_from(asked).unwrap_or(usize::MAX),
        None if by_count => size.saturating_add(size / 2).saturating_add(10),
        None => size,
    };
    let beyond = all.split_off(in_shard.min(all.len()));
    all.retain(|(_, count)| count.counted >= terms.min_doc_count);
    let left_out = all.split_off(size.min(all.len()));
    let others = beyond.iter().chain(&left_out);
    let other = others.map(|(_, count)| count.documents).sum();
    let kept = all.into_iter().map(|(key, count)| (key, count.counted));
    (kept.collect(), other)
}
