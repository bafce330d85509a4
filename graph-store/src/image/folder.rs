//! The folder of a store: its lock, its image and its log.
//!
//! ```text
//! lock              locked by the process that has the folder open
//! data-7.image      the image; the log says which number is valid
//! changes.redb      the log, which is locked too
//! orders            orders of the objects of the image, which can be made again
//! ```
//!
//! `docs/image-format.md` describes the files. Other files of the folder are left alone.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::Image;
use super::build::{ImageBuilder, synced_folder};
use super::error::ImageError;
use super::files::{
    Files, LOG, ORDERS, PARTIAL, ROOM, check_folder_name, finish_image, image_path, partial_image,
};
use super::lock::{Access, Lock, locked_log};
use super::log::{Disk, Log, Opened, Origin, State};
use super::order_file;
use super::shared::locked;
use super::snapshot::Snapshot;
use crate::pattern::SavedOrder;
use crate::private_files;

/// Changed quads that are worth a merge, at least.
pub(super) const MERGE_AFTER: u64 = 100_000;
/// How often new orders of objects are saved.
const SAVE_ORDERS_EVERY: Duration = Duration::from_secs(10);
/// Bytes without which there is no room for changes.
const LEAST_ROOM: usize = 64 << 10;

/// When what is committed reaches the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sync {
    /// Before the commit is answered, and before anyone reads it. Commits that wait at the same time are
    /// synced together.
    Commit,
    /// At least this often. The end of the process, or of the machine, loses what was committed since.
    Interval(Duration),
}

/// How a store keeps its data in a folder.
///
/// ```
/// use std::time::Duration;
///
/// use graph_store::image::{FolderOptions, Sync};
///
/// let mut options = FolderOptions::default();
/// options.sync = Sync::Interval(Duration::from_millis(200));
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FolderOptions {
    /// When what is committed reaches the disk; by default, before the commit is answered.
    pub sync: Sync,
    /// Changes are merged into a new image when so many quads were added or removed, and an eighth of all
    /// quads; by default 100,000. They are held in memory, and read again when the folder is opened.
    pub merge_after: u64,
    /// How often orders of objects are saved, if there are new ones.
    pub(super) save_orders_every: Duration,
    /// What tests do to the files.
    pub(super) disk: Arc<Disk>,
}

impl Default for FolderOptions {
    fn default() -> Self {
        FolderOptions {
            sync: Sync::Commit,
            merge_after: MERGE_AFTER,
            save_orders_every: SAVE_ORDERS_EVERY,
            disk: Arc::default(),
        }
    }
}

/// An open folder.
pub(super) struct Folder {
    path: PathBuf,
    lock: Lock,
    pub(super) log: Log,
    pub(super) disk: Arc<Disk>,
    pub(super) sync: Sync,
    /// The number of the image that is valid.
    generation: Mutex<u64>,
    /// The highest number that an image has.
    highest: AtomicU64,
    /// The last commit was refused since there was no room.
    lacks_room: AtomicBool,
}

/// An open folder and what it holds.
pub(super) struct Held {
    pub(super) folder: Folder,
    pub(super) data: Snapshot,
    /// The sequence of the last transaction.
    pub(super) sequence: u64,
    /// What tells the changes since their origin from others.
    pub(super) history: u64,
}

impl Folder {
    /// Returns whether a folder holds data; fails where it has lost what makes data of its files.
    pub(super) fn exists(path: &Path) -> Result<bool, ImageError> {
        let files = Files::of(path).map_err(ImageError::io(path))?;
        files.hold_data(path)
    }

