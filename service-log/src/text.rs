//! Lines as text without colours, as the library formats them.
//!
//! Formatting is most of what a line costs. The library prepares colours that these lines do not have; without them it takes
//! half of the instructions.

use std::fmt::{self, Debug};

use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::field::{RecordFields, VisitOutput};
use tracing_subscriber::fmt::format::{DefaultVisitor, Format, Writer};
use tracing_subscriber::fmt::time::FormatTime;
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields, FormattedFields};
use tracing_subscriber::registry::LookupSpan;

use super::time::Time;

/// Target of events that come from the `log` crate, which have their real one in a field.
pub(super) const LOG_CRATE: &str = "log";

/// Formats events as text.
#[derive(Debug, Default)]
pub(super) struct TextEvents {
    /// For what is rare.
    library: Format,
}

/// Formats the fields of events and spans as text.
#[derive(Debug)]
pub(super) struct TextFields;

impl<S, N> FormatEvent<S, N> for TextEvents
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(
        &self,
        context: &FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        let metadata = event.metadata();
        if metadata.target() == LOG_CRATE {
            return self.library.format_event(context, writer, event);
        }
        Time.format_time(&mut writer)?;
        writer.write_str(level(*metadata.level()))?;
        write_spans(context, &mut writer)?;
        writer.write_str(metadata.target())?;
        writer.write_str(": ")?;
        context.format_fields(writer.by_ref(), event)?;
        writer.write_char('\n')
    }
}

/// Writes the spans of an event, from the outermost one on, with their fields.
fn write_spans<S, N>(context: &FmtContext<'_, S, N>, writer: &mut Writer<'_>) -> fmt::Result
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    let Some(scope) = context.event_scope() else {
        return Ok(());
    };
    for span in scope.from_root() {
        writer.write_str(span.name())?;
        let extensions = span.extensions();
        let fields = extensions.get::<FormattedFields<N>>();
        if let Some(fields) = fields.filter(|fields| !fields.is_empty()) {
            writer.write_char('{')?;
            writer.write_str(fields)?;
            writer.write_char('}')?;
        }
        writer.write_char(':')?;
    }
    writer.write_char(' ')
}

fn level(level: Level) -> &'static str {
    match level {
        Level::ERROR => " ERROR ",
        Level::WARN => "  WARN ",
        Level::INFO => "  INFO ",
        Level::DEBUG => " DEBUG ",
        Level::TRACE => " TRACE ",
    }
}

impl<'w> FormatFields<'w> for TextFields {
    fn format_fields<R: RecordFields>(&self, writer: Writer<'w>, fields: R) -> fmt::Result {
        let mut visitor = TextVisitor {
            writer,
            is_first: true,
            result: Ok(()),
        };
        fields.record(&mut visitor);
        visitor.result
    }
}

struct TextVisitor<'w> {
    writer: Writer<'w>,
    is_first: bool,
    result: fmt::Result,
}

impl TextVisitor<'_> {
    fn write(&mut self, name: &str, value: &dyn Debug) -> fmt::Result {
        if !self.is_first {
            self.writer.write_char(' ')?;
        }
        self.writer.write_str(name)?;
        write!(self.writer, "={value:?}")
    }

    /// Has the library write a value.
    fn delegate(&mut self, record: impl FnOnce(&mut DefaultVisitor<'_>)) -> fmt::Result {
        let mut visitor = DefaultVisitor::new(self.writer.by_ref(), self.is_first);
        record(&mut visitor);
        visitor.finish()
    }
}

impl Visit for TextVisitor<'_> {
    fn record_error(&mut self, field: &Field, value: &(dyn std::error::Error + 'static)) {
        if self.result.is_ok() {
            self.result = self.delegate(|visitor| visitor.record_error(field, value));
            self.is_first = false;
        }
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        if self.result.is_ok() {
            let name = field.name();
            self.result = match name {
                // Control characters are escaped in it.
                "message" => self.delegate(|visitor| visitor.record_debug(field, value)),
                _ if name.starts_with("log.") => return,
                _ => self.write(name.trim_start_matches("r#"), value),
            };
            self.is_first = false;
        }
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        match field.name() {
            "message" => self.record_debug(field, &format_args!("{value}")),
            // Quotes are all that has to be added.
            _ if is_plain(value) => self.record_debug(field, &format_args!("\"{value}\"")),
            _ => self.record_debug(field, &value),
        }
    }
}

/// Returns whether nothing is escaped in a text between quotes.
fn is_plain(text: &str) -> bool {
    let is_plain = |byte: u8| matches!(byte, b' '..=b'~') && byte != b'"' && byte != b'\\';
    text.bytes().all(is_plain)
}
