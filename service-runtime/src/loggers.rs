//! The levels of the log of a process, and what changes them while it runs.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The levels of the log of a process.
///
/// Names and levels are those of `logging.level.<name>`; what is not known is refused by its name.
pub trait Loggers: Send + Sync {
    /// Returns the levels of now.
    fn levels(&self) -> LoggerLevels;

    /// Changes levels, all of them or none, and returns those of now.
    ///
    /// # Errors
    /// When a logger or a level is not known; the message names it.
    fn change(&self, change: LevelChange) -> Result<LoggerLevels, String>;
}

/// The levels of a log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LoggerLevels {
    /// The level of loggers without one of their own.
    pub root: String,
    /// Each logger with its own level.
    pub loggers: BTreeMap<String, Option<String>>,
}

/// A change of levels.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct LevelChange {
    /// Another level of the root.
    pub root: Option<String>,
    /// Changed levels of loggers; null removes the level of a logger.
    #[serde(default)]
    pub loggers: BTreeMap<String, Option<String>>,
}
