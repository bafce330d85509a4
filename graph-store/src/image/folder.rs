//! The folder of a store: its lock, its image and its log.
//!
//! ```text
//! lock              locked by the process that has the folder open
//! data-7.image      the image; the log says which number is valid
//! changes.redb      the log
//! ```
//!
//! `docs/image-format.md` describes the files. Other files of the folder are left alone.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::Image;
use super::build::{ImageBuilder, synced_folder};
use super::error::ImageError;
use super::log::{Disk, Log, Opened, State};
use super::shared::locked;
use super::snapshot::Snapshot;
use crate::write::ChangeRecord;

const LOCK: &str = "lock";
const LOG: &str = "changes.redb";
/// Changed quads that are worth a merge, at least.
pub(super) const MERGE_AFTER: u64 = 100_000;

/// When what is committed reaches the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sync {
    /// Before the commit is answered, and before anybody reads it. Commits that wait at the same time are
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
    /// What tests do to the files.
    pub(super) disk: Arc<Disk>,
}

impl Default for FolderOptions {
    fn default() -> Self {
        FolderOptions {
            sync: Sync::Commit,
            merge_after: MERGE_AFTER,
            disk: Arc::default(),
        }
    }
}

/// An open folder.
pub(super) struct Folder {
    path: PathBuf,
    lock: File,
    pub(super) log: Log,
    pub(super) disk: Arc<Disk>,
    pub(super) sync: Sync,
    /// The number of the image that is valid.
    generation: Mutex<u64>,
    /// The highest number that an image was written under.
    highest: AtomicU64,
}

/// An open folder and what it holds.
pub(super) struct Held {
    pub(super) folder: Folder,
    pub(super) data: Snapshot,
    /// The sequence of the last transaction.
    pub(super) sequence: u64,
}

impl Folder {
    /// Returns whether a folder holds data.
    pub(super) fn exists(path: &Path) -> io::Result<bool> {
        fs::exists(path.join(LOG))
    }

    /// Puts data into a folder that holds none, and opens it.
    pub(super) fn create(
        path: &Path,
        builder: ImageBuilder,
        options: &FolderOptions,
    ) -> Result<Held, ImageError> {
        let failed = |error| ImageError::io(path)(error);
        fs::create_dir_all(path).map_err(failed)?;
        synced_folder(path).map_err(failed)?;
        let lock = taken(path)?;
        if Folder::exists(path).map_err(failed)? {
            let folder = path.to_owned();
            return Err(ImageError::HoldsData { folder });
        }
        remove_others(path, None).map_err(failed)?;
        options.disk.check_room().map_err(failed)?;
        builder.write(path.join(image_name(1)))?;
        put_log(
            path,
            State {
                generation: 1,
                base: 0,
            },
            |beside, state| Log::create(beside, state, None, &[]),
        )?;
        Folder::held(path, lock, options)
    }

    /// Opens a folder that holds data.
    pub(super) fn open(path: &Path, options: &FolderOptions) -> Result<Held, ImageError> {
        let failed = |error| ImageError::io(path)(error);
        if !Folder::exists(path).map_err(failed)? {
            let folder = path.to_owned();
            return Err(ImageError::HoldsNoData { folder });
        }
        Folder::held(path, taken(path)?, options)
    }

    fn held(path: &Path, lock: File, options: &FolderOptions) -> Result<Held, ImageError> {
        let opened = Log::open(&path.join(LOG), Arc::clone(&options.disk))?;
        let Opened {
            log,
            state,
            changes,
        } = opened;
        let image = Image::open(path.join(image_name(state.generation)))?;
        let mut data = Snapshot::new(Arc::new(image));
        let mut sequence = state.base;
        for (number, change) in changes {
            data = data.changed(&change)?;
            sequence = number;
        }
        if let Err(error) = remove_others(path, Some(state.generation)) {
            tracing::warn!(%error, folder = %path.display(), "failed to remove images that are not valid");
        }
        let folder = Folder {
            path: path.to_owned(),
            lock,
            log,
            disk: Arc::clone(&options.disk),
            sync: options.sync,
            generation: Mutex::new(state.generation),
            highest: AtomicU64::new(state.generation),
        };
        Ok(Held {
            folder,
            data,
            sequence,
        })
    }

    /// Writes an image under a new number; it is not valid yet.
    pub(super) fn write(&self, builder: ImageBuilder) -> Result<(u64, Arc<Image>), ImageError> {
        let generation = self.highest.fetch_add(1, Ordering::Relaxed) + 1;
        let path = self.path.join(image_name(generation));
        let written = || {
            self.disk.check_room().map_err(ImageError::io(&path))?;
            builder.write(&path)?;
            // It is read as a whole and checked before the old one goes.
            Image::open(&path)
        };
        let written = written();
        if written.is_err() {
            let _ = fs::remove_file(&path);
        }
        Ok((generation, Arc::new(written?)))
    }

