//! Lines as JSON, as the library formats them: the fields of the event, and those of its innermost span.
//!
//! The library parses the fields of the span for each line. Here they are copied: a line takes less than half of the
//! instructions, its span and its way to the queue included.

use std::fmt::{self, Debug, Write};

use tracing::field::{Field, Visit};
use tracing::{Event, Subscriber};
use tracing_subscriber::fmt::format::{Format, Json, JsonFields, Writer};
use tracing_subscriber::fmt::time::FormatTime;
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormattedFields};
use tracing_subscriber::registry::LookupSpan;

use super::text::LOG_CRATE;
use super::time::Time;

/// Formats events as JSON; the fields of spans are those of [`JsonFields`].
#[derive(Debug)]
pub(super) struct JsonEvents {
    /// For what is rare.
    library: Format<Json>,
}

impl Default for JsonEvents {
    fn default() -> Self {
        let library = Format::default().json().flatten_event(true);
        JsonEvents {
            library: library.with_span_list(false),
        }
    }
}

impl<S> FormatEvent<S, JsonFields> for JsonEvents
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    fn format_event(
        &self,
        context: &FmtContext<'_, S, JsonFields>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        let metadata = event.metadata();
        if metadata.target() == LOG_CRATE {
            return self.library.format_event(context, writer, event);
        }
        writer.write_str(r#"{"timestamp":""#)?;
        Time.format_time(&mut writer)?;
        writer.write_str(r#"","level":""#)?;
        writer.write_str(metadata.level().as_str())?;
        writer.write_char('"')?;
        let mut visitor = JsonVisitor {
            writer: writer.by_ref(),
            result: Ok(()),
        };
        event.record(&mut visitor);
        visitor.result?;
        writer.write_str(r#","target":"#)?;
        write_string(&mut writer, metadata.target())?;
        write_span(context, &mut writer, event)?;
        writer.write_str("}\n")
    }
}

/// Writes the innermost span of an event, with its fields and its name.
fn write_span<S>(
    context: &FmtContext<'_, S, JsonFields>,
    writer: &mut Writer<'_>,
    event: &Event<'_>,
) -> fmt::Result
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    let parent = event.parent().and_then(|id| context.span(id));
    let Some(span) = parent.or_else(|| context.lookup_current()) else {
        return Ok(());
    };
    let extensions = span.extensions();
    let fields = extensions.get::<FormattedFields<JsonFields>>();
    let members = fields.and_then(|fields| fields.strip_suffix('}'));
    let members = members.unwrap_or("{");
    writer.write_str(r#","span":"#)?;
    writer.write_str(members)?;
    if members.len() > 1 {
        writer.write_char(',')?;
    }
    writer.write_str(r#""name":"#)?;
    write_string(writer, span.name())?;
    writer.write_char('}')
}

struct JsonVisitor<'w> {
    writer: Writer<'w>,
    result: fmt::Result,
}

impl JsonVisitor<'_> {
    fn member(&mut self, field: &Field, value: impl FnOnce(&mut Writer<'_>) -> fmt::Result) {
        if self.result.is_ok() {
            self.result =
                write_name(&mut self.writer, field).and_then(|()| value(&mut self.writer));
        }
    }
}

fn write_name(writer: &mut Writer<'_>, field: &Field) -> fmt::Result {
    writer.write_char(',')?;
    write_string(writer, field.name())?;
    writer.write_char(':')
}

impl Visit for JsonVisitor<'_> {
    fn record_bool(&mut self, field: &Field, value: bool) {
        self.member(field, |writer| write!(writer, "{value}"));
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.member(field, |writer| write!(writer, "{value}"));
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.member(field, |writer| write!(writer, "{value}"));
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        // Infinity, and what is no number, are null.
        self.member(field, |writer| {
            write!(writer, "{}", serde_json::Value::from(value))
        });
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.member(field, |writer| write_string(writer, value));
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.member(field, |writer| {
            writer.write_char('"')?;
            write!(Escaped(writer), "{value:?}")?;
            writer.write_char('"')
        });
    }
}

fn write_string(writer: &mut Writer<'_>, text: &str) -> fmt::Result {
    writer.write_char('"')?;
    Escaped(writer).write_str(text)?;
    writer.write_char('"')
}

/// Writes the inside of a JSON string.
struct Escaped<'a, 'w>(&'a mut Writer<'w>);

impl Write for Escaped<'_, '_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let mut rest = text;
        while let Some(at) = rest.bytes().position(is_escaped) {
            let (plain, special) = rest.split_at(at);
            let (special, after) = special.split_at(1);
            self.0.write_str(plain)?;
            self.escape(special)?;
            rest = after;
        }
        self.0.write_str(rest)
    }
}

impl Escaped<'_, '_> {
    /// Writes one ASCII character.
    fn escape(&mut self, character: &str) -> fmt::Result {
        let short = match character {
            "\"" => "\\\"",
            "\\" => "\\\\",
            "\u{8}" => "\\b",
            "\t" => "\\t",
            "\n" => "\\n",
            "\u{c}" => "\\f",
            "\r" => "\\r",
            _ => {
                let code = character.bytes().next().unwrap_or_default();
                return write!(self.0, "\\u{code:04x}");
            }
        };
        self.0.write_str(short)
    }
}

fn is_escaped(byte: u8) -> bool {
    matches!(byte, b'"' | b'\\' | 0..=0x1f)
}
