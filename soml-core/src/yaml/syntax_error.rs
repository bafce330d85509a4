//! What the YAML parser could not read, and what probably happened.

use granit_parser::{ErrorKind, ScanError, Span as Place};

use crate::codes::Code;
use crate::diagnostic::Findings;
use crate::span::Span;

/// Where the parser stood when it stopped.
pub(super) struct Context<'t> {
    pub(super) text: &'t str,
    /// The scalar that was read just before, and whether it is a plain one.
    pub(super) last: Option<(Place, bool)>,
    /// The bracket or brace that is open.
    pub(super) bracket: Option<Span>,
}

/// Reports where the parser stopped.
pub(super) fn report(error: &ScanError, context: &Context<'_>, findings: &mut Findings) {
    let text = context.text;
    let start = error
        .marker()
        .byte_offset()
        .unwrap_or(text.len())
        .min(text.len());
    let next = text.get(start..).and_then(|rest| rest.chars().next());
    let width = next.filter(|c| !c.is_control()).map_or(0, char::len_utf8);
    let span = Span::new(start, start + width);
    if let Some(what) = limit(error.kind()) {
        findings.add(Code::LimitExceeded, span, what);
        return;
    }
    let (message, help) = explain(error, context);
    let finding = findings.add(Code::YamlSyntax, span, message);
    finding.help_with(|| help.text);
    if let Some((span, label)) = help.label {
        finding.label(span, label);
    }
}

#[derive(Default)]
struct Help {
    text: Option<String>,
    label: Option<(Span, String)>,
}

impl From<String> for Help {
    fn from(text: String) -> Help {
        Help {
            text: Some(text),
            label: None,
        }
    }
}

impl From<&str> for Help {
    fn from(text: &str) -> Help {
        text.to_owned().into()
    }
}

fn limit(kind: &ErrorKind) -> Option<&'static str> {
    match kind {
        ErrorKind::RecursionLimitExceeded => Some("the document is nested too deeply"),
        _ => None,
    }
}

fn explain(error: &ScanError, context: &Context<'_>) -> (String, Help) {
    let text = context.text;
    let line = error.marker().line();
    match error.kind() {
        ErrorKind::MappingValueNotAllowed => {
            ("unexpected `:`".to_owned(), misplaced_colon(context))
        }
        ErrorKind::SimpleKeyExpected => {
            let key = line_text(text, error.marker().byte_offset().unwrap_or(0)).trim();
            let help = if key.is_empty() || key.contains(':') {
                Help::default()
            } else {
                missing_colon(line, key)
            };
            ("a key without a `:`".to_owned(), help)
        }
        ErrorKind::TabInPlainScalar
        | ErrorKind::TabNotAllowed
        | ErrorKind::TabInBlockIndentation => {
            ("unexpected tab".to_owned(), "indent with spaces".into())
        }
        ErrorKind::ExpectedBlockMappingKey => (
            "expected a key".to_owned(),
            "this line must be indented exactly like the other keys of its mapping".into(),
        ),
        ErrorKind::UnexpectedCharacter { character } => (
            format!("a plain string cannot begin with `{character}`"),
            "quote the string".into(),
        ),
        ErrorKind::InvalidColonPlacement
        | ErrorKind::ExpectedFlowSequenceSeparator
        | ErrorKind::ExpectedFlowMappingSeparator => (
            error.info(),
            Help {
                text: Some("add the closing bracket or brace, or a comma between items".to_owned()),
                label: context.bracket.map(|span| (span, "opened here".to_owned())),
            },
        ),
        ErrorKind::InvalidQuotedScalarIndent => (
            error.info(),
            "a quote before this position may not be closed".into(),
        ),
        _ => (error.info(), Help::default()),
    }
}

/// A colon after a plain text that runs over several lines: the line on which that text began is
/// either a key without its colon, or a value followed by a line that is indented too far.
fn misplaced_colon(context: &Context<'_>) -> Help {
    let text = context.text;
    let Some((place, true)) = &context.last else {
        return Help::default();
    };
    let Some(range) = place.byte_range() else {
        return Help::default();
    };
    let Some(written) = text.get(range.clone()) else {
        return Help::default();
    };
    if place.end.line() == place.start.line() {
        return "put the key and its value on a new line, or quote a string that contains `: `"
            .into();
    }
    let first = written.lines().next().unwrap_or_default().trim_end();
    let before = line_before(text, range.start).trim_start_matches(['-', ' ']);
    let line = place.start.line();
    let mut help = if before.is_empty() {
        missing_colon(line, first)
    } else {
        let line = place.end.line();
        format!("line {line} is indented further than its neighbours, so it continues the value above it")
            .into()
    };
    let span = Span::new(range.start, range.start + first.len());
    help.label = Some((span, "the string begins here".to_owned()));
    help
}

fn missing_colon(line: usize, key: &str) -> Help {
    format!("line {line} lacks its colon: write `{key}:`").into()
}

/// Returns the line around a byte offset.
fn line_text(text: &str, at: usize) -> &str {
    let start = at.saturating_sub(line_before(text, at).len());
    text.get(start..)
        .and_then(|rest| rest.lines().next())
        .unwrap_or_default()
}

/// Returns what stands on the line before a byte offset.
fn line_before(text: &str, at: usize) -> &str {
    let before = text.get(..at).unwrap_or_default();
    before.rsplit(['\n', '\r']).next().unwrap_or_default()
}
