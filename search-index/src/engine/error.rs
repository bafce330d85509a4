//! Errors of engines.

use call_context::CallError;
use graphql_service::ErrorCode;

use crate::code;

/// An error of an engine. Its sources may contain addresses and never leave the process.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EngineError {
    /// The engine cannot be reached.
    #[error("the search engine cannot be reached")]
    Unavailable(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The engine accepts requests, and does not answer in time.
    #[error("the search engine does not answer in time")]
    TimedOut(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The engine has too much to do; it may be asked again.
    #[error("the search engine is overloaded")]
    Overloaded(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The engine does not accept the user name and password, or they may not do this.
    #[error("the search engine refuses access")]
    Denied(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// There is no such index or alias.
    #[error("there is no index `{name}`")]
    NotFound {
        /// Its name.
        name: String,
    },
    /// There is an index of this name already, and it is not one of this application.
    #[error("the index `{name}` is not owned by this application")]
    NotOurs {
        /// Its name.
        name: String,
    },
    /// The index was built under a later lease than that of whoever wants to replace it: another instance builds
    /// the indexes now.
    #[error("the index `{name}` was built by another instance, which has taken over")]
    Outdated {
        /// Its name.
        name: String,
    },
    /// The engine cannot do what is requested; the message is fit for clients.
    #[error("{0}")]
    Unsupported(String),
    /// An answer is larger than allowed.
    #[error("an answer of the search engine is larger than {limit} bytes")]
    AnswerTooLarge {
        /// The limit, in bytes.
        limit: u64,
    },
    /// The deadline passed, the request was cancelled, or there is no memory for the answer.
    #[error(transparent)]
    Call(#[from] CallError),
    /// The engine failed on a valid request.
    #[error("the search engine failed")]
    Failed(#[source] Box<dyn std::error::Error + Send + Sync>),
}

impl EngineError {
    /// Returns the code of the error when indexes are built or bound.
    #[must_use]
    pub fn code(&self) -> ErrorCode {
        match self {
            EngineError::TimedOut(_) | EngineError::Call(CallError::Deadline) => {
                code::ENGINE_TIMEOUT
            }
            EngineError::Unavailable(_) | EngineError::Call(_) => code::ENGINE_UNAVAILABLE,
            EngineError::Overloaded(_) => code::ENGINE_OVERLOADED,
            EngineError::Denied(_) => code::ENGINE_DENIED,
            EngineError::NotFound { .. } => code::INDEX_MISSING,
            EngineError::NotOurs { .. } | EngineError::Outdated { .. } => code::INDEX_NOT_OURS,
            EngineError::Unsupported(_) => code::ENGINE_UNSUPPORTED,
            EngineError::AnswerTooLarge { .. } => code::LIMIT_ENGINE_ANSWER,
            EngineError::Failed(_) => code::ENGINE_FAILED,
        }
    }

    /// Returns what went wrong, without addresses and causes.
    #[must_use]
    pub fn reason(&self) -> String {
        match self {
            EngineError::Call(CallError::Deadline) => {
                "the search engine does not answer in time".to_owned()
            }
            other => other.to_string(),
        }
    }

    /// Returns whether the same request may succeed later. An engine that answers nothing before a deadline is
    /// no better than one that cannot be reached.
    #[must_use]
    pub fn is_transient(&self) -> bool {
        self.is_outage()
            || matches!(
                self,
                EngineError::Overloaded(_) | EngineError::Call(CallError::Deadline)
            )
    }

    /// Returns whether the engine did not answer at all.
    pub(crate) fn is_outage(&self) -> bool {
        matches!(self, EngineError::Unavailable(_) | EngineError::TimedOut(_))
    }
}
