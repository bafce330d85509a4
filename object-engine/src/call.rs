//! From a request to calls of the store, and from its failures to errors that clients see.

use graph_store::{CallContext, StoreError};
use graphql_service::{GraphqlError, RequestContext, code as shared};

use crate::code;

/// Returns what a store is told of a request.
pub(crate) fn call_context(context: &RequestContext) -> CallContext {
    let mut call = CallContext::new()
        .with_cancellation(context.cancellation.clone())
        .with_request_id(context.request_id.clone())
        .with_accept_language(context.accept_language.clone());
    call.deadline = context.deadline;
    call
}

/// Returns what a client is told of a failure of the store; the rest goes into the log.
pub(crate) fn store_error(error: &StoreError, request_id: &str) -> GraphqlError {
    let failed = |code, message| GraphqlError::of_failure(code, message, error, request_id);
    match error {
        StoreError::Deadline => {
            GraphqlError::new(shared::DEADLINE_EXCEEDED, "the request took too long")
        }
        StoreError::Cancelled => GraphqlError::new(shared::CANCELLED, "the request was cancelled"),
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
        StoreError::Unavailable(_) => {
            failed(code::STORE_UNAVAILABLE, "the store cannot be reached")
        }
        StoreError::Failed(_) => failed(code::STORE_FAILED, "the store failed"),
        // Such work was to be done again on another thread.
        _ => failed(shared::INTERNAL, "the service failed"),
    }
}
