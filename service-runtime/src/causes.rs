//! Errors with their causes, for logs and operators.

use std::error::Error;

/// Returns an error with its causes.
#[must_use]
pub fn with_causes(error: &dyn Error) -> String {
    let causes = std::iter::successors(error.source(), |&cause| cause.source());
    causes.fold(error.to_string(), |text, cause| format!("{text}: {cause}"))
}
