#![doc = include_str!("../README.md")]

mod background;
mod json;
mod line;
mod queue;
mod text;
mod time;
mod writer;

use std::io;

use tracing::Subscriber;
use tracing_subscriber::filter::{EnvFilter, ParseError, Targets};
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::fmt::format::JsonFields;
use tracing_subscriber::layer::{Layer, SubscriberExt};
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::util::SubscriberInitExt;

pub use background::{Background, EventWriter};

/// The format of log lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogFormat {
    /// For people.
    Text,
    /// One JSON object per line.
    Json,
}

/// What is logged, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogOptions {
    /// Which events are logged, as [`EnvFilter`] reads it: `info`, or `warn,object_engine=debug`.
    pub level: String,
    /// The format of the lines.
    pub format: LogFormat,
    /// Whether they have colours, which text alone can have.
    pub coloured: bool,
}

impl Default for LogOptions {
    fn default() -> Self {
        LogOptions {
            level: "info".to_owned(),
            format: LogFormat::Text,
            coloured: false,
        }
    }
}

/// Initialises logging for the process, to standard error. A second call has no effect.
///
/// For commands that end when they have their result. A service uses [`start_in_background`].
///
/// # Errors
///
/// Fails if the level is malformed.
pub fn start(options: &LogOptions) -> Result<(), ParseError> {
    start_with(options, io::stderr)
}

/// Initialises logging for the process as [`start`] does, by lines that wait for nobody. Panics are
/// logged the same way.
///
/// # Errors
///
/// Fails if the level is malformed.
pub fn start_in_background(options: &LogOptions, lines: &Background) -> Result<(), ParseError> {
    lines.set_json(options.format == LogFormat::Json);
    start_with(options, lines.clone())?;
    std::panic::set_hook(Box::new(|panic| {
        let backtrace = std::backtrace::Backtrace::capture();
        tracing::error!(%backtrace, "{panic}");
    }));
    Ok(())
}

fn start_with<W>(options: &LogOptions, writer: W) -> Result<(), ParseError>
where
    W: for<'a> MakeWriter<'a> + Send + Sync + 'static,
{
    let subscriber = tracing_subscriber::registry()
        .with(event_lines(options.format, options.coloured, writer))
        .with(level_filter(&options.level)?);
    // Somebody else's logging, in tests or in a program that embeds this, is left in place.
    let _ = subscriber.try_init();
    Ok(())
}

/// A layer of any kind.
pub type DynLayer<S> = Box<dyn Layer<S> + Send + Sync>;

/// Returns the layer that makes lines of events, as services log them.
pub fn event_lines<S, W>(format: LogFormat, coloured: bool, writer: W) -> DynLayer<S>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    W: for<'a> MakeWriter<'a> + Send + Sync + 'static,
{
    let layer = tracing_subscriber::fmt::layer()
        .with_ansi(coloured)
        // It would be said on standard error, by what panics when that fails too.
        .log_internal_errors(false)
        .with_writer(writer);
    match format {
        LogFormat::Json => layer
            .fmt_fields(JsonFields::new())
            .event_format(json::JsonEvents::default())
            .boxed(),
        LogFormat::Text if coloured => layer.boxed(),
        LogFormat::Text => layer
            .fmt_fields(text::TextFields)
            .event_format(text::TextEvents::default())
            .boxed(),
    }
}

/// Returns whether [`LogOptions::level`] can have this value.
#[must_use]
pub fn are_directives(text: &str) -> bool {
    EnvFilter::builder().parse(text).is_ok()
}

/// Returns the layer that says which events are logged.
///
/// # Errors
///
/// Fails if a directive is malformed.
pub fn level_filter<S>(directives: &str) -> Result<DynLayer<S>, ParseError>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    let filter = EnvFilter::builder().parse(directives)?;
    Ok(match targets(&filter) {
        Some(targets) => targets.boxed(),
        None => filter.boxed(),
    })
}

/// Returns the same filter without the locks that [`EnvFilter`] takes several times for each span, if no directive
/// is about spans.
fn targets(filter: &EnvFilter) -> Option<Targets> {
    let directives = filter.to_string();
    let targets: Targets = directives.parse().ok()?;
    (!directives.contains('[') && targets.to_string() == directives).then_some(targets)
}

#[cfg(test)]
mod tests;
