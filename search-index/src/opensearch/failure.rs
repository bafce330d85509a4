//! Failures of exchanges, and the errors of the engine that they become.
//!
//! The messages contain addresses and are for logs only; none contains credentials.

use std::fmt::Write;
use std::time::Duration;

use call_context::CallError;
use reqwest::StatusCode;
use serde::Deserialize;
use service_metrics::table::OTHER;

use crate::engine::EngineError;

/// Longest beginning of what a node says that is kept, in characters.
const EXCERPT: usize = 500;

/// The class of the error of a search whose aggregations have too many buckets.
pub(super) const TOO_MANY_BUCKETS: &str = "too_many_buckets_exception";

/// What OpenSearch answers when parts of an index are away, whichever node is asked.
const AWAY_SHARDS: [&str; 3] = [
    "no_shard_available_action_exception",
    "search_phase_execution_exception",
    "unavailable_shards_exception",
];

/// A failure of one exchange with one node.
#[derive(Debug, thiserror::Error)]
pub(super) enum Failure {
    #[error("{address} cannot be connected to: {cause}")]
    Connect { address: String, cause: String },
    #[error("{address} closed the connection before its response was complete: {cause}")]
    Lost { address: String, cause: String },
    #[error("no connection to {address} became free within {} ms", .timeout.as_millis())]
    Busy { address: String, timeout: Duration },
    #[error("{address} sent no complete response within {} ms", .timeout.as_millis())]
    Slow { address: String, timeout: Duration },
    #[error("{address} answered {status}{said}")]
    Status {
        address: String,
        status: StatusCode,
        said: Said,
        /// When the node wants to be asked again, counted from its answer.
        retry_after: Option<Duration>,
    },
    #[error("the response of {address} is incomplete: {cause}")]
    Incomplete { address: String, cause: String },
    #[error("the response of {address} cannot be parsed: {cause}")]
    Malformed { address: String, cause: String },
    #[error("the answer is larger than {limit} bytes")]
    TooLarge { limit: u64 },
    #[error(transparent)]
    Call(#[from] CallError),
}

/// What a node says about a request that it does not fulfil.
#[derive(Clone, Debug, Default)]
pub(super) struct Said {
    /// The class of the error, such as `index_not_found_exception`.
    pub(super) class: String,
    /// The classes of what caused it.
    causes: Vec<String>,
    /// The beginning of the reason.
    pub(super) reason: String,
}

/// The reason of an error, as nodes write it.
#[derive(Default, Deserialize)]
pub(super) struct Cause {
    #[serde(default, rename = "type")]
    class: String,
    reason: Option<String>,
    caused_by: Option<Box<Cause>>,
    /// What each shard says, each once.
    #[serde(default, rename = "root_cause")]
    root_causes: Vec<Cause>,
}

impl Cause {
    pub(super) fn said(&self) -> Said {
        let mut reason = self.reason.clone().unwrap_or_default();
        let mut inner = &self.caused_by;
        let mut causes = Vec::new();
        while let Some(cause) = inner {
            causes.push(cause.class.clone());
            let _ = write!(reason, ": {}", cause.reason.as_deref().unwrap_or_default());
            inner = &cause.caused_by;
        }
        for cause in &self.root_causes {
            causes.push(cause.class.clone());
            if !reason.contains(cause.reason.as_deref().unwrap_or_default()) {
                let _ = write!(reason, ": {}", cause.reason.as_deref().unwrap_or_default());
            }
        }
        Said {
            class: self.class.clone(),
            causes,
            reason: excerpt(&reason),
        }
    }
}

impl Said {
    /// Returns whether the error or a cause of it is of a class.
    pub(super) fn is_of(&self, class: &str) -> bool {
        self.class == class || self.causes.iter().any(|cause| cause == class)
    }

