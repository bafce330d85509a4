//! A planner that tries everything, for small operations: whether any plan is better than the one that was
//! made.
//!
//! It knows the moves of the graph, and nothing of how the planner chooses among them. Three questions are
//! asked after each other: is there a plan of fewer waves, one of as many with fewer requests, one of as many
//! of both with fewer fields?

mod schedule;
mod search;
mod state;
mod types;

use federation::ActiveLabels;
use federation::graph::Graph;
use federation::plan::{Cost, Plan};
use federation::supergraph::Supergraph;

use search::Search;
use state::State;

/// What came of looking for a better plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The plan is as good as any, and was found.
    Best,
    /// There is a better one, of at most these waves, requests and fields.
    Better(Bound),
    /// There are too many candidates.
    Open,
    /// The plan itself was not found: something is missing here.
    NotFound,
}

/// What a plan may cost at most: waves, requests, fields.
pub(crate) type Bound = (usize, usize, usize);

/// Returns whether a plan is better than a given one. So many candidates are looked at for one question; with
/// more it stays open.
pub(crate) fn verdict(
    supergraph: &Supergraph,
    labels: &ActiveLabels,
    plan: &Plan,
    candidates: usize,
) -> Verdict {
    let Cost {
        waves,
        fetches,
        fields,
        ..
    } = plan.cost;
    if waves == 0 {
        return Verdict::Best;
    }
    let ask = |bound: Bound| {
        let graph = Graph::new(supergraph, labels);
        let mut search = Search::new(graph, plan.operation, bound, candidates);
        match search.exists(State::of(graph, &plan.tree, plan.operation)) {
            true => Some(true),
            false if search.is_exhausted() => None,
            false => Some(false),
        }
    };
    match ask((waves, fetches, fields)) {
        Some(true) => {}
        Some(false) => return Verdict::NotFound,
        None => return Verdict::Open,
    }
    let most = usize::MAX;
    let better = [
        (waves - 1, most, most),
        (waves, fetches - 1, most),
        (waves, fetches, fields - 1),
    ];
    for bound in better {
        match ask(bound) {
            Some(true) => return Verdict::Better(bound),
            Some(false) => {}
            None => return Verdict::Open,
        }
    }
    Verdict::Best
}