    /// Removes an image that is not valid.
    pub(super) fn discard(&self, generation: u64) {
        // What cannot be removed now is when the folder is opened.
        let _ = fs::remove_file(self.path.join(image_name(generation)));
    }

    /// Makes an image valid that holds all up to a sequence; `last` is the highest one in the log.
    pub(super) fn switch(&self, last: u64, generation: u64, base: u64) -> Result<(), ImageError> {
        let mut valid = locked(&self.generation);
        let state = State { generation, base };
        match self.log.set_state(last, state) {
            Ok(()) => {
                let old = self.path.join(image_name(*valid));
                *valid = generation;
                if let Err(error) = fs::remove_file(&old) {
                    tracing::warn!(%error, file = %old.display(), "failed to remove an image");
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

    /// Closes the log, and lets others open the folder.
    pub(super) fn close(&self) {
        self.log.close();
        if let Err(error) = self.lock.unlock() {
            tracing::warn!(%error, folder = %self.path.display(), "failed to unlock the data folder");
        }
    }
}

/// Writes a folder that is as a store is at one moment; it is there as a whole or not at all.
pub(super) fn back_up(
    target: &Path,
    data: &Snapshot,
    sequence: u64,
    records: &[ChangeRecord],
    disk: &Disk,
) -> Result<(), ImageError> {
    let failed = |error| ImageError::io(target)(error);
    if Folder::exists(target).map_err(failed)? {
        let folder = target.to_owned();
        return Err(ImageError::HoldsData { folder });
    }
    let mut beside = target.as_os_str().to_owned();
    // Removed with all that is in it, so nobody else may have given a folder this name.
    beside.push(".unfinished");
    let beside = PathBuf::from(beside);
    let written = || {
        if fs::exists(&beside).map_err(failed)? {
            fs::remove_dir_all(&beside).map_err(failed)?;
        }
        fs::create_dir_all(&beside).map_err(failed)?;
        disk.check_room().map_err(failed)?;
        let image = beside.join(image_name(1));
        data.image.write(&image)?;
        let change = data.difference();
        let change = (!change.is_empty()).then_some(&change);
        let base = match change {
            // All changes are one, that of the last transaction.
            Some(_) => sequence.saturating_sub(1),
            None => sequence,
        };
        let change = change.map(|change| (base + 1, change));
        put_log(
            &beside,
            State {
                generation: 1,
                base,
            },
            |path, state| Log::create(path, state, change, records),
        )?;
        fs::rename(&beside, target).map_err(failed)?;
        synced_folder(target).map_err(failed)
    };
    let written = written();
    if written.is_err() {
        // What is left of it is of no use to anybody.
        let _ = fs::remove_dir_all(&beside);
    }
    written
}

/// Creates the log of a folder, which holds data from then on.
fn put_log(
    folder: &Path,
    state: State,
    create: impl FnOnce(&Path, State) -> Result<(), ImageError>,
) -> Result<(), ImageError> {
    let (path, beside) = (folder.join(LOG), folder.join(format!("{LOG}.partial")));
    let created = create(&beside, state).and_then(|()| {
        let moved = fs::rename(&beside, &path).and_then(|()| synced_folder(&path));
        moved.map_err(ImageError::io(&path))
    });
    if created.is_err() {
        let _ = fs::remove_file(&beside);
    }
    created
}

/// Locks a folder.
fn taken(folder: &Path) -> Result<File, ImageError> {
    let path = folder.join(LOCK);
    let failed = |error| ImageError::io(&path)(error);
    let mut options = OpenOptions::new();
    let file = options.read(true).write(true).create(true).truncate(false);
    let file = file.open(&path).map_err(failed)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(ImageError::InUse {
            folder: folder.to_owned(),
        }),
        Err(TryLockError::Error(error)) => Err(failed(error)),
    }
}

fn image_name(generation: u64) -> String {
    format!("data-{generation}.image")
}

/// Removes images that are not valid, and files that were never finished.
fn remove_others(folder: &Path, valid: Option<u64>) -> io::Result<()> {
    let valid = valid.map(image_name);
    for entry in fs::read_dir(folder)? {
        let name = entry?.file_name();
        let Some(name) = name.to_str() else { continue };
        let whole = name.strip_suffix(".partial").unwrap_or(name);
        let number = whole
            .strip_prefix("data-")
            .and_then(|rest| rest.strip_suffix(".image"));
        let is_image = number.is_some_and(|number| number.parse::<u64>().is_ok());
        let is_unfinished = whole != name && (is_image || whole == LOG);
        if is_unfinished || (is_image && valid.as_deref() != Some(name)) {
            fs::remove_file(folder.join(name))?;
        }
    }
    Ok(())
}
