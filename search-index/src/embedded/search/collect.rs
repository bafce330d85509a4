//! Collects what a search matches: the best hits, how many there are, and what is aggregated.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use tantivy::DocId;

use super::compile::Result;
use super::node::{Node, Runner};
use super::scorer::{BoxScorer, Scorer};
use super::sort::{Key, SegmentKey, SortValue};
use super::watch::Watch;
use crate::dsl::Value;
use crate::embedded::bits::Bits;
use crate::embedded::layout::ROOT;
use crate::embedded::snapshot::{Segment, Snapshot};

/// What to collect.
pub(super) struct Plan<'p> {
    pub(super) query: Node,
    pub(super) post_filter: Option<Node>,
    pub(super) keys: Vec<Key>,
    pub(super) after: Option<&'p [Option<Value>]>,
    /// Scores are shown, or something depends on them.
    pub(super) with_scores: bool,
    pub(super) min_score: Option<f32>,
    /// Number of hits to keep.
    pub(super) window: usize,
    /// All matches are kept, to be aggregated.
    pub(super) keep_matches: bool,
}

/// What was collected.
#[derive(Default)]
pub(super) struct Collected {
    /// The best hits in their order.
    pub(super) hits: Vec<Found>,
    pub(super) total: u64,
    pub(super) max_score: Option<f32>,
    /// Documents by segment that match, whatever the post filter says.
    pub(super) matches: Vec<Vec<DocId>>,
}

/// A hit.
pub(super) struct Found {
    pub(super) segment: usize,
    pub(super) doc: DocId,
    pub(super) score: f32,
    pub(super) sort: Vec<SortValue>,
}

impl Plan<'_> {
    /// Collects over all segments.
    pub(super) fn collect(&self, snapshot: &Snapshot, watch: &Watch) -> Result<Collected> {
        let mut collected = Collected::default();
        let mut bests = Vec::with_capacity(snapshot.segments.len());
        for (at, segment) in snapshot.segments.iter().enumerate() {
            watch.check()?;
            let mut part = Part {
                plan: self,
                watch,
                segment,
                best: BinaryHeap::new(),
                matches: Vec::new(),
            };
            let keys = part.run(&mut collected)?;
            let Part { best, matches, .. } = part;
            collected.matches.push(matches);
            bests.push(Best {
                segment: at,
                keys,
                left: best.into_sorted_vec().into_iter(),
            });
        }
        collected.hits = merged(bests, self.window, watch)?;
        Ok(collected)
    }
}

/// The best documents of a segment that no hit was made of yet.
struct Best<'s> {
    segment: usize,
    keys: Vec<SegmentKey<'s>>,
    left: std::vec::IntoIter<Candidate>,
}

impl Best<'_> {
    /// Makes a hit of the next document.
    fn next(&mut self) -> Result<Option<Found>> {
        let Some(candidate) = self.left.next() else {
            return Ok(None);
        };
        let values = self.keys.iter().zip(&candidate.keys);
        let sort = values.map(|(key, directed)| key.value(*directed));
        Ok(Some(Found {
            segment: self.segment,
            doc: candidate.doc,
            score: candidate.score,
            sort: sort.collect::<Result<_>>()?,
        }))
    }
}

/// Merges the best of all segments. Few more are made hits of than are kept: the values of keywords are slow
/// to read.
fn merged(mut bests: Vec<Best<'_>>, window: usize, watch: &Watch) -> Result<Vec<Found>> {
    let mut first = BinaryHeap::with_capacity(bests.len());
    for best in &mut bests {
        first.extend(best.next()?.map(Reverse));
    }
    let mut hits = Vec::new();
    while hits.len() < window
        && let Some(Reverse(hit)) = first.pop()
    {
        watch.steps(1 + 4 * hit.sort.len())?;
        first.extend(bests[hit.segment].next()?.map(Reverse));
        hits.push(hit);
    }
    Ok(hits)
}

impl Ord for Found {
    fn cmp(&self, other: &Self) -> Ordering {
        let keys = self.sort.iter().zip(&other.sort);
        let mut orders = keys.map(|(a, b)| a.compare(b));
        let by_keys = orders
            .find(|order| order.is_ne())
            .unwrap_or(Ordering::Equal);
        by_keys.then((self.segment, self.doc).cmp(&(other.segment, other.doc)))
    }
}

