//! Log lines on standard error, as text or as JSON.

use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::ParseError;

use crate::config::{LogFormat, Settings};

/// Initialises logging for the process, with colours if `coloured`. A second call has no effect.
///
/// # Errors
///
/// Fails if `logging.level` is malformed.
pub fn start(settings: &Settings, coloured: bool) -> Result<(), ParseError> {
    let filter = EnvFilter::builder().parse(&settings.log_level)?;
    let builder = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(coloured)
        .with_writer(std::io::stderr);
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
