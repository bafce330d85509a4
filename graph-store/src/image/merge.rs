//! Merges changes into a new image beside the requests: it is built while the old one and its changes
//! serve, and then takes their place at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::Image;
use super::backup::Moment;
use super::build::ImageBuilder;
use super::error::ImageError;
use super::folder::Sync;
use super::log::{Disk, Origin, State};
use super::orders::{orders_of, translate_orders};
use super::shared::{Keeping, Noted, Shared, Waiting, after, locked};
use super::snapshot::Snapshot;
use crate::write::{ChangeRecord, RecordQuery};

/// Changes that may be repeated while writers wait.
const LEFT_TO_REPEAT: usize = 16;
/// How often changes are repeated before writers wait.
const ROUNDS: usize = 8;
/// Quads that are read between two looks at whether the store is being closed.
const CHECK_EVERY: usize = 4_096;
/// A merge is worth its cost once so many of all quads have changed: one of eight.
const SHARE: u64 = 8;

impl Shared {
    /// Starts a merge if one is due; returns at once.
    pub(super) fn keep_up(self: &Arc<Self>) {
        if self.check_writable().is_err() {
            return;
        }
        let data = self.published();
        let again = self.merge_again.load(Ordering::Relaxed);
        let due = self.merge_after.max(data.image.quads / SHARE).max(again);
        if data.delta.size < due || self.is_merging.swap(true, Ordering::AcqRel) {
            return;
        }
        let busy = Busy(Arc::clone(self));
        let thread = std::thread::Builder::new().name("image-merge".to_owned());
        let started = thread.spawn(move || {
            let shared = &busy.0;
            let again = match shared.merge() {
                Ok(()) => 0,
                Err(ImageError::Closing) => return,
                Err(error) => {
                    tracing::warn!(%error, "changes are not merged into an image");
                    // As much again must change before it is tried again.
                    shared.published().delta.size + shared.merge_after
                }
            };
            shared.merge_again.store(again, Ordering::Relaxed);
        });
        if let Err(error) = started {
            tracing::warn!(%error, "changes are not merged into an image");
        }
    }

    /// Merges the changes so far into a new image.
    pub(super) fn merge(&self) -> Result<(), ImageError> {
        self.check_writable()?;
        let _replacing = locked(&self.replacing);
        if self.is_closing.load(Ordering::Relaxed) {
            // Someone else may have opened the folder already.
            return Err(ImageError::Closing);
        }
        let _noting = Noting(self);
        let Noted {
            data,
            sequence: base,
            history,
        } = self.note_changes();
        if data.delta.size == 0 {
            return Ok(());
        }
        // Later, orders are those of later data.
        let lists = orders_of(&data);
        let mut builder = ImageBuilder::new();
        for (number, quad) in data.iter().enumerate() {
            if number % CHECK_EVERY == 0 && self.is_closing.load(Ordering::Relaxed) {
                return Err(ImageError::Closing);
            }
            builder.add(quad.as_ref())?;
        }
        let (generation, image) = self.built(builder)?;
        let mut fresh = Snapshot {
            orders: data.orders.successor(),
            origin: Arc::clone(&data.origin),
            ..Snapshot::new(image)
        };
        translate_orders(&lists, &data, &fresh);
        drop((lists, data));
        for _ in 0..ROUNDS {
            let noted = self.noted();
            fresh = after(fresh, &noted)?;
            if noted.len() <= LEFT_TO_REPEAT {
                break;
            }
        }
        let origin = Origin {
            source: fresh.origin.to_string(),
            history,
        };
        self.rebase(fresh, State { generation, base }, &origin)?;
        self.save_orders();
        Ok(())
    }

    /// Builds an image: in memory, or in the folder, where it has a number.
    fn built(&self, builder: ImageBuilder) -> Result<(u64, Arc<Image>), ImageError> {
        match self.folder() {
            Some(folder) => folder.write(builder),
            None => Ok((0, Arc::new(builder.build()?))),
        }
    }

