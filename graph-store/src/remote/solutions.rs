//! Queries beside those that a [`GraphStore`](crate::GraphStore) makes.

use async_trait::async_trait;
use call_context::CallContext;
use spargebra::algebra::GraphPattern;

use super::endpoint::Rows;
use crate::error::StoreError;

/// A store that answers SELECT queries over all its graphs: for statistics, which objects and their
/// values do not give.
#[async_trait]
pub trait Solutions: Send + Sync {
    /// Returns the solutions of a pattern, of which the outermost part is a projection, perhaps
    /// distinct, perhaps a slice. A triple that is in several graphs may match several times.
    ///
    /// # Errors
    /// When the pattern has no projection, or the store fails.
    ///
    /// # Panics
    /// When the pattern contains property paths, graphs or services, which are not made to match in
    /// all graphs.
    async fn solutions(
        &self,
        pattern: GraphPattern,
        context: &CallContext,
    ) -> Result<Rows, StoreError>;
}

/// Returns the number of variables that a pattern projects.
pub(super) fn width(pattern: &GraphPattern) -> Option<usize> {
    match pattern {
        GraphPattern::Project { variables, .. } => Some(variables.len()),
        GraphPattern::Distinct { inner } | GraphPattern::Slice { inner, .. } => width(inner),
        _ => None,
    }
}
