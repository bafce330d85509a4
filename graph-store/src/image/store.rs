//! A store over an image and the changes since.

use std::sync::Arc;

use async_trait::async_trait;

use super::Image;
use super::build::ImageBuilder;
use super::error::ImageError;
use super::shared::Shared;
use super::snapshot::Snapshot;
use super::source::Reader;
use crate::context::CallContext;
use crate::error::StoreError;
use crate::pattern::{KeptOrders, Walker};
use crate::query::{Dataset, Hydrated, HydrationRequest, Objects, Selection, Window};
use crate::store::{GraphStore, LocalStore, StoreInfo, Windowed, WriteStore};

/// What the store says that it is.
pub(super) const PROVIDER: &str = "image";

/// Changed quads that are worth a merge, at least.
const MERGE_AFTER: u64 = 100_000;

/// A store over an [`Image`] and the changes that were committed since it was built.
///
/// Calls do their work on the calling thread. A call reads the data of one moment, whatever is committed
/// meanwhile, and waits for nobody. When many quads have changed, they are merged into a new image in the
/// background.
///
/// Terms are returned as they were written.
pub struct ImageStore {
    pub(super) shared: Arc<Shared>,
}

impl ImageStore {
    /// Creates a store over an image. Changes are kept in memory, and end with the store.
    #[must_use]
    pub fn new(image: impl Into<Arc<Image>>) -> Self {
        let data = Snapshot::new(image.into());
        ImageStore {
            shared: Arc::new(Shared::new(data, MERGE_AFTER)),
        }
    }

    /// Sets how many bytes the orders may take that are kept, so that pages cost the same anywhere: 4 for
    /// each object of each order. 64 MiB unless set; 0 keeps none.
    ///
    /// Orders are made when a page is asked for, and dropped when the data change.
    #[must_use]
    pub fn with_order_memory(self, bytes: usize) -> Self {
        let data = Snapshot::clone(&self.snapshot());
        self.shared.replace(Snapshot {
            orders: KeptOrders::new(bytes),
            ..data
        });
        self
    }

    /// Returns the data as they are now.
    #[must_use]
    pub fn snapshot(&self) -> Arc<Snapshot> {
        self.shared.published()
    }

    /// Returns the data that the calls of a request read.
    fn read_by(&self, context: &CallContext) -> Arc<Snapshot> {
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

    /// Puts the quads of a builder in place of all that there are, at once. Transactions that are open
    /// conflict.
    ///
    /// # Errors
    /// Those of building an image. Nothing has changed then.
    pub fn replace_data(&self, builder: ImageBuilder) -> Result<(), ImageError> {
        self.shared.replace_with(Arc::new(builder.build()?));
        Ok(())
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
        })
    }

    fn local(&self) -> Option<&dyn LocalStore> {
        Some(self)
    }

    fn writer(&self) -> Option<&dyn WriteStore> {
        Some(self)
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

    fn is_metered(&self) -> bool {
        true
    }
}

impl std::fmt::Debug for ImageStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ImageStore")
            .field("data", &self.snapshot())
            .finish_non_exhaustive()
    }
}
