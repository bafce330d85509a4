//! The view of a store that works on the calling thread.

use call_context::CallContext;

use crate::error::StoreError;
use crate::query::{Hydrated, HydrationRequest};

/// A store whose calls do all their work on the calling thread, and so block it.
pub trait LocalStore: Send + Sync {
    /// Does the work of [`GraphStore::hydrate`](crate::GraphStore::hydrate) synchronously; `None`
    /// if the store cannot, which must then hold for every request.
    ///
    /// Values that nothing else depends on are then read while the answer is written, up to 1,000
    /// objects at a time, so that they are never all in memory.
    fn hydrate_now(
        &self,
        request: &HydrationRequest<'_>,
        context: &CallContext,
    ) -> Option<Result<Hydrated, StoreError>> {
        let _ = (request, context);
        None
    }

    /// Returns how much work takes about half a millisecond, as calls count it by
    /// [`CallContext::spend`], so that short requests may stay on their original thread; `None` if it is not counted.
    fn short_work(&self) -> Option<u64> {
        None
    }
}
