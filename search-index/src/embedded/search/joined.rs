//! Documents whose nested objects match.

use tantivy::{DocId, TERMINATED};

use super::scorer::{BoxScorer, Scorer};
use super::watch::Watch;
use crate::dsl::ScoreMode;
use crate::embedded::bits::Bits;

/// The documents of one level with a document of a lower level that matches: in a block, the lower ones
/// come before the higher one.
pub(super) struct Joined<'s> {
    children: BoxScorer<'s>,
    /// The documents of the lower level.
    level: &'s Bits,
    /// The documents of the higher level.
    parents: &'s Bits,
    mode: ScoreMode,
    with_scores: bool,
    doc: DocId,
    score: f32,
    watch: &'s Watch,
}

impl<'s> Joined<'s> {
    pub(super) fn new(
        children: BoxScorer<'s>,
        level: &'s Bits,
        parents: &'s Bits,
        scores: Option<ScoreMode>,
        watch: &'s Watch,
    ) -> Self {
        let mode = scores.unwrap_or(ScoreMode::None);
        let mut joined = Joined {
            children,
            level,
            parents,
            mode,
            with_scores: mode != ScoreMode::None,
            doc: 0,
            score: 0.0,
            watch,
        };
        joined.next();
        joined
    }

    /// Goes to the parent of the child that the children stand on, and beyond its children.
    fn next(&mut self) -> DocId {
        let mut child = self.children.doc();
        while child != TERMINATED && !self.level.contains(child) {
            child = self.children.advance();
        }
        if !self.watch.goes_on(1) {
            child = TERMINATED;
        }
        let parent = match child {
            TERMINATED => None,
            child => self.parents.next(child + 1),
        };
        self.doc = parent.unwrap_or(TERMINATED);
        self.score = 0.0;
        if self.doc == TERMINATED {
            return TERMINATED;
        }
        let (mut sum, mut count) = (0.0_f64, 0_u32);
        let (mut least, mut greatest) = (f32::INFINITY, f32::NEG_INFINITY);
        while child < self.doc {
            if self.level.contains(child) {
                if !self.with_scores {
                    self.children.seek(self.doc);
                    break;
                }
                let score = self.children.score();
                (sum, count) = (sum + f64::from(score), count + 1);
                (least, greatest) = (least.min(score), greatest.max(score));
            }
            child = self.children.advance();
            // Documents of one object may be many.
            self.watch.goes_on(1);
        }
        if self.with_scores {
            self.score = match self.mode {
                ScoreMode::Avg => (sum / f64::from(count)) as f32,
                ScoreMode::Max => greatest,
                ScoreMode::Min => least,
                ScoreMode::Sum => sum as f32,
                ScoreMode::None => 0.0,
            };
        }
        self.doc
    }
}

impl Scorer for Joined<'_> {
    fn doc(&self) -> DocId {
        self.doc
    }

    fn advance(&mut self) -> DocId {
        if self.doc == TERMINATED {
            return TERMINATED;
        }
        self.next()
    }

    fn seek(&mut self, target: DocId) -> DocId {
        if self.doc >= target {
            return self.doc;
        }
        // The children of the target begin behind the parent before it.
        if let Some(before) = self.parents.before(target) {
            self.children.seek(before + 1);
        }
        loop {
            let doc = self.next();
            if doc >= target {
                return doc;
            }
        }
    }

    fn score(&mut self) -> f32 {
        self.score
    }

    fn cost(&self) -> u64 {
        self.children.cost()
    }
}
