//! Writes documents in bulk, and judges what the engine says of each.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;
use graph_store::query::ObjectRef;

use super::error::{IndexerError, MalformedValues, may_be_of_shards};
use super::fill::Sink;
use super::options::IndexerOptions;
use super::progress::{ObjectProgress, Setback};
use super::tries::{Building, Clock, Tries};
use crate::document::Document;
use crate::engine::{Binding, Rejected, SearchEngine};

/// Writes documents to an index.
pub(super) struct Writer<'w> {
    pub(super) engine: &'w dyn SearchEngine,
    pub(super) binding: Binding<'w>,
    pub(super) options: &'w IndexerOptions,
    pub(super) progress: &'w ObjectProgress,
    pub(super) clock: Clock<'w>,
    /// IRIs of the objects whose documents the engine did not take because of a value.
    pub(super) left_out: Mutex<HashSet<String>>,
}

/// Some documents, and whose they are.
#[derive(Default)]
struct Bulk<'b> {
    iris: Vec<&'b str>,
    documents: Vec<Document>,
    bytes: usize,
}

#[async_trait]
impl Sink for Writer<'_> {
    async fn take(
        &self,
        objects: &[ObjectRef],
        documents: Vec<Document>,
    ) -> Result<(), IndexerError> {
        let mut bulk = Bulk::default();
        for (object, document) in objects.iter().zip(documents) {
            if !self.options.ignore_malformed && !document.malformed.is_empty() {
                // The data have changed since they were checked.
                let total = document.malformed.len() as u64;
                let values = document.malformed;
                return Err(IndexerError::Malformed(Box::new(MalformedValues {
                    values,
                    total,
                })));
            }
            let bytes = document.source.len();
            if bulk.bytes > 0 && bulk.bytes + bytes > self.options.bulk_bytes {
                self.write(std::mem::take(&mut bulk)).await?;
            }
            bulk.bytes += bytes;
            bulk.iris.push(object.iri());
            bulk.documents.push(document);
        }
        self.write(bulk).await
    }
}

impl Writer<'_> {
    /// Writes documents until the engine has taken all or refuses one.
    async fn write(&self, mut bulk: Bulk<'_>) -> Result<(), IndexerError> {
        let mut tries = Tries::new(self.clock);
        while !bulk.documents.is_empty() {
            let context = self.clock.context;
            let written = self.engine.bulk(self.binding, &bulk.documents, context);
            let (setback, may_be_of_shards) = match written.await {
                Ok(rejected) => {
                    let taken = bulk.documents.len().saturating_sub(rejected.len());
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
            if bulk.documents.is_empty() {
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
        match error.may_be_of_shards() {
            true => self.building().check(true, self.clock.context).await,
            false => Ok(()),
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
            } else if is_malformed && self.options.ignore_malformed {
                let iri = bulk.iris[one.position];
                tracing::warn!(
                    iri,
                    reason = one.reason,
                    "the search engine does not take a document"
                );
                self.progress.add_rejected();
                let mut left_out = self.left_out.lock().unwrap_or_else(PoisonError::into_inner);
                left_out.insert(iri.to_owned());
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
        self.documents.retain(|_| at.next().is_some_and(is_kept));
    }
}

fn refusal(bulk: &Bulk<'_>, rejected: &Rejected) -> IndexerError {
    IndexerError::Rejected {
        iri: bulk.iris[rejected.position].to_owned(),
        status: rejected.status,
        reason: rejected.reason.clone(),
    }
}