    /// Puts data into a folder that holds none, and opens it.
    ///
    /// Its image has its name only when the log is there, so a folder with an image and without a log is
    /// never one that was not finished.
    pub(super) fn create(
        path: &Path,
        builder: ImageBuilder,
        options: &FolderOptions,
    ) -> Result<Held, ImageError> {
        let failed = |error| ImageError::io(path)(error);
        check_folder_name(path)?;
        // Before anything is made in a folder whose data cannot be read.
        Folder::exists(path)?;
        private_files::create_folder(path).map_err(failed)?;
        synced_folder(path).map_err(failed)?;
        let lock = Lock::take(path, Access::ReadWrite, &options.disk)?;
        let folder = || path.to_owned();
        if lock.access == Access::ReadOnly {
            return Err(ImageError::ReadOnly { folder: folder() });
        }
        let files = Files::of(path).map_err(failed)?;
        if files.hold_data(path)? {
            return Err(ImageError::HoldsData { folder: folder() });
        }
        files.remove_unfinished(path).map_err(failed)?;
        options.disk.check_room().map_err(failed)?;
        let image = partial_image(path, FIRST.generation);
        builder.write(&image)?;
        let put = put_log(path, |beside| Log::create(beside, FIRST, None, &[]));
        if put.is_err() {
            // The quads are still where they came from.
            let _ = fs::remove_file(&image);
        }
        put?;
        Folder::held(path, lock, options)
    }

    /// Opens a folder that holds data.
    pub(super) fn open(path: &Path, options: &FolderOptions) -> Result<Held, ImageError> {
        if !Folder::exists(path)? {
            let folder = path.to_owned();
            return Err(ImageError::HoldsNoData { folder });
        }
        let lock = Lock::take(path, Access::ReadWrite, &options.disk)?;
        Folder::held(path, lock, options)
    }

    fn held(path: &Path, lock: Lock, options: &FolderOptions) -> Result<Held, ImageError> {
        let file = locked_log(path, &lock, &options.disk)?;
        let access = file.access;
        let opened = Log::open(&path.join(LOG), file, Arc::clone(&options.disk))?;
        let Opened {
            log,
            state,
            origin,
            changes,
            history,
        } = opened;
        let image = Image::open(finish_image(path, state.generation)?)?;
        let mut data = Snapshot::new(Arc::new(image));
        data.orders.add_saved(order_file::read(path, &data.image));
        if let Some(origin) = origin {
            data.origin = origin.source.into();
        }
        let mut sequence = state.base;
        for (number, change) in changes {
            data = data.changed(&change)?;
            sequence = number;
        }
        let files = Files::of(path).map_err(ImageError::io(path))?;
        match access {
            Access::ReadWrite => tidy(path, &files, state.generation),
            Access::ReadOnly => tracing::warn!(
                folder = %path.display(),
                "the data folder is not writable: it is opened for reading only"
            ),
        }
        let highest = files.images.last().copied().unwrap_or_default();
        let folder = Folder {
            path: path.to_owned(),
            lock,
            log,
            disk: Arc::clone(&options.disk),
            sync: options.sync,
            generation: Mutex::new(state.generation),
            highest: AtomicU64::new(highest.max(state.generation)),
            lacks_room: AtomicBool::new(false),
        };
        Ok(Held {
            folder,
            data,
            sequence,
            history,
        })
    }

    /// Returns whether the folder cannot be written to.
    pub(super) fn is_read_only(&self) -> bool {
        self.log.access() == Access::ReadOnly
    }

    /// Fails if the folder cannot be written to.
    pub(super) fn check_writable(&self) -> Result<(), ImageError> {
        let folder = || self.path.clone();
        if self.is_read_only() {
            Err(ImageError::ReadOnly { folder: folder() })
        } else {
            Ok(())
        }
    }

    /// Notes whether the last commit was refused since there was no room.
    pub(super) fn note_room(&self, is_lacking: bool) {
        self.lacks_room.store(is_lacking, Ordering::Relaxed);
    }

    /// Finds out whether there is room for changes; `last` is the sequence of the last commit.
    pub(super) fn check_room(&self, last: u64) -> Result<(), ImageError> {
        let path = self.path.join(ROOM);
        let written = self.disk.check_room().and_then(|()| {
            let mut file = private_files::create(&path)?;
            file.write_all(&[0; LEAST_ROOM])
        });
        let _ = fs::remove_file(&path);
        written.map_err(ImageError::io(&path))?;
        if self.lacks_room.load(Ordering::Relaxed) {
            self.log.check_room(last)?;
            self.note_room(false);
        }
        Ok(())
    }

