//! Writes documents in bulk, and judges what the engine says of each.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use graph_store::query::ObjectRef;
use oxrdf::NamedNode;

use super::error::{IndexerError, MalformedValues, may_be_of_shards};
use super::fill::Sink;
use super::options::IndexerOptions;
use super::progress::{ObjectProgress, Setback};
use super::tries::{Building, Clock, Tries};
use crate::document::Document;
use crate::engine::{Binding, BulkOperation, Refusal, Rejected, SearchEngine};
use crate::value::document_id;

/// Writes documents to an index.
pub(super) struct Writer<'w> {
    pub(super) engine: &'w dyn SearchEngine,
    pub(super) binding: Binding<'w>,
    pub(super) options: &'w IndexerOptions,
    pub(super) progress: &'w ObjectProgress,
    pub(super) clock: Clock<'w>,
    /// The sequence of the last change that the documents are known to have.
    pub(super) version: u64,
    /// What becomes of a document with a value that must not be left out, or that the engine does not take.
    pub(super) misfits: Misfits,
    /// The objects without a document because of a value, and why.
    pub(super) left_out: Mutex<BTreeMap<String, Refusal>>,
}

/// Bytes of a deletion, about.
const DELETION: usize = 128;

/// What becomes of documents that do not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Misfits {
    /// The run ends.
    Fail,
    /// They are left out.
    LeaveOut,
}

/// Some writes, and whose documents they are about.
#[derive(Default)]
struct Bulk<'b> {
    iris: Vec<&'b str>,
    writes: Vec<BulkOperation>,
    bytes: usize,
}

#[async_trait]
impl Sink for Writer<'_> {
    async fn take(
        &self,
        objects: &[ObjectRef],
        documents: Vec<Document>,
    ) -> Result<(), IndexerError> {
        let iris = objects.iter().map(ObjectRef::iri);
        self.write_all(iris.zip(documents.into_iter().map(Some)))
            .await
    }
}

