//! The embedded store: Oxigraph, in memory, or on disk with the feature `rocksdb`.
//!
//! Objects are found, filtered, ordered and read by index scans, without SPARQL: that saves parsing
//! and planning a query, and values compare exactly as answers show them.

//!
//! Writers take turns. What a transaction applies lies over the quads until it is committed, in one
//! transaction of Oxigraph. Each index scan of a reader sees a commit as a whole or not at all; a call of
//! several scans may see one that falls between them.

mod delta;
mod export;
#[cfg(test)]
mod fresh;
mod iris;
mod links;
mod normal;
mod records;
mod shared;
mod source;
mod statements;
mod transaction;
mod upkeep;
mod writer;

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use call_context::CallContext;
use oxigraph::store::{StorageError, Store};
use oxrdf::NamedNode;
use records::Records;
use shared::{ON_DISK, Shared};
use source::{Embedded, failed};

use crate::error::StoreError;
use crate::pattern::Walker;
use crate::query::{Dataset, Hydrated, HydrationRequest, Objects, Selection, Window};
use crate::store::{ExportStore, GraphStore, LocalStore, StoreInfo, Windowed, WriteStore};

/// An Oxigraph store.
pub struct OxigraphStore {
    shared: Arc<Shared>,
}

impl OxigraphStore {
    /// Wraps a store, with whatever is loaded into it.
    #[must_use]
    pub fn new(store: Store) -> Self {
        let records = Records::Beside(Mutex::default());
        OxigraphStore {
            shared: Arc::new(Shared::new(store, "in-memory", records)),
        }
    }

    /// Wraps a store in memory that keeps its change records as one on disk does, to test that.
    #[doc(hidden)]
    #[must_use]
    pub fn with_change_graph(store: Store) -> Self {
        let records = Records::InGraph(Mutex::default());
        OxigraphStore {
            shared: Arc::new(Shared::new(store, "in-memory", records)),
        }
    }

    /// Opens a store on disk, and creates it if the folder does not contain one yet.
    ///
    /// Only one process at a time can open it. A folder that is made here is for its owner only, and so is
    /// one that has a store already.
    ///
    /// # Errors
    /// When the folder cannot be read or written, holds something else, or is in use.
    #[cfg(feature = "rocksdb")]
    pub fn open(folder: impl AsRef<std::path::Path>) -> Result<Self, StorageError> {
        let records = Records::InGraph(Mutex::default());
        // What cannot be made here cannot be opened either, and that says why.
        let folder = folder.as_ref();
        let _ = crate::private_files::create_folder(folder);
        // Every database of RocksDB has this file. Others may use a folder without it too.
        let has_store = folder.join("CURRENT").is_file();
        let store = Store::open(folder)?;
        if has_store && let Err(error) = crate::private_files::narrow(folder) {
            tracing::warn!(%error, folder = %folder.display(), "others may read the store");
        }
        Ok(OxigraphStore {
            shared: Arc::new(Shared::new(store, ON_DISK, records)),
        })
    }

    /// Returns the kind of store: `in-memory` or `rocksdb`.
    #[must_use]
    pub fn provider(&self) -> &'static str {
        self.shared.provider
    }

    /// Returns the store itself, as it is now.
    ///
    /// Load data through it before there are writers. A store in memory is replaced by a copy once much
    /// was removed from it, so do not keep it.
    #[must_use]
    pub fn inner(&self) -> Store {
        Store::clone(&self.shared.store())
    }

    /// Declares that the data are complete: nobody writes to the store, except by
    /// [`GraphStore::writer`], until [`OxigraphStore::unseal`] is called.
    ///
    /// A store in memory then keeps an additional index of the properties that services over it read
    /// in inverse direction, those with an `inverseAlias`. It is built before this method returns, and
    /// rebuilt when a further service needs more of it; commits keep it up. Answers may miss data
    /// written in another way nevertheless.
    ///
    /// # Errors
    /// When the data cannot be read.
    pub fn seal(&self) -> Result<(), StorageError> {
        let mut plan = self.shared.links.plan();
        // RocksDB finds links by property and object itself.
        if plan.sealed || self.shared.provider == ON_DISK {
            return Ok(());
        }
        plan.sealed = true;
        self.shared.index_links(&plan)
    }

    /// Reverts [`OxigraphStore::seal`] and drops the index: data can be loaded.
    pub fn unseal(&self) {
        let mut plan = self.shared.links.plan();
        plan.sealed = false;
        let _writing = self.shared.writing();
        self.shared.links.publish(None);
    }

    fn walker<'a>(&self, dataset: &Dataset, context: &'a CallContext) -> Walker<'a, Embedded> {
        Walker::new(self.shared.source().of(dataset), dataset, context)
    }
}

#[async_trait]
impl GraphStore for OxigraphStore {
    async fn select(
        &self,
        selection: &Selection,
        context: &CallContext,
    ) -> Result<Objects, StoreError> {
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
        let is_empty = self.shared.store().is_empty().map_err(failed)?;
        Ok(StoreInfo {
            provider: self.shared.provider.to_owned(),
            statements: is_empty.then_some(0),
        })
    }

    fn local(&self) -> Option<&dyn LocalStore> {
        Some(self)
    }

    fn writer(&self) -> Option<&dyn WriteStore> {
        Some(self)
    }

    fn exporter(&self) -> Option<&dyn ExportStore> {
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
        let mut plan = self.shared.links.plan();
        let before = plan.wanted.len();
        plan.wanted.extend(properties.iter().cloned());
        if !plan.sealed || plan.wanted.len() == before {
            return;
        }
        if let Err(error) = self.shared.index_links(&plan) {
            tracing::warn!(%error, "failed to index inverse properties");
        }
    }

    fn short_work(&self) -> Option<u64> {
        Some(1_024)
    }
}

#[cfg(all(test, unix, feature = "rocksdb"))]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_folder_with_a_store_is_taken_from_others_when_it_is_opened() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store");
        fs::create_dir(&path).unwrap();
        fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
        for wanted in [0o755, 0o700] {
            drop(OxigraphStore::open(&path).unwrap());
            let mode = fs::metadata(&path).unwrap().permissions().mode() & 0o777;
            assert_eq!(mode, wanted);
        }
    }
}
