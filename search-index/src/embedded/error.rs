//! Failures of the embedded engine as errors of engines.

use crate::engine::EngineError;

/// A failure that has no source.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct Problem(String);

/// Wraps a failure.
pub(super) fn failed(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> EngineError {
    EngineError::Failed(error.into())
}

/// Returns the error for an internal failure.
pub(super) fn problem(text: impl Into<String>) -> EngineError {
    failed(Problem(text.into()))
}
