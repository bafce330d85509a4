//! Documents of a segment in ascending order, and their scores: the combinations of them.

use std::borrow::Cow;

use tantivy::{DocId, TERMINATED};

use super::watch::Watch;
use crate::embedded::bits::Bits;

/// Documents in ascending order, and their scores.
///
/// It stands on its first document when it is made, and on `TERMINATED` behind the last one, or once the search
/// must end.
pub(super) trait Scorer {
    /// Returns the document that it stands on.
    fn doc(&self) -> DocId;

    /// Goes to the next document.
    fn advance(&mut self) -> DocId;

    /// Goes to the first document from `target` on; stays where it is if that is behind already.
    fn seek(&mut self, target: DocId) -> DocId;

    /// Returns the score of the document that it stands on.
    fn score(&mut self) -> f32;

    /// Returns about how many documents there are.
    fn cost(&self) -> u64;
}

pub(super) type BoxScorer<'s> = Box<dyn Scorer + 's>;

/// Documents that all have the same score.
pub(super) struct Constant<'s> {
    docs: Docs<'s>,
    doc: DocId,
    score: f32,
}

/// A set of documents.
pub(super) enum Docs<'s> {
    /// A set, and how many documents it has.
    Bits(Cow<'s, Bits>, u64),
    /// Documents in ascending order, and a position among them.
    Sorted(Vec<DocId>, usize),
}

impl Docs<'_> {
    /// Takes a set; where it has few documents, these are listed.
    pub(super) fn of(bits: Bits, bytes: usize) -> Self {
        let count = bits.count();
        if (count as usize) < bytes / 8 {
            return Docs::Sorted(bits.iter().collect(), 0);
        }
        Docs::Bits(Cow::Owned(bits), count)
    }
}

impl<'s> Constant<'s> {
    pub(super) fn new(docs: Docs<'s>, score: f32) -> Self {
        let mut constant = Constant {
            docs,
            doc: 0,
            score,
        };
        constant.go_to(0);
        constant
    }

    fn go_to(&mut self, target: DocId) {
        let next = match &mut self.docs {
            Docs::Bits(bits, _) => bits.next(target),
            Docs::Sorted(docs, at) => {
                // Mostly the next one.
                if docs.get(*at).is_some_and(|doc| *doc < target) {
                    *at += 1;
                    if docs.get(*at).is_some_and(|doc| *doc < target) {
                        *at += docs[*at..].partition_point(|doc| *doc < target);
                    }
                }
                docs.get(*at).copied()
            }
        };
        self.doc = next.unwrap_or(TERMINATED);
    }
}

impl Scorer for Constant<'_> {
    fn doc(&self) -> DocId {
        self.doc
    }

    fn advance(&mut self) -> DocId {
        if self.doc != TERMINATED {
            self.go_to(self.doc + 1);
        }
        self.doc
    }

    fn seek(&mut self, target: DocId) -> DocId {
        if self.doc < target {
            self.go_to(target);
        }
        self.doc
    }

    fn score(&mut self) -> f32 {
        self.score
    }

    fn cost(&self) -> u64 {
        match &self.docs {
            Docs::Bits(_, count) => *count,
            Docs::Sorted(docs, _) => docs.len() as u64,
        }
    }
}

/// The same documents, which all have one score.
pub(super) struct Scored<'s>(pub(super) BoxScorer<'s>, pub(super) f32);

impl Scorer for Scored<'_> {
    fn doc(&self) -> DocId {
        self.0.doc()
    }

    fn advance(&mut self) -> DocId {
        self.0.advance()
    }

    fn seek(&mut self, target: DocId) -> DocId {
        self.0.seek(target)
    }

    fn score(&mut self) -> f32 {
        self.1
    }

    fn cost(&self) -> u64 {
        self.0.cost()
    }
}

