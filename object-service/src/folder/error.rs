//! Why a folder cannot be opened, backed up or restored.

use std::io;
use std::path::{Path, PathBuf};

use graph_store::image::{Fault, ImageError};
use graphql_service::ErrorCode;
use schema_registry::SchemaStoreError;

use super::code;

/// Why a folder cannot be opened, backed up or restored.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FolderError {
    /// The data cannot be opened or written.
    #[error("failed to open the data")]
    Image(#[source] ImageError),
    /// The schemas cannot be opened or written.
    #[error("failed to open the schemas")]
    Schemas(#[from] SchemaStoreError),
    /// There are no data to open.
    #[error("{} has no data; load some with `soml load` or `soml serve --data`", path.display())]
    NoData {
        /// The folder.
        path: PathBuf,
    },
    /// The folder must be empty and is not.
    #[error("{} already has files; name an empty or new folder", path.display())]
    NotEmpty {
        /// The folder.
        path: PathBuf,
    },
    /// The folder must not be there and is.
    #[error("{} already exists", path.display())]
    Exists {
        /// The folder.
        path: PathBuf,
    },
    /// A file or folder cannot be read or written.
    #[error("failed to access {}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What the system says.
        #[source]
        source: io::Error,
    },
}

impl From<ImageError> for FolderError {
    fn from(error: ImageError) -> Self {
        FolderError::Image(error)
    }
}

impl FolderError {
    pub(super) fn io(path: &Path) -> impl FnOnce(io::Error) -> Self + '_ {
        move |source| FolderError::Io {
            path: path.to_owned(),
            source,
        }
    }

    /// Returns the code.
    #[must_use]
    pub fn code(&self) -> ErrorCode {
        match self {
            FolderError::Image(error) => image_code(error),
            FolderError::Schemas(error) => schemas_code(error),
            FolderError::NoData { .. } => code::DATA_MISSING,
            FolderError::NotEmpty { .. } | FolderError::Exists { .. } => code::DATA_PRESENT,
            FolderError::Io { source, .. } => io_code(source),
        }
    }
}

/// Returns the code of an error of the stored schemas, while a folder is opened.
#[must_use]
pub fn schemas_code(error: &SchemaStoreError) -> ErrorCode {
    match error {
        SchemaStoreError::Version { .. } => code::DATA_VERSION,
        SchemaStoreError::Damaged { .. } | SchemaStoreError::Missing { .. } => code::DATA_DAMAGED,
        SchemaStoreError::InUse { .. } => code::DATA_IN_USE,
        SchemaStoreError::DiskFull => code::DISK_FULL,
        _ => code::DATA_UNREADABLE,
    }
}

/// Returns the code of an error of an image.
#[must_use]
pub fn image_code(error: &ImageError) -> ErrorCode {
    match error {
        ImageError::LogVersion { .. } => code::DATA_VERSION,
        ImageError::Unreadable {
            fault: Fault::Version { .. } | Fault::ByteOrder,
            ..
        } => code::DATA_VERSION,
        ImageError::Unreadable { .. }
        | ImageError::LogDamaged { .. }
        | ImageError::LogMissing { .. }
        | ImageError::ImageMissing { .. } => code::DATA_DAMAGED,
        ImageError::ReadOnly { .. } => code::DATA_READ_ONLY,
        ImageError::ReservedName { .. } => code::DATA_NAME,
        ImageError::InUse { .. } => code::DATA_IN_USE,
        ImageError::HoldsData { .. } => code::DATA_PRESENT,
        ImageError::HoldsNoData { .. } => code::DATA_MISSING,
        _ if error.is_disk_full() => code::DISK_FULL,
        _ => code::DATA_UNREADABLE,
    }
}

fn io_code(error: &io::Error) -> ErrorCode {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
            code::DISK_FULL
        }
        _ => code::DATA_UNREADABLE,
    }
}