impl Writer<'_> {
    /// Writes the documents of some objects, and deletes those of objects that have none any more.
    pub(super) async fn rewrite(
        &self,
        iris: &[NamedNode],
        documents: Vec<Option<Document>>,
    ) -> Result<(), IndexerError> {
        self.write_all(iris.iter().map(NamedNode::as_str).zip(documents))
            .await?;
        // Those that were left out may have a document of before.
        let gone: Vec<&NamedNode> = {
            let left_out = self.left_out_now();
            let is_left_out = |iri: &&NamedNode| left_out.contains_key(iri.as_str());
            iris.iter().filter(is_left_out).collect()
        };
        self.write_all(gone.into_iter().map(|iri| (iri.as_str(), None)))
            .await
    }

    fn left_out_now(&self) -> MutexGuard<'_, BTreeMap<String, Refusal>> {
        self.left_out.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the objects that were left out in the end, and why.
    pub(super) fn into_left_out(self) -> BTreeMap<String, Refusal> {
        let left_out = self.left_out.into_inner();
        left_out.unwrap_or_else(PoisonError::into_inner)
    }

    fn leave_out(&self, iri: &str, refusal: Refusal) {
        self.progress.add_rejected();
        self.left_out_now().insert(iri.to_owned(), refusal);
    }

    async fn write_all(
        &self,
        documents: impl Iterator<Item = (&str, Option<Document>)>,
    ) -> Result<(), IndexerError> {
        let mut bulk = Bulk::default();
        for (iri, document) in documents {
            let write = match document {
                Some(document) if !self.may_be_written(iri, &document)? => continue,
                Some(document) => BulkOperation::Index(document),
                None => BulkOperation::Delete(document_id(iri)),
            };
            let bytes = match &write {
                BulkOperation::Index(document) => document.source.len(),
                BulkOperation::Delete(_) => DELETION,
            };
            if bulk.bytes > 0 && bulk.bytes + bytes > self.options.bulk_bytes {
                self.write(std::mem::take(&mut bulk)).await?;
            }
            bulk.bytes += bytes;
            bulk.iris.push(iri);
            bulk.writes.push(write);
        }
        self.write(bulk).await
    }

    /// Returns whether a document has all values that it must have.
    fn may_be_written(&self, iri: &str, document: &Document) -> Result<bool, IndexerError> {
        let Some(first) = document.malformed.first() else {
            return Ok(true);
        };
        if self.options.ignore_malformed {
            return Ok(true);
        }
        // The data have changed since they were checked.
        if self.misfits == Misfits::Fail {
            let total = document.malformed.len() as u64;
            let values = document.malformed.clone();
            return Err(IndexerError::Malformed(Box::new(MalformedValues {
                values,
                total,
            })));
        }
        let refusal = Refusal::of_value(first);
        self.leave_out(iri, refusal);
        Ok(false)
    }

    /// Writes documents until the engine has taken all or refuses one.
    async fn write(&self, mut bulk: Bulk<'_>) -> Result<(), IndexerError> {
        let mut tries = Tries::new(self.clock);
        while !bulk.writes.is_empty() {
            let context = self.clock.context;
            let written = self
                .engine
                .bulk(self.binding, &bulk.writes, self.version, context);
            let (setback, may_be_of_shards) = match written.await {
                Ok(rejected) => {
                    let taken = bulk.writes.len().saturating_sub(rejected.len());
                    self.progress.add_written(taken);
                    let again = self.judge(&bulk, &rejected)?;
                    let is_of_shards = again.iter().any(|one| may_be_of_shards(one.status));
                    if let Some(first) = again.first().filter(|_| tries.are_over()) {
                        let refusal = refusal(&bulk, first);
                        self.explain(&refusal).await?;
                        return Err(refusal);
                    }
                    bulk.keep(&again);
                    (Setback::of_refusals(), is_of_shards)
                }
                Err(error) => {
                    let is_transient = error.is_transient();
                    let error = IndexerError::from(error);
                    if !is_transient || tries.are_over() {
                        self.explain(&error).await?;
                        return Err(error);
                    }
                    tracing::warn!(
                        error = &error as &dyn std::error::Error,
                        "documents are written again"
                    );
                    (Setback::of(&error), error.may_be_of_shards())
                }
            };
            if bulk.writes.is_empty() {
                break;
            }
            if may_be_of_shards {
                self.building().check(false, context).await?;
            }
            tries.pause(setback).await?;
        }
        Ok(())
    }

    /// Fails in place of an error whose cause is that the engine does not have all of the index.
    async fn explain(&self, error: &IndexerError) -> Result<(), IndexerError> {
        if error.may_be_of_shards() {
            self.building().check(true, self.clock.context).await
        } else {
            Ok(())
        }
    }

    fn building(&self) -> Building<'_> {
        Building {
            engine: self.engine,
            object: &self.binding.definition.name,
            name: self.binding.name,
        }
    }

    /// Returns the documents that may be taken later, in ascending order of their positions.
    fn judge<'r>(
        &self,
        bulk: &Bulk<'_>,
        rejected: &'r [Rejected],
    ) -> Result<Vec<&'r Rejected>, IndexerError> {
        let mut again = Vec::new();
        for one in rejected {
            // The status of a value that does not fit its field.
            let is_malformed = one.status == 400;
            if one.is_transient() {
                again.push(one);
            } else if is_malformed
                && (self.options.ignore_malformed || self.misfits == Misfits::LeaveOut)
            {
                let iri = bulk.iris[one.position];
                tracing::warn!(
                    iri,
                    reason = one.reason,
                    "the search engine does not take a document"
                );
                self.leave_out(iri, Refusal::of_engine(iri, &one.reason));
            } else {
                return Err(refusal(bulk, one));
            }
        }
        again.sort_unstable_by_key(|one| one.position);
        Ok(again)
    }
}

impl Bulk<'_> {
    /// Removes all documents but those.
    fn keep(&mut self, rejected: &[&Rejected]) {
        let is_kept = |at: usize| {
            rejected
                .binary_search_by_key(&at, |one| one.position)
                .is_ok()
        };
        let mut at = 0..;
        self.iris.retain(|_| at.next().is_some_and(is_kept));
        let mut at = 0..;
        self.writes.retain(|_| at.next().is_some_and(is_kept));
    }
}

fn refusal(bulk: &Bulk<'_>, rejected: &Rejected) -> IndexerError {
    IndexerError::Rejected {
        iri: bulk.iris[rejected.position].to_owned(),
        status: rejected.status,
        reason: rejected.reason.clone(),
    }
}
