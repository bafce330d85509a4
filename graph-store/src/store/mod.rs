//! The graph store: the source of objects and their values.
//!
//! # Numbers in place of terms
//!
//! A store that numbers its terms gives numbers and one dictionary per list or column
//! (`query/{objects,terms,dictionary}.rs`). Levels are linked by number (`execute/nodes.rs`), and a term becomes
//! text when the answer is written. All calls of a query read one snapshot, which the `CallContext` holds. In an
//! image the texts of the values of one property lie together, and a filter tests each distinct value once, in that
//! order (`pattern/candidates.rs`). Where every match of a regular expression contains one of some strings,
//! `image/search.rs` looks for these in many texts at once, and only texts with one of them are tested.
//! `pattern/orders.rs` keeps orders of instances with a snapshot, so that a page costs the page.

pub(crate) mod export;
mod keys;
mod local;
pub(crate) mod order;
#[cfg(feature = "image")]
pub(crate) mod queue;
pub(crate) mod ready_order;
#[cfg(feature = "image")]
pub(crate) mod records;
mod tree;
mod window;
mod writer;

use async_trait::async_trait;
use call_context::CallContext;
pub use export::{ExportStore, QuadSink};
pub use keys::keys_by_hydration;
pub use local::LocalStore;
pub use tree::TreeStore;
pub(crate) use window::{Place, PlaceBuilder};
pub use window::{WindowBuilder, Windowed, compare_keys, compare_positions};
pub use writer::{Transaction, WriteStore};

use crate::error::StoreError;
use crate::query::{Hydrated, HydrationRequest, Objects, Page, Position, Selection, Window};

/// A store of RDF data.
///
/// Implementations decide how a selection becomes queries and how values are fetched; the contract
/// is the same for all of them: IRIs only, each once, in the requested order. Each step of a store,
/// a query or an index scan, is counted by [`CallContext::count_call`].
///
/// A store must select, hydrate and answer a probe; the rest has defaults.
#[async_trait]
pub trait GraphStore: Send + Sync + 'static {
    /// Returns the objects of `selection`: distinct IRIs, ordered and paged.
    async fn select(
        &self,
        selection: &Selection,
        context: &CallContext,
    ) -> Result<Objects, StoreError>;

    /// Returns how many objects `selection` would return without its page.
    async fn count(&self, selection: &Selection, context: &CallContext) -> Result<u64, StoreError> {
        let whole = Selection {
            order: Vec::new(),
            page: Page::default(),
            ..selection.clone()
        };
        Ok(self.select(&whole, context).await?.len() as u64)
    }

    /// Returns the objects of a window over the ordered objects of `selection`, whose page is the
    /// whole list, with the sort keys of each, ascending in
    /// [`compare_positions`] with [`Selection::order`].
    ///
    /// The keys are those that [`crate::evaluate::shown`] returns for the stored values, so they
    /// can be compared with those of a cursor created at any earlier time. A window far down the
    /// order must not cost more than the first one. The default implementation selects all objects
    /// and reads their keys by hydration; a store with a shorter way passes its candidates to a
    /// [`WindowBuilder`] of its own.
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
        let nodes = self.select(&whole, context).await?.into_refs();
        let (order, dataset) = (&selection.order, &selection.dataset);
        let keys = keys_by_hydration(self, &nodes, order, dataset, context).await?;
        let mut builder = WindowBuilder::new(order, window);
        for (id, keys) in nodes.into_iter().zip(keys) {
            builder.offer(Position { keys, id });
        }
        Ok(builder.finish())
    }

    /// Returns the values for each node and slot of `request`.
    async fn hydrate(
        &self,
        request: &HydrationRequest<'_>,
        context: &CallContext,
    ) -> Result<Hydrated, StoreError>;

    /// Checks that the store answers; returns its description for health checks.
    async fn probe(&self, context: &CallContext) -> Result<StoreInfo, StoreError>;

    /// Returns what a request can choose of the store.
    fn features(&self) -> StoreFeatures {
        StoreFeatures::default()
    }

    /// Returns the local view of a store whose calls do their work on the calling thread.
    ///
    /// Requests then run off the async workers. The default, `None`, is right for every store that
    /// waits on something else, such as a network.
    fn local(&self) -> Option<&dyn LocalStore> {
        None
    }

    /// Returns the view of a store for which one large read costs less than several small ones.
    fn trees(&self) -> Option<&dyn TreeStore> {
        None
    }

    /// Returns the writer of a store that can be written to.
    fn writer(&self) -> Option<&dyn WriteStore> {
        None
    }

    /// Returns the view of a store that can list all its quads.
    fn exporter(&self) -> Option<&dyn ExportStore> {
        None
    }

    /// Returns which data these are; `None` for a store whose data others may change without its notice.
    ///
    /// What is read later is at least as new.
    fn version(&self) -> Option<DataVersion> {
        None
    }
}

/// Which data a store has: equal for equal data, and different after each change.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct DataVersion {
    /// What the changes were made to, such as a digest of what was loaded, and what tells them from others of
    /// the same number.
    pub source: String,
    /// The sequence of the last change; 0 if there was none.
    pub sequence: u64,
}

/// What a request can choose of a store, beside the graphs to read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoreFeatures {
    /// The repository that the store reads, when it has a name.
    pub repository: Option<String>,
    /// Inference of statements.
    pub inference: Inference,
    /// Inference by `owl:sameAs`.
    pub same_as: Inference,
}

/// Whether a store also answers from inferred statements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Inference {
    /// Never: only stated triples are returned, whatever a request asks for.
    #[default]
    None,
    /// A request can choose.
    Switchable,
    /// Inferred statements cannot be excluded.
    Always,
}

/// The description of a store.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoreInfo {
    /// Kind of store, such as `in-memory`.
    pub provider: String,
    /// Number of statements, if the store knows it at no cost.
    pub statements: Option<u64>,
    /// The servers of a store that has some, at least one of which answers.
    pub servers: Vec<ServerState>,
}

impl StoreInfo {
    /// Returns what is wrong with some servers of the store, without their addresses.
    #[must_use]
    pub fn troubles(&self) -> Vec<String> {
        let all = self.servers.len();
        let troubles = self.servers.iter().zip(1..).filter_map(|(server, number)| {
            let trouble = server.trouble.as_ref()?;
            Some(format!("address {number} of {all}: {trouble}"))
        });
        troubles.collect()
    }
}

/// How a server of a store is.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServerState {
    /// Its address, as it is configured.
    pub address: String,
    /// Why it does not serve; `None` if it does.
    pub trouble: Option<String>,
}
