//! The embedded store: Oxigraph, in memory, or on disk with the feature `rocksdb`.
//!
//! Objects are found, filtered, ordered and read by index scans, without SPARQL: that saves parsing
//! and planning a query, and values compare exactly as answers show them.

mod iris;
mod links;
mod source;
mod statements;

use async_trait::async_trait;
use links::LinkIndex;
use oxigraph::store::{StorageError, Store};
use oxrdf::NamedNode;
use source::{Embedded, failed};

use crate::context::CallContext;
use crate::error::StoreError;
use crate::pattern::Walker;
use crate::query::{Dataset, Hydrated, HydrationRequest, ObjectRef, Selection, Window};
use crate::store::{GraphStore, LocalStore, StoreInfo, Windowed};

/// An Oxigraph store.
pub struct OxigraphStore {
    store: Store,
    provider: &'static str,
    links: LinkIndex,
}

impl OxigraphStore {
    /// Wraps a store, with whatever is loaded into it.
    #[must_use]
    pub fn new(store: Store) -> Self {
        OxigraphStore {
            store,
            provider: "in-memory",
            links: LinkIndex::default(),
        }
    }

    /// Opens a store on disk, and creates it if the folder does not contain one yet.
    ///
    /// Only one process at a time can open it.
    ///
    /// # Errors
    /// When the folder cannot be read or written, holds something else, or is in use.
    #[cfg(feature = "rocksdb")]
    pub fn open(folder: impl AsRef<std::path::Path>) -> Result<Self, StorageError> {
        Ok(OxigraphStore {
            store: Store::open(folder)?,
            provider: "rocksdb",
            links: LinkIndex::default(),
        })
    }

    /// Returns the kind of store: `in-memory` or `rocksdb`.
    #[must_use]
    pub fn provider(&self) -> &'static str {
        self.provider
    }

    /// Returns the store itself.
    #[must_use]
    pub fn inner(&self) -> &Store {
        &self.store
    }

    /// Declares that the data are complete: nobody writes to the store, through this handle or
    /// another one, until [`OxigraphStore::unseal`] is called.
    ///
    /// A store in memory then keeps an additional index of the properties that services over it read
    /// in inverse direction, those with an `inverseAlias`. It is built before this method returns, and
    /// rebuilt when a further service needs more of it. Answers may miss data written nevertheless.
    ///
    /// # Errors
    /// When the data cannot be read.
    pub fn seal(&self) -> Result<(), StorageError> {
        match self.provider {
            // RocksDB finds links by property and object itself.
            "rocksdb" => Ok(()),
            _ => self.links.seal(&self.store),
        }
    }

    /// Reverts [`OxigraphStore::seal`] and drops the index: the store can be written to.
    pub fn unseal(&self) {
        self.links.unseal();
    }

    fn walker<'a>(
        &'a self,
        dataset: &Dataset,
        context: &'a CallContext,
    ) -> Walker<'a, Embedded<'a>> {
        let source = Embedded {
            store: &self.store,
            // The index covers all graphs.
            links: match dataset.graphs {
                None => self.links.current(),
                Some(_) => None,
            },
        };
        Walker::new(source, dataset, context)
    }
}

#[async_trait]
impl GraphStore for OxigraphStore {
    async fn select(
        &self,
        selection: &Selection,
        context: &CallContext,
    ) -> Result<Vec<ObjectRef>, StoreError> {
        self.walker(&selection.dataset, context).select(selection)
    }

    async fn select_window(
        &self,
        selection: &Selection,
        window: &Window,
        context: &CallContext,
    ) -> Result<Windowed, StoreError> {
        let walker = self.walker(&selection.dataset, context);
        walker.select_window(selection, window)
    }

    async fn hydrate(
        &self,
        request: &HydrationRequest<'_>,
        context: &CallContext,
    ) -> Result<Hydrated, StoreError> {
        self.walker(request.dataset, context).hydrate(request)
    }

    async fn probe(&self, _context: &CallContext) -> Result<StoreInfo, StoreError> {
        // Counting requires a full scan; checking for emptiness is free.
        let is_empty = self.store.is_empty().map_err(failed)?;
        Ok(StoreInfo {
            provider: self.provider.to_owned(),
            statements: is_empty.then_some(0),
        })
    }

    fn local(&self) -> Option<&dyn LocalStore> {
        Some(self)
    }
}

impl LocalStore for OxigraphStore {
    fn hydrate_now(
        &self,
        request: &HydrationRequest<'_>,
        context: &CallContext,
    ) -> Option<Result<Hydrated, StoreError>> {
        Some(self.walker(request.dataset, context).hydrate(request))
    }

    fn expect_inverse(&self, properties: &[NamedNode]) {
        if let Err(error) = self.links.want(&self.store, properties) {
            tracing::warn!(%error, "failed to index inverse properties");
        }
    }

    fn is_metered(&self) -> bool {
        true
    }
}