    /// Reads the body of an answer that is no success.
    pub(super) fn read(body: &[u8]) -> Self {
        #[derive(Deserialize)]
        struct Refusal {
            error: Cause,
        }
        match serde_json::from_slice::<Refusal>(body) {
            Ok(refusal) => refusal.error.said(),
            Err(_) => Said {
                reason: excerpt(&String::from_utf8_lossy(body)),
                ..Said::default()
            },
        }
    }
}

fn excerpt(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    line.chars().take(EXCERPT).collect()
}

impl std::fmt::Display for Said {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (self.class.as_str(), self.reason.as_str()) {
            ("", "") => Ok(()),
            ("", reason) => write!(f, ": {reason}"),
            (class, reason) => write!(f, ": {class}: {reason}"),
        }
    }
}

impl Failure {
    /// Returns the kind of failure in a word, for metrics.
    pub(super) fn word(&self) -> &'static str {
        match self {
            Failure::Connect { .. } => "connect",
            Failure::Lost { .. } | Failure::Incomplete { .. } => "lost",
            Failure::Busy { .. } | Failure::Slow { .. } => "timeout",
            Failure::Malformed { .. } => "malformed",
            Failure::TooLarge { .. } | Failure::Call(CallError::OutOfMemory) => "too_large",
            Failure::Call(CallError::Cancelled) => "cancelled",
            Failure::Status { .. } | Failure::Call(_) => OTHER,
        }
    }

    /// Returns whether the node, or what is in front of it, cannot serve at the moment.
    pub(super) fn is_outage(&self) -> bool {
        match self {
            Failure::Connect { .. } | Failure::Lost { .. } | Failure::Slow { .. } => true,
            // It is the search that is too large.
            Failure::Status { said, .. } if said.is_of(TOO_MANY_BUCKETS) => false,
            Failure::Status { status, .. } => matches!(status.as_u16(), 502..=504),
            _ => false,
        }
    }

    /// Returns whether the node answers, and only what it needs of an index is away.
    pub(super) fn is_of_shards(&self) -> bool {
        let said = self.said().map(|(_, said)| said);
        said.is_some_and(|said| AWAY_SHARDS.iter().any(|class| said.is_of(class)))
    }

    /// Returns whether the request was certainly not carried out, and may be when it is sent again.
    pub(super) fn is_undone(&self) -> bool {
        match self {
            Failure::Connect { .. } | Failure::Busy { .. } => true,
            Failure::Status { status, .. } => *status == StatusCode::TOO_MANY_REQUESTS,
            _ => false,
        }
    }

    /// Returns whether the node did not answer in time.
    pub(super) fn is_slow(&self) -> bool {
        matches!(self, Failure::Slow { .. })
    }

    /// Returns when the node wants to be asked again.
    pub(super) fn retry_after(&self) -> Option<Duration> {
        match self {
            Failure::Status { retry_after, .. } => *retry_after,
            _ => None,
        }
    }

    /// Returns what the node says, if it refuses the request.
    pub(super) fn said(&self) -> Option<(StatusCode, &Said)> {
        match self {
            Failure::Status { status, said, .. } => Some((*status, said)),
            _ => None,
        }
    }

    /// Returns whether an alias does not lead any more to the index that it was to be taken from.
    pub(super) fn is_moved_alias(&self) -> bool {
        self.said()
            .is_some_and(|(_, said)| said.class == "aliases_not_found_exception")
    }

    /// Returns whether there is no index of the name.
    pub(super) fn is_not_found(&self) -> bool {
        self.said().is_some_and(|(status, said)| {
            status == StatusCode::NOT_FOUND && said.class == "index_not_found_exception"
        })
    }
}

impl From<Failure> for EngineError {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Call(error) => EngineError::Call(error),
            Failure::TooLarge { limit } => EngineError::AnswerTooLarge { limit },
            Failure::Status { status, .. } if matches!(status.as_u16(), 401 | 403) => {
                EngineError::Denied(Box::new(failure))
            }
            Failure::Slow { .. } => EngineError::TimedOut(Box::new(failure)),
            // Copies of shards come and go with their nodes.
            Failure::Incomplete { .. } => EngineError::Unavailable(Box::new(failure)),
            _ if failure.is_outage() => EngineError::Unavailable(Box::new(failure)),
            Failure::Busy { .. } => EngineError::Overloaded(Box::new(failure)),
            _ if failure.is_undone() => EngineError::Overloaded(Box::new(failure)),
            _ => EngineError::Failed(Box::new(failure)),
        }
    }
}
