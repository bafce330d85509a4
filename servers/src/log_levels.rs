//! The levels of the log of this process, which administrators change by `/__loggers`.

use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

use service_log::LevelHandle;
use service_runtime::Loggers;
use service_runtime::loggers::{LevelChange, LoggerLevels};

use crate::config::{changed, levels_of};

/// The log of the process, once it has begun.
static LOG: LazyLock<Arc<Log>> = LazyLock::new(Arc::default);

#[derive(Default)]
struct Log(Mutex<State>);

#[derive(Default)]
struct State {
    directives: String,
    /// What changes the levels; none where the log is that of another program.
    handle: Option<LevelHandle>,
}

/// Lets the levels be changed from now on, from what `directives` say.
pub(crate) fn begin(directives: String, handle: Option<LevelHandle>) {
    *LOG.state() = State { directives, handle };
}

/// Returns what changes the levels.
pub(crate) fn loggers() -> Arc<dyn Loggers> {
    Arc::clone(&*LOG) as _
}

impl Log {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn shown(directives: &str) -> LoggerLevels {
    let (root, own) = levels_of(directives);
    let loggers = own.into_iter();
    LoggerLevels {
        root: root.to_owned(),
        loggers: loggers
            .map(|(name, level)| (name.to_owned(), level.map(str::to_owned)))
            .collect(),
    }
}

impl Loggers for Log {
    fn levels(&self) -> LoggerLevels {
        shown(&self.state().directives)
    }

    fn change(&self, change: LevelChange) -> Result<LoggerLevels, String> {
        let mut state = self.state();
        let loggers = change
            .loggers
            .iter()
            .map(|(name, level)| (name.as_str(), level.as_deref()));
        let directives = changed(&state.directives, change.root.as_deref(), loggers)?;
        let Some(handle) = &state.handle else {
            return Err("the log of this process belongs to another program".to_owned());
        };
        handle
            .set(&directives)
            .map_err(|error| format!("the levels cannot be set: {error}"))?;
        state.directives = directives;
        Ok(shown(&state.directives))
    }
}
