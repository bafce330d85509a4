//! What clients are told of failures of an engine; the rest goes into the log.

use call_context::CallError;
use graphql_service::{GraphqlError, code as shared};

use crate::code;
use crate::engine::EngineError;

/// Why a search has no answer.
pub(super) enum Failure {
    /// The service has no room for the request now.
    Overloaded(GraphqlError),
    /// This search alone failed.
    Failed(GraphqlError),
}

/// Returns what a client is told of a failure.
pub(super) fn failure(error: &EngineError, request_id: &str) -> Failure {
    let failed = |code, message| {
        let error = GraphqlError::of_failure(code, message, error, request_id);
        Failure::Failed(error)
    };
    match error {
        EngineError::Unavailable(_) => failed(
            code::ENGINE_UNAVAILABLE,
            "the search engine cannot be reached",
        ),
        EngineError::TimedOut(_) => failed(
            code::ENGINE_TIMEOUT,
            "the search engine does not answer in time",
        ),
        EngineError::Overloaded(_) => failed(
            code::ENGINE_OVERLOADED,
            "the search engine has too much to do",
        ),
        EngineError::Denied(_) => failed(code::ENGINE_DENIED, "the search engine refuses access"),
        EngineError::NotFound { .. }
        | EngineError::NotOurs { .. }
        | EngineError::Outdated { .. } => {
            Failure::Failed(GraphqlError::new(code::INDEX_MISSING, error.to_string()))
        }
        EngineError::Unsupported(what) => {
            Failure::Failed(GraphqlError::new(code::ENGINE_UNSUPPORTED, what.clone()))
        }
        EngineError::AnswerTooLarge { limit } => {
            let message = "an answer of the search engine is larger than allowed";
            let error = GraphqlError::new(code::LIMIT_ENGINE_ANSWER, message);
            Failure::Failed(error.with("limit", *limit))
        }
        EngineError::Call(error) => call(error),
        EngineError::Failed(_) => failed(code::ENGINE_FAILED, "the search engine failed"),
    }
}

fn call(error: &CallError) -> Failure {
    let told = GraphqlError::from(*error);
    if told.code == shared::OVERLOADED {
        Failure::Overloaded(told)
    } else {
        Failure::Failed(told)
    }
}