/// Documents that all of some scorers have. Those of some of them add up.
pub(super) struct All<'s> {
    /// The rarest first; whether its score counts.
    parts: Vec<(BoxScorer<'s>, bool)>,
    doc: DocId,
    watch: &'s Watch,
}

impl<'s> All<'s> {
    /// Combines scorers, of which there is at least one.
    pub(super) fn new(mut parts: Vec<(BoxScorer<'s>, bool)>, watch: &'s Watch) -> Self {
        parts.sort_by_key(|(scorer, _)| scorer.cost());
        let mut all = All {
            parts,
            doc: 0,
            watch,
        };
        all.meet();
        all
    }

    /// Goes on until all stand on the same document.
    fn meet(&mut self) -> DocId {
        let (first, others) = self.parts.split_first_mut().expect("there is a scorer");
        let mut doc = first.0.doc();
        'candidates: while doc != TERMINATED {
            if !self.watch.goes_on(1 + others.len()) {
                doc = TERMINATED;
                break;
            }
            for (scorer, _) in &mut *others {
                let next = scorer.seek(doc);
                if next != doc {
                    doc = first.0.seek(next);
                    continue 'candidates;
                }
            }
            break;
        }
        self.doc = doc;
        doc
    }
}

impl Scorer for All<'_> {
    fn doc(&self) -> DocId {
        self.doc
    }

    fn advance(&mut self) -> DocId {
        self.parts[0].0.advance();
        self.meet()
    }

    fn seek(&mut self, target: DocId) -> DocId {
        self.parts[0].0.seek(target);
        self.meet()
    }

    fn score(&mut self) -> f32 {
        let counted = self.parts.iter_mut().filter(|(_, counts)| *counts);
        counted
            .map(|(scorer, _)| f64::from(scorer.score()))
            .sum::<f64>() as f32
    }

    fn cost(&self) -> u64 {
        self.parts[0].0.cost()
    }
}

/// How the scores of several scorers on a document become one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Combined {
    /// Their sum.
    Sum,
    /// The greatest, and a part of each other one.
    Best(f32),
}

/// Documents that some of several scorers have.
pub(super) struct Any<'s> {
    /// A heap by document, the least first.
    heap: Vec<BoxScorer<'s>>,
    /// Least number of scorers that have a document.
    minimum: usize,
    combined: Combined,
    doc: DocId,
    score: f32,
    /// The scorers that stand on the current document.
    here: Vec<BoxScorer<'s>>,
    watch: &'s Watch,
}

impl<'s> Any<'s> {
    pub(super) fn new(
        parts: Vec<BoxScorer<'s>>,
        minimum: usize,
        combined: Combined,
        watch: &'s Watch,
    ) -> Self {
        let mut any = Any {
            watch,
            here: parts,
            heap: Vec::new(),
            minimum: minimum.max(1),
            combined,
            doc: 0,
            score: 0.0,
        };
        any.put_back();
        any.next();
        any
    }

    /// Puts the scorers of the current document back where they belong; those that ended are gone.
    fn put_back(&mut self) {
        while let Some(scorer) = self.here.pop() {
            if scorer.doc() == TERMINATED {
                continue;
            }
            self.heap.push(scorer);
            let mut at = self.heap.len() - 1;
            while at > 0 && self.heap[at].doc() < self.heap[(at - 1) / 2].doc() {
                self.heap.swap(at, (at - 1) / 2);
                at = (at - 1) / 2;
            }
        }
    }

