//! Merges changes into a new image beside the requests: it is built while the old one and its changes
//! serve, and then takes their place at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::Image;
use super::build::ImageBuilder;
use super::error::ImageError;
use super::shared::{Shared, after, locked};
use super::snapshot::Snapshot;

/// Changes that may be repeated while writers wait.
const LEFT_TO_REPEAT: usize = 16;
/// How often changes are repeated before writers wait.
const ROUNDS: usize = 8;
/// A merge is worth its cost once so many of all quads have changed: one of eight.
const SHARE: u64 = 8;

impl Shared {
    /// Starts a merge if one is due; returns at once.
    pub(super) fn keep_up(self: &Arc<Self>) {
        let data = self.published();
        if data.delta.size < self.merge_after.max(data.image.quads / SHARE) {
            return;
        }
        if self.is_merging.swap(true, Ordering::AcqRel) {
            return;
        }
        let busy = Busy(Arc::clone(self));
        let thread = std::thread::Builder::new().name("image-merge".to_owned());
        let started = thread.spawn(move || {
            if let Err(error) = busy.0.merge() {
                tracing::warn!(%error, "changes are not merged into an image");
            }
        });
        if let Err(error) = started {
            tracing::warn!(%error, "changes are not merged into an image");
        }
    }

    /// Merges the changes so far into a new image.
    pub(super) fn merge(&self) -> Result<(), ImageError> {
        let _replacing = locked(&self.replacing);
        let _noting = Noting(self);
        let data = self.note_changes();
        let mut builder = ImageBuilder::new();
        data.add_to(&mut builder)?;
        let orders = data.orders.clone();
        drop(data);
        let mut fresh = Snapshot {
            orders,
            ..Snapshot::new(Arc::new(builder.build()?))
        };
        for _ in 0..ROUNDS {
            let noted = self.noted();
            fresh = after(fresh, &noted)?;
            if noted.len() <= LEFT_TO_REPEAT {
                break;
            }
        }
        self.rebase(fresh)
    }

    /// Puts the data of an image in place of all that there are.
    pub(super) fn replace_with(&self, image: Arc<Image>) {
        let _replacing = locked(&self.replacing);
        self.replace(Snapshot {
            orders: self.published().orders.clone(),
            ..Snapshot::new(image)
        });
    }
}

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
