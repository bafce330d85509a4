//! What can be wrong with an image.

use std::error::Error;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::error::StoreError;

/// What is said of a format that a later version of the program has written.
const NEWER: &str = "is that of a later version of the program: open it with the version that wrote it, or a later \
                     one, or write its data with `soml dump` there and load what that writes here";

/// An error of building, writing or opening an image.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ImageError {
    /// A file or the folder cannot be read or written.
    #[error("failed to access {}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system says.
        #[source]
        source: io::Error,
    },
    /// The bytes are no whole image of this version.
    #[error("the image {}: {fault}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        #[source]
        fault: Fault,
    },
    /// The log of a folder cannot be read or written.
    #[error("failed to access the log {}", path.display())]
    Log {
        /// The file of the log.
        path: PathBuf,
        /// What the log says.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The log of a folder is damaged, and what it holds is not served.
    #[error("the log {} is damaged: {what}; restore the folder from a backup", path.display())]
    LogDamaged {
        /// The file of the log.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// A folder has an image and lacks the log that says whether it is valid, so its data are not served.
    #[error(
        "the folder {} has the image {image} and lacks its log changes.redb: put the log back, or restore the folder \
         from a backup; nothing was changed",
        folder.display()
    )]
    LogMissing {
        /// The folder.
        folder: PathBuf,
        /// The name of its newest image.
        image: String,
    },
    /// A folder lacks the image that its log names.
    #[error(
        "the image {} is missing, which the log names: put it back, or restore the folder from a backup; nothing was \
         changed",
        path.display()
    )]
    ImageMissing {
        /// The file of the image.
        path: PathBuf,
    },
    /// The folder can be read, and not be written to.
    #[error("the data folder {} is opened for reading only: it is not writable", folder.display())]
    ReadOnly {
        /// The folder.
        folder: PathBuf,
    },
    /// The folder has a name that is kept for folders that are being written.
    #[error(
        "the name of the folder {} ends with `.unfinished`, which is reserved for folders that are \
         being written, so it would be removed with all its contents; choose a different name",
        folder.display()
    )]
    ReservedName {
        /// The folder.
        folder: PathBuf,
    },
    /// Another store, of this process or another one, has the folder open.
    #[error("the data folder {} is in use by another process", folder.display())]
    InUse {
        /// The folder.
        folder: PathBuf,
    },
    /// There are data in a folder that new ones were to be put into.
    #[error("the folder {} already contains data", folder.display())]
    HoldsData {
        /// The folder.
        folder: PathBuf,
    },
    /// There are no data in a folder that was to be opened.
    #[error("the folder {} contains no data", folder.display())]
    HoldsNoData {
        /// The folder.
        folder: PathBuf,
    },
    /// What was committed could not be written to the disk.
    #[error("committed changes cannot be written to disk")]
    NotSynced(#[source] Arc<ImageError>),
    /// The store is being closed.
    #[error("the store is being closed")]
    Closing,
    /// The log of a folder was written by a later version of the format.
    #[error("the log {}: its format {NEWER}", path.display())]
    LogVersion {
        /// The file of the log.
        path: PathBuf,
    },
    /// The data are too many for one image.
    #[error("an image can contain at most {limit} {what}")]
    TooLarge {
        /// What there is too much of.
        what: &'static str,
        /// How many of them fit.
        limit: u64,
    },
}

/// Why bytes are not an image that can be served.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// The bytes do not begin and end as an image does.
    #[error("it is not an image, or its end is missing")]
    NotAnImage,
    /// The image was written by another version of the format.
    #[error("its format has version {found}, but this program reads version {known}; it {NEWER}")]
    Version {
        /// The version of the file.
        found: u32,
        /// The version that is read here.
        known: u32,
    },
    /// The image is from a machine with the other order of bytes.
    #[error(
        "it was written on a machine with a different byte order: run `soml dump` on such a \
         machine, and load the dump here"
    )]
    ByteOrder,
    /// A checksum differs from the content, or parts contradict each other.
    #[error("its section {section} is damaged: restore or build it again")]
    Damaged {
        /// The part that is damaged.
        section: &'static str,
    },
}

impl ImageError {
    /// Returns whether the disk has no room, as far as the causes say.
    #[must_use]
    pub fn is_disk_full(&self) -> bool {
        let first: &(dyn Error + 'static) = self;
        let mut causes = std::iter::successors(Some(first), |&error| error.source());
        causes.any(|error| io_cause(error).is_some_and(is_full))
    }

    pub(super) fn io(path: &Path) -> impl FnOnce(io::Error) -> Self + '_ {
        move |source| ImageError::Io {
            path: path.to_owned(),
            source,
        }
    }
}

/// Returns what a writer is told of a commit that is not written.
pub(super) fn not_written(error: Arc<ImageError>) -> StoreError {
    let is_full = error.is_disk_full();
    let error = Box::new(ImageError::NotSynced(error));
    if is_full {
        StoreError::DiskFull(error)
    } else {
        StoreError::Failed(error)
    }
}

/// Returns what the system said; the database does not name it as a cause.
fn io_cause<'e>(error: &'e (dyn Error + 'static)) -> Option<&'e io::Error> {
    use redb::{CommitError, DatabaseError, StorageError, TableError, TransactionError};
    let storage = error.downcast_ref::<StorageError>().or_else(|| {
        if let Some(DatabaseError::Storage(error)) = error.downcast_ref() {
            Some(error)
        } else if let Some(TransactionError::Storage(error)) = error.downcast_ref() {
            Some(error)
        } else if let Some(TableError::Storage(error)) = error.downcast_ref() {
            Some(error)
        } else if let Some(CommitError::Storage(error)) = error.downcast_ref() {
            Some(error)
        } else {
            None
        }
    });
    match storage {
        Some(StorageError::Io(error)) => Some(error),
        _ => error.downcast_ref(),
    }
}

fn is_full(error: &io::Error) -> bool {
    use io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
    matches!(error.kind(), StorageFull | QuotaExceeded | FileTooLarge)
}

pub(super) fn damaged(section: &'static str) -> Fault {
    Fault::Damaged { section }
}
