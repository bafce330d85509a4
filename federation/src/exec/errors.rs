//! Errors of subgraphs, at the client's places.

use graphql_service::{ErrorCode, GraphqlError, PathSegment};

use super::found::SubgraphError;
use crate::code;

/// Makes an error of one that a subgraph answered with. Its extensions are kept under `subgraph`, since
/// `code` is one of ours.
pub(super) fn of_subgraph(
    error: &SubgraphError<'_>,
    subgraph: &str,
    path: Vec<PathSegment>,
) -> GraphqlError {
    let mut made = GraphqlError::new(code::DOWNSTREAM_SERVICE_ERROR, &*error.message);
    made = made.on(path).with("serviceName", subgraph);
    match error.extensions() {
        Some(extensions) => made.with("subgraph", extensions),
        None => made,
    }
}

/// Makes the error of a request that failed.
pub(super) fn of_request(
    code: ErrorCode,
    reason: &str,
    subgraph: &str,
    path: Vec<PathSegment>,
) -> GraphqlError {
    let message = format!("the subgraph `{subgraph}` gave no answer: {reason}");
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
