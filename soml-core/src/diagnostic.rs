//! Diagnostics of a document, as data. Rendering them is left to the caller.

use std::collections::HashSet;
use std::fmt;

use serde::ser::{Serialize, SerializeStruct, Serializer};

use crate::codes::Code;
pub use crate::codes::Severity;
use crate::span::{LineIndex, Position, Span};

/// An error or a warning about a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Stable code; see [`crate::codes::CODES`].
    pub code: Code,
    /// The severity, which follows from the code.
    pub severity: Severity,
    /// Where it is, in bytes.
    pub span: Span,
    /// Line and column of the start of [`Diagnostic::span`].
    pub position: Position,
    /// Line and column of the end of [`Diagnostic::span`].
    pub end: Position,
    /// What is wrong, as a lower-case fragment.
    pub message: String,
    /// How to fix it, if that is known.
    pub help: Option<String>,
    /// Related positions.
    pub labels: Vec<Label>,
}

/// A related position of a [`Diagnostic`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// Where it is, in bytes.
    pub span: Span,
    /// Line and column of its start.
    pub position: Position,
    /// Line and column of its end.
    pub end: Position,
    /// What is there.
    pub message: String,
}

impl fmt::Display for Diagnostic {
    /// Writes `line:column: severity[CODE]: message`, then indented lines for help and labels.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Position { line, column } = self.position;
        write!(
            f,
            "{line}:{column}: {}[{}]: {}",
            self.severity, self.code, self.message
        )?;
        for label in &self.labels {
            let Position { line, column } = label.position;
            write!(f, "\n  {line}:{column}: {}", label.message)?;
        }
        if let Some(help) = &self.help {
            write!(f, "\n  help: {help}")?;
        }
        Ok(())
    }
}

impl Serialize for Diagnostic {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut out = serializer.serialize_struct("Diagnostic", 9)?;
        out.serialize_field("code", self.code.as_str())?;
        out.serialize_field("severity", self.severity.as_str())?;
        out.serialize_field("line", &self.position.line)?;
        out.serialize_field("column", &self.position.column)?;
        out.serialize_field("endLine", &self.end.line)?;
        out.serialize_field("endColumn", &self.end.column)?;
        out.serialize_field("message", &self.message)?;
        out.serialize_field("help", &self.help)?;
        out.serialize_field("related", &self.labels)?;
        out.end()
    }
}

impl Serialize for Label {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut out = serializer.serialize_struct("Label", 5)?;
        out.serialize_field("line", &self.position.line)?;
        out.serialize_field("column", &self.position.column)?;
        out.serialize_field("endLine", &self.end.line)?;
        out.serialize_field("endColumn", &self.end.column)?;
        out.serialize_field("message", &self.message)?;
        out.end()
    }
}

/// Collects findings while a document is read.
///
/// Each code is reported once per place, and no more than a bounded number of errors and of
/// warnings is kept, so that a hostile document cannot make the report itself large.
#[derive(Debug)]
pub(crate) struct Findings {
    list: Vec<Finding>,
    seen: HashSet<(Code, Span)>,
    /// Takes what is said about findings that are not kept.
    discarded: Finding,
    limit: usize,
    errors: usize,
    warnings: usize,
    suppressed: usize,
}

/// A finding whose line and column are not computed yet.
#[derive(Clone, Debug)]
pub(crate) struct Finding {
    code: Code,
    span: Span,
    message: String,
    help: Option<String>,
    labels: Vec<(Span, String)>,
    /// Part of the report, and not one too many.
    kept: bool,
}

impl Finding {
    fn new(code: Code, span: Span, message: String) -> Finding {
        Finding {
            code,
            span,
            message,
            help: None,
            labels: Vec::new(),
            kept: true,
        }
    }

    /// Sets what to do about it.
    pub(crate) fn help(&mut self, help: impl Into<String>) -> &mut Finding {
        self.help = Some(help.into());
        self
    }

    /// Sets what to do about it when that can be found out. Not asked for findings that are not kept.
    pub(crate) fn help_with(&mut self, find: impl FnOnce() -> Option<String>) -> &mut Finding {
        if self.kept
            && let Some(help) = find()
        {
            self.help = Some(help);
        }
        self
    }

    /// Adds another place.
    pub(crate) fn label(&mut self, span: Span, message: impl Into<String>) -> &mut Finding {
        self.labels.push((span, message.into()));
        self
    }
}

impl Findings {
    /// Creates a collection that keeps at most `limit` errors and as many warnings.
    pub(crate) fn new(limit: usize) -> Findings {
        Findings {
            list: Vec::new(),
            seen: HashSet::new(),
            discarded: Finding::new(Code::YamlSyntax, Span::default(), String::new()),
            limit,
            errors: 0,
            warnings: 0,
            suppressed: 0,
        }
    }

    /// Reports a finding; what it is called and how bad it is comes from the table of codes.
    pub(crate) fn add(
        &mut self,
        code: Code,
        span: Span,
        message: impl Into<String>,
    ) -> &mut Finding {
        if self.seen.contains(&(code, span)) {
            return self.discard();
        }
        let count = match code.severity() {
            Severity::Error => &mut self.errors,
            Severity::Warning => &mut self.warnings,
        };
        *count += 1;
        if *count > self.limit {
            self.suppressed += 1;
            return self.discard();
        }
        self.seen.insert((code, span));
        self.list.push(Finding::new(code, span, message.into()));
        self.list.last_mut().expect("a finding was just pushed")
    }

    fn discard(&mut self) -> &mut Finding {
        self.discarded.labels.clear();
        self.discarded.kept = false;
        &mut self.discarded
    }

    /// Tells whether the document cannot be used.
    pub(crate) fn has_errors(&self) -> bool {
        self.errors > 0
    }

    /// Returns the findings in the order of the document, and how many were left out.
    pub(crate) fn finish(self, lines: &LineIndex<'_>) -> (Vec<Diagnostic>, usize) {
        let mut list: Vec<_> = self.list.into_iter().map(|f| locate(f, lines)).collect();
        list.sort_by_key(|d| (d.span.start, d.severity));
        (list, self.suppressed)
    }
}

fn locate(finding: Finding, lines: &LineIndex<'_>) -> Diagnostic {
    let label = |(span, message): (Span, String)| Label {
        span,
        position: lines.position(span.start),
        end: lines.position(span.end),
        message,
    };
    Diagnostic {
        code: finding.code,
        severity: finding.code.severity(),
        span: finding.span,
        position: lines.position(finding.span.start),
        end: lines.position(finding.span.end),
        message: finding.message,
        help: finding.help,
        labels: finding.labels.into_iter().map(label).collect(),
    }
}

/// Cuts a text that is quoted in a message.
pub(crate) fn shorten(text: &str) -> String {
    const SHOWN: usize = 60;
    match text.char_indices().nth(SHOWN) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}
