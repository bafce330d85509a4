//! Errors of subgraphs, at the client's places.

use std::collections::{HashMap, HashSet};

use graphql_service::{ErrorCode, GraphqlError, PathSegment};

use super::store::Seg;
use super::subgraph_errors::SubgraphError;
use crate::code;

/// An error with where it comes from.
pub(super) struct ReportedError {
    /// The position of the request in the plan.
    pub(super) request: usize,
    /// The position of the step in the request.
    pub(super) step: usize,
    /// The place of the value that failed; `None` where the request failed as a whole.
    pub(super) place: Option<Vec<Seg>>,
    pub(super) error: GraphqlError,
}

/// An error of a subgraph that has no path yet.
pub(super) struct PendingError {
    /// The position of the request in the plan, as soon as it is known.
    pub(super) request: Option<usize>,
    /// The position of the step in the request.
    pub(super) step: usize,
    /// The place of the value that failed.
    pub(super) place: Vec<Seg>,
    pub(super) error: GraphqlError,
}

/// Puts errors in the order of the plan, whichever subgraph is faster. Of several subgraphs that say that
/// the same value failed, the first is believed.
pub(super) fn in_order(mut reported: Vec<ReportedError>) -> Vec<GraphqlError> {
    reported.sort_by_key(|reported| (reported.request, reported.step));
    let mut first: HashMap<(Vec<Seg>, String), usize> = HashMap::new();
    let mut seen = HashSet::new();
    let mut errors = Vec::new();
    for ReportedError {
        request,
        place,
        error,
        ..
    } in reported
    {
        let by = place.map(|place| {
            let path = format!("{:?}", error.path);
            *first.entry((place, path)).or_insert(request)
        });
        if by.is_none_or(|by| by == request) && seen.insert(format!("{error:?}")) {
            errors.push(error);
        }
    }
    errors
}

/// Makes an error without a path of one that a subgraph answered with. Its extensions are kept under `subgraph`, since
/// `code` is one of ours.
pub(super) fn of_subgraph(
    error: &SubgraphError<'_>,
    subgraph: &str,
    with_traces: bool,
) -> GraphqlError {
    let made = match error.fault {
        None => GraphqlError::new(code::DOWNSTREAM_SERVICE_ERROR, &*error.message),
        Some(fault) => malformed(error, fault, subgraph),
    };
    let made = made.with("serviceName", subgraph);
    match error.extensions(with_traces) {
        Some(extensions) => made.with("subgraph", extensions),
        None => made,
    }
}

/// Returns the error for a malformed error of a subgraph, with its message if it has one.
fn malformed(error: &SubgraphError<'_>, fault: &str, subgraph: &str) -> GraphqlError {
    let mut message = format!("the subgraph `{subgraph}` answered a malformed error: {fault}");
    if !error.message.is_empty() {
        message.push_str("; its message: ");
        message.push_str(&error.message);
    }
    GraphqlError::new(code::SUBGRAPH_ERROR_MALFORMED, message)
}

/// Makes the error of a request that failed.
pub(super) fn of_request(
    code: ErrorCode,
    reason: &str,
    subgraph: &str,
    path: Vec<PathSegment>,
) -> GraphqlError {
    let message = format!("the subgraph `{subgraph}` did not respond: {reason}");
    GraphqlError::new(code, message)
        .on(path)
        .with("serviceName", subgraph)
}

/// Returns the longest path that all paths begin with.
pub(super) fn common(paths: &[Vec<PathSegment>]) -> Vec<PathSegment> {
    let Some((first, rest)) = paths.split_first() else {
        return Vec::new();
    };
    let mut length = first.len();
    for path in rest {
        let same = first
            .iter()
            .zip(path)
            .take_while(|(one, other)| one == other)
            .count();
        length = length.min(same);
    }
    first[..length].to_vec()
}