impl PartialOrd for Found {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Found {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Found {}

/// Collects over one segment.
struct Part<'p> {
    plan: &'p Plan<'p>,
    watch: &'p Watch,
    segment: &'p Segment,
    /// The worst one first.
    best: BinaryHeap<Candidate>,
    matches: Vec<DocId>,
}

/// A document of the segment that may be among the best.
struct Candidate {
    keys: Vec<u64>,
    doc: DocId,
    score: f32,
}

impl Collected {
    /// Counts a hit.
    fn count(&mut self, score: f32) {
        self.total += 1;
        let greatest = self.max_score.map_or(score, |greatest| greatest.max(score));
        self.max_score = Some(greatest);
    }
}

/// Returns the integers of the values of `search_after`.
fn after(keys: &[SegmentKey<'_>], values: &[Option<Value>]) -> Result<Vec<u64>> {
    let values = keys.iter().zip(values);
    values
        .map(|(key, value)| key.after(value.as_ref()))
        .collect()
}

impl<'p> Part<'p> {
    fn run(&mut self, collected: &mut Collected) -> Result<Vec<SegmentKey<'p>>> {
        let plan = self.plan;
        let keys = plan
            .keys
            .iter()
            .map(|key| SegmentKey::new(key, self.segment));
        let keys = keys.collect::<Result<Vec<_>>>()?;
        let after = plan.after.map(|values| after(&keys, values)).transpose()?;
        let runner = Runner::new(self.segment, self.watch);
        let before = self.watch.used();
        let Some(scorer) = runner.scorer(&plan.query, plan.with_scores)? else {
            self.watch.reuse(self.watch.used() - before);
            return Ok(keys);
        };
        let post_filter = plan.post_filter.as_ref();
        let post_filter = post_filter
            .map(|node| runner.scorer(node, false))
            .transpose()?;
        let scorers = self.watch.used() - before;
        self.walk(scorer, post_filter, &keys, after.as_deref(), collected)?;
        self.watch.outcome()?;
        self.watch.reuse(scorers);
        Ok(keys)
    }

    /// Goes through the documents that match, and offers those that pass the filter and are behind `after`.
    fn walk(
        &mut self,
        mut scorer: BoxScorer<'p>,
        mut post_filter: Option<Option<BoxScorer<'p>>>,
        keys: &[SegmentKey<'p>],
        after: Option<&[u64]>,
        collected: &mut Collected,
    ) -> Result<()> {
        let plan = self.plan;
        let roots = self.segment.level(ROOT)?;
        let nested_keys = keys.iter().filter(|key| key.is_nested()).count();
        let mut scratch = Vec::with_capacity(keys.len());
        let mut doc = scorer.doc();
        while let Some(root) = self.root(doc, roots, scorer.as_mut()) {
            self.watch.step()?;
            let score = if plan.with_scores {
                // A sum of no scores is -0, which is less than 0 in an order.
                scorer.score() + 0.0
            } else {
                0.0
            };
            if plan.min_score.is_none_or(|least| score >= least) {
                if plan.keep_matches {
                    self.keep(root)?;
                }
                let passes = match &mut post_filter {
                    None => true,
                    Some(None) => false,
                    Some(Some(filter)) => filter.seek(root) == root,
                };
                if passes {
                    collected.count(score);
                    if nested_keys > 0 {
                        let objects = (root - roots.start(root)) as usize;
                        self.watch.steps(objects * nested_keys / 16)?;
                    }
                    scratch.clear();
                    scratch.extend(keys.iter().map(|key| key.of(root, score)));
                    if after.is_none_or(|after| scratch.as_slice() > after) {
                        self.offer(&scratch, root, score)?;
                    }
                }
            }
            doc = scorer.advance();
        }
        Ok(())
    }

    /// Goes on to a root that is not deleted.
    fn root(&self, mut doc: DocId, roots: &Bits, scorer: &mut dyn Scorer) -> Option<DocId> {
        while doc != tantivy::TERMINATED {
            if roots.contains(doc) && self.segment.is_alive(doc) {
                return Some(doc);
            }
            if !self.watch.goes_on(1) {
                return None;
            }
            doc = scorer.advance();
        }
        None
    }

    fn keep(&mut self, doc: DocId) -> Result<()> {
        if self.matches.len() == self.matches.capacity() {
            self.watch
                .hold(size_of::<DocId>() * self.matches.len().max(64))?;
        }
        self.matches.push(doc);
        Ok(())
    }

    /// Keeps a document if it is among the best.
    fn offer(&mut self, keys: &[u64], doc: DocId, score: f32) -> Result<()> {
        if self.best.len() >= self.plan.window {
            // Equal documents stay in their order, and this one comes later.
            if self
                .best
                .peek()
                .is_none_or(|worst| worst.keys.as_slice() <= keys)
            {
                return Ok(());
            }
            self.best.pop();
        } else {
            self.watch
                .hold(size_of::<Candidate>() + size_of_val(keys))?;
        }
        self.best.push(Candidate {
            keys: keys.to_vec(),
            doc,
            score,
        });
        Ok(())
    }
}

impl Ord for Candidate {
    fn cmp(&self, other: &Self) -> Ordering {
        self.keys.cmp(&other.keys).then(self.doc.cmp(&other.doc))
    }
}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Candidate {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Candidate {}
