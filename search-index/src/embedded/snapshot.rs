//! What searches see of an index: its segments as of one refresh, and what is worked out of them once.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use tantivy::columnar::{Column, ColumnIndex};
use tantivy::index::SegmentId;
use tantivy::{DocId, Searcher, SegmentReader};

use super::bits::Bits;
use super::error::failed;
use super::layout::{Kind, LEVEL, Leaf, ROOT};
use crate::engine::EngineError;

/// An index as of one refresh.
pub(super) struct Snapshot {
    /// The segments.
    pub(super) segments: Vec<Segment>,
    /// Reads stored documents; its segments are these.
    pub(super) searcher: Searcher,
    /// Number of documents that are no nested objects, once someone has asked for it.
    roots: OnceLock<u64>,
}

/// A segment as of one refresh.
pub(super) struct Segment {
    /// The segment, with what is deleted of it.
    pub(super) reader: SegmentReader,
    /// What does not depend on deletions.
    derived: Arc<Derived>,
}

/// What is worked out of a segment once. Deleted documents count, as in all statistics of terms.
#[derive(Default)]
struct Derived {
    levels: OnceLock<Vec<Bits>>,
    lengths: Mutex<HashMap<String, Lengths>>,
}

/// How much text a field has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Lengths {
    /// Number of documents with a term.
    pub(super) documents: u64,
    /// Number of terms.
    pub(super) terms: u64,
}

impl Snapshot {
    /// Takes what a searcher sees; what the last snapshot worked out is kept. That takes as long for few documents as for many.
    pub(super) fn new(searcher: Searcher, last: Option<&Snapshot>) -> Self {
        let known: HashMap<SegmentId, &Arc<Derived>> = last
            .into_iter()
            .flat_map(|last| &last.segments)
            .map(|segment| (segment.reader.segment_id(), &segment.derived))
            .collect();
        let segment = |reader: &SegmentReader| {
            let derived = known.get(&reader.segment_id());
            Segment {
                reader: reader.clone(),
                derived: derived.map_or_else(Arc::default, |derived| Arc::clone(derived)),
            }
        };
        Snapshot {
            segments: searcher.segment_readers().iter().map(segment).collect(),
            searcher,
            roots: OnceLock::new(),
        }
    }

    /// Returns how many documents are no nested objects, if that has been counted.
    pub(super) fn counted_roots(&self) -> Option<u64> {
        self.roots.get().copied()
    }

    /// Counts the documents that are no nested objects. It takes a step for each document where there are nested objects.
    pub(super) fn roots(&self) -> Result<u64, EngineError> {
        if let Some(roots) = self.counted_roots() {
            return Ok(roots);
        }
        let roots = self
            .segments
            .iter()
            .map(Segment::roots)
            .sum::<Result<_, _>>()?;
        Ok(*self.roots.get_or_init(|| roots))
    }

    /// Returns how many documents the segments have, nested objects and deleted ones among them.
    pub(super) fn size(&self) -> u64 {
        self.segments
            .iter()
            .map(|segment| u64::from(segment.reader.max_doc()))
            .sum()
    }
}

impl Segment {
    /// Returns the documents of a level, deleted ones among them.
    pub(super) fn level(&self, level: usize) -> Result<&Bits, EngineError> {
        let levels = match self.derived.levels.get() {
            Some(levels) => levels,
            None => {
                let levels = self.levels()?;
                self.derived.levels.get_or_init(|| levels)
            }
        };
        // A level without documents may have no set.
        Ok(&levels[(level + 1).min(levels.len() - 1)])
    }

    /// Counts the documents that are no nested objects.
    fn roots(&self) -> Result<u64, EngineError> {
        if self.level_column()?.max_value() == ROOT as u64 {
            return Ok(u64::from(self.reader.num_docs()));
        }
        let all = self.level(ROOT)?;
        Ok(match self.reader.alive_bitset() {
            None => all.count(),
            Some(alive) => all.iter().filter(|doc| alive.is_alive(*doc)).count() as u64,
        })
    }

