//! The search for the best plan: a first one, then its neighbours, then everything.

use apollo_compiler::executable::OperationType;

use super::builder::{Builder, Cost, Fail};
use super::choices::Choices;
use crate::graph::Graph;
use crate::operation::Tree;

/// Steps that building all candidates may take: what bounds the time of planning. The first candidate is
/// always completed.
const WORK: usize = 150_000;

/// The best plan that was found.
pub(super) struct Found<'s> {
    pub(super) builder: Builder<'s>,
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
) -> Result<Found<'s>, Fail> {
    let mut search = Search {
        graph,
        operation,
        tree,
        left: candidates.max(1),
        work: WORK,
        best: None,
    };
    let (first, mut failure) = search.attempt(Vec::new());
    let mut next = first.next();
    let mut is_complete = next.is_none();
    if !is_complete && !search.is_minimal() {
        search.improve();
    }
    while let Some(choices) = next {
        is_complete |= search.is_minimal();
        if search.left == 0 || search.work == 0 || is_complete {
            break;
        }
        let (tried, failed) = search.attempt(choices);
        failure = failure.or(failed);
        next = tried.next();
        is_complete = next.is_none();
    }
    match search.best {
        Some((builder, cost)) => Ok(Found {
            builder,
            cost,
            is_optimal: is_complete,
        }),
        None => Err(failure.unwrap_or(Fail::Full)),
    }
}

struct Search<'s, 't> {
    graph: Graph<'s>,
    operation: OperationType,
    tree: &'t Tree,
    /// Candidates that may still be tried.
    left: usize,
    /// Steps that may still be taken.
    work: usize,
    best: Option<(Builder<'s>, Cost)>,
}

impl Search<'_, '_> {
    /// Tries one candidate, and keeps it if it is the best so far. Returns the choices that it made.
    fn attempt(&mut self, choices: Vec<usize>) -> (Choices, Option<Fail>) {
        self.left = self.left.saturating_sub(1);
        let best = self.best.as_ref().map(|(_, cost)| *cost);
        let (tree, choices) = (self.tree.clone(), Choices::of(choices));
        let mut builder = Builder::new(self.graph, self.operation, tree, choices, best);
        let outcome = builder.run();
        // What a candidate costs beside its steps is in proportion to its tree, which is copied.
        let steps = builder.steps + self.tree.len() / 4;
        self.work = self.work.saturating_sub(steps);
        let made = builder.choices.clone();
        match outcome {
            Ok(cost) => {
                self.best = Some((builder, cost));
                (made, None)
            }
            Err(failure) => (made, Some(failure)),
        }
    }

    /// Returns whether no plan can be better than the best one so far: a single request has no field that
    /// is not asked for.
    fn is_minimal(&self) -> bool {
        self.best
            .as_ref()
            .is_some_and(|(_, cost)| cost.fetches <= 1)
    }

    /// Goes to better neighbours of the best candidate, with half of what may be tried.
    fn improve(&mut self) {
        let (end, end_of_work) = (self.left / 2, self.work / 2);
        while let Some((builder, before)) = &self.best {
            let before = *before;
            let neighbours: Vec<Vec<usize>> = builder.choices.neighbours().collect();
            for choices in neighbours {
                if self.left <= end || self.work <= end_of_work {
                    return;
                }
                self.attempt(choices);
            }
            if self.best.as_ref().is_none_or(|(_, cost)| *cost == before) {
                return;
            }
        }
    }
}
