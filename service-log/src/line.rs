//! Lines of the log that are not those of events: about lines that are lost, and lines cut short.

use std::borrow::Cow;

use serde_json::{Map, Value, json};
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::time::{FormatTime, SystemTime};

/// Longest line.
pub(super) const LINE_BYTES: usize = 16 << 10;

/// Longest field of a JSON line that is too long.
const FIELD_BYTES: usize = 1 << 10;

/// What a cut text ends with.
const CUT: &str = "…";

/// Returns a line about lines that are lost.
pub(super) fn lost(lines: u64, json: bool) -> Vec<u8> {
    let mut time = String::new();
    // Without a clock there is no time.
    let _ = SystemTime.format_time(&mut Writer::new(&mut time));
    let message = match lines {
        1 => "1 log line was lost".to_owned(),
        n => format!("{n} log lines were lost"),
    };
    let target = module_path!();
    let line = if json {
        let line = json!({
            "timestamp": time,
            "level": "WARN",
            "message": message,
            "lost": lines,
            "target": target,
        });
        format!("{line}\n")
    } else {
        format!("{time}  WARN {target}: {message}\n")
    };
    line.into_bytes()
}

/// Cuts a line that is too long.
pub(super) fn cut(line: &[u8], json: bool) -> Cow<'_, [u8]> {
    if line.len() <= LINE_BYTES {
        return Cow::Borrowed(line);
    }
    if json && let Some(line) = cut_json(line) {
        return Cow::Owned(line);
    }
    let mut text = line.get(..LINE_BYTES).unwrap_or(line).to_vec();
    // Not inside a character.
    while text.last().is_some_and(|byte| !byte.is_ascii()) {
        text.pop();
    }
    text.extend_from_slice(format!("{CUT} ({} bytes)\n", line.len()).as_bytes());
    Cow::Owned(text)
}

/// Cuts the long fields of a line; when that is not enough only the most important ones are kept.
fn cut_json(line: &[u8]) -> Option<Vec<u8>> {
    let fields: Map<String, Value> = serde_json::from_slice(line).ok()?;
    let mut short: Map<String, Value> = fields
        .into_iter()
        .map(|(name, value)| (name, cut_field(value)))
        .collect();
    short.insert("bytes_before_cut".to_owned(), line.len().into());
    let mut text = serde_json::to_vec(&short).ok()?;
    if text.len() > LINE_BYTES {
        let important = [
            "timestamp",
            "level",
            "message",
            "target",
            "bytes_before_cut",
        ];
        short.retain(|name, _| important.contains(&name.as_str()));
        text = serde_json::to_vec(&short).ok()?;
    }
    text.push(b'\n');
    Some(text)
}

fn cut_field(value: Value) -> Value {
    let text = match value {
        Value::String(text) => text,
        Value::Array(_) | Value::Object(_) => value.to_string(),
        value => return value,
    };
    if text.len() <= FIELD_BYTES {
        return Value::String(text);
    }
    let mut short = text;
    let end = (0..=FIELD_BYTES)
        .rev()
        .find(|end| short.is_char_boundary(*end));
    short.truncate(end.unwrap_or_default());
    short.push_str(CUT);
    Value::String(short)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_are_cut_and_json_stays_json() {
        let text = format!("{}é{}\n", "x".repeat(LINE_BYTES - 1), "y".repeat(100));
        let line = cut(text.as_bytes(), false).into_owned();
        let line = String::from_utf8(line).unwrap();
        assert!(
            line.ends_with(&format!("x… ({} bytes)\n", text.len())),
            "{line}"
        );
        let long = json!({"level": "INFO", "query": "é\"".repeat(20_000), "ms": 3});
        let line = cut(format!("{long}\n").as_bytes(), true).into_owned();
        let line: Value = serde_json::from_slice(&line).unwrap();
        assert_eq!((&line["level"], &line["ms"]), (&json!("INFO"), &json!(3)));
        assert!(line["query"].as_str().unwrap().ends_with('…'));
        assert_eq!(cut(b"short\n", true).as_ref(), b"short\n");
    }

    #[test]
    fn lost_lines_are_said_in_the_format_of_the_log() {
        let line: Value = serde_json::from_slice(&lost(2, true)).unwrap();
        assert_eq!(
            (&line["message"], &line["lost"]),
            (&json!("2 log lines were lost"), &json!(2))
        );
        let line = String::from_utf8(lost(1, false)).unwrap();
        assert!(
            line.contains(" WARN ") && line.ends_with("1 log line was lost\n"),
            "{line}"
        );
    }
}
