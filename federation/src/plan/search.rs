//! The search for the best plan: a first one, then its neighbours, then everything.

use apollo_compiler::executable::OperationType;

use super::builder::{Builder, Cost, Fail};
use super::choices::Choices;
use crate::graph::Graph;
use crate::operation::Tree;

/// Fields that are placed in all candidates together, at most: what bounds the time of planning.
const WORK: usize = 300_000;

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
        left: candidates.min(WORK / tree.len().max(1)).max(1),
        best: None,
    };
    let (first, mut failure) = search.attempt(Vec::new());
    let mut next = first.next();
    let mut is_complete = next.is_none();
    if !is_complete {
        search.improve();
    }
    while let Some(choices) = next {
        if search.left == 0 {
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
        let made = builder.choices.clone();
        match outcome {
            Ok(cost) => {
                self.best = Some((builder, cost));
                (made, None)
            }
            Err(failure) => (made, Some(failure)),
        }
    }

    /// Goes to better neighbours of the best candidate, with half of what may be tried.
    fn improve(&mut self) {
        let end = self.left / 2;
        while let Some((builder, before)) = &self.best {
            let before = *before;
            let neighbours: Vec<Vec<usize>> = builder.choices.neighbours().collect();
            for choices in neighbours {
                if self.left <= end {
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
