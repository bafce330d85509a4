//! Looks for values that cannot be indexed, before anything is written.

use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;
use graph_store::query::ObjectRef;

use super::error::{IndexerError, MalformedValues};
use super::fill::Sink;
use crate::document::Document;

/// Collects malformed values; the documents themselves are dropped.
#[derive(Debug)]
pub(super) struct Checker {
    max_findings: usize,
    found: Mutex<MalformedValues>,
}

impl Checker {
    pub(super) fn new(max_findings: usize) -> Self {
        let found = MalformedValues {
            values: Vec::new(),
            total: 0,
        };
        Checker {
            max_findings,
            found: Mutex::new(found),
        }
    }

    /// Returns an error if there are malformed values.
    pub(super) fn result(self) -> Result<(), IndexerError> {
        let mut found = self
            .found
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
        if found.total == 0 {
            return Ok(());
        }
        found
            .values
            .sort_by(|a, b| (&a.iri, &a.path, &a.value).cmp(&(&b.iri, &b.path, &b.value)));
        Err(IndexerError::Malformed(Box::new(found)))
    }
}

#[async_trait]
impl Sink for Checker {
    async fn take(&self, _: &[ObjectRef], documents: Vec<Document>) -> Result<(), IndexerError> {
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        for value in documents
            .into_iter()
            .flat_map(|document| document.malformed)
        {
            found.total += 1;
            // What several objects embed is listed once.
            if found.values.len() < self.max_findings && !found.values.contains(&value) {
                found.values.push(value);
            }
        }
        Ok(())
    }
}
