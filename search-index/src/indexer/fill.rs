//! Reads all documents of an index and hands them on, several pages at a time.
//!
//! A page has as many objects as make up a bulk, by the size of the documents so far. The next one begins
//! when there is room for it, so a slow engine slows reading down.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use async_trait::async_trait;
use call_context::CallError;
use futures::StreamExt;
use futures::stream::FuturesUnordered;
use graph_store::query::ObjectRef;
use graph_store::{CallContext, StoreError};

use super::error::{IndexerError, is_transient};
use super::options::IndexerOptions;
use super::pages::Pages;
use super::progress::{ObjectProgress, Setback};
use super::tries::{Clock, Tries};
use crate::document::Document;

/// Objects of the first page, of which nothing is known.
const FIRST_PAGE: usize = 100;

/// Takes documents.
#[async_trait]
pub(super) trait Sink: Send + Sync {
    /// Takes the documents of some objects.
    async fn take(
        &self,
        objects: &[ObjectRef],
        documents: Vec<Document>,
    ) -> Result<(), IndexerError>;
}

/// Reads the documents of an index.
pub(super) struct Fill<'f> {
    pub(super) pages: &'f Pages,
    pub(super) options: &'f IndexerOptions,
    pub(super) progress: &'f ObjectProgress,
    pub(super) clock: Clock<'f>,
    pub(super) flow: Flow,
}

/// What is known of the documents while they pass.
#[derive(Debug, Default)]
pub(super) struct Flow {
    /// Bytes that are read, or about to be, and not taken.
    held: AtomicUsize,
    /// Bytes of a document, about; 0 while nothing is known.
    average: AtomicU64,
    /// Objects of the largest page so far.
    page: AtomicUsize,
}

impl Fill<'_> {
    /// Hands the documents of all objects to a sink.
    pub(super) async fn run(
        &self,
        objects: &[ObjectRef],
        sink: &dyn Sink,
    ) -> Result<(), IndexerError> {
        let mut left = objects;
        let mut running = FuturesUnordered::new();
        loop {
            while !left.is_empty() && running.len() < self.options.pages.max(1) {
                let size = self.page_size().min(left.len());
                let reserved = self.reserved(size);
                let held = self.flow.held.load(Ordering::Relaxed);
                // The first page shows how large documents are.
                let is_unknown = self.flow.average.load(Ordering::Relaxed) == 0;
                let is_full = is_unknown || held + reserved > self.options.max_bytes;
                if is_full && !running.is_empty() {
                    break;
                }
                let page;
                (page, left) = left.split_at(size);
                self.flow.held.fetch_add(reserved, Ordering::Relaxed);
                running.push(self.page(page, reserved, sink));
            }
            match running.next().await {
                Some(result) => result?,
                None => return Ok(()),
            }
        }
    }

    /// Reads a page and hands it on, in parts if it is larger than expected.
    async fn page(
        &self,
        objects: &[ObjectRef],
        reserved: usize,
        sink: &dyn Sink,
    ) -> Result<(), IndexerError> {
        let held = Held {
            flow: &self.flow,
            bytes: AtomicUsize::new(reserved),
        };
        let mut parts = vec![objects];
        while let Some(objects) = parts.pop() {
            let documents = match self.read(objects).await {
                Ok(documents) => documents,
                Err(StoreError::Call(CallError::OutOfMemory)) if objects.len() > 1 => {
                    let (first, second) = objects.split_at(objects.len() / 2);
                    parts.extend([second, first]);
                    continue;
                }
                Err(error) => return Err(error.into()),
            };
            let bytes = documents.iter().map(|d| d.source.len()).sum();
            held.set(bytes);
            self.flow.learn(documents.len(), bytes);
            self.progress.add_read(documents.len());
            for document in &documents {
                self.progress.add_malformed(&document.malformed);
            }
            sink.take(objects, documents).await?;
        }
        Ok(())
    }

    /// Reads documents, again if the store cannot be reached.
    async fn read(&self, objects: &[ObjectRef]) -> Result<Vec<Document>, StoreError> {
        let objects: Arc<[ObjectRef]> = objects.into();
        let mut tries = Tries::new(self.clock);
        loop {
            let bytes = self.page_bytes();
            match self
                .pages
                .documents(&objects, bytes, self.clock.context)
                .await
            {
                Err(error) if is_transient(&error) && !tries.are_over() => {
                    tracing::warn!(
                        error = &error as &dyn std::error::Error,
                        "a page of documents is read again"
                    );
                    tries.pause(Setback::of(&error.into())).await?;
                }
                result => return result,
            }
        }
    }

    /// Returns what a page may have, in bytes.
    fn page_bytes(&self) -> usize {
        let share = self.options.max_bytes / self.options.pages.max(1);
        share.min(self.options.bulk_bytes.saturating_mul(2)).max(1)
    }

    /// Returns the number of objects of the next page: those of a bulk, though no more than twice as many as
    /// ever before, since the size of the next documents may be another.
    fn page_size(&self) -> usize {
        let largest = self.options.max_page.max(1);
        let size = match self.flow.average.load(Ordering::Relaxed) {
            0 => FIRST_PAGE,
            average => {
                let wanted = self.options.bulk_bytes.min(self.page_bytes());
                let average = usize::try_from(average).unwrap_or(usize::MAX);
                let before = self.flow.page.load(Ordering::Relaxed);
                (wanted / average).clamp(1, before.saturating_mul(2).max(1))
            }
        };
        let size = size.min(largest);
        self.flow.page.fetch_max(size, Ordering::Relaxed);
        size
    }

    /// Returns the bytes that a page is expected to have.
    fn reserved(&self, size: usize) -> usize {
        match self.flow.average.load(Ordering::Relaxed) {
            0 => self.page_bytes(),
            average => size.saturating_mul(usize::try_from(average).unwrap_or(usize::MAX)),
        }
    }
}

impl Flow {
    fn learn(&self, documents: usize, bytes: usize) {
        let Some(average) = bytes.checked_div(documents) else {
            return;
        };
        let average = average.max(1) as u64;
        let before = self.average.load(Ordering::Relaxed);
        let mixed = match before {
            0 => average,
            before => (before + average).div_ceil(2),
        };
        self.average.store(mixed, Ordering::Relaxed);
    }
}

/// Bytes of a page, which are given back when it is dropped.
struct Held<'f> {
    flow: &'f Flow,
    bytes: AtomicUsize,
}

impl Held<'_> {
    fn set(&self, bytes: usize) {
        let before = self.bytes.swap(bytes, Ordering::Relaxed);
        self.flow.held.fetch_add(bytes, Ordering::Relaxed);
        self.flow.held.fetch_sub(before, Ordering::Relaxed);
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        self.set(0);
    }
}

/// Waits, though not when the request has ended.
pub(super) async fn wait(
    time: std::time::Duration,
    context: &CallContext,
) -> Result<(), CallError> {
    tokio::select! {
        () = tokio::time::sleep(time) => context.check(),
        () = context.cancellation.cancelled() => Err(CallError::Cancelled),
    }
}
