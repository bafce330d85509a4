//! Log lines on standard error, as text or as JSON.
//!
//! Nobody waits for them: a destination that is full, closed or stalled costs lines and nothing else.

mod background;
mod line;

use std::io;

use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::ParseError;
use tracing_subscriber::fmt::MakeWriter;

pub use background::Background;

use crate::config::{LogFormat, Settings};

/// Initialises logging for the process, with colours if `coloured`, to standard error. A second call
/// has no effect.
///
/// For commands that end when they have their result. A service uses [`start_in_background`].
///
/// # Errors
///
/// Fails if `logging.level` is malformed.
pub fn start(settings: &Settings, coloured: bool) -> Result<(), ParseError> {
    start_with(settings, coloured, io::stderr)
}

/// Initialises logging for the process as [`start`] does, by lines that wait for nobody. Panics are
/// logged the same way.
///
/// # Errors
///
/// Fails if `logging.level` is malformed.
pub fn start_in_background(
    settings: &Settings,
    coloured: bool,
    lines: &Background,
) -> Result<(), ParseError> {
    lines.set_json(settings.log_format == LogFormat::Json);
    let writer = lines.clone();
    start_with(settings, coloured, move || writer.clone())?;
    std::panic::set_hook(Box::new(|panic| {
        let backtrace = std::backtrace::Backtrace::capture();
        tracing::error!(%backtrace, "{panic}");
    }));
    Ok(())
}

fn start_with<W>(settings: &Settings, coloured: bool, writer: W) -> Result<(), ParseError>
where
    W: for<'a> MakeWriter<'a> + Send + Sync + 'static,
{
    let filter = EnvFilter::builder().parse(&settings.log_level)?;
    let builder = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(coloured)
        // It would be said on standard error, by what panics when that fails too.
        .log_internal_errors(false)
        .with_writer(writer);
    // Somebody else's logging, in tests or in a program that embeds this, is left in place.
    let _ = match settings.log_format {
        LogFormat::Text => builder.try_init(),
        LogFormat::Json => builder
            .json()
            .flatten_event(true)
            .with_span_list(false)
            .try_init(),
    };
    Ok(())
}