    fn pop(&mut self) -> BoxScorer<'s> {
        let scorer = self.heap.swap_remove(0);
        let mut at = 0;
        loop {
            let children = 2 * at + 1..(2 * at + 3).min(self.heap.len());
            let Some(least) = children.min_by_key(|child| self.heap[*child].doc()) else {
                break;
            };
            if self.heap[at].doc() <= self.heap[least].doc() {
                break;
            }
            self.heap.swap(at, least);
            at = least;
        }
        scorer
    }

    /// Takes the scorers that stand on the least document, until there are enough of them.
    fn next(&mut self) -> DocId {
        loop {
            let Some(first) = self.heap.first() else {
                self.doc = TERMINATED;
                return TERMINATED;
            };
            self.doc = first.doc();
            while self
                .heap
                .first()
                .is_some_and(|scorer| scorer.doc() == self.doc)
            {
                let scorer = self.pop();
                self.here.push(scorer);
            }
            if !self.watch.goes_on(self.here.len()) {
                self.doc = TERMINATED;
                return TERMINATED;
            }
            if self.here.len() >= self.minimum {
                return self.doc;
            }
            self.here.iter_mut().for_each(|scorer| {
                scorer.advance();
            });
            self.put_back();
        }
    }
}

impl Scorer for Any<'_> {
    fn doc(&self) -> DocId {
        self.doc
    }

    fn advance(&mut self) -> DocId {
        if self.doc == TERMINATED {
            return TERMINATED;
        }
        self.here.iter_mut().for_each(|scorer| {
            scorer.advance();
        });
        self.put_back();
        self.next()
    }

    fn seek(&mut self, target: DocId) -> DocId {
        if self.doc >= target {
            return self.doc;
        }
        self.here.iter_mut().for_each(|scorer| {
            scorer.seek(target);
        });
        // These were counted when they came there.
        let counted = self.here.len();
        while self
            .heap
            .first()
            .is_some_and(|scorer| scorer.doc() < target)
        {
            let mut scorer = self.pop();
            scorer.seek(target);
            self.here.push(scorer);
        }
        if !self.watch.goes_on(self.here.len() - counted) {
            self.doc = TERMINATED;
            return TERMINATED;
        }
        self.put_back();
        self.next()
    }

    fn score(&mut self) -> f32 {
        let scores = self.here.iter_mut().map(|scorer| scorer.score());
        let (mut sum, mut best) = (0.0_f64, 0.0_f64);
        for score in scores.map(f64::from) {
            sum += score;
            best = best.max(score);
        }
        self.score = match self.combined {
            Combined::Sum => sum as f32,
            Combined::Best(others) => (best + f64::from(others) * (sum - best)) as f32,
        };
        self.score
    }

    fn cost(&self) -> u64 {
        self.heap
            .iter()
            .chain(&self.here)
            .map(|scorer| scorer.cost())
            .sum()
    }
}

/// Documents of one scorer that another one does not have.
pub(super) struct Without<'s> {
    base: BoxScorer<'s>,
    excluded: BoxScorer<'s>,
    doc: DocId,
    watch: &'s Watch,
}

impl<'s> Without<'s> {
    pub(super) fn new(base: BoxScorer<'s>, excluded: BoxScorer<'s>, watch: &'s Watch) -> Self {
        let mut without = Without {
            base,
            excluded,
            doc: 0,
            watch,
        };
        without.skip();
        without
    }

    fn skip(&mut self) -> DocId {
        let mut doc = self.base.doc();
        while doc != TERMINATED && self.excluded.seek(doc) == doc {
            doc = if self.watch.goes_on(1) {
                self.base.advance()
            } else {
                TERMINATED
            };
        }
        self.doc = doc;
        doc
    }
}

impl Scorer for Without<'_> {
    fn doc(&self) -> DocId {
        self.doc
    }

    fn advance(&mut self) -> DocId {
        self.base.advance();
        self.skip()
    }

    fn seek(&mut self, target: DocId) -> DocId {
        self.base.seek(target);
        self.skip()
    }

    fn score(&mut self) -> f32 {
        self.base.score()
    }

    fn cost(&self) -> u64 {
        self.base.cost()
    }
}

/// Documents of one scorer, with the score of another one added where that has them too.
pub(super) struct Optional<'s> {
    base: BoxScorer<'s>,
    more: BoxScorer<'s>,
}

