//! Why a run failed.

use std::fmt;

use call_context::CallError;
use graph_store::StoreError;
use graphql_service::ErrorCode;

use crate::code;
use crate::document::Malformed;
use crate::engine::{EngineError, PhysicalName};

/// Why the indexes were not built. The aliases lead where they did before.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IndexerError {
    /// The engine failed, or refuses an index.
    #[error("failed to write to the search engine")]
    Engine(#[from] EngineError),
    /// The store failed, or the run was cancelled.
    #[error("failed to read the store")]
    Store(#[from] StoreError),
    /// Values cannot be indexed, and are not to be ignored.
    #[error(transparent)]
    Malformed(Box<MalformedValues>),
    /// The engine does not take a document.
    #[error("the search engine does not take the document of <{iri}>: {status}{reason}")]
    Rejected {
        /// The object.
        iri: String,
        /// The status that the engine gave, as in HTTP.
        status: u16,
        /// Why, for logs.
        reason: String,
    },
    /// The engine does not have the documents that it took.
    #[error(
        "the index of `{object}` differs from the store: {missing} documents are missing and {surplus} are surplus, such as <{example}>"
    )]
    Incomplete {
        /// The GraphQL name of the object.
        object: String,
        /// How many documents are missing.
        missing: u64,
        /// How many documents are of no object.
        surplus: u64,
        /// The IRI of one.
        example: String,
    },
    /// The engine lost a part of an index while it was built, more often than it is built again, or has no
    /// place for one.
    #[error(
        "the search engine does not have all of `{index}`, the index of `{object}`: {reason}; index again when all its nodes are back, or with a replica of each shard (`number_of_replicas`)"
    )]
    Shards {
        /// The GraphQL name of the object.
        object: String,
        /// The index.
        index: PhysicalName,
        /// What the engine says, for logs.
        reason: String,
        /// No copy of the part is left.
        is_lost: bool,
    },
    /// The data were replaced while they were read, or changed for longer than records of changes are kept.
    #[error("the data were replaced while their indexes were being built")]
    DataReplaced,
    /// An option names an object that has no index.
    #[error("there is no index of `{0}` in the schema")]
    UnknownObject(String),
    /// There are indexes of every number that was tried.
    #[error("no number is free for an index of `{0}`")]
    NoNumber(String),
}

/// Values that cannot be indexed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MalformedValues {
    /// The first of them; see [`IndexerOptions::max_findings`](super::IndexerOptions::max_findings).
    pub values: Vec<Malformed>,
    /// How many there are in all indexes; one that several indexes embed counts in each.
    pub total: u64,
}

impl std::error::Error for MalformedValues {}

impl fmt::Display for MalformedValues {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} values cannot be indexed", self.total)?;
        for value in &self.values {
            let Malformed {
                iri,
                path,
                value,
                reason,
            } = value;
            write!(f, "\n  <{iri}> {path}: {value}: {reason}")?;
        }
        let more = self.total.saturating_sub(self.values.len() as u64);
        if more > 0 {
            write!(f, "\n  and {more} more")?;
        }
        Ok(())
    }
}

impl IndexerError {
    /// Returns whether the same run may succeed later.
    #[must_use]
    pub fn is_transient(&self) -> bool {
        match self {
            IndexerError::Engine(error) => error.is_transient(),
            IndexerError::Store(error) => is_transient(error),
            _ => false,
        }
    }

    /// Returns the code, if the engine or the store is the reason.
    #[must_use]
    pub fn code(&self) -> Option<ErrorCode> {
        match self {
            IndexerError::Engine(error) => Some(error.code()),
            IndexerError::Store(error) => Some(store_code(error)),
            _ => None,
        }
    }

    /// Returns what went wrong, without addresses and causes.
    #[must_use]
    pub fn reason(&self) -> String {
        match self {
            IndexerError::Engine(error) => error.reason(),
            IndexerError::Store(error) => store_reason(error),
            other => other.to_string(),
        }
    }

    /// Returns whether the cause may be that an index is not all there.
    pub(super) fn may_be_of_shards(&self) -> bool {
        match self {
            IndexerError::Engine(error) => error.is_outage(),
            IndexerError::Rejected { status, .. } => may_be_of_shards(*status),
            _ => false,
        }
    }

    /// Returns whether another instance builds the indexes under a later lease.
    #[must_use]
    pub fn is_outdated(&self) -> bool {
        matches!(self, IndexerError::Engine(EngineError::Outdated { .. }))
    }

    /// Returns whether the run was cancelled.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        matches!(
            self,
            IndexerError::Store(StoreError::Call(CallError::Cancelled))
                | IndexerError::Engine(EngineError::Call(CallError::Cancelled))
        )
    }
}

impl From<CallError> for IndexerError {
    fn from(error: CallError) -> Self {
        IndexerError::Store(error.into())
    }
}

/// Returns whether the cause of a status may be that an index is not all there.
pub(super) fn may_be_of_shards(status: u16) -> bool {
    matches!(status, 502..=504)
}

/// Returns whether a store may answer later. One that fails on a valid query, or answers that it is not there, may
/// still be starting.
pub(super) fn is_transient(error: &StoreError) -> bool {
    matches!(
        error,
        StoreError::Unavailable(_)
            | StoreError::Interrupted(_)
            | StoreError::Call(CallError::Overloaded | CallError::Deadline)
            | StoreError::Failed(_)
    )
}

fn store_code(error: &StoreError) -> ErrorCode {
    match error {
        StoreError::Unavailable(_)
        | StoreError::Interrupted(_)
        | StoreError::Call(CallError::Overloaded) => code::DATA_UNAVAILABLE,
        StoreError::Call(CallError::Deadline) => code::DATA_TIMEOUT,
        _ => code::DATA_FAILED,
    }
}

fn store_reason(error: &StoreError) -> String {
    match error {
        StoreError::Call(CallError::Deadline) => "the store does not answer in time".to_owned(),
        StoreError::Failed(_) => {
            "the store failed, or something else answers at its address".to_owned()
        }
        other => other.to_string(),
    }
}
