//! What all handles of a store over an image share: its data, its records and its queue of writers.
//!
//! Each transaction goes on from the one before, whether that is synced or not. Readers see what is synced.

use std::collections::VecDeque;
use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use arc_swap::ArcSwap;
use call_context::CallContext;
use futures::channel::oneshot;

use super::error::{ImageError, not_written};
use super::folder::{Folder, Sync};
use super::log::{history_after, write_change, write_record};
use super::snapshot::Snapshot;
use crate::error::StoreError;
use crate::store::DataVersion;
use crate::store::queue::Queue;
use crate::store::records::RecordList;
use crate::write::{
    ChangePosition, ChangeRecord, ChangesSince, NewRecord, QuadChange, RecordQuery,
};

/// A store over an image and changes.
pub(super) struct Shared {
    /// What readers see.
    pub(super) published: ArcSwap<Snapshot>,
    pub(super) queue: Queue,
    pub(super) head: Mutex<Head>,
    /// Notified when there is something to sync, or nothing any more.
    pub(super) work: Condvar,
    /// Held while the log is written, and while another image becomes the valid one.
    pub(super) syncing: Mutex<()>,
    pub(super) keeping: Keeping,
    /// Held while an image is built that takes the place of the one beneath, or put there.
    pub(super) replacing: Mutex<()>,
    pub(super) is_merging: AtomicBool,
    /// A merge is in vain, since the store is being closed.
    pub(super) is_closing: AtomicBool,
    /// Changed quads that are worth a merge, at least.
    pub(super) merge_after: u64,
    /// The same after a merge that failed.
    pub(super) merge_again: AtomicU64,
    /// Changed quads when orders followed the data last.
    pub(super) followed: AtomicU64,
    /// A random number of this store.
    instance: u64,
}

/// Where changes are kept.
pub(super) enum Keeping {
    /// In memory, with the records.
    Memory(Mutex<RecordList>),
    Folder(Folder),
}

/// What the next transaction goes on from.
pub(super) struct Head {
    pub(super) data: Arc<Snapshot>,
    pub(super) sequence: u64,
    /// What tells the changes up to the sequence from others that were made of the same data; 0 if there are none.
    pub(super) history: u64,
    /// Raised when transactions that are open have read what is no more.
    pub(super) era: u64,
    /// What survives the end of the process; in memory, all.
    pub(super) synced: Arc<Snapshot>,
    pub(super) synced_sequence: u64,
    pub(super) synced_history: u64,
    /// Commits that are not synced.
    pub(super) waiting: VecDeque<Waiting>,
    /// Changes since an image was begun that is being built.
    pub(super) missed: Option<Vec<Arc<QuadChange>>>,
    /// Why what was answered already is not synced: nothing is committed before it is.
    pub(super) failure: Option<Arc<ImageError>>,
    pub(super) is_closing: bool,
}

/// A commit that waits for its sync.
pub(super) struct Waiting {
    pub(super) record: ChangeRecord,
    pub(super) change: Arc<QuadChange>,
    pub(super) written_change: Vec<u8>,
    pub(super) written_record: Vec<u8>,
    /// The data after it.
    pub(super) data: Arc<Snapshot>,
    /// What tells it and those before it from others.
    pub(super) history: u64,
    /// Absent where it is answered already.
    pub(super) answer: Option<oneshot::Sender<Result<ChangeRecord, StoreError>>>,
}

/// What a store begins with.
pub(super) struct First {
    pub(super) data: Snapshot,
    /// The sequence of the last transaction.
    pub(super) sequence: u64,
    /// What tells the changes of the data from others.
    pub(super) history: u64,
}

/// The data from which changes are noted.
pub(super) struct Noted {
    pub(super) data: Arc<Snapshot>,
    pub(super) sequence: u64,
    pub(super) history: u64,
}

/// What a transaction begins with.
pub(super) struct Begun {
    pub(super) data: Arc<Snapshot>,
    pub(super) era: u64,
}

/// A commit whose outcome may not be known yet.
pub(super) enum Committing {
    Done(Box<ChangeRecord>),
    Waiting(oneshot::Receiver<Result<ChangeRecord, StoreError>>),
}

impl Committing {
    pub(super) async fn outcome(self) -> Result<ChangeRecord, StoreError> {
        match self {
            Committing::Done(record) => Ok(*record),
            Committing::Waiting(answer) => match answer.await {
                Ok(outcome) => outcome,
                Err(_) => Err(StoreError::OutcomeUnknown(Box::new(ImageError::Closing))),
            },
        }
    }
}

