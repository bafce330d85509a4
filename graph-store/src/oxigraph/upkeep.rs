//! What an embedded store does about the changes that have piled up, beside the requests: the index of
//! links is built anew, and quads are copied into a fresh store, since one in memory never frees what is
//! removed from it.
//!
//! Either is done by a thread of its own that lives only as long. Requests go on meanwhile, those that
//! write too: their changes reach the old and the new one.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use oxigraph::store::{StorageError, Store};
use oxrdf::Quad;

use super::shared::{ON_DISK, Shared};
use crate::write::QuadChange;

/// When something is done about changes.
#[derive(Clone, Copy)]
pub(super) struct Thresholds {
    /// Links that must have changed; and an eighth of all.
    pub(super) links: usize,
    /// Quads that must have been removed; and as many as there are.
    pub(super) garbage: usize,
}

impl Default for Thresholds {
    fn default() -> Self {
        Thresholds {
            links: 20_000,
            garbage: 100_000,
        }
    }
}

/// Quads copied at once.
const COPIED_AT_ONCE: usize = 10_000;
/// Quads of changes that may be repeated while writers wait.
const LEFT_TO_REPEAT: usize = 1_000;
/// How often changes are repeated before writers wait.
const ROUNDS: usize = 8;
/// How long requests may hold the old quads before whoever ends last frees them.
const MOST_WAITS: usize = 600;

impl Shared {
    /// Starts what is due; returns at once.
    pub(super) fn keep_up(self: &Arc<Self>) {
        if self.links.has_grown(self.thresholds.links) {
            self.in_background("link-index", |shared| &shared.is_folding, Shared::fold);
        }
        if self.provider != ON_DISK && self.is_copy_due() {
            self.in_background("store-copy", |shared| &shared.is_copying, Shared::copy);
        }
    }

    fn is_copy_due(&self) -> bool {
        let writing = self.writing();
        writing.garbage > self.thresholds.garbage.max(writing.live.unwrap_or(0))
    }

    /// Does something in a thread of its own, unless it is being done.
    fn in_background(
        self: &Arc<Self>,
        name: &'static str,
        flag: fn(&Shared) -> &AtomicBool,
        work: fn(&Shared) -> Result<(), StorageError>,
    ) {
        if flag(self).swap(true, Ordering::AcqRel) {
            return;
        }
        let busy = Busy {
            shared: Arc::clone(self),
            flag,
        };
        let thread = std::thread::Builder::new().name(name.to_owned());
        let started = thread.spawn(move || {
            if let Err(error) = work(&busy.shared) {
                tracing::warn!(%error, work = name, "failed in the background");
            }
        });
        if let Err(error) = started {
            tracing::warn!(%error, work = name, "failed to start in the background");
        }
    }

    /// Builds the index of links with all changes so far.
    pub(super) fn fold(&self) -> Result<(), StorageError> {
        let plan = self.links.plan();
        self.index_links(&plan)
    }

    /// Copies the quads into a fresh store if more were removed than there are.
    pub(super) fn copy(&self) -> Result<(), StorageError> {
        let _copying = Copying(self);
        let (old, quads) = {
            let mut writing = self.writing();
            writing.missed = Some(Vec::new());
            let store = self.store();
            let quads = store.iter();
            (store, quads)
        };
        if self.writing().live.is_none() {
            let live = old.len()?;
            let mut writing = self.writing();
            writing.live = Some(live);
            if writing.garbage <= live {
                return Ok(());
            }
        }
        let fresh = Store::new()?;
        let mut chunk = Vec::with_capacity(COPIED_AT_ONCE);
        for quad in quads {
            chunk.push(quad?);
            if chunk.len() == COPIED_AT_ONCE {
                fresh.extend(chunk.drain(..))?;
            }
        }
        fresh.extend(chunk)?;
        for _ in 0..ROUNDS {
            let missed = self.writing().missed.replace(Vec::new());
            let missed = missed.unwrap_or_default();
            if repeat(&fresh, &missed)? <= LEFT_TO_REPEAT {
                break;
            }
        }
        let mut writing = self.writing();
        repeat(&fresh, &writing.missed.take().unwrap_or_default())?;
        writing.garbage = 0;
        self.replace(fresh);
        drop(writing);
        free(old);
        Ok(())
    }
}

/// Applies changes; returns how many quads they have.
fn repeat(store: &Store, changes: &[QuadChange]) -> Result<usize, StorageError> {
    let mut count = 0;
    let mut transaction = store.start_transaction()?;
    for change in changes {
        count += change.removed.len() + change.added.len();
        let removed: &[Quad] = &change.removed;
        removed.iter().for_each(|quad| transaction.remove(quad));
        transaction.extend(&change.added);
    }
    transaction.commit()?;
    Ok(count)
}

/// Frees quads once no request reads them: that takes a while, and no request should have to.
fn free(store: Arc<Store>) {
    for _ in 0..MOST_WAITS {
        if Arc::strong_count(&store) == 1 {
            return;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// Work in the background, however it ends.
struct Busy {
    shared: Arc<Shared>,
    flag: fn(&Shared) -> &AtomicBool,
}

impl Drop for Busy {
    fn drop(&mut self) {
        (self.flag)(&self.shared).store(false, Ordering::Release);
    }
}

/// A copy in the making, however it ends.
struct Copying<'s>(&'s Shared);

impl Drop for Copying<'_> {
    fn drop(&mut self) {
        self.0.writing().missed = None;
    }
}
