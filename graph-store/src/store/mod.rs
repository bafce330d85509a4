//! The graph store: where objects and their values come from.

mod keys;
mod local;
pub(crate) mod order;
mod window;

use async_trait::async_trait;
pub use keys::keys_by_hydration;
pub use local::LocalStore;
pub use window::{WindowBuilder, Windowed, compare_keys, compare_positions};

use crate::context::CallContext;
use crate::error::StoreError;
use crate::query::{Hydrated, HydrationRequest, ObjectRef, Page, Position, Selection, Window};

/// A store of RDF data.
///
/// Implementations decide how a selection becomes queries and how values are fetched; the contract
/// is the same for all of them: IRIs only, each once, in the order asked for. Each step that a store
/// takes, a query or a walk, is counted by [`CallContext::count_call`].
///
/// A store selects, hydrates and answers a probe; the rest has defaults.
#[async_trait]
pub trait GraphStore: Send + Sync + 'static {
    /// Returns the objects that `selection` asks for: distinct IRIs, ordered and paged.
    async fn select(
        &self,
        selection: &Selection,
        context: &CallContext,
    ) -> Result<Vec<ObjectRef>, StoreError>;

    /// Returns how many objects `selection` would give without its page.
    async fn count(&self, selection: &Selection, context: &CallContext) -> Result<u64, StoreError> {
        let whole = Selection {
            order: Vec::new(),
            page: Page::default(),
            ..selection.clone()
        };
        Ok(self.select(&whole, context).await?.len() as u64)
    }

    /// Returns the objects of a window over the ordered objects of `selection`, whose page is the
    /// whole, with the sort keys of each: one [`Position`] per object, ascending in
    /// [`compare_positions`] with [`Selection::order`].
    ///
    /// The keys are what [`crate::evaluate::shown`] says of the stored values, so that they can be
    /// compared with those of a cursor from any time before. A window far behind must not cost more
    /// than the first one. The default selects all objects and reads their keys by hydration; a
    /// store that knows a shorter way offers its candidates to a [`WindowBuilder`] of its own.
    async fn select_window(
        &self,
        selection: &Selection,
        window: &Window,
        context: &CallContext,
    ) -> Result<Windowed, StoreError> {
        let whole = Selection {
            order: Vec::new(),
            page: Page::default(),
            ..selection.clone()
        };
        let nodes = self.select(&whole, context).await?;
        let (order, dataset) = (&selection.order, &selection.dataset);
        let keys = keys_by_hydration(self, &nodes, order, dataset, context).await?;
        let mut builder = WindowBuilder::new(order, window);
        for (id, keys) in nodes.into_iter().zip(keys) {
            builder.offer(Position { keys, id });
        }
        Ok(builder.finish())
    }

    /// Returns, for each node and slot of `request`, the values that the slot asks for.
    async fn hydrate(
        &self,
        request: &HydrationRequest<'_>,
        context: &CallContext,
    ) -> Result<Hydrated, StoreError>;

    /// Checks that the store answers; returns what it is for health records.
    async fn probe(&self, context: &CallContext) -> Result<StoreInfo, StoreError>;

    /// Returns what a request can choose of the store.
    fn features(&self) -> StoreFeatures {
        StoreFeatures::default()
    }

    /// Returns the local view of a store whose calls do their work on the calling thread.
    ///
    /// Requests then run off the async workers. The default, `None`, is right for every store that
    /// waits for somebody else.
    fn local(&self) -> Option<&dyn LocalStore> {
        None
    }
}

/// What a request can choose of a store, beside the graphs to read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoreFeatures {
    /// The repository that the store reads, when it has a name.
    pub repository: Option<String>,
    /// Statements that follow from others.
    pub inference: Inference,
    /// Statements that follow from `owl:sameAs`.
    pub same_as: Inference,
}

/// Whether a store answers what is not stated but follows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Inference {
    /// Nothing follows: whatever a request asks for, it gets what is stated.
    #[default]
    None,
    /// A request can choose.
    Switchable,
    /// What follows cannot be left out.
    Always,
}

/// What a store says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreInfo {
    /// Kind of store, such as `in-memory`.
    pub provider: String,
    /// Number of statements, when the store can tell at no cost.
    pub statements: Option<u64>,
}