impl Shared {
    pub(super) fn new(keeping: Keeping, first: First, merge_after: u64) -> Self {
        let First {
            data,
            sequence,
            history,
        } = first;
        let data = Arc::new(data);
        Shared {
            published: ArcSwap::new(Arc::clone(&data)),
            queue: Queue::default(),
            head: Mutex::new(Head {
                synced: Arc::clone(&data),
                synced_sequence: sequence,
                synced_history: history,
                data,
                sequence,
                history,
                era: 0,
                waiting: VecDeque::new(),
                missed: None,
                failure: None,
                is_closing: false,
            }),
            work: Condvar::new(),
            syncing: Mutex::new(()),
            keeping,
            replacing: Mutex::new(()),
            is_merging: AtomicBool::new(false),
            is_closing: AtomicBool::new(false),
            merge_after,
            merge_again: AtomicU64::new(0),
            followed: AtomicU64::new(0),
            instance: RandomState::new().build_hasher().finish(),
        }
    }

    /// Returns the data that readers see.
    pub(super) fn published(&self) -> Arc<Snapshot> {
        self.published.load_full()
    }

    pub(super) fn folder(&self) -> Option<&Folder> {
        match &self.keeping {
            Keeping::Memory(_) => None,
            Keeping::Folder(folder) => Some(folder),
        }
    }

    /// Fails if the data are in a folder that cannot be written to.
    pub(super) fn check_writable(&self) -> Result<(), ImageError> {
        self.folder().map_or(Ok(()), Folder::check_writable)
    }

    /// Finds out whether there is room for changes where they are kept.
    pub(super) fn check_room(&self) -> Result<(), StoreError> {
        let Some(folder) = self.folder() else {
            return Ok(());
        };
        // What waits for room is written now if there is some.
        self.sync_waiting();
        let _syncing = locked(&self.syncing);
        let (failure, last) = {
            let head = locked(&self.head);
            (head.failure.clone(), head.synced_sequence)
        };
        let checked = match failure {
            Some(failure) => Err(failure),
            None => folder.check_room(last).map_err(Arc::new),
        };
        checked.map_err(not_written)
    }

    /// Returns which data readers see, or saw a moment ago.
    pub(super) fn version(&self) -> DataVersion {
        let (origin, sequence, history) = self.reached();
        // The same numbers may be other changes: after a crash, in a backup that is restored, in a later process.
        let source = match history {
            0 => origin.to_string(),
            _ => format!("{origin}-{history:016x}"),
        };
        DataVersion { source, sequence }
    }

    /// Returns what a transaction begins with.
    pub(super) fn begun(&self) -> Begun {
        let head = locked(&self.head);
        Begun {
            data: Arc::clone(&head.data),
            era: head.era,
        }
    }

    /// Commits a change that a transaction makes of data of an era. It has the turn, so no one else
    /// commits meanwhile.
    pub(super) fn commit(
        &self,
        era: u64,
        change: QuadChange,
        said: NewRecord,
    ) -> Result<Committing, StoreError> {
        let (sequence, history) = {
            let head = locked(&self.head);
            (head.next(era)?, head.history)
        };
        let said = said.grouped();
        let record = ChangeRecord { sequence, said };
        // No one else commits meanwhile, and whoever takes commits back begins another era.
        let written = self.folder().map(|_| {
            let change = write_change(sequence, &change);
            let history = history_after(history, &change);
            (change, write_record(&record), history)
        });
        let mut head = locked(&self.head);
        head.next(era)?;
        let data = head.data.changed(&change);
        let data = Arc::new(data.map_err(|error| StoreError::Failed(Box::new(error)))?);
        let change = Arc::new(change);
        head.sequence = sequence;
        head.data = Arc::clone(&data);
        match (&self.keeping, written) {
            (Keeping::Folder(folder), Some((written_change, written_record, history))) => {
                head.history = history;
                let waiting = Waiting {
                    record,
                    change,
                    written_change,
                    written_record,
                    data,
                    history,
                    answer: None,
                };
                Ok(self.wait(folder, &mut head, waiting))
            }
            (Keeping::Memory(records), _) => {
                locked(records).push(record.clone());
                // A later process counts from 0 again.
                head.history = self.instance;
                head.note(change, &data, sequence, self.instance);
                self.published.store(data);
                Ok(Committing::Done(Box::new(record)))
            }
            (Keeping::Folder(_), None) => unreachable!("what goes to a folder is written"),
        }
    }

    /// Lets a commit wait for its sync.
    fn wait(&self, folder: &Folder, head: &mut Head, mut waiting: Waiting) -> Committing {
        match folder.sync {
            Sync::Commit => {
                let (sender, answer) = oneshot::channel();
                waiting.answer = Some(sender);
                head.waiting.push_back(waiting);
                self.work.notify_all();
                Committing::Waiting(answer)
            }
            Sync::Interval(_) => {
                let record = waiting.record.clone();
                self.published.store(Arc::clone(&waiting.data));
                head.waiting.push_back(waiting);
                Committing::Done(Box::new(record))
            }
        }
    }

    pub(super) fn records(
        &self,
        query: &RecordQuery,
        context: &CallContext,
    ) -> Result<Vec<ChangeRecord>, StoreError> {
        match &self.keeping {
            Keeping::Memory(records) => locked(records).find(query, context),
            Keeping::Folder(folder) => {
                // Those of commits that were answered already are read too.
                if matches!(folder.sync, Sync::Interval(_)) {
                    self.sync_waiting();
                }
                let found = folder
                    .log
                    .records(query)
                    .map_err(|error| StoreError::Failed(Box::new(error)))?;
                context.hold(found.iter().map(crate::store::records::footprint).sum())?;
                Ok(found)
            }
        }
    }