    /// Writes an image under a new number; it is not valid yet.
    pub(super) fn write(&self, builder: ImageBuilder) -> Result<(u64, Arc<Image>), ImageError> {
        let generation = self.highest.fetch_add(1, Ordering::Relaxed) + 1;
        let path = image_path(&self.path, generation);
        let written = || {
            self.disk.check_room().map_err(ImageError::io(&path))?;
            builder.write(&path)?;
            // It is read as a whole and checked before the old one goes.
            Image::open(&path)
        };
        let written = written();
        if written.is_err() {
            self.discard(generation);
        }
        Ok((generation, Arc::new(written?)))
    }

    /// Removes an image that this process has written and that never became valid.
    pub(super) fn discard(&self, generation: u64) {
        // What cannot be removed now is once a later image is valid.
        let _ = fs::remove_file(image_path(&self.path, generation));
    }

    /// Makes an image valid that holds all up to a sequence; `last` is the highest one in the log. Where there is an
    /// origin, the data are those that there were.
    pub(super) fn switch(
        &self,
        last: u64,
        state: State,
        origin: Option<&Origin>,
    ) -> Result<(), ImageError> {
        let mut valid = locked(&self.generation);
        let State { generation, .. } = state;
        match self.log.set_state(last, state, origin) {
            Ok(()) => {
                *valid = generation;
                let files = Files::of(&self.path);
                let removed = files.and_then(|files| files.remove_replaced(&self.path, generation));
                if let Err(error) = removed {
                    tracing::warn!(%error, folder = %self.path.display(), "failed to remove a replaced image");
                }
                Ok(())
            }
            Err((error, is_certain)) => {
                // The log may say that it is valid, once it can be read again.
                if is_certain {
                    self.discard(generation);
                }
                Err(error)
            }
        }
    }

    /// Writes orders of the objects of an image, in place of those that there are.
    pub(super) fn save_orders(&self, image: &Image, orders: &[SavedOrder<u32>]) {
        let written = self
            .disk
            .check_room()
            .and_then(|()| order_file::write(&self.path, image, orders));
        if let Err(error) = written {
            tracing::warn!(
                %error,
                folder = %self.path.display(),
                "failed to save sort orders; they are computed again after a restart"
            );
        }
    }

    /// Removes orders of objects that are no more.
    pub(super) fn forget_orders(&self) {
        // Those of another image are not read.
        let _ = fs::remove_file(self.path.join(ORDERS));
    }

    /// Closes the log, and lets others open the folder.
    pub(super) fn close(&self) {
        if let Err(error) = self.log.end().and(self.lock.end()) {
            tracing::warn!(%error, folder = %self.path.display(), "failed to unlock the data folder");
        }
    }
}

/// The state of a new folder.
pub(super) const FIRST: State = State {
    generation: 1,
    base: 0,
};

/// Removes what no one needs now that a folder is open, and takes the rest from everyone but its owner.
fn tidy(folder: &Path, files: &Files, valid: u64) {
    let place = folder.display();
    if let Err(error) = files.narrow(folder) {
        tracing::warn!(%error, folder = %place, "others may read the files of the data folder");
    }
    let removed = files.remove_unfinished(folder);
    if let Err(error) = removed.and_then(|()| files.remove_replaced(folder, valid)) {
        tracing::warn!(%error, folder = %place, "failed to remove obsolete files");
    }
    for number in files.images.iter().filter(|number| **number > valid) {
        tracing::warn!(
            image = %image_path(folder, *number).display(),
            "the log names an older image, so this one is not read; it is kept until a later one is \
             valid"
        );
    }
}

/// Creates the log of a folder, which holds data from then on.
pub(super) fn put_log(
    folder: &Path,
    create: impl FnOnce(&Path) -> Result<(), ImageError>,
) -> Result<(), ImageError> {
    let (path, beside) = (folder.join(LOG), folder.join(format!("{LOG}{PARTIAL}")));
    let moved = |()| {
        // Someone may have removed the lock, and put data here.
        if fs::exists(&path).map_err(ImageError::io(&path))? {
            let folder = folder.to_owned();
            return Err(ImageError::HoldsData { folder });
        }
        let moved = fs::rename(&beside, &path).and_then(|()| synced_folder(&path));
        moved.map_err(ImageError::io(&path))
    };
    let created = create(&beside).and_then(moved);
    if created.is_err() {
        let _ = fs::remove_file(&beside);
    }
    created
}
