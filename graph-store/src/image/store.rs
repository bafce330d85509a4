//! A store over an image and the changes since.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use async_trait::async_trait;
use call_context::CallContext;

use super::Image;
use super::build::ImageBuilder;
use super::error::ImageError;
use super::folder::{Folder, FolderOptions, Held, MERGE_AFTER};
use super::orders::OrderThread;
use super::shared::{First, Keeping, Shared, locked};
use super::snapshot::Snapshot;
use super::source::Reader;
use super::sync::LogThread;
use crate::error::StoreError;
use crate::pattern::Walker;
use crate::query::{Dataset, Hydrated, HydrationRequest, Objects, Selection, Window};
use crate::store::{
    DataVersion, ExportStore, GraphStore, LocalStore, StoreInfo, Windowed, WriteStore,
};

/// What the store says that it is.
pub(super) const PROVIDER: &str = "image";

/// A store over an [`Image`] and the changes that were committed since it was built.
///
/// Calls do their work on the calling thread. A call reads the data of one moment, whatever is committed
/// meanwhile, and waits for no one. When many quads have changed, they are merged into a new image in the
/// background.
///
/// Terms are returned as they were written.
///
/// ```
/// use graph_store::image::{FolderOptions, ImageBuilder, ImageStore};
/// use oxrdf::{GraphNameRef, NamedNodeRef, QuadRef};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("data");
/// let node = NamedNodeRef::new("http://example.org/a")?;
/// let mut builder = ImageBuilder::new();
/// builder.add(QuadRef::new(node, node, node, GraphNameRef::DefaultGraph))?;
/// let options = FolderOptions::default();
/// let store = ImageStore::create(&path, builder, &options)?;
/// assert_eq!(store.quads(), 1);
/// drop(store);
///
/// let store = ImageStore::open(&path, &options)?;
/// assert_eq!(store.quads(), 1);
/// # Ok(())
/// # }
/// ```
pub struct ImageStore {
    pub(super) shared: Arc<Shared>,
    /// Syncs the log of a store in a folder.
    log: Option<LogThread>,
    /// Saves the orders of a store in a folder.
    orders: Option<OrderThread>,
}

impl ImageStore {
    /// Creates a store over an image. Changes are kept in memory, and end with the store.
    #[must_use]
    pub fn new(image: impl Into<Arc<Image>>) -> Self {
        let keeping = Keeping::Memory(Default::default());
        let first = First {
            data: Snapshot::new(image.into()),
            sequence: 0,
            history: 0,
        };
        ImageStore {
            shared: Arc::new(Shared::new(keeping, first, MERGE_AFTER)),
            log: None,
            orders: None,
        }
    }

    /// Sets how many bytes the orders may take that are kept, so that pages cost the same anywhere: 4 for
    /// each object of each order, and a little for what changed since it was made. 64 MiB unless set; 0 keeps none.
    ///
    /// Orders are made when a page is asked for. They follow the changes of the data, and a folder keeps them for the next
    /// start.
    pub fn set_order_memory(&self, bytes: usize) {
        self.snapshot().orders.set_bound(bytes);
    }

    /// Puts the quads of a builder into a folder that holds no data yet, and opens it. The folder is created
    /// if need be; other files in it are left alone.
    ///
    /// # Errors
    /// When the folder holds data, is in use, or cannot be written. Nothing is in it then that was not before.
    /// When its name ends with `.unfinished`.
    pub fn create(
        folder: impl AsRef<Path>,
        builder: ImageBuilder,
        options: &FolderOptions,
    ) -> Result<Self, ImageError> {
        let held = Folder::create(folder.as_ref(), builder, options)?;
        ImageStore::over(held, options, folder.as_ref())
    }

    /// Opens a folder that holds data. No one else can open it until the store is dropped.
    ///
    /// All of its files are read and checked. What was committed is there, up to the last commit that is
    /// whole. A folder that cannot be written to, as on read-only media, is
    /// [opened for reading only](Self::is_read_only).
    ///
    /// # Errors
    /// When the folder holds no data, is in use, cannot be read, or has a damaged file or lacks one.
    pub fn open(folder: impl AsRef<Path>, options: &FolderOptions) -> Result<Self, ImageError> {
        let held = Folder::open(folder.as_ref(), options)?;
        ImageStore::over(held, options, folder.as_ref())
    }

    fn over(held: Held, options: &FolderOptions, path: &Path) -> Result<Self, ImageError> {
        let Held {
            folder,
            data,
            sequence,
            history,
        } = held;
        let keeping = Keeping::Folder(folder);
        let first = First {
            data,
            sequence,
            history,
        };
        let shared = Shared::new(keeping, first, options.merge_after);
        let shared = Arc::new(shared);
        let log = LogThread::start(&shared, options.sync).map_err(ImageError::io(path))?;
        let orders =
            OrderThread::start(&shared, options.save_orders_every).map_err(ImageError::io(path))?;
        shared.keep_up();
        Ok(ImageStore {
            shared,
            log: Some(log),
            orders: Some(orders),
        })
    }

    /// Returns whether a folder holds data.
    ///
    /// # Errors
    /// When the folder cannot be read, or has an image and lacks the log that makes data of it.
    pub fn exists(folder: impl AsRef<Path>) -> Result<bool, ImageError> {
        Folder::exists(folder.as_ref())
    }

    /// Returns whether the store is in a read-only folder: there is no
    /// [writer](GraphStore::writer) then, and several processes may have the folder open.
    #[must_use]
    pub fn is_read_only(&self) -> bool {
        self.shared.folder().is_some_and(Folder::is_read_only)
    }

