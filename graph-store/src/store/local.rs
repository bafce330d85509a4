//! What only a store can do that works on the calling thread.

use oxrdf::NamedNode;

use crate::context::CallContext;
use crate::error::StoreError;
use crate::query::{Hydrated, HydrationRequest};

/// A store whose calls block the thread, since they do all their work on it.
pub trait LocalStore: Send + Sync {
    /// Does what [`GraphStore::hydrate`](crate::GraphStore::hydrate) does without waiting for
    /// anything; `None` where the store cannot, which is then the same for every request.
    ///
    /// Values that decide nothing else are then read while the answer is written, up to 1,000
    /// objects at a time, so that they are never all in memory.
    fn hydrate_now(
        &self,
        request: &HydrationRequest<'_>,
        context: &CallContext,
    ) -> Option<Result<Hydrated, StoreError>> {
        let _ = (request, context);
        None
    }

    /// Told, when a service starts over the store, of the properties that it reads against their
    /// direction, for a store that can make itself ready for them.
    fn expect_inverse(&self, properties: &[NamedNode]) {
        let _ = properties;
    }

    /// Tells whether calls count their work by [`CallContext::spend`], so that short requests may
    /// stay on the thread that they came on.
    fn is_metered(&self) -> bool {
        false
    }
}
