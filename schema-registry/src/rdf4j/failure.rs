//! What failures of the server mean.
//!
//! Messages of the client name servers, so they are sources of the errors of the store and no part of their text.

use graph_store::StoreError;
use graph_store::remote::http::{HttpCodes, HttpFailure};

use crate::store::SchemaStoreError;

/// Returns the error of the store that a failure of the server is.
pub(super) fn of(error: StoreError, retryable: &HttpCodes) -> SchemaStoreError {
    match &error {
        StoreError::Conflict | StoreError::Call(_) => SchemaStoreError::Unavailable(error.into()),
        _ if is_denied(&error) => SchemaStoreError::AccessDenied(error.into()),
        _ if is_passing(&error, retryable) => SchemaStoreError::Unavailable(error.into()),
        _ => SchemaStoreError::Failed(error.into()),
    }
}

/// Returns whether the server refuses the credentials, or they give no right to do this.
pub(super) fn is_denied(error: &StoreError) -> bool {
    matches!(status(error), Some(401 | 403))
}

/// Returns whether the server says that there is no such repository.
pub(super) fn is_missing(error: &StoreError) -> bool {
    // In a transaction, the transaction is missing.
    status(error) == Some(404) && !matches!(error, StoreError::Interrupted(_))
}

/// Returns whether the same may succeed when it is sent again.
pub(super) fn is_passing(error: &StoreError, retryable: &HttpCodes) -> bool {
    let is_retryable = status(error).is_some_and(|status| retryable.contains(status));
    let is_outage = HttpFailure::of(error).is_some_and(|failure| failure.is_outage());
    let is_unavailable = matches!(
        error,
        StoreError::Unavailable(_) | StoreError::Interrupted(_)
    );
    !is_denied(error) && (is_retryable || is_outage || is_unavailable)
}

fn status(error: &StoreError) -> Option<u16> {
    HttpFailure::of(error).and_then(|failure| failure.status())
}
