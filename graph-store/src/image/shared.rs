//! What all handles of a store over an image share: its data, its records and its queue of writers.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use arc_swap::ArcSwap;

use super::error::ImageError;
use super::snapshot::Snapshot;
use crate::context::CallContext;
use crate::error::StoreError;
use crate::store::queue::Queue;
use crate::store::records::RecordList;
use crate::write::{ChangeRecord, NewRecord, QuadChange, RecordQuery};

/// A store over an image and changes.
pub(super) struct Shared {
    /// What readers see.
    published: ArcSwap<Snapshot>,
    pub(super) queue: Queue,
    head: Mutex<Head>,
    records: Mutex<RecordList>,
    /// Held while an image is built that takes the place of the one beneath, or put there.
    pub(super) replacing: Mutex<()>,
    pub(super) is_merging: AtomicBool,
    /// Changed quads that are worth a merge, at least.
    pub(super) merge_after: u64,
}

/// What the next transaction goes on from.
struct Head {
    data: Arc<Snapshot>,
    sequence: u64,
    /// Raised when transactions that are open have read what is no more.
    era: u64,
    /// Changes that an image lacks that is being built.
    missed: Option<Vec<Arc<QuadChange>>>,
}

/// What a transaction begins with.
pub(super) struct Begun {
    pub(super) data: Arc<Snapshot>,
    pub(super) era: u64,
}

/// A commit whose outcome may not be known yet.
pub(super) enum Committing {
    Done(ChangeRecord),
}

impl Committing {
    pub(super) async fn outcome(self) -> Result<ChangeRecord, StoreError> {
        match self {
            Committing::Done(record) => Ok(record),
        }
    }
}

impl Shared {
    pub(super) fn new(data: Snapshot, merge_after: u64) -> Self {
        let data = Arc::new(data);
        Shared {
            published: ArcSwap::new(Arc::clone(&data)),
            queue: Queue::default(),
            head: Mutex::new(Head {
                data,
                sequence: 0,
                era: 0,
                missed: None,
            }),
            records: Mutex::default(),
            replacing: Mutex::new(()),
            is_merging: AtomicBool::new(false),
            merge_after,
        }
    }

    /// Returns the data that readers see.
    pub(super) fn published(&self) -> Arc<Snapshot> {
        self.published.load_full()
    }

    /// Returns what a transaction begins with.
    pub(super) fn begun(&self) -> Begun {
        let head = locked(&self.head);
        Begun {
            data: Arc::clone(&head.data),
            era: head.era,
        }
    }

    /// Commits a change that a transaction makes of data of an era.
    pub(super) fn commit(
        &self,
        era: u64,
        change: QuadChange,
        said: NewRecord,
    ) -> Result<Committing, StoreError> {
        let mut head = locked(&self.head);
        if head.era != era {
            return Err(StoreError::Conflict);
        }
        let data = head.data.changed(&change);
        let data = Arc::new(data.map_err(|error| StoreError::Failed(Box::new(error)))?);
        let record = ChangeRecord {
            sequence: head.sequence + 1,
            said: said.grouped(),
        };
        head.sequence = record.sequence;
        head.data = Arc::clone(&data);
        if let Some(missed) = &mut head.missed {
            missed.push(Arc::new(change));
        }
        locked(&self.records).push(record.clone());
        self.published.store(data);
        Ok(Committing::Done(record))
    }

    pub(super) fn records(
        &self,
        query: &RecordQuery,
        context: &CallContext,
    ) -> Result<Vec<ChangeRecord>, StoreError> {
        locked(&self.records).find(query, context)
    }

    pub(super) fn forget_records(
        &self,
        before: SystemTime,
        _context: &CallContext,
    ) -> Result<u64, StoreError> {
        Ok(locked(&self.records).forget(before))
    }

    pub(super) fn is_durable(&self) -> bool {
        false
    }

    /// Returns the data that readers see, and notes all changes from now on.
    pub(super) fn note_changes(&self) -> Arc<Snapshot> {
        let mut head = locked(&self.head);
        head.missed = Some(Vec::new());
        self.published()
    }

    /// Returns the changes since they were noted or taken last.
    pub(super) fn noted(&self) -> Vec<Arc<QuadChange>> {
        let mut head = locked(&self.head);
        let noted = head.missed.as_mut().map(std::mem::take);
        noted.unwrap_or_default()
    }

    /// Notes changes no more.
    pub(super) fn note_no_changes(&self) {
        locked(&self.head).missed = None;
    }

    /// Puts data in place that differ in form alone, once the changes are made of them that are noted and
    /// were not taken.
    pub(super) fn rebase(&self, fresh: Snapshot) -> Result<(), ImageError> {
        let mut head = locked(&self.head);
        let noted = head.missed.take().unwrap_or_default();
        let fresh = Arc::new(after(fresh, &noted)?);
        head.data = Arc::clone(&fresh);
        self.published.store(fresh);
        Ok(())
    }

    /// Puts other data in place. Transactions that are open conflict.
    pub(super) fn replace(&self, data: Snapshot) {
        let mut head = locked(&self.head);
        head.era += 1;
        head.data = Arc::new(data);
        self.published.store(Arc::clone(&head.data));
    }
}

/// Returns data after some changes.
pub(super) fn after(
    mut data: Snapshot,
    changes: &[Arc<QuadChange>],
) -> Result<Snapshot, ImageError> {
    for change in changes {
        data = data.changed(change)?;
    }
    Ok(data)
}

pub(super) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