    /// Puts data in place that differ in form alone, once the changes are made of them that are noted and
    /// were not taken. Their image holds all up to a sequence.
    fn rebase(&self, fresh: Snapshot, state: State, origin: &Origin) -> Result<(), ImageError> {
        let _syncing = locked(&self.syncing);
        if let Some(folder) = self.folder() {
            let last = locked(&self.head).synced_sequence;
            folder.switch(last, state, Some(origin))?;
        }
        let mut head = locked(&self.head);
        let noted = head.missed.take().unwrap_or_default();
        let mut data = Arc::new(after(fresh, &noted)?);
        head.synced = Arc::clone(&data);
        for waiting in &mut head.waiting {
            data = Arc::new(data.changed(&waiting.change)?);
            waiting.data = Arc::clone(&data);
        }
        head.data = data;
        self.published
            .store(Arc::clone(if self.is_shown_before_sync() {
                &head.data
            } else {
                &head.synced
            }));
        Ok(())
    }

    /// Returns whether readers see what a crash may lose.
    pub(super) fn is_shown_before_sync(&self) -> bool {
        let folder = self.folder();
        folder.is_some_and(|folder| matches!(folder.sync, Sync::Interval(_)))
    }

    /// Puts other data in place of all that there are. Transactions that are open conflict.
    pub(super) fn replace(&self, builder: ImageBuilder) -> Result<(), ImageError> {
        self.check_writable()?;
        let _replacing = locked(&self.replacing);
        let (generation, image) = self.built(builder)?;
        let _syncing = locked(&self.syncing);
        if let Some(folder) = self.folder() {
            self.sync_now(folder);
        }
        let mut head = locked(&self.head);
        let (mut fresh, base) = (Snapshot::new(image), head.synced_sequence);
        if base > 0 {
            // What was there before may have begun with the same data.
            fresh.origin = format!("{}+{base}", fresh.origin).into();
        }
        if let Some(folder) = self.folder() {
            if let Some(failure) = &head.failure {
                // What was answered must reach the disk before anything else does.
                folder.discard(generation);
                return Err(ImageError::NotSynced(Arc::clone(failure)));
            }
            let origin = (base > 0).then(|| Origin {
                source: fresh.origin.to_string(),
                history: 0,
            });
            folder.switch(base, State { generation, base }, origin.as_ref())?;
            folder.forget_orders();
        }
        head.era += 1;
        fresh.orders = head.data.orders.successor();
        head.data = Arc::new(fresh);
        head.sequence = head.synced_sequence;
        head.synced = Arc::clone(&head.data);
        (head.history, head.synced_history) = (0, 0);
        self.published.store(Arc::clone(&head.data));
        let later: Vec<Waiting> = head.waiting.drain(..).collect();
        drop(head);
        later.into_iter().for_each(Waiting::conflict);
        Ok(())
    }

    /// Copies the data as they are now, by a function that also gets what tests do to the disk.
    pub(super) fn back_up(
        &self,
        write: impl FnOnce(Moment<'_>, &Disk) -> Result<(), ImageError>,
    ) -> Result<(), ImageError> {
        self.sync_waiting();
        let (data, sequence, records) = match &self.keeping {
            Keeping::Memory(records) => {
                let head = locked(&self.head);
                let records: Vec<ChangeRecord> = locked(records).iter().cloned().collect();
                (Arc::clone(&head.synced), head.synced_sequence, records)
            }
            Keeping::Folder(folder) => {
                let (data, sequence) = {
                    let head = locked(&self.head);
                    (Arc::clone(&head.synced), head.synced_sequence)
                };
                let mut records = folder.log.records(&EVERY_RECORD)?;
                records.retain(|record| record.sequence <= sequence);
                (data, sequence, records)
            }
        };
        let disk = self.folder().map(|folder| Arc::clone(&folder.disk));
        let moment = Moment {
            data: &data,
            sequence,
            records: &records,
        };
        write(moment, &disk.unwrap_or_default())
    }
}

const EVERY_RECORD: RecordQuery = RecordQuery::After {
    sequence: 0,
    limit: usize::MAX,
};

/// A merge in the background, however it ends.
struct Busy(Arc<Shared>);

impl Drop for Busy {
    fn drop(&mut self) {
        let is_merging: &AtomicBool = &self.0.is_merging;
        is_merging.store(false, Ordering::Release);
    }
}

/// Changes are noted, however that ends.
struct Noting<'s>(&'s Shared);

impl Drop for Noting<'_> {
    fn drop(&mut self) {
        self.0.note_no_changes();
    }
}
