//! What all handles of an embedded store share: its quads, its index of links, its records and its
//! queue of writers.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::SystemTime;

use oxigraph::store::{StorageError, Store};

use super::links::{LinkIndex, Plan};
use super::records::{Records, forgetting};
use super::source::{Embedded, failed};
use super::upkeep::Thresholds;
use crate::error::StoreError;
use crate::store::queue::Queue;
use crate::write::{ChangeRecord, NewRecord, QuadChange, change_graph};

/// What a store on disk says that it is.
pub(super) const ON_DISK: &str = "rocksdb";

/// Records that are forgotten in one transaction.
const FORGOTTEN_AT_ONCE: usize = 1_000;

/// An embedded store.
pub(super) struct Shared {
    pub(super) provider: &'static str,
    /// Replaced by a copy when much was removed from it.
    store: RwLock<Arc<Store>>,
    pub(super) links: LinkIndex,
    pub(super) records: Records,
    pub(super) queue: Queue,
    /// Held while a change is committed, and when something begins or ends that must not miss one.
    writing: Mutex<Writing>,
    pub(super) thresholds: Thresholds,
    pub(super) is_folding: AtomicBool,
    pub(super) is_copying: AtomicBool,
}

/// What is known of the changes so far.
#[derive(Default)]
pub(super) struct Writing {
    /// Quads that were removed and still take memory.
    pub(super) garbage: usize,
    /// The number of quads, once it was counted.
    pub(super) live: Option<usize>,
    /// Changes that a copy lacks that is being made.
    pub(super) missed: Option<Vec<QuadChange>>,
}

impl Shared {
    pub(super) fn new(store: Store, provider: &'static str, records: Records) -> Self {
        Shared {
            provider,
            store: RwLock::new(Arc::new(store)),
            links: LinkIndex::default(),
            records,
            queue: Queue::default(),
            writing: Mutex::default(),
            thresholds: Thresholds::default(),
            is_folding: AtomicBool::new(false),
            is_copying: AtomicBool::new(false),
        }
    }

    /// Returns the quads as they are kept now.
    pub(super) fn store(&self) -> Arc<Store> {
        let store = self.store.read();
        Arc::clone(&store.unwrap_or_else(PoisonError::into_inner))
    }

    /// Puts a copy in place of the quads.
    pub(super) fn replace(&self, store: Store) {
        let mut current = self.store.write().unwrap_or_else(PoisonError::into_inner);
        *current = Arc::new(store);
    }

    /// Returns the source of a request.
    pub(super) fn source(&self) -> Embedded {
        Embedded {
            store: self.store(),
            links: self.links.current(),
            hides_records: self.records.are_quads(),
        }
    }

    /// Keeps commits out for as long as the guard lives.
    pub(super) fn writing(&self) -> MutexGuard<'_, Writing> {
        self.writing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Builds the index of links from the quads as they are now; changes go on meanwhile.
    pub(super) fn index_links(&self, plan: &Plan) -> Result<(), StorageError> {
        if !plan.sealed || plan.wanted.is_empty() {
            let _writing = self.writing();
            self.links.publish(None);
            return Ok(());
        }
        let begun = {
            let _writing = self.writing();
            self.links.begin(&self.store(), plan)
        };
        let (links, read) = match begun.read() {
            Ok(links) => (Some(links), Ok(())),
            Err(error) => (None, Err(error)),
        };
        let _writing = self.writing();
        self.links.publish(links);
        read
    }

    /// Commits a change, all of whose quads exist or do not exist, and its record, in one
    /// transaction of the store.
    pub(super) fn commit(
        &self,
        change: QuadChange,
        said: NewRecord,
    ) -> Result<ChangeRecord, StoreError> {
        let mut writing = self.writing();
        let store = self.store();
        let record = ChangeRecord {
            sequence: self.records.next(&store)?,
            said: said.grouped(),
        };
        let mut transaction = store.start_transaction().map_err(failed)?;
        for quad in &change.removed {
            transaction.remove(quad);
        }
        for quad in &change.added {
            transaction.insert(quad);
        }
        if self.records.are_quads() {
            for quad in change_graph::quads(&record) {
                transaction.insert(&quad);
            }
        }
        transaction.commit().map_err(failed)?;
        self.records.committed(&record);
        if let Err(error) = self.links.apply(&store, &change) {
            // Links are found by scans from now on, as before there was an index.
            tracing::error!(%error, "the index of links is dropped");
            self.links.publish(None);
        }
        writing.note(change);
        drop(writing);
        self.sync(&store)?;
        Ok(record)
    }

    /// Removes some of the records before a time from the change graph; returns how many.
    pub(super) fn forget_some(&self, before: SystemTime) -> Result<usize, StoreError> {
        let _writing = self.writing();
        let store = self.store();
        let change = forgetting(&store, before, FORGOTTEN_AT_ONCE)?;
        let Some(mark) = &change.mark else {
            return Ok(0);
        };
        let mut transaction = store.start_transaction().map_err(failed)?;
        for quad in &change.removed {
            transaction.remove(quad);
        }
        transaction.insert(mark);
        transaction.commit().map_err(failed)?;
        self.sync(&store)?;
        Ok(change.count)
    }

    /// Returns once what is committed survives the end of the process and of the machine, if the store
    /// is on disk.
    fn sync(&self, store: &Store) -> Result<(), StoreError> {
        #[cfg(feature = "rocksdb")]
        if self.provider == ON_DISK {
            let flushed = store.flush();
            return flushed.map_err(|error| StoreError::OutcomeUnknown(Box::new(error)));
        }
        let _ = store;
        Ok(())
    }
}

impl Writing {
    /// Notes a committed change.
    fn note(&mut self, change: QuadChange) {
        self.garbage += change.removed.len();
        if let Some(live) = &mut self.live {
            *live = (*live + change.added.len()).saturating_sub(change.removed.len());
        }
        if let Some(missed) = &mut self.missed {
            missed.push(change);
        }
    }
}