impl<'s> Optional<'s> {
    pub(super) fn new(base: BoxScorer<'s>, more: BoxScorer<'s>) -> Self {
        Optional { base, more }
    }
}

impl Scorer for Optional<'_> {
    fn doc(&self) -> DocId {
        self.base.doc()
    }

    fn advance(&mut self) -> DocId {
        self.base.advance()
    }

    fn seek(&mut self, target: DocId) -> DocId {
        self.base.seek(target)
    }

    fn score(&mut self) -> f32 {
        let doc = self.base.doc();
        let more = if self.more.seek(doc) == doc {
            self.more.score()
        } else {
            0.0
        };
        self.base.score() + more
    }

    fn cost(&self) -> u64 {
        self.base.cost()
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::sync::Arc;

    use call_context::{CallContext, Meter};
    use tantivy::{DocId, TERMINATED};

    use super::{All, Any, BoxScorer, Combined, Scorer, Without};
    use crate::embedded::search::watch::Watch;

    /// Every second document, from one on; counts how often it moves.
    struct Every<'c> {
        doc: DocId,
        moves: &'c Cell<usize>,
    }

    impl Scorer for Every<'_> {
        fn doc(&self) -> DocId {
            self.doc
        }

        fn advance(&mut self) -> DocId {
            self.seek(self.doc + 2)
        }

        fn seek(&mut self, target: DocId) -> DocId {
            self.moves.set(self.moves.get() + 1);
            if self.doc < target {
                self.doc += (target - self.doc).next_multiple_of(2);
            }
            if self.doc >= 2_000_000 {
                self.doc = TERMINATED;
            }
            self.doc
        }

        fn score(&mut self) -> f32 {
            1.0
        }

        fn cost(&self) -> u64 {
            1_000_000
        }
    }

    type Combine = for<'s> fn(BoxScorer<'s>, BoxScorer<'s>, &'s Watch) -> BoxScorer<'s>;

    #[test]
    fn a_combination_that_finds_nothing_ends_once_nobody_waits() {
        // None of them finds a document: they share none, or the second has all of the first.
        let combinations: [(DocId, Combine); 3] = [
            (1, |a, b, watch| {
                Box::new(All::new(vec![(a, true), (b, true)], watch))
            }),
            (1, |a, b, watch| {
                Box::new(Any::new(vec![a, b], 2, Combined::Sum, watch))
            }),
            (0, |a, b, watch| Box::new(Without::new(a, b, watch))),
        ];
        for (second, combine) in combinations {
            for is_live in [true, false] {
                let context = CallContext::new();
                if !is_live {
                    context.cancellation.cancel();
                }
                let (watch, moves) = (Watch::new(context, 0), Cell::new(0));
                let every = |doc| {
                    let moves = &moves;
                    Box::new(Every { doc, moves }) as BoxScorer<'_>
                };
                let combined = combine(every(0), every(second), &watch);
                assert_eq!(combined.doc(), TERMINATED);
                assert_eq!(watch.outcome().is_ok(), is_live);
                assert_eq!(moves.get() > 1_000_000, is_live, "{}", moves.get());
            }
        }
    }

    #[test]
    fn scorers_that_a_combination_moves_past_a_document_count() {
        let context = CallContext::new().with_meter(Arc::new(Meter::new(10_000)));
        let (watch, moves) = (Watch::new(context, 0), Cell::new(0));
        let every = |doc| {
            let moves = &moves;
            Box::new(Every { doc, moves }) as BoxScorer<'_>
        };
        // The first one alone has what is looked for, and each time all others move behind it.
        let mut parts = vec![every(0)];
        parts.extend((0..100).map(|_| every(1)));
        let mut any = Any::new(parts, 1, Combined::Sum, &watch);
        while any.doc() != TERMINATED {
            any.seek(any.doc() + 2);
        }
        assert!(watch.outcome().is_err());
        assert!(moves.get() < 20_000, "{}", moves.get());
    }
}
