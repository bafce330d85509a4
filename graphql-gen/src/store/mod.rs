//! The graph store: where objects and their values come from.

mod hydration;
mod order;
#[cfg(feature = "oxigraph")]
pub mod oxigraph;
pub mod remote;

use async_trait::async_trait;
use oxrdf::NamedNode;

pub use hydration::{Column, Hydrated, HydrationRequest, Slot, SlotPage};

use crate::plan::{Page, Selection};
use crate::request::RequestContext;

/// A failure of a store. Its text may name addresses and never leaves the process.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The deadline of the request passed.
    #[error("the deadline passed")]
    Deadline,
    /// The request was cancelled.
    #[error("the request was cancelled")]
    Cancelled,
    /// The store cannot do what is asked for; the text is fit for clients.
    #[error("{0}")]
    Unsupported(String),
    /// The store cannot be reached.
    #[error("the store cannot be reached")]
    Unavailable(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The store failed on a valid query.
    #[error("the store failed")]
    Failed(#[source] Box<dyn std::error::Error + Send + Sync>),
}

/// A store of RDF data.
///
/// Implementations decide how a selection becomes queries and how values are fetched; the contract
/// is the same for all of them: IRIs only, each once, in the order asked for. Each step that a store
/// takes, a query or a walk, is counted by [`RequestContext::count_call`].
#[async_trait]
pub trait GraphStore: Send + Sync + 'static {
    /// Returns the objects that `selection` asks for: distinct IRIs, ordered and paged.
    async fn select(
        &self,
        selection: &Selection,
        context: &RequestContext,
    ) -> Result<Vec<NamedNode>, StoreError>;

    /// Returns how many objects `selection` would give without its page.
    async fn count(
        &self,
        selection: &Selection,
        context: &RequestContext,
    ) -> Result<u64, StoreError> {
        let whole = Selection {
            order: Vec::new(),
            page: Page::default(),
            ..selection.clone()
        };
        Ok(self.select(&whole, context).await?.len() as u64)
    }

    /// Returns, for each node and slot of `request`, the values that the slot asks for.
    async fn hydrate(
        &self,
        request: &HydrationRequest<'_>,
        context: &RequestContext,
    ) -> Result<Hydrated, StoreError>;

    /// Returns what a request can choose of the store.
    fn features(&self) -> StoreFeatures {
        StoreFeatures::default()
    }

    /// Tells whether calls block the thread, so that requests run off the async workers.
    fn is_blocking(&self) -> bool;

    /// Checks that the store answers; returns what it is for health records.
    async fn probe(&self, context: &RequestContext) -> Result<StoreInfo, StoreError>;
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
