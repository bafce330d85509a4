#![doc = include_str!("../README.md")]

mod background;
mod json;
mod line;
mod queue;
mod text;
mod time;
mod writer;

use std::io;
use std::sync::Arc;

use tracing::Subscriber;
use tracing_subscriber::Registry;
use tracing_subscriber::filter::{EnvFilter, ParseError, Targets};
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::fmt::format::JsonFields;
use tracing_subscriber::layer::{Filter, Layer, SubscriberExt};
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::reload;
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

/// Logs other events from now on.
type SetLevel = dyn Fn(&str) -> Result<(), ParseError> + Send + Sync;

/// Changes which events are logged while the process runs. Cheap to clone.
#[derive(Clone)]
pub struct LevelHandle(Arc<SetLevel>);

impl LevelHandle {
    /// Changes which events are logged; the directives are those of [`LogOptions::level`]. No line is lost by that.
    ///
    /// # Errors
    ///
    /// Fails if a directive is malformed; then nothing changes.
    pub fn set(&self, directives: &str) -> Result<(), ParseError> {
        (self.0)(directives)
    }
}

impl std::fmt::Debug for LevelHandle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LevelHandle").finish_non_exhaustive()
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
    start_with(options, io::stderr, None).map(drop)
}

/// Initialises logging for the process as [`start`] does, by lines that wait for no one. Panics are
/// logged the same way. Returns what changes the level later; nothing where the process has other logging already.
///
/// # Errors
///
/// Fails if the level is malformed.
pub fn start_in_background(
    options: &LogOptions,
    lines: &Background,
) -> Result<Option<LevelHandle>, ParseError> {
    start_beside(options, lines, None)
}

/// Initialises logging as [`start_in_background`] does, beside a layer that takes spans of requests for other purposes.
/// What that takes does not depend on what is logged.
///
/// # Errors
///
/// Fails if the level is malformed.
pub fn start_beside(
    options: &LogOptions,
    lines: &Background,
    spans: Option<SpanLayer>,
) -> Result<Option<LevelHandle>, ParseError> {
    lines.set_json(options.format == LogFormat::Json);
    let handle = start_with(options, lines.clone(), spans)?;
    std::panic::set_hook(Box::new(|panic| {
        let backtrace = std::backtrace::Backtrace::capture();
        tracing::error!(%backtrace, "{panic}");
    }));
    Ok(handle)
}

fn start_with<W>(
    options: &LogOptions,
    writer: W,
    spans: Option<SpanLayer>,
) -> Result<Option<LevelHandle>, ParseError>
where
    W: for<'a> MakeWriter<'a> + Send + Sync + 'static,
{
    // Someone else's logging, in tests or in a program that embeds this, is left in place.
    let (started, handle) = if let Some(spans) = spans {
        let (filter, handle) = changeable_for_lines(&options.level)?;
        let lines = event_lines(options.format, options.coloured, writer);
        let subscriber = tracing_subscriber::registry()
            .with(spans)
            .with(lines.with_filter(filter));
        (subscriber.try_init(), handle)
    } else {
        // One filter for all: what it refuses costs no more than a look at a flag.
        let (filter, handle) = changeable(&options.level)?;
        let subscriber = tracing_subscriber::registry()
            .with(event_lines(options.format, options.coloured, writer))
            .with(filter);
        (subscriber.try_init(), handle)
    };
    Ok(started.is_ok().then_some(handle))
}

/// Returns the layer that filters events, and a handle to change it later.
///
/// # Errors
///
/// Fails if a directive is malformed.
pub fn changeable<S>(directives: &str) -> Result<(DynLayer<S>, LevelHandle), ParseError>
where
    S: Subscriber + for<'a> LookupSpan<'a> + 'static,
{
    let filter = level_filter(&without_spans(directives))?;
    let (layer, reload) = reload::Layer::<DynLayer<S>, S>::new(filter);
    let handle = LevelHandle(Arc::new(move |directives: &str| {
        let filter = level_filter(&without_spans(directives))?;
        // It fails where the subscriber is gone, and then no one logs anything.
        let _ = reload.reload(filter);
        Ok(())
    }));
    Ok((layer.boxed(), handle))
}

/// Returns the same as [`changeable`], for one layer of several.
fn changeable_for_lines<S>(
    directives: &str,
) -> Result<(reload::Layer<LineFilter<S>, S>, LevelHandle), ParseError>
where
    S: Subscriber + for<'a> LookupSpan<'a> + 'static,
{
    let filter = line_filter(&without_spans(directives))?;
    let (filter, reload) = reload::Layer::<LineFilter<S>, S>::new(filter);
    let handle = LevelHandle(Arc::new(move |directives: &str| {
        let filter = line_filter(&without_spans(directives))?;
        let _ = reload.reload(filter);
        Ok(())
    }));
    Ok((filter, handle))
}

/// Returns directives that leave the spans of requests out: they are not for lines, however much is logged.
fn without_spans(directives: &str) -> String {
    format!("{directives},{SPANS}=off")
}

/// The target of the spans of requests, as crates for OpenTelemetry name them.
const SPANS: &str = "otel::tracing";

/// A layer that takes spans, in addition to the one that writes lines.
pub type SpanLayer = DynLayer<Registry>;

/// A filter of lines.
type LineFilter<S> = Box<dyn Filter<S> + Send + Sync>;

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

/// Returns the layer that filters events.
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

/// Returns the filter that says which events are logged, for one layer of several.
fn line_filter<S>(directives: &str) -> Result<LineFilter<S>, ParseError>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    let filter = EnvFilter::builder().parse(directives)?;
    Ok(match targets(&filter) {
        Some(targets) => Box::new(targets),
        None => Box::new(filter),
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
