//! Reads documents off the async workers: some stores do all their work on the calling thread, and
//! documents are written there in any case.

use std::collections::{HashMap, HashSet};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use call_context::{CallError, ResultMemory};
use futures::future::BoxFuture;
use graph_store::query::ObjectRef;
use graph_store::{CallContext, GraphStore, StoreError};
use oxrdf::NamedNode;
use soml_core::Valid;
use soml_core::schema::Schema;
use tokio::runtime::Handle;

use super::changed::Changed;
use crate::document::Document;
use crate::mapping::{IndexDefinition, Indexes};
use crate::read::DocumentReader;

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
    /// How long the store may be silent before it is asked whether it is there.
    pub(super) silence: Duration,
    /// How long it may take to answer that.
    pub(super) probe_timeout: Duration,
}

/// What a page may take while it is read.
#[derive(Debug)]
struct PageMemory {
    held: AtomicUsize,
    limit: usize,
}

impl PageMemory {
    fn of(bytes: usize) -> Self {
        PageMemory {
            held: AtomicUsize::new(0),
            limit: bytes.saturating_mul(GROWTH),
        }
    }
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
        self.elsewhere(context, |pages, context| {
            Box::pin(async move { pages.reader().ids(&context).await })
        })
        .await
    }

    /// Returns the documents of some objects.
    ///
    /// # Errors
    /// [`CallError::OutOfMemory`] when they are much larger than `bytes`.
    pub(super) async fn documents(
        &self,
        objects: &Arc<[ObjectRef]>,
        bytes: usize,
        context: &CallContext,
    ) -> Result<Vec<Document>, StoreError> {
        let context = context.clone().with_memory(Arc::new(PageMemory::of(bytes)));
        let objects = Arc::clone(objects);
        self.elsewhere(&context, |pages, context| {
            Box::pin(async move { pages.reader().documents(&objects, &context).await })
        })
        .await
    }

    /// Returns the documents of those of some IRIs that are objects of the index now, and nothing for the others.
    ///
    /// # Errors
    /// [`CallError::OutOfMemory`] when they are much larger than `bytes`.
    pub(super) async fn current(
        &self,
        iris: &Arc<[NamedNode]>,
        bytes: usize,
        context: &CallContext,
    ) -> Result<Vec<Option<Document>>, StoreError> {
        let context = context.clone().with_memory(Arc::new(PageMemory::of(bytes)));
        let iris = Arc::clone(iris);
        self.elsewhere(&context, |pages, context| {
            Box::pin(async move {
                let reader = pages.reader();
                let objects = reader.objects_among(&iris, &context).await?;
                let documents = reader.documents(&objects, &context).await?;
                let objects = objects.iter().map(|object| object.iri().to_owned());
                let mut found: HashMap<String, Document> = objects.zip(documents).collect();
                Ok(iris.iter().map(|iri| found.remove(iri.as_str())).collect())
            })
        })
        .await
    }

    /// Returns objects that may embed what has changed, and did not before; see [`DocumentReader::parents`].
    pub(super) async fn parents(
        &self,
        changed: &Arc<Changed>,
        context: &CallContext,
    ) -> Result<HashSet<NamedNode>, StoreError> {
        let changed = Arc::clone(changed);
        self.elsewhere(context, |pages, context| {
            Box::pin(async move {
                let Changed {
                    created, updated, ..
                } = &*changed;
                pages.reader().parents(created, updated, &context).await
            })
        })
        .await
    }

    fn reader(&self) -> DocumentReader<'_> {
        DocumentReader::new(&self.schema, self.definition(), &*self.store)
    }

    /// Runs work on a thread that may block. A store that answers neither it nor a probe meanwhile is given up.
    async fn elsewhere<T: Send + 'static>(
        &self,
        context: &CallContext,
        work: impl for<'p> FnOnce(&'p Pages, CallContext) -> BoxFuture<'p, Result<T, StoreError>>
        + Send
        + 'static,
    ) -> Result<T, StoreError> {
        let token = context.cancellation.child_token();
        let _ends = token.clone().drop_guard();
        let (pages, live) = (self.clone(), context.clone().with_cancellation(token));
        let running = tokio::task::spawn_blocking(move || {
            let work = work(&pages, live);
            Handle::current().block_on(work)
        });
        let running = async {
            running
                .await
                .unwrap_or(Err(StoreError::Call(CallError::Panicked)))
        };
        if self.store.local().is_some() {
            return running.await;
        }
        let mut running = pin!(running);
        loop {
            // A long query may take its time, as long as someone is there.
            let silent = async {
                tokio::time::sleep(self.silence).await;
                self.probe().await
            };
            tokio::select! {
                result = &mut running => return result,
                probed = silent => probed?,
            }
        }
    }

    /// Asks the store whether it is there.
    async fn probe(&self) -> Result<(), StoreError> {
        let context = CallContext::new().with_timeout(self.probe_timeout);
        let probe = self.store.probe(&context);
        match tokio::time::timeout(self.probe_timeout, probe).await {
            Ok(probed) => probed.map(drop),
            Err(_) => Err(StoreError::Call(CallError::Deadline)),
        }
    }
}
