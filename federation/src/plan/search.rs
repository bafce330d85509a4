//! The search for the best plan: a first one, then its neighbours, then everything.
//!
//! It ends as soon as a plan costs no more than any plan must.

use std::rc::Rc;

use apollo_compiler::executable::OperationType;

use super::builder::{Cost, PlanBuilder, PlanFailure, SearchContext};
use super::choices::Choices;
use super::lower_bound::LowerBound;
use super::reach_cache::ReachCache;
use crate::graph::Graph;
use crate::operation::Tree;

/// Steps that building all candidates may take: what bounds the time of planning. The first candidate is
/// always completed.
const WORK: usize = 150_000;

/// The best candidate that was found.
pub(super) struct BestCandidate<'s> {
    pub(super) builder: PlanBuilder<'s>,
    pub(super) cost: Cost,
    pub(super) is_optimal: bool,
}

/// Searches the plan of an operation.
///
/// # Errors
/// When there is none.
pub(super) fn search<'s>(
    graph: Graph<'s>,
    operation: OperationType,
    tree: &Tree,
    candidates: usize,
) -> Result<BestCandidate<'s>, PlanFailure> {
    let reach_cache = Rc::new(ReachCache::new(graph));
    let lower_bound = Rc::new(LowerBound::new(&reach_cache, tree, operation));
    let mut search = PlanSearch {
        context: SearchContext {
            reach_cache: &reach_cache,
            lower_bound: &lower_bound,
            operation,
            tree,
        },
        least: lower_bound.cost(),
        left: candidates.max(1),
        work: WORK,
        is_exact: true,
        best: None,
    };
    let (first, failure) = search.attempt(Vec::new(), u32::MAX);
    let mut is_complete = search.is_minimal() || first.next().is_none();
    let mut failure = failure;
    if !is_complete {
        search.improve();
        let (complete, failed) = search.everything();
        is_complete = complete;
        failure = failure.or(failed);
    }
    match search.best {
        Some((builder, cost)) => Ok(BestCandidate {
            builder,
            cost,
            is_optimal: is_complete && search.is_exact || cost <= search.least,
        }),
        None => Err(failure.unwrap_or(PlanFailure::Full)),
    }
}

struct PlanSearch<'c, 's> {
    context: SearchContext<'c, 's>,
    /// What any plan costs at least.
    least: Cost,
    /// Candidates that may still be tried.
    left: usize,
    /// Steps that may still be taken.
    work: usize,
    /// Whether no candidate might be better than it was taken to be.
    is_exact: bool,
    best: Option<(PlanBuilder<'s>, Cost)>,
}

impl PlanSearch<'_, '_> {
    /// Tries one candidate, and keeps it if it is the best so far. Returns the choices that it made.
    fn attempt(&mut self, choices: Vec<usize>, last: u32) -> (Choices, Option<PlanFailure>) {
        self.left = self.left.saturating_sub(1);
        let best = self.best.as_ref().map(|(_, cost)| *cost);
        let mut builder = PlanBuilder::new(&self.context, Choices::of(choices), last, best);
        let outcome = builder.run();
        // What a candidate costs beside its steps is in proportion to its tree, which is copied.
        let steps = builder.steps + self.context.tree.len() / 4;
        self.work = self.work.saturating_sub(steps);
        self.is_exact &= builder.is_exact;
        let made = builder.choices.clone();
        match outcome {
            Ok(cost) => {
                self.best = Some((builder, cost));
                (made, None)
            }
            Err(failure) => (made, Some(failure)),
        }
    }

    /// Returns whether no plan can be better than the best one so far.
    fn is_minimal(&self) -> bool {
        let best = self.best.as_ref();
        best.is_some_and(|(_, cost)| *cost <= self.least)
    }

    /// Tries all candidates that are complete as soon as the best one so far. Returns whether it could.
    fn everything(&mut self) -> (bool, Option<PlanFailure>) {
        let mut failure = None;
        let mut last = self.last();
        let mut next = Some(Vec::new());
        while let Some(choices) = next {
            if self.is_minimal() {
                return (true, failure);
            }
            if self.left == 0 || self.work == 0 {
                return (false, failure);
            }
            let (tried, failed) = self.attempt(choices, last);
            failure = failure.or(failed);
            next = match self.last() {
                // Fewer waves leave other choices.
                earlier if earlier < last => {
                    last = earlier;
                    Some(Vec::new())
                }
                _ => tried.next(),
            };
        }
        (true, failure)
    }

    /// Returns the number of waves of the best plan so far.
    fn last(&self) -> u32 {
        let waves = self.best.as_ref().map(|(_, cost)| cost.waves);
        waves.map_or(u32::MAX, |waves| u32::try_from(waves).unwrap_or(u32::MAX))
    }

    /// Goes to better neighbours of the best candidate, with half of what may be tried.
    fn improve(&mut self) {
        let (end, end_of_work) = (self.left / 2, self.work / 2);
        while let Some((builder, before)) = &self.best {
            let before = *before;
            let neighbours: Vec<Vec<usize>> = builder.choices.neighbours().collect();
            for choices in neighbours {
                if self.left <= end || self.work <= end_of_work || self.is_minimal() {
                    return;
                }
                self.attempt(choices, u32::MAX);
            }
            if self.best.as_ref().is_none_or(|(_, cost)| *cost == before) {
                return;
            }
        }
    }
}