    /// Returns what the changes that readers see were made to, the sequence of the last of them, and what tells them from
    /// others.
    fn reached(&self) -> (Arc<str>, u64, u64) {
        let head = locked(&self.head);
        let (data, sequence, history) = if self.is_shown_before_sync() {
            (&head.data, head.sequence, head.history)
        } else {
            (&head.synced, head.synced_sequence, head.synced_history)
        };
        (Arc::clone(&data.origin), sequence, history)
    }

    pub(super) fn position(&self, context: &CallContext) -> Result<ChangePosition, StoreError> {
        let (origin, sequence, _) = self.reached();
        let mut position = ChangePosition {
            origin: origin.to_string(),
            sequence,
            request: None,
        };
        if let Some(before) = sequence.checked_sub(1) {
            let last = self.records_from(before, 1, context)?;
            let last = last.into_iter().find(|last| last.sequence == sequence);
            position.request = last.map(|last| last.said.request);
        }
        Ok(position)
    }

    pub(super) fn changes_since(
        &self,
        position: &ChangePosition,
        limit: usize,
        context: &CallContext,
    ) -> Result<ChangesSince, StoreError> {
        // Before the records are read: readers need not see later ones yet.
        let (origin, last, _) = self.reached();
        if *position.origin != *origin || position.sequence > last {
            return Ok(ChangesSince::Unknown);
        }
        let after = position.reads_after();
        let mut records = self.records_from(after, limit.saturating_add(1), context)?;
        records.retain(|record| record.sequence <= last);
        let forgotten = records.first().map_or(last, |first| first.sequence - 1);
        Ok(position.changes(records, forgotten, limit))
    }

    /// Returns the first records after a sequence, those that wait for their sync among them.
    fn records_from(
        &self,
        sequence: u64,
        limit: usize,
        context: &CallContext,
    ) -> Result<Vec<ChangeRecord>, StoreError> {
        let query = RecordQuery::After { sequence, limit };
        let folder = match &self.keeping {
            Keeping::Memory(records) => return locked(records).find(&query, context),
            Keeping::Folder(folder) => folder,
        };
        // Before those in the log, where they may be a moment later.
        let waiting: Vec<ChangeRecord> = {
            let head = locked(&self.head);
            let waiting = head
                .waiting
                .iter()
                .map(|waiting| &waiting.record)
                .filter(|record| record.sequence > sequence);
            waiting.take(limit).cloned().collect()
        };
        let mut found = folder
            .log
            .records(&query)
            .map_err(|error| StoreError::Failed(Box::new(error)))?;
        let last = found.last().map_or(sequence, |last| last.sequence);
        found.extend(waiting.into_iter().filter(|record| record.sequence > last));
        found.truncate(limit);
        context.hold(found.iter().map(crate::store::records::footprint).sum())?;
        Ok(found)
    }

    pub(super) fn forget_records(
        &self,
        before: SystemTime,
        context: &CallContext,
    ) -> Result<u64, StoreError> {
        let folder = match &self.keeping {
            Keeping::Memory(records) => return Ok(locked(records).forget(before)),
            Keeping::Folder(folder) => folder,
        };
        let mut count = 0;
        loop {
            self.sync_waiting();
            let forgotten = {
                // Others commit between the parts of a long list.
                let _syncing = locked(&self.syncing);
                folder.log.forget_some(before)
            };
            let forgotten = forgotten.map_err(|error| StoreError::Failed(Box::new(error)))?;
            count += forgotten;
            if forgotten == 0 {
                return Ok(count);
            }
            context.check()?;
        }
    }

    /// Notes all changes from now on, and returns the data before them.
    pub(super) fn note_changes(&self) -> Noted {
        let mut head = locked(&self.head);
        head.missed = Some(Vec::new());
        Noted {
            data: Arc::clone(&head.synced),
            sequence: head.synced_sequence,
            history: head.synced_history,
        }
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
}

impl Head {
    /// Returns the sequence of the next transaction, which has read data of an era.
    fn next(&self, era: u64) -> Result<u64, StoreError> {
        if self.is_closing {
            return Err(StoreError::Unavailable(Box::new(ImageError::Closing)));
        }
        if self.era != era {
            return Err(StoreError::Conflict);
        }
        match &self.failure {
            Some(failure) => Err(not_written(Arc::clone(failure))),
            None => Ok(self.sequence + 1),
        }
    }

    /// Notes that a change is synced.
    pub(super) fn note(
        &mut self,
        change: Arc<QuadChange>,
        data: &Arc<Snapshot>,
        sequence: u64,
        history: u64,
    ) {
        self.synced = Arc::clone(data);
        self.synced_sequence = sequence;
        self.synced_history = history;
        if let Some(missed) = &mut self.missed {
            missed.push(change);
        }
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