    fn level_column(&self) -> Result<Column<u64>, EngineError> {
        self.reader.fast_fields().u64(LEVEL).map_err(failed)
    }

    /// Returns an empty set, then that of each level, then an empty one again where levels end.
    fn levels(&self) -> Result<Vec<Bits>, EngineError> {
        let size = self.reader.max_doc();
        let column = self.level_column()?;
        let highest = column.max_value() as usize;
        let mut levels = vec![Bits::new(size); highest + 3];
        for doc in 0..size {
            if let Some(level) = column.first(doc) {
                levels[level as usize + 1].insert(doc);
            }
        }
        Ok(levels)
    }

    /// Returns whether a document is not deleted.
    pub(super) fn is_alive(&self, doc: DocId) -> bool {
        !self.reader.is_deleted(doc)
    }

    /// Returns the column of a field of numbers or lengths, as integers that sort as the values do.
    pub(super) fn numbers(&self, leaf: &Leaf) -> Result<Option<Column<u64>>, EngineError> {
        let columns = self.reader.fast_fields();
        let name = &leaf.column_name;
        Ok(match leaf.kind {
            Kind::Integer(..) => columns
                .column_opt::<i64>(name)
                .map_err(failed)?
                .map(Column::to_u64_monotonic),
            Kind::Double => columns
                .column_opt::<f64>(name)
                .map_err(failed)?
                .map(Column::to_u64_monotonic),
            Kind::Unsigned | Kind::Boolean | Kind::Text(_) => {
                columns.column_opt::<u64>(name).map_err(failed)?
            }
            Kind::Keyword => columns
                .str(name)
                .map_err(failed)?
                .map(|column| column.into_parts().1),
        })
    }

    /// Returns the documents that have a value.
    pub(super) fn present(&self, leaf: &Leaf, into: &mut Bits) -> Result<(), EngineError> {
        let Some(column) = self.numbers(leaf)? else {
            return Ok(());
        };
        match &column.index {
            ColumnIndex::Empty { .. } => {}
            ColumnIndex::Full => (0..self.reader.max_doc()).for_each(|doc| into.insert(doc)),
            ColumnIndex::Optional(some) => {
                some.iter_non_null_docs().for_each(|doc| into.insert(doc))
            }
            ColumnIndex::Multivalued(many) => {
                many.iter_non_null_docs().for_each(|doc| into.insert(doc))
            }
        }
        Ok(())
    }

    /// Returns how much text a field has here, or how many documents have a whole value.
    pub(super) fn lengths(&self, leaf: &Leaf) -> Result<Lengths, EngineError> {
        let known = || {
            self.derived
                .lengths
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
        };
        if let Some(known) = known().get(&leaf.column_name) {
            return Ok(*known);
        }
        let mut lengths = Lengths::default();
        match (leaf.kind, self.numbers(leaf)?) {
            (_, None) => {}
            (Kind::Text(_), Some(column)) => {
                for length in column.values.iter().filter(|length| *length > 0) {
                    lengths.documents += 1;
                    lengths.terms += length;
                }
            }
            (_, Some(column)) => match &column.index {
                ColumnIndex::Empty { .. } => {}
                ColumnIndex::Full => {
                    lengths.documents = self.reader.max_doc().into();
                    lengths.terms = lengths.documents;
                }
                ColumnIndex::Optional(some) => {
                    lengths.documents = some.num_non_nulls().into();
                    lengths.terms = lengths.documents;
                }
                ColumnIndex::Multivalued(many) => {
                    let mut values = Vec::new();
                    for doc in many.iter_non_null_docs() {
                        values.clear();
                        values.extend(column.values_for_doc(doc));
                        values.sort_unstable();
                        values.dedup();
                        lengths.documents += 1;
                        lengths.terms += values.len() as u64;
                    }
                }
            },
        }
        known().insert(leaf.column_name.clone(), lengths);
        Ok(lengths)
    }
}
