//! Why what is bound could not be changed.

use graphql_service::SlotError;
use search_index::engine::EngineError;
use search_index::indexer::{IndexerError, MalformedValues};

use crate::schema::Checked;
use crate::schema_store::SchemaStoreError;

/// Why a schema could not be bound to the search service, or unbound.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SearchChangeError {
    /// The document has errors, or cannot be searched.
    #[error("the schema cannot be searched")]
    Invalid(Box<Checked>),
    /// Values do not fit, and must not be left out.
    #[error("{0}")]
    Malformed(Box<MalformedValues>),
    /// Somebody bound or unbound a schema meanwhile.
    #[error("another change of what is bound came in between")]
    Superseded,
    /// The search engine failed.
    #[error("the search engine failed")]
    Engine(#[from] EngineError),
    /// The indexes could not be built.
    #[error("the indexes could not be built")]
    Indexer(#[source] IndexerError),
    /// There is no slot for the work.
    #[error(transparent)]
    Busy(#[from] SlotError),
    /// The schema store failed or refused the change.
    #[error(transparent)]
    Store(#[from] SchemaStoreError),
}

impl SearchChangeError {
    /// Tells whether the same change may succeed later.
    #[must_use]
    pub fn is_transient(&self) -> bool {
        match self {
            SearchChangeError::Engine(error) => error.is_transient(),
            SearchChangeError::Indexer(error) => error.is_transient(),
            SearchChangeError::Store(error) => matches!(error, SchemaStoreError::Failed(_)),
            SearchChangeError::Busy(_) => true,
            _ => false,
        }
    }
}

impl From<IndexerError> for SearchChangeError {
    fn from(error: IndexerError) -> Self {
        match error {
            IndexerError::Malformed(values) => SearchChangeError::Malformed(values),
            error if error.is_cancelled() => SearchChangeError::Superseded,
            IndexerError::Engine(error) => SearchChangeError::Engine(error),
            error => SearchChangeError::Indexer(error),
        }
    }
}
