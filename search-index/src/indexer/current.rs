//! The documents of some objects as they are now, in parts if they are larger than expected.

use std::sync::Arc;

use call_context::CallError;
use graph_store::{CallContext, StoreError};
use oxrdf::NamedNode;

use super::error::IndexerError;
use super::pages::Pages;
use super::run::Indexer;
use crate::document::Document;

/// Reads the documents of some objects of an index.
pub(super) struct Current<'c> {
    indexer: &'c Indexer,
    pages: &'c Pages,
    /// The parts that are left, the next one last.
    left: Vec<&'c [NamedNode]>,
}

impl<'c> Current<'c> {
    pub(super) fn of(indexer: &'c Indexer, pages: &'c Pages, objects: &'c [NamedNode]) -> Self {
        Current {
            indexer,
            pages,
            left: vec![objects],
        }
    }

    /// Returns the next objects, and the document of each that is one of the index; `None` at the end.
    pub(super) async fn next(
        &mut self,
        context: &CallContext,
    ) -> Result<Option<(&'c [NamedNode], Vec<Option<Document>>)>, IndexerError> {
        let bytes = self.indexer.options.bulk_bytes.saturating_mul(2).max(1);
        while let Some(part) = self.left.pop() {
            if part.is_empty() {
                continue;
            }
            let objects: Arc<[NamedNode]> = part.into();
            let read = || self.pages.current(&objects, bytes, context);
            match self.indexer.patiently(context, read).await {
                Err(IndexerError::Store(StoreError::Call(CallError::OutOfMemory)))
                    if part.len() > 1 =>
                {
                    let (first, second) = part.split_at(part.len() / 2);
                    self.left.extend([second, first]);
                }
                read => return read.map(|documents| Some((part, documents))),
            }
        }
        Ok(None)
    }
}
