//! The view of a store that can read several levels in one step.

use async_trait::async_trait;
use call_context::CallContext;

use crate::error::StoreError;
use crate::query::{Selection, Tree, TreeLevel, TreeRequest};

/// A store for which one large read costs less than several small ones, since each goes over a
/// network.
#[async_trait]
pub trait TreeStore: Send + Sync {
    /// Returns the values of objects and of those that they lead to. Each object that a slot leads to,
    /// from an object of the level above, has all its values in the answer.
    ///
    /// `None` means that the store would rather be asked for one level after the other.
    async fn read_tree(
        &self,
        request: &TreeRequest<'_>,
        context: &CallContext,
    ) -> Result<Option<Tree>, StoreError>;

    /// Returns the objects of a selection and the values of levels, the first of which is theirs; no level stands apart. The
    /// roots of the answer are the objects in the order of the selection.
    ///
    /// `None` means that the store would rather be asked for the objects first.
    async fn select_tree(
        &self,
        selection: &Selection,
        levels: &[TreeLevel<'_>],
        context: &CallContext,
    ) -> Result<Option<Tree>, StoreError>;

    /// Returns whether levels of requests may stand apart ([`TreeLevel::is_apart`](crate::query::TreeLevel::is_apart)).
    fn reads_apart(&self) -> bool;
}
