//! The locks of a folder. The file `lock` is there before the log is; the log is locked too, so that a folder
//! whose `lock` someone has removed is still used by one process at a time.

use std::fs::{File, TryLockError};
use std::io;
use std::path::Path;

use super::error::ImageError;
use super::files::{LOCK, LOG};
use super::log::Disk;
use crate::private_files;

/// What may be done with a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    ReadWrite,
    /// It cannot be written to, as it is on read-only media or belongs to someone else. Others may read it at
    /// the same time.
    ReadOnly,
}

/// A locked file.
#[derive(Debug)]
pub(super) struct Locked {
    pub(super) file: File,
    pub(super) access: Access,
}

impl Locked {
    /// Opens a file and locks it: for writing where that is wanted and possible.
    fn open(path: &Path, is_made: bool, wanted: Access, disk: &Disk) -> Result<Self, ImageError> {
        let failed = |error| ImageError::io(path)(error);
        let opened = disk.check_writable().and_then(|()| {
            let mut options = private_files::options();
            options.write(true).create(is_made).open(path)
        });
        let (file, access) = match opened {
            Ok(file) => (file, wanted),
            Err(error) if is_read_only(&error) => {
                (File::open(path).map_err(failed)?, Access::ReadOnly)
            }
            Err(error) => return Err(failed(error)),
        };
        Locked { file, access }.locked(path)
    }

    fn locked(self, path: &Path) -> Result<Self, ImageError> {
        let locked = match self.access {
            Access::ReadWrite => self.file.try_lock(),
            Access::ReadOnly => self.file.try_lock_shared(),
        };
        match (locked, self.access) {
            (Ok(()), _) => Ok(self),
            (Err(TryLockError::WouldBlock), _) => Err(ImageError::InUse {
                folder: path.parent().unwrap_or(path).to_owned(),
            }),
            // Some systems lock only what can be written to.
            (Err(TryLockError::Error(_)), Access::ReadOnly) => Ok(self),
            (Err(TryLockError::Error(error)), Access::ReadWrite) => {
                Err(ImageError::io(path)(error))
            }
        }
    }
}

/// The file `lock` of a folder, locked.
#[derive(Debug)]
pub(super) struct Lock {
    file: Option<File>,
    pub(super) access: Access,
}

impl Lock {
    /// Locks a folder: for writing where that is wanted and possible.
    pub(super) fn take(folder: &Path, wanted: Access, disk: &Disk) -> Result<Self, ImageError> {
        let path = folder.join(LOCK);
        match Locked::open(&path, true, wanted, disk) {
            Ok(Locked { file, access }) => Ok(Lock {
                file: Some(file),
                access,
            }),
            // On read-only media, the log is the file that is locked.
            Err(ImageError::Io { source, .. }) if is_missing(&source) && folder.is_dir() => {
                Ok(Lock {
                    file: None,
                    access: Access::ReadOnly,
                })
            }
            Err(error) => Err(error),
        }
    }

    /// Lets others open the folder.
    pub(super) fn end(&self) -> io::Result<()> {
        self.file.as_ref().map_or(Ok(()), File::unlock)
    }
}

/// Opens the log of a folder and locks it, as its folder is locked.
pub(super) fn locked_log(folder: &Path, lock: &Lock, disk: &Disk) -> Result<Locked, ImageError> {
    Locked::open(&folder.join(LOG), false, lock.access, disk)
}

/// Keeps others from writing to a folder, or from opening it at all.
#[derive(Debug)]
pub struct FolderLock {
    _lock: Lock,
    _log: Option<Locked>,
}

impl FolderLock {
    /// Keeps others from writing to a folder, for instance while it is copied. The folder need not hold data.
    ///
    /// # Errors
    /// When a store that can be written to has the folder open, or it cannot be read.
    pub fn for_reading(folder: impl AsRef<Path>) -> Result<Self, ImageError> {
        FolderLock::take(folder.as_ref(), Access::ReadOnly)
    }

    /// Keeps others from opening a folder, for instance while it is removed. The folder need not hold data.
    ///
    /// # Errors
    /// When a store has the folder open, or it cannot be written to.
    pub fn for_writing(folder: impl AsRef<Path>) -> Result<Self, ImageError> {
        FolderLock::take(folder.as_ref(), Access::ReadWrite)
    }

    fn take(folder: &Path, wanted: Access) -> Result<Self, ImageError> {
        let disk = Disk::default();
        let lock = Lock::take(folder, wanted, &disk)?;
        if lock.access != wanted {
            let folder = folder.to_owned();
            return Err(ImageError::ReadOnly { folder });
        }
        let log = match locked_log(folder, &lock, &disk) {
            Err(ImageError::Io { source, .. }) if is_missing(&source) => None,
            log => Some(log?),
        };
        Ok(FolderLock {
            _lock: lock,
            _log: log,
        })
    }
}

fn is_missing(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::NotFound
}

/// Returns whether an error says that something can be read only.
fn is_read_only(error: &io::Error) -> bool {
    use io::ErrorKind::{PermissionDenied, ReadOnlyFilesystem};
    matches!(error.kind(), PermissionDenied | ReadOnlyFilesystem)
}
