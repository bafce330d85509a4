//! Where documents come from that all have the same score: terms, numbers, and what has any value.

use std::ops::{Bound, RangeInclusive};

use tantivy::postings::TermInfo;
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{DocSet, InvertedIndexReader, TERMINATED};

use super::pattern::{IgnoringCase, Pattern};
use super::scorer::Docs;
use super::watch::Watch;
use crate::embedded::bits::Bits;
use crate::embedded::error::failed;
use crate::embedded::layout::Leaf;
use crate::embedded::snapshot::Segment;
use crate::engine::EngineError;

/// Documents that all have the same score.
pub(super) enum Source {
    /// Any of some terms, as the index has them, in ascending order.
    Terms(Field, Vec<Vec<u8>>),
    /// Terms between two bounds.
    Between(Field, Bound<Vec<u8>>, Bound<Vec<u8>>),
    /// Terms that are alike but for case, or begin so.
    IgnoringCase(Field, IgnoringCase),
    /// Numbers between two bounds, as integers that sort as they do.
    Numbers(Leaf, RangeInclusive<u64>),
    /// Any value of any of some fields.
    Present(Vec<Leaf>),
}

/// Documents of which the numbers are compared at once.
const STRIDE: u32 = 1 << 14;

/// How many steps that takes.
const STRIDE_STEPS: usize = 64;

impl Source {
    /// Returns the documents of a segment.
    pub(super) fn docs(
        &self,
        segment: &Segment,
        watch: &Watch,
    ) -> Result<Option<Docs<'static>>, EngineError> {
        let size = segment.reader.max_doc();
        let bytes = Bits::bytes(size);
        watch.hold(bytes)?;
        watch.steps(bytes / 1_024)?;
        let mut collector = Collector {
            bits: Bits::new(size),
            watch,
        };
        match self {
            Source::Terms(field, terms) => {
                let index = segment.reader.inverted_index(*field).map_err(failed)?;
                for term in terms {
                    watch.step()?;
                    if let Some(info) = index.terms().get(term).map_err(failed)? {
                        collector.postings(&index, &info)?;
                    }
                }
            }
            Source::Between(field, lower, upper) => {
                let index = segment.reader.inverted_index(*field).map_err(failed)?;
                let range = index.terms().range();
                let range = match lower {
                    Bound::Included(bound) => range.ge(bound),
                    Bound::Excluded(bound) => range.gt(bound),
                    Bound::Unbounded => range,
                };
                let range = match upper {
                    Bound::Included(bound) => range.le(bound),
                    Bound::Excluded(bound) => range.lt(bound),
                    Bound::Unbounded => range,
                };
                let mut terms = range.into_stream().map_err(failed)?;
                while let Some((_, info)) = terms.next() {
                    collector.postings(&index, info)?;
                }
            }
            Source::IgnoringCase(field, pattern) => {
                let index = segment.reader.inverted_index(*field).map_err(failed)?;
                let search = index.terms().search(Pattern { pattern, watch });
                let mut terms = search.into_stream().map_err(failed)?;
                while let Some((_, info)) = terms.next() {
                    collector.postings(&index, info)?;
                }
            }
            Source::Numbers(leaf, range) => collector.numbers(segment, leaf, range)?,
            Source::Present(leaves) => {
                let strides = size.div_ceil(STRIDE) as usize;
                for leaf in leaves {
                    watch.steps(STRIDE_STEPS * (1 + strides))?;
                    segment.present(leaf, &mut collector.bits)?;
                }
            }
        }
        watch.outcome()?;
        let docs = Docs::of(collector.bits, bytes);
        Ok(match &docs {
            Docs::Sorted(docs, _) if docs.is_empty() => None,
            _ => Some(docs),
        })
    }
}

struct Collector<'c> {
    bits: Bits,
    watch: &'c Watch,
}

impl Collector<'_> {
    fn postings(
        &mut self,
        index: &InvertedIndexReader,
        info: &TermInfo,
    ) -> Result<(), EngineError> {
        self.watch.step()?;
        let mut postings = index
            .read_postings_from_terminfo(info, IndexRecordOption::Basic)
            .map_err(failed)?;
        let mut doc = postings.doc();
        while doc != TERMINATED {
            self.bits.insert(doc);
            self.watch.step()?;
            doc = postings.advance();
        }
        Ok(())
    }

    fn numbers(
        &mut self,
        segment: &Segment,
        leaf: &Leaf,
        range: &RangeInclusive<u64>,
    ) -> Result<(), EngineError> {
        let Some(column) = segment.numbers(leaf)? else {
            return Ok(());
        };
        if range.is_empty()
            || *range.end() < column.min_value()
            || *range.start() > column.max_value()
        {
            return Ok(());
        }
        let size = segment.reader.max_doc();
        let mut docs = Vec::new();
        for start in (0..size).step_by(STRIDE as usize) {
            self.watch.steps(STRIDE_STEPS)?;
            docs.clear();
            let stride = start..start.saturating_add(STRIDE).min(size);
            column.get_docids_for_value_range(range.clone(), stride, &mut docs);
            self.watch.steps(docs.len() / 64)?;
            docs.iter().for_each(|doc| self.bits.insert(*doc));
        }
        Ok(())
    }
}
