//! What is bound when the service starts: a schema that is named, or what was bound before.

use std::sync::Arc;
use std::time::Duration;

use super::app::SearchApp;
use super::error::SearchChangeError;
use super::job::{described, sleep};
use super::kept::Found;
use crate::schema::{SchemaIdError, check_id, path_name};
use crate::schema_store::{Expected, SchemaStoreError};

/// What to bind at the start.
#[derive(Clone, Debug, PartialEq, Eq)]
struct First {
    id: String,
    query: Option<String>,
}

/// Why a document cannot be stored that the service is started with.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FirstSchemaError {
    /// It has errors.
    #[error("the schema has errors; `soml validate` prints them")]
    Invalid,
    /// Its identifier cannot name a schema.
    #[error("{0}; {help}", help = .0.help)]
    Id(#[from] SchemaIdError),
    /// It cannot be stored.
    #[error(transparent)]
    Store(#[from] SchemaStoreError),
}

impl SearchApp {
    /// Stores the document that the service is started with; returns its name in paths.
    ///
    /// # Errors
    ///
    /// Fails when the document has no valid `id`, or cannot be stored.
    pub async fn add_schema(&self, text: &str) -> Result<String, FirstSchemaError> {
        let loaded = soml_core::load(text);
        let soml = loaded.schema.ok_or(FirstSchemaError::Invalid)?;
        let id = path_name(&soml.id);
        check_id(&id)?;
        self.schemas.create(&id, text.into()).await?;
        Ok(id)
    }

    /// Binds a stored schema, which the service was started with.
    ///
    /// Where the search engine or the store of schemas cannot be reached this is tried again in the
    /// background, as `task.default.retry.*` says.
    ///
    /// # Errors
    ///
    /// Fails as [`SearchApp::bind`] does, except when that may succeed later.
    pub async fn start_with(
        self: &Arc<Self>,
        id: &str,
        query: Option<&str>,
    ) -> Result<(), SearchChangeError> {
        let first = First {
            id: id.to_owned(),
            query: query.map(str::to_owned),
        };
        self.start(first).await
    }

    /// Binds what was bound when the service ended; tells whether anything was.
    ///
    /// # Errors
    ///
    /// Fails as [`SearchApp::start_with`] does.
    pub async fn start_with_kept(self: &Arc<Self>) -> Result<bool, SearchChangeError> {
        let Found::Bound(kept) = self.storage.read()? else {
            return Ok(false);
        };
        let is_there = self.schemas.get(&kept.id).await;
        if matches!(is_there, Ok(None)) {
            let text: Arc<str> = kept.text.into();
            match self.schemas.create(&kept.id, text).await {
                Ok(_) => {}
                Err(error @ SchemaStoreError::ReadOnly) => {
                    tracing::warn!(schema = kept.id, %error, "what was bound is gone");
                    return Ok(false);
                }
                Err(error) => return Err(error.into()),
            }
        }
        tracing::info!(schema = kept.id, "binding what was bound before");
        self.start(First {
            id: kept.id,
            query: None,
        })
        .await?;
        Ok(true)
    }

    /// Returns whether what was bound was unbound, and nothing was bound since. A file that cannot be read is a
    /// warning, and says nothing.
    #[must_use]
    pub fn was_unbound(&self) -> bool {
        match self.storage.read() {
            Ok(found) => found == Found::Unbound,
            Err(error) => {
                tracing::warn!(
                    error = &error as &dyn std::error::Error,
                    "what was bound to the search service cannot be read"
                );
                false
            }
        }
    }

    /// Waits until the indexes of what is bound are complete, or it is known that they are not to be
    /// soon; at most for `time`.
    pub async fn settled(&self, time: Duration) {
        if let Some(job) = self.job.load_full() {
            // Whoever waits goes on in either case.
            let _ = tokio::time::timeout(time, job.settled()).await;
        }
    }

    async fn start(self: &Arc<Self>, first: First) -> Result<(), SearchChangeError> {
        match self.bind_first(&first).await {
            Ok(()) => Ok(()),
            Err(error) if error.is_transient() => {
                tracing::warn!(
                    error = described(&error),
                    schema = first.id,
                    "the schema cannot be bound to the search service yet; it is tried again"
                );
                drop(tokio::spawn(Arc::clone(self).start_later(first)));
                Ok(())
            }
            Err(error) => Err(error),
        }
    }

    async fn bind_first(self: &Arc<Self>, first: &First) -> Result<(), SearchChangeError> {
        let (expected, query) = (Expected::default(), first.query.as_deref());
        let bound = self.bind_unless_cancelled(&first.id, &expected, query, true);
        bound.await.map(drop)
    }

    async fn start_later(self: Arc<Self>, first: First) {
        let retry = self.settings.search.retry.clone();
        for tries in 1..=retry.max_retries {
            if !sleep(retry.delay.0, &self.starting).await {
                return;
            }
            let error = match self.bind_first(&first).await {
                Ok(()) | Err(SearchChangeError::Superseded) => return,
                Err(error) => error,
            };
            let text = described(&error);
            if !error.is_transient() {
                tracing::error!(
                    error = text,
                    "the schema cannot be bound to the search service"
                );
                return;
            }
            tracing::warn!(error = text, tries, "the schema cannot be bound yet");
        }
        tracing::error!(
            schema = first.id,
            "the schema was not bound to the search service: `task.default.retry.maxRetries` is reached"
        );
    }
}
