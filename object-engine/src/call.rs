//! Converts store failures to errors that clients see.

use graph_store::StoreError;
use graphql_service::{GraphqlError, code as shared};

use crate::code;

/// Returns what a client is told of a failure of the store; the rest goes into the log.
pub(crate) fn store_error(error: &StoreError, request_id: &str) -> GraphqlError {
    let failed = |code, message| GraphqlError::of_failure(code, message, error, request_id);
    match error {
        StoreError::Call(error) => (*error).into(),
        StoreError::Unsupported(what) => GraphqlError::new(code::STORE_UNSUPPORTED, what.clone()),
        StoreError::RegexTooLarge => GraphqlError::new(
            code::LIMIT_REGEX,
            "the regular expression needs more memory than allowed",
        ),
        StoreError::ResultTooLarge { limit } => GraphqlError::new(
            code::LIMIT_STORE_RESULT,
            "a result of the store is larger than allowed",
        )
        .with("limit", *limit),
        StoreError::Conflict => GraphqlError::new(
            code::WRITE_CONFLICT,
            "other writers kept changing the same data; nothing was written; the request can be \
             retried",
        ),
        StoreError::NotIsolated(what) => GraphqlError::new(code::STORE_NOT_ISOLATED, what.clone()),
        StoreError::OutcomeUnknown(_) => failed(
            code::WRITE_OUTCOME_UNKNOWN,
            "it is unknown whether the mutation was written",
        ),
        StoreError::Unavailable(_) | StoreError::Interrupted(_) => {
            failed(code::STORE_UNAVAILABLE, "the store cannot be reached")
        }
        StoreError::DiskFull(_) => failed(code::STORE_FULL, "the mutation was not written"),
        StoreError::Failed(_) => failed(code::STORE_FAILED, "the store failed"),
        _ => failed(shared::INTERNAL, "the service failed"),
    }
}
