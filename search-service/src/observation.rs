//! What is seen of the engines: whether they answer, and how the indexes of the bound schema are there.

use std::sync::{Arc, Weak};
use std::time::Duration;

use call_context::CallError;
use search_index::engine::{Built, EngineError};
use service_runtime::HealthRecord;
use service_runtime::schemas::StoreTrouble;

use super::bound::Bound;

/// What was found when the service looked after itself.
#[derive(Clone)]
pub(crate) struct HealthFindings {
    pub(crate) record: HealthRecord,
    /// The engine that searches run on answered.
    pub(crate) engine_answers: bool,
    /// Why the store of the schemas, which other instances share, does not do what it is asked for.
    pub(crate) schemas: Option<String>,
}

/// What was seen at one moment.
pub(super) struct Observation {
    /// The schema that was bound then.
    pub(super) bound: Weak<Bound>,
    /// The engine that is searched.
    pub(super) searched: EngineState,
    /// The engine that is written to.
    pub(super) written: EngineState,
    /// The indexes of the bound schema, in the order of its definitions; none where the engine does not answer.
    pub(super) indexes: Vec<SeenIndex>,
    /// What is wrong with the store of the schemas that other instances share, without addresses.
    pub(super) schemas: Option<StoreTrouble>,
    /// The sequence of the last change of the data; `None` where their store does not say.
    pub(super) sequence: Option<u64>,
}

/// How an engine is.
#[derive(Clone)]
pub(super) enum EngineState {
    Answers,
    /// It cannot be reached, or does not answer in time.
    Away(Trouble),
    /// The check itself failed.
    Unknown(Trouble),
}

/// What is wrong with an engine, without addresses.
#[derive(Clone)]
pub(super) struct Trouble {
    pub(super) code: &'static str,
    pub(super) message: String,
}

/// How an index is there.
#[derive(Clone, Default)]
pub(super) struct SeenIndex {
    /// It was searched, and therefore looked at.
    pub(super) is_seen: bool,
    /// Number of documents; `None` where the engine does not say.
    pub(super) documents: Option<u64>,
    /// What it has and lacks, as far as it was noted.
    pub(super) built: Option<Built>,
    /// For how long it has lacked the first change of its data that it lacks; `None` where that is not known.
    pub(super) lag: Option<Duration>,
    pub(super) problems: Vec<Problem>,
}

/// What is wrong with an index that is searched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Problem {
    Gone,
    /// Someone else has an index under its name.
    Foreign,
    /// It was made from another definition.
    Redefined,
    /// Its alias leads to another index.
    AliasElsewhere(String),
    /// A part of it is not there.
    Unhealthy(String),
    /// It has another number of documents than it was built with.
    Incomplete {
        found: u64,
        built: u64,
    },
    NotCounted,
    /// Some documents were not taken by the engine.
    Rejected(u64),
    /// Some values are left out, and must not be.
    Malformed(u64),
    /// It has lacked changes of the data for a while.
    Behind(Duration),
    /// The data are others than those that it was built from.
    Older,
    /// The store does not say whether its data have changed since.
    MayBeOlder,
}

impl Problem {
    /// Returns a name of the problem that never changes.
    pub(super) fn code(&self) -> &'static str {
        match self {
            Problem::Gone => "GONE",
            Problem::Foreign => "FOREIGN",
            Problem::Redefined => "REDEFINED",
            Problem::AliasElsewhere(_) => "ALIAS_ELSEWHERE",
            Problem::Unhealthy(_) => "UNHEALTHY",
            Problem::Incomplete { .. } => "INCOMPLETE",
            Problem::NotCounted => "NOT_COUNTED",
            Problem::Rejected(_) => "REJECTED",
            Problem::Malformed(_) => "MALFORMED",
            Problem::Behind(_) => "BEHIND",
            Problem::Older => "OLDER",
            Problem::MayBeOlder => "MAY_BE_OLDER",
        }
    }

    /// Returns what is wrong with the index of an object.
    pub(super) fn message(&self, object: &str) -> String {
        match self {
            Problem::Gone => format!("the index of {object} is missing"),
            Problem::Foreign => {
                format!("the index of {object} has been replaced by one of another application")
            }
            Problem::Redefined => {
                format!("the index of {object} has been replaced by one of another schema")
            }
            Problem::AliasElsewhere(alias) => {
                format!("the alias `{alias}` of {object} leads to another index")
            }
            Problem::Unhealthy(why) => format!("the index of {object} is incomplete: {why}"),
            Problem::Incomplete { found, built } => {
                format!("the index of {object} has {found} documents and was built with {built}")
            }
            Problem::NotCounted => {
                format!("the documents in the index of {object} cannot be counted")
            }
            Problem::Rejected(number) => {
                format!(
                    "objects of {object} have no document because a value does not fit: {number}"
                )
            }
            Problem::Malformed(number) => format!(
                "{number} values of {object} are left out, but `indexer.ignoreMalformed` is `false`"
            ),
            Problem::Behind(time) => format!(
                "the index of {object} lacks changes of the last {} seconds",
                time.as_secs()
            ),
            Problem::Older => {
                format!("the index of {object} was built from different data")
            }
            Problem::MayBeOlder => format!(
                "the index of {object} was built before the service started, and the store cannot \
                 tell whether its data have changed since"
            ),
        }
    }
}

impl Observation {
    /// Returns the indexes of a schema; `None` if another was bound when they were looked at.
    pub(super) fn indexes_of(&self, bound: &Arc<Bound>) -> Option<&[SeenIndex]> {
        Weak::ptr_eq(&self.bound, &Arc::downgrade(bound)).then_some(self.indexes.as_slice())
    }
}

impl SeenIndex {
    pub(super) fn with(problem: Problem) -> Self {
        SeenIndex {
            is_seen: true,
            problems: vec![problem],
            ..SeenIndex::default()
        }
    }
}

impl EngineState {
    /// The engine does not answer in time.
    pub(super) fn late() -> Self {
        EngineState::Away(Trouble {
            code: search_index::code::ENGINE_TIMEOUT.as_str(),
            message: "the search engine did not respond in time".to_owned(),
        })
    }

    pub(super) fn of(error: &EngineError) -> Self {
        tracing::warn!(
            error = error as &dyn std::error::Error,
            "the search engine failed its check"
        );
        let code = error.code().as_str();
        let trouble = |message: String| Trouble { code, message };
        match error {
            EngineError::TimedOut(_) | EngineError::Call(CallError::Deadline) => {
                EngineState::late()
            }
            EngineError::Unavailable(_) | EngineError::Overloaded(_) | EngineError::Call(_) => {
                EngineState::Away(trouble("the search engine cannot be reached".to_owned()))
            }
            other => EngineState::Unknown(trouble(other.reason())),
        }
    }

    /// Returns what is wrong, if something is.
    pub(super) fn trouble(&self) -> Option<&Trouble> {
        match self {
            EngineState::Answers => None,
            EngineState::Away(trouble) | EngineState::Unknown(trouble) => Some(trouble),
        }
    }
}