    /// Returns the data as they are now.
    #[must_use]
    pub fn snapshot(&self) -> Arc<Snapshot> {
        self.shared.published()
    }

    /// Returns the data that the calls of a request read.
    pub(super) fn read_by(&self, context: &CallContext) -> Arc<Snapshot> {
        context.snapshot(self, || self.snapshot())
    }

    /// Returns the number of quads.
    #[must_use]
    pub fn quads(&self) -> u64 {
        self.snapshot().quads()
    }

    /// Returns whether there are no quads.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.snapshot().is_empty()
    }

    /// Adds all quads to an image in the making.
    ///
    /// # Errors
    /// Those of [`ImageBuilder::add`].
    pub fn add_to(&self, builder: &mut ImageBuilder) -> Result<(), ImageError> {
        self.snapshot().add_to(builder)
    }

    /// Replaces all quads by those of a builder, atomically. Transactions that are open
    /// conflict. Records of changes stay, and sequences go on.
    ///
    /// # Errors
    /// Those of building and writing an image. Nothing has changed then.
    pub fn replace_data(&self, builder: ImageBuilder) -> Result<(), ImageError> {
        self.shared.replace(builder)
    }

    /// Writes a folder that holds the data and the records of changes as they are now, for
    /// [`ImageStore::open`]. Requests go on meanwhile, those that write too.
    ///
    /// It is written to a folder with `.unfinished` behind its name first, so it is there as a whole or not at
    /// all. What an earlier attempt has left there is removed.
    ///
    /// # Errors
    /// When the target holds data or other files, or cannot be written.
    pub fn backup(&self, target: impl AsRef<Path>) -> Result<(), ImageError> {
        let target = target.as_ref();
        self.shared.back_up(|moment, disk| moment.put(target, disk))
    }

    /// Writes the same to a folder that is there and holds no data, for who adds other files to a backup and
    /// then puts it in its place.
    ///
    /// # Errors
    /// When the folder holds data, or cannot be written.
    pub fn backup_into(&self, folder: impl AsRef<Path>) -> Result<(), ImageError> {
        let folder = folder.as_ref();
        self.shared
            .back_up(|moment, disk| moment.write(folder, disk))
    }

    /// Merges all changes into a new image, and returns when that is done. Requests go on meanwhile.
    ///
    /// The store does this itself when many quads have changed.
    ///
    /// # Errors
    /// Those of building an image. Nothing has changed then.
    pub fn merge(&self) -> Result<(), ImageError> {
        self.shared.merge()
    }
}

fn walker<'a>(
    data: &'a Arc<Snapshot>,
    dataset: &Dataset,
    context: &'a CallContext,
) -> Walker<'a, Reader<'a>> {
    Walker::new(Reader::new(data), dataset, context)
}

#[async_trait]
impl GraphStore for ImageStore {
    async fn select(
        &self,
        selection: &Selection,
        context: &CallContext,
    ) -> Result<Objects, StoreError> {
        walker(&self.read_by(context), &selection.dataset, context).select(selection)
    }

    async fn count(&self, selection: &Selection, context: &CallContext) -> Result<u64, StoreError> {
        walker(&self.read_by(context), &selection.dataset, context).count(selection)
    }

    async fn select_window(
        &self,
        selection: &Selection,
        window: &Window,
        context: &CallContext,
    ) -> Result<Windowed, StoreError> {
        let data = self.read_by(context);
        let walker = walker(&data, &selection.dataset, context);
        walker.select_window(selection, window)
    }

    async fn hydrate(
        &self,
        request: &HydrationRequest<'_>,
        context: &CallContext,
    ) -> Result<Hydrated, StoreError> {
        walker(&self.read_by(context), request.dataset, context).hydrate(request)
    }

    async fn probe(&self, context: &CallContext) -> Result<StoreInfo, StoreError> {
        context.check()?;
        Ok(StoreInfo {
            provider: PROVIDER.to_owned(),
            statements: Some(self.quads()),
            ..StoreInfo::default()
        })
    }

    fn local(&self) -> Option<&dyn LocalStore> {
        Some(self)
    }

    fn writer(&self) -> Option<&dyn WriteStore> {
        (!self.is_read_only()).then_some(self)
    }

    fn exporter(&self) -> Option<&dyn ExportStore> {
        Some(self)
    }

    fn version(&self) -> Option<DataVersion> {
        Some(self.shared.version())
    }
}

impl LocalStore for ImageStore {
    fn hydrate_now(
        &self,
        request: &HydrationRequest<'_>,
        context: &CallContext,
    ) -> Option<Result<Hydrated, StoreError>> {
        Some(walker(&self.read_by(context), request.dataset, context).hydrate(request))
    }

    fn short_work(&self) -> Option<u64> {
        Some(4_096)
    }
}

impl Drop for ImageStore {
    fn drop(&mut self) {
        let Some(log) = self.log.take() else { return };
        self.shared.is_closing.store(true, Ordering::Relaxed);
        drop((log, self.orders.take()));
        // A merge that goes on would write to a folder that others may open.
        let _replacing = locked(&self.shared.replacing);
        self.shared.save_orders();
        if let Some(folder) = self.shared.folder() {
            folder.close();
        }
    }
}

impl std::fmt::Debug for ImageStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ImageStore")
            .field("data", &self.snapshot())
            .finish_non_exhaustive()
    }
}
