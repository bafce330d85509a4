//! A folder with data, schemas and the rights on them: opened, filled, backed up and restored.
//!
//! The data are an image with a log of changes, which [`ImageStore`] keeps. The schemas are files in a folder
//! inside. One process uses a folder at a time: the lock of the data is held for the schemas too. A folder that
//! cannot be written to is opened for reading only, by as many processes as want to.
//!
//! # The way of data and schemas to a folder
//!
//! 1. `soml serve --data-dir` opens a [`DataFolder`]: the `ImageStore` of the folder, whose lock is held
//!    for all of it, and then the `FolderSchemaStore`, which reads and checks every document. Whatever is damaged
//!    or missing ends the start, and nothing is removed. What cannot be written to is opened for reading only
//!    (`image/lock.rs`): such a store has no writer.
//! 2. `rdf_load` parses on one thread and fills a `Sink` on another. Lines are cut into blocks
//!    (`load/blocks.rs`) that several threads parse, each into a `QuadBatch`, which stores each term once; the end
//!    of a file and lines too long for a block are parsed by the thread that reads. Parts of a file reach the sink
//!    in the order of the file, and a bounded number of them waits. That of an image is an `ImageBuilder`, so
//!    nothing is seen of a load before its end; `ImageStore::replace_data` puts the whole in place at once.
//! 3. `App` changes schemas and the binding through `SchemaStore`. `FolderSchemaStore` writes the file of a
//!    document beside its place, syncs and renames it on a thread that may wait, and only then publishes the new
//!    state, which requests read from one `ArcSwap`.
//! 4. [`Backups`] copies data and schemas for `PUT /backups/{name}`, one at a time;
//!    [`restore()`] opens a copy before it is put in place, the log last, since a folder without it has no
//!    data.

mod backups;
pub mod code;
mod error;
mod permissions;
mod restore;

use std::path::Path;
use std::sync::Arc;

pub use backups::{BackupError, Backups};
pub use error::{FolderError, image_code, schemas_code};
use graph_store::image::{
    FolderOptions, ImageBuilder, ImageStore, Sync, UnfinishedFolder, check_folder_name,
};
use rdf_load::{ImageSink, LoadError, LoadTarget, Sink};
use restore::LEFT_ALONE;
pub use restore::restore;
use schema_registry::FolderSchemaStore;

/// The folder of the schemas.
const SCHEMAS: &str = "schemas";

/// The folder of a search service inside the data folder.
pub const SEARCH: &str = "search";

/// How a folder is used.
#[derive(Clone, Copy, Debug)]
pub struct DataFolderOptions {
    /// When changes are synced, so that they survive the end of the machine.
    pub sync: Sync,
    /// Memory for orders of objects that are kept between requests, in bytes.
    pub order_memory: usize,
}

impl Default for DataFolderOptions {
    fn default() -> Self {
        DataFolderOptions {
            sync: Sync::Commit,
            order_memory: 64 << 20,
        }
    }
}

impl DataFolderOptions {
    fn of_image(&self) -> FolderOptions {
        let mut options = FolderOptions::default();
        options.sync = self.sync;
        options
    }
}

/// An open folder.
#[derive(Clone)]
#[non_exhaustive]
pub struct DataFolder {
    /// The data.
    pub image: Arc<ImageStore>,
    /// The schemas, the rights on them, and which of them is bound.
    pub schemas: FolderSchemaStore,
}

impl DataFolder {
    /// Opens a folder, which is made without data where there is none.
    ///
    /// # Errors
    ///
    /// Fails if another process uses the folder, if a file in it is damaged or of another version, or if the
    /// folder cannot be read or made.
    pub fn open_or_create(folder: &Path, options: &DataFolderOptions) -> Result<Self, FolderError> {
        let of_image = options.of_image();
        let image = if ImageStore::exists(folder)? {
            ImageStore::open(folder, &of_image)?
        } else {
            ImageStore::create(folder, ImageBuilder::new(), &of_image)?
        };
        image.set_order_memory(options.order_memory);
        DataFolder::over(image, folder)
    }

    /// Opens a folder that is there.
    ///
    /// # Errors
    ///
    /// Fails as [`DataFolder::open_or_create`] does, and if there are no data.
    pub fn open(folder: &Path, options: &DataFolderOptions) -> Result<Self, FolderError> {
        DataFolder::over(open_image(folder, options)?, folder)
    }

    /// Reads the schemas of a folder without changing anything in it, also while another process uses it.
    ///
    /// # Errors
    ///
    /// Fails if there are no data, or if a file of a schema is damaged or cannot be read.
    pub fn read_schemas(folder: &Path) -> Result<FolderSchemaStore, FolderError> {
        if has_data(folder)? {
            Ok(FolderSchemaStore::open_read_only(folder.join(SCHEMAS))?)
        } else {
            Err(FolderError::NoData {
                path: folder.to_owned(),
            })
        }
    }

    fn over(image: ImageStore, folder: &Path) -> Result<Self, FolderError> {
        let schemas = folder.join(SCHEMAS);
        let schemas = if image.is_read_only() {
            FolderSchemaStore::open_read_only(schemas)?
        } else {
            permissions::narrow(folder);
            FolderSchemaStore::open(schemas)?
        };
        Ok(DataFolder {
            image: Arc::new(image),
            schemas,
        })
    }

    /// Copies data and schemas to a folder that is not there yet, while both are served. It is there as a
    /// whole or not at all.
    ///
    /// # Errors
    ///
    /// Fails if there is something at the target, if another backup is being made there, or if it cannot be
    /// written.
    pub fn backup(&self, target: &Path) -> Result<(), FolderError> {
        check_folder_name(target)?;
        if target.try_exists().map_err(FolderError::io(target))? {
            return Err(FolderError::Exists {
                path: target.to_owned(),
            });
        }
        let written = UnfinishedFolder::begin(target)?;
        self.image.backup_into(written.path())?;
        self.schemas.copy_to(&written.path().join(SCHEMAS))?;
        Ok(written.finish()?)
    }
}

/// Opens the data of a folder that is there.
///
/// # Errors
///
/// As [`DataFolder::open`].
pub fn open_image(folder: &Path, options: &DataFolderOptions) -> Result<ImageStore, FolderError> {
    if !has_data(folder)? {
        return Err(FolderError::NoData {
            path: folder.to_owned(),
        });
    }
    let image = ImageStore::open(folder, &options.of_image())?;
    image.set_order_memory(options.order_memory);
    Ok(image)
}

/// Returns whether a folder has data, be they none.
///
/// # Errors
///
/// Fails if the folder cannot be read, or has lost the log that makes data of its files.
pub fn has_data(folder: &Path) -> Result<bool, FolderError> {
    Ok(ImageStore::exists(folder)?)
}

/// A folder without data, into which files are loaded: they are there together or not at all.
pub struct NewFolder<'a> {
    folder: &'a Path,
    options: FolderOptions,
}

impl<'a> NewFolder<'a> {
    /// Names a folder, which is made at the end of the load.
    #[must_use]
    pub fn new(folder: &'a Path, options: &DataFolderOptions) -> Self {
        NewFolder {
            folder,
            options: options.of_image(),
        }
    }
}

impl LoadTarget for NewFolder<'_> {
    fn sink(&self) -> Result<Box<dyn Sink + '_>, LoadError> {
        Ok(Box::new(ImageSink::new(ImageBuilder::new(), |builder| {
            let store = ImageStore::create(self.folder, builder, &self.options)?;
            Ok(store.quads())
        })))
    }
}
