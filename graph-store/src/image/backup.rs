//! Copies of a store as it is at one moment, in folders of their own.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::build::synced_folder;
use super::error::ImageError;
use super::files::{UNFINISHED, check_folder_name, image_path};
use super::folder::{FIRST, Folder, put_log};
use super::lock::FolderLock;
use super::log::{Disk, Log, State};
use super::snapshot::Snapshot;
use crate::private_files;
use crate::write::ChangeRecord;

/// What a store holds at one moment.
pub(super) struct Moment<'m> {
    pub(super) data: &'m Snapshot,
    /// The sequence of the last transaction.
    pub(super) sequence: u64,
    pub(super) records: &'m [ChangeRecord],
}

impl Moment<'_> {
    /// Writes a folder that is there as a whole or not at all.
    pub(super) fn put(&self, target: &Path, disk: &Disk) -> Result<(), ImageError> {
        check_folder_name(target)?;
        if Folder::exists(target)? {
            let folder = target.to_owned();
            return Err(ImageError::HoldsData { folder });
        }
        let written = UnfinishedFolder::begin(target)?;
        self.write(written.path(), disk)?;
        written.finish()
    }

    /// Writes to a folder that is there and holds no data.
    pub(super) fn write(&self, folder: &Path, disk: &Disk) -> Result<(), ImageError> {
        disk.check_room().map_err(ImageError::io(folder))?;
        if Folder::exists(folder)? {
            let folder = folder.to_owned();
            return Err(ImageError::HoldsData { folder });
        }
        let (data, sequence) = (self.data, self.sequence);
        data.image.write(image_path(folder, FIRST.generation))?;
        let change = data.difference();
        let change = (!change.is_empty()).then_some(&change);
        let base = match change {
            // All changes are one, that of the last transaction.
            Some(_) => sequence.saturating_sub(1),
            None => sequence,
        };
        let (change, state) = (
            change.map(|change| (base + 1, change)),
            State { base, ..FIRST },
        );
        put_log(folder, |path| {
            Log::create(path, state, change, self.records)
        })
    }
}

/// A folder that is written beside its place, by one process at a time. Unless it is finished, it is removed when this
/// is dropped.
#[derive(Debug)]
pub struct UnfinishedFolder {
    target: PathBuf,
    beside: PathBuf,
    /// Keeps others from the folder; absent once it is in its place.
    lock: Option<FolderLock>,
}

impl UnfinishedFolder {
    /// Begins a folder, after removing what an attempt has left that was killed.
    ///
    /// # Errors
    ///
    /// When another process writes it, or it cannot be made.
    pub fn begin(target: &Path) -> Result<Self, ImageError> {
        let beside = unfinished(target);
        remove_unfinished(&beside)?;
        private_files::create_folder(&beside).map_err(ImageError::io(&beside))?;
        let lock = FolderLock::for_writing(&beside)?;
        Ok(UnfinishedFolder {
            target: target.to_owned(),
            beside,
            lock: Some(lock),
        })
    }

    /// Returns where the folder is written.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.beside
    }

    /// Puts the folder in its place.
    ///
    /// # Errors
    ///
    /// When something else is there, or the folder cannot be moved.
    pub fn finish(mut self) -> Result<(), ImageError> {
        let failed = |error| ImageError::io(&self.target)(error);
        let lock = self.lock.take();
        // Windows moves no folder of which a file is open.
        let lock = lock.filter(|_| !cfg!(windows));
        let moved = fs::rename(&self.beside, &self.target);
        drop(lock);
        if moved.is_err() {
            let _ = remove_unfinished(&self.beside);
        }
        moved.map_err(failed)?;
        synced_folder(&self.target).map_err(failed)
    }
}

impl Drop for UnfinishedFolder {
    fn drop(&mut self) {
        if self.lock.take().is_some() {
            // It is not whole. Whoever has locked it meanwhile keeps it.
            let _ = remove_unfinished(&self.beside);
        }
    }
}

/// Returns the place of a folder or file while it is written.
#[must_use]
pub fn unfinished(folder: &Path) -> PathBuf {
    let mut name = folder.as_os_str().to_owned();
    name.push(UNFINISHED);
    name.into()
}

/// Removes what an attempt has left that was killed. Folders that are being written have a name that no
/// store is created under, and are locked meanwhile.
///
/// # Errors
///
/// When it is still being written, or cannot be removed.
pub fn remove_unfinished(folder: &Path) -> Result<(), ImageError> {
    let failed = |error| ImageError::io(folder)(error);
    match fs::symlink_metadata(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        found => found.map_err(failed)?,
    };
    let lock = FolderLock::for_writing(folder)?;
    fs::remove_dir_all(folder).map_err(failed)?;
    drop(lock);
    Ok(())
}
