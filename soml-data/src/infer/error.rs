//! Why no schema is inferred.

use graph_store::StoreError;

/// Why no schema is inferred.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InferError {
    /// The store failed, or no one waits any more.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// No valid document can be written.
    #[error("no valid schema can be written for these data: {finding}")]
    Invalid {
        /// What is wrong with the document, as `soml validate` reports it.
        finding: String,
    },
}
