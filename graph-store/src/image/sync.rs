//! Writes what was committed to the log, and syncs it: all that waits at once.

use std::sync::{Arc, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use super::error::{ImageError, not_written};
use super::folder::{Folder, Sync};
use super::log::{Entry, Unwritten};
use super::shared::{Shared, Waiting, locked};
use crate::error::StoreError;

/// How long to wait after a failure before what was answered is written again.
const RETRY: Duration = Duration::from_millis(500);

/// The thread that syncs the log of a store; it ends when this is dropped, and all is synced then.
pub(super) struct LogThread {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

impl LogThread {
    pub(super) fn start(shared: &Arc<Shared>, sync: Sync) -> std::io::Result<Self> {
        let of_thread = Arc::clone(shared);
        let thread = std::thread::Builder::new()
            .name("store-log".to_owned())
            .spawn(move || of_thread.sync_until_closed(sync))?;
        Ok(LogThread {
            shared: Arc::clone(shared),
            thread: Some(thread),
        })
    }
}

impl Drop for LogThread {
    fn drop(&mut self) {
        locked(&self.shared.head).is_closing = true;
        self.shared.work.notify_all();
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            tracing::error!("the thread that syncs the log has panicked");
        }
    }
}

impl Shared {
    /// Syncs what is committed until the store is closed.
    fn sync_until_closed(&self, sync: Sync) {
        loop {
            let is_closing = self.wait_for_work(sync);
            self.sync_waiting();
            if is_closing {
                let head = locked(&self.head);
                if let (false, Some(error)) = (head.waiting.is_empty(), &head.failure) {
                    let count = head.waiting.len();
                    tracing::error!(%error, count, "commits are lost that could not be synced");
                }
                return;
            }
        }
    }

    /// Waits until something is to be synced; returns whether the store is being closed.
    fn wait_for_work(&self, sync: Sync) -> bool {
        let mut head = locked(&self.head);
        loop {
            if head.is_closing {
                return true;
            }
            head = match sync {
                Sync::Commit if !head.waiting.is_empty() => return false,
                Sync::Commit => {
                    let woken = self.work.wait(head);
                    woken.unwrap_or_else(PoisonError::into_inner)
                }
                Sync::Interval(interval) => {
                    let interval = match head.failure {
                        Some(_) => interval.max(RETRY),
                        None => interval,
                    };
                    let woken = self.work.wait_timeout(head, interval);
                    let (head, _) = woken.unwrap_or_else(PoisonError::into_inner);
                    if !head.waiting.is_empty() {
                        return head.is_closing;
                    }
                    head
                }
            };
        }
    }

    /// Writes and syncs all commits that wait.
    pub(super) fn sync_waiting(&self) {
        let Some(folder) = self.folder() else { return };
        let _syncing = locked(&self.syncing);
        self.sync_now(folder);
    }

    /// The same, while no one else does.
    pub(super) fn sync_now(&self, folder: &Folder) {
        let (batch, last) = {
            let mut head = locked(&self.head);
            let batch: Vec<Waiting> = head.waiting.drain(..).collect();
            (batch, head.synced_sequence)
        };
        if batch.is_empty() {
            return;
        }
        let entries = batch.iter().map(|waiting| Entry {
            record: &waiting.record,
            change: &waiting.written_change,
            said: &waiting.written_record,
        });
        let entries: Vec<Entry<'_>> = entries.collect();
        let written = folder.log.append(last, &entries);
        folder.note_room(match &written {
            Ok(()) => false,
            Err(Unwritten::Nothing(error) | Unwritten::Unknown(error)) => error.is_disk_full(),
        });
        match written {
            Ok(()) => self.synced(folder.sync, batch),
            Err(unwritten) => match folder.sync {
                Sync::Commit => self.refuse(batch, unwritten),
                Sync::Interval(_) => self.keep_waiting(batch, unwritten),
            },
        }
    }

    /// Shows commits that are synced, and answers them.
    fn synced(&self, sync: Sync, batch: Vec<Waiting>) {
        let mut head = locked(&self.head);
        head.failure = None;
        for waiting in &batch {
            let change = Arc::clone(&waiting.change);
            let (sequence, history) = (waiting.record.sequence, waiting.history);
            head.note(change, &waiting.data, sequence, history);
        }
        if sync == Sync::Commit {
            self.published.store(Arc::clone(&head.synced));
        }
        drop(head);
        for waiting in batch {
            if let Some(answer) = waiting.answer {
                // Whoever no longer waits learns of it by its record.
                let _ = answer.send(Ok(waiting.record));
            }
        }
    }

    /// Takes commits back that could not be synced, and those that went on from them.
    fn refuse(&self, batch: Vec<Waiting>, unwritten: Unwritten) {
        let later: Vec<Waiting> = {
            let mut head = locked(&self.head);
            head.era += 1;
            head.data = Arc::clone(&head.synced);
            head.sequence = head.synced_sequence;
            head.history = head.synced_history;
            head.waiting.drain(..).collect()
        };
        let (error, is_unknown) = match unwritten {
            Unwritten::Nothing(error) => (Arc::new(error), false),
            Unwritten::Unknown(error) => (Arc::new(error), true),
        };
        tracing::error!(%error, count = batch.len(), "commits are refused that could not be synced");
        for waiting in batch {
            let error = Arc::clone(&error);
            waiting.answer_with(if is_unknown {
                StoreError::OutcomeUnknown(Box::new(ImageError::NotSynced(error)))
            } else {
                not_written(error)
            });
        }
        later.into_iter().for_each(Waiting::conflict);
    }

    /// Keeps commits that were answered for the next time.
    fn keep_waiting(&self, batch: Vec<Waiting>, unwritten: Unwritten) {
        let (Unwritten::Nothing(error) | Unwritten::Unknown(error)) = unwritten;
        let mut head = locked(&self.head);
        if head.failure.is_none() {
            tracing::error!(%error, "commits cannot be synced; no more are taken until they can");
        }
        head.failure = Some(Arc::<ImageError>::new(error));
        for waiting in batch.into_iter().rev() {
            head.waiting.push_front(waiting);
        }
    }
}

impl Waiting {
    /// Answers that what it goes on from is no more.
    pub(super) fn conflict(self) {
        self.answer_with(StoreError::Conflict);
    }

    fn answer_with(self, error: StoreError) {
        if let Some(answer) = self.answer {
            // No one may wait any more.
            let _ = answer.send(Err(error));
        }
    }
}
