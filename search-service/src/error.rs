//! Why what is bound could not be changed.

use graphql_service::{ErrorCode, SlotError, code};
use schema_registry::Checked;
use schema_registry::SchemaStoreError;
use search_index::engine::EngineError;
use search_index::indexer::{IndexerError, MalformedValues, Setback};

use super::roles::Shown;

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
    /// Searches would show what the roles of the schema hide, and no one has allowed that.
    #[error("security is on: {0}; `search.enabled=true` allows that")]
    RolesIgnored(Box<Shown>),
    /// Someone bound or unbound a schema meanwhile.
    #[error("the binding was changed by another request in the meantime")]
    Superseded,
    /// The search engine failed.
    #[error("the search engine failed")]
    Engine(#[from] EngineError),
    /// The indexes could not be built.
    #[error("the indexes could not be built")]
    Indexer(#[source] IndexerError),
    /// Whether the values fit could not be found out, since the engine or the store did not answer.
    #[error("it could not be determined whether all values can be indexed: {}", .0.reason)]
    NotChecked(Setback),
    /// There is no slot for the work.
    #[error(transparent)]
    Busy(#[from] SlotError),
    /// The schema store failed or refused the change.
    #[error(transparent)]
    Store(#[from] SchemaStoreError),
}

impl SearchChangeError {
    /// Returns the code that the HTTP interface answers with.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            SearchChangeError::Invalid(_) => "SCHEMA_INVALID",
            SearchChangeError::Malformed(_) => "VALUES_MALFORMED",
            SearchChangeError::RolesIgnored(_) => "SEARCH_IGNORES_ROLES",
            SearchChangeError::Superseded => "BINDING_SUPERSEDED",
            SearchChangeError::Engine(error) => error.code().as_str(),
            SearchChangeError::Indexer(error) => code_of(error),
            SearchChangeError::NotChecked(setback) => {
                setback.code.map_or(INDEXING_FAILED, ErrorCode::as_str)
            }
            SearchChangeError::Store(SchemaStoreError::NotFound) => "SCHEMA_NOT_FOUND",
            SearchChangeError::Store(SchemaStoreError::DiskFull) => "DISK_FULL",
            SearchChangeError::Store(SchemaStoreError::Unavailable(_)) => {
                service_runtime::code::SCHEMA_STORE_UNAVAILABLE.as_str()
            }
            SearchChangeError::Store(SchemaStoreError::AccessDenied(_)) => {
                service_runtime::code::SCHEMA_STORE_DENIED.as_str()
            }
            SearchChangeError::Store(SchemaStoreError::OutcomeUnknown(_)) => {
                service_runtime::code::SCHEMA_STORE_OUTCOME_UNKNOWN.as_str()
            }
            SearchChangeError::Store(_) => code::INTERNAL.as_str(),
            SearchChangeError::Busy(_) => code::OVERLOADED.as_str(),
        }
    }

    /// Returns whether the same change may succeed later: also where something else answers for an engine that is
    /// about to start, or it does not accept a password yet.
    #[must_use]
    pub fn is_transient(&self) -> bool {
        match self {
            SearchChangeError::Engine(EngineError::Failed(_) | EngineError::Denied(_)) => true,
            SearchChangeError::Engine(error) => error.is_transient(),
            SearchChangeError::Indexer(error) => error.is_transient(),
            SearchChangeError::NotChecked(_) => true,
            SearchChangeError::Store(
                SchemaStoreError::Failed(_) | SchemaStoreError::AccessDenied(_),
            ) => true,
            SearchChangeError::Store(error) => error.is_transient(),
            SearchChangeError::Busy(_) => true,
            _ => false,
        }
    }
}

/// The code of a run that neither the engine nor the store has ended.
const INDEXING_FAILED: &str = "INDEXING_FAILED";

/// Returns the code of why a run failed.
pub(super) fn code_of(error: &IndexerError) -> &'static str {
    match error {
        IndexerError::Malformed(_) => "VALUES_MALFORMED",
        error => error.code().map_or(INDEXING_FAILED, ErrorCode::as_str),
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
