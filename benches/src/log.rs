//! The log of the service in the process of a benchmark: as it is by default, or at `logging.level=warn`.

use std::fmt::{self, Debug, Formatter};
use std::io::{self, Write};

use servers::config::Settings;
use service_log::{Background, DynLayer, event_lines, level_filter};
use tracing_subscriber::filter::ParseError;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::{SubscriberInitExt, TryInitError};
use tracing_subscriber::{Registry, reload};

/// What the service logs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// A line for each request, as without `logging.level`.
    Default,
    /// `logging.level=warn`: no line for a request that succeeds.
    Warn,
}

/// Why there is no log.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LogError {
    /// The thread that writes lines does not start.
    #[error("failed to start the log")]
    Start(#[source] io::Error),
    /// The process has a log already.
    #[error("the process has a log already")]
    Taken(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// A level is malformed.
    #[error("malformed level")]
    Level(#[from] ParseError),
    /// The level cannot be changed.
    #[error("failed to change the level")]
    Change(#[from] reload::Error),
}

/// The log of the process, written by a thread of its own as that of `soml serve`.
pub struct Log {
    change: Box<dyn Fn(DynLayer<Registry>) -> Result<(), reload::Error> + Send + Sync>,
}

impl Log {
    /// Starts the log on standard error at the default level.
    ///
    /// # Errors
    /// When the process has a log already.
    pub fn start() -> Result<Self, LogError> {
        Log::start_to(io::stderr())
    }

    /// Starts the log of the process with another destination.
    ///
    /// # Errors
    /// When the process has a log already.
    pub fn start_to(destination: impl Write + Send + 'static) -> Result<Self, LogError> {
        let lines = Background::start(destination).map_err(LogError::Start)?;
        let (filter, handle) = reload::Layer::new(Level::Default.filter()?);
        let lines = event_lines(Settings::default().log_format, false, lines);
        let subscriber = Registry::default().with(filter).with(lines);
        let taken = |error: TryInitError| LogError::Taken(error.into());
        subscriber.try_init().map_err(taken)?;
        Ok(Log {
            change: Box::new(move |filter| handle.reload(filter)),
        })
    }

    /// Changes what is logged from now on.
    ///
    /// # Errors
    /// When the log has ended.
    pub fn set(&self, level: Level) -> Result<(), LogError> {
        Ok((self.change)(level.filter()?)?)
    }
}

impl Level {
    fn filter(self) -> Result<DynLayer<Registry>, ParseError> {
        let directives = match self {
            Level::Default => Settings::default().log_level,
            Level::Warn => "warn".to_owned(),
        };
        level_filter(&directives)
    }
}

impl Debug for Log {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("Log").finish_non_exhaustive()
    }
}
