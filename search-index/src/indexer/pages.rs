//! Reads documents off the async workers: some stores do all their work on the calling thread, and
//! documents are written there in any case.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures::future::BoxFuture;
use graph_store::query::ObjectRef;
use graph_store::{CallContext, GraphStore, ResultMemory, StoreError};
use soml_core::Valid;
use soml_core::schema::Schema;
use tokio::runtime::Handle;

use crate::document::Document;
use crate::mapping::{IndexDefinition, Indexes};
use crate::read::Reader;

/// Bytes in memory for each byte of a document while it is read, about: terms, and the tables
/// around them.
const GROWTH: usize = 4;

/// The objects of one index of a schema.
#[derive(Clone)]
pub(super) struct Pages {
    pub(super) schema: Arc<Valid<Schema>>,
    pub(super) indexes: Arc<Indexes>,
    /// Which of the indexes.
    pub(super) at: usize,
    pub(super) store: Arc<dyn GraphStore>,
}

/// What a page may take while it is read.
#[derive(Debug)]
struct PageMemory {
    held: AtomicUsize,
    limit: usize,
}

impl ResultMemory for PageMemory {
    fn hold(&self, bytes: usize) -> bool {
        self.held.fetch_add(bytes, Ordering::Relaxed) + bytes <= self.limit
    }

    fn held(&self) -> usize {
        self.held.load(Ordering::Relaxed)
    }

    fn release_to(&self, bytes: usize) {
        self.held.fetch_min(bytes, Ordering::Relaxed);
    }
}

impl Pages {
    pub(super) fn definition(&self) -> &IndexDefinition {
        &self.indexes.indexes[self.at]
    }

    /// Returns the objects in ascending order of their IRIs.
    pub(super) async fn ids(&self, context: &CallContext) -> Result<Vec<ObjectRef>, StoreError> {
        let context = context.clone();
        self.elsewhere(move |pages| Box::pin(async move { pages.reader().ids(&context).await }))
            .await
    }

    /// Returns the documents of some objects.
    ///
    /// # Errors
    /// [`StoreError::OutOfMemory`] when they are much larger than `bytes`.
    pub(super) async fn documents(
        &self,
        objects: &Arc<[ObjectRef]>,
        bytes: usize,
        context: &CallContext,
    ) -> Result<Vec<Document>, StoreError> {
        let memory = PageMemory {
            held: AtomicUsize::new(0),
            limit: bytes.saturating_mul(GROWTH),
        };
        let context = context.clone().with_memory(Arc::new(memory));
        let objects = Arc::clone(objects);
        self.elsewhere(move |pages| {
            Box::pin(async move { pages.reader().documents(&objects, &context).await })
        })
        .await
    }

    fn reader(&self) -> Reader<'_> {
        Reader::new(&self.schema, self.definition(), &*self.store)
    }

    /// Runs work on a thread that may block.
    async fn elsewhere<T: Send + 'static>(
        &self,
        work: impl for<'p> FnOnce(&'p Pages) -> BoxFuture<'p, Result<T, StoreError>> + Send + 'static,
    ) -> Result<T, StoreError> {
        let pages = self.clone();
        let running = tokio::task::spawn_blocking(move || Handle::current().block_on(work(&pages)));
        running.await.unwrap_or(Err(StoreError::Panicked))
    }
}
