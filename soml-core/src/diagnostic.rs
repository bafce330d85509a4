//! What tools find out about a document, as data. Rendering it is left to the caller.
//!
//! A [`Finding`] knows its places as spans. With the text available it becomes a [`Diagnostic`], which has lines and columns,
//! too.

use std::collections::HashSet;
use std::fmt;

use serde::ser::{Serialize, SerializeStruct, Serializer};

use crate::codes::Code;
pub use crate::codes::Severity;
use crate::span::{LineIndex, Position, Span};

/// An error or a warning about a document, whichever tool found it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Diagnostic {
    /// Stable code; those of this crate are in [`crate::codes::CODES`].
    pub code: &'static str,
    /// How bad it is.
    pub severity: Severity,
    /// Where it is; `None` if it has no single place.
    pub place: Option<Place>,
    /// The problem, as a lower-case fragment.
    pub message: String,
    /// How to fix it, if that is known.
    pub help: Option<String>,
    /// Related places.
    pub labels: Vec<Label>,
}

/// A place in a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct Place {
    /// Where it is, in bytes.
    pub span: Span,
    /// Line and column of its start.
    pub start: Position,
    /// Line and column of its end.
    pub end: Position,
}

/// A related place of a [`Diagnostic`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Label {
    /// Where it is.
    pub place: Place,
    /// Description of the place.
    pub message: String,
}

/// An error or a warning about a document, of which lines and columns are not known yet.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// Stable code.
    pub code: &'static str,
    /// How bad it is.
    pub severity: Severity,
    /// Where it is; `None` if it has no single place.
    pub span: Option<Span>,
    /// The problem, as a lower-case fragment.
    pub message: String,
    /// How to fix it, if that is known.
    pub help: Option<String>,
    /// Related places, and what is there.
    pub labels: Vec<(Span, String)>,
}

impl Finding {
    /// Creates a finding without help and related places.
    #[must_use]
    pub fn new(
        code: &'static str,
        severity: Severity,
        span: Option<Span>,
        message: impl Into<String>,
    ) -> Self {
        Finding {
            code,
            severity,
            span,
            message: message.into(),
            help: None,
            labels: Vec::new(),
        }
    }

    /// Sets how to fix it.
    #[must_use]
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Adds a related place.
    #[must_use]
    pub fn with_label(mut self, span: Span, message: impl Into<String>) -> Self {
        self.labels.push((span, message.into()));
        self
    }

    /// Returns whether the document cannot be used because of it.
    #[must_use]
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }

    /// Finds lines and columns.
    #[must_use]
    pub fn locate(self, lines: &LineIndex<'_>) -> Diagnostic {
        let label = |(span, message)| Label {
            place: Place::new(span, lines),
            message,
        };
        Diagnostic {
            code: self.code,
            severity: self.severity,
            place: self.span.map(|span| Place::new(span, lines)),
            message: self.message,
            help: self.help,
            labels: self.labels.into_iter().map(label).collect(),
        }
    }
}

impl Place {
    fn new(span: Span, lines: &LineIndex<'_>) -> Self {
        Place {
            span,
            start: lines.position(span.start),
            end: lines.position(span.end),
        }
    }

    fn serialize<S: SerializeStruct>(&self, out: &mut S) -> Result<(), S::Error> {
        out.serialize_field("line", &self.start.line)?;
        out.serialize_field("column", &self.start.column)?;
        out.serialize_field("endLine", &self.end.line)?;
        out.serialize_field("endColumn", &self.end.column)
    }
}

impl fmt::Display for Finding {
    /// Writes `severity[CODE]: message`, then the help on a line of its own.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}[{}]: {}", self.severity, self.code, self.message)?;
        match &self.help {
            Some(help) => write!(f, "\n  help: {help}"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for Diagnostic {
    /// Writes `line:column: severity[CODE]: message`, then indented lines for labels and help. Without a place it
    /// begins with the severity.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(place) = &self.place {
            let Position { line, column } = place.start;
            write!(f, "{line}:{column}: ")?;
        }
        write!(f, "{}[{}]: {}", self.severity, self.code, self.message)?;
        for label in &self.labels {
            let Position { line, column } = label.place.start;
            write!(f, "\n  {line}:{column}: {}", label.message)?;
        }
        if let Some(help) = &self.help {
            write!(f, "\n  help: {help}")?;
        }
        Ok(())
    }
}

impl Serialize for Diagnostic {
    /// Members of the place are left out where there is none.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let fields = if self.place.is_some() { 9 } else { 5 };
        let mut out = serializer.serialize_struct("Diagnostic", fields)?;
        out.serialize_field("code", self.code)?;
        out.serialize_field("severity", self.severity.as_str())?;
        if let Some(place) = &self.place {
            place.serialize(&mut out)?;
        }
        out.serialize_field("message", &self.message)?;
        out.serialize_field("help", &self.help)?;
        out.serialize_field("related", &self.labels)?;
        out.end()
    }
}

impl Serialize for Label {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut out = serializer.serialize_struct("Label", 5)?;
        self.place.serialize(&mut out)?;
        out.serialize_field("message", &self.message)?;
        out.end()
    }
}

/// Collects findings while a document is read.
///
/// Each code is reported once per place, and at most a bounded number of errors and of warnings is
/// kept, so that a hostile document cannot make the report itself large. Errors beyond the bound
/// count, too: the document cannot be used, even if the bound is 0.
#[derive(Debug)]
pub(crate) struct Findings {
    list: Vec<Found>,
    /// Code and place of each finding in the list; those that are not kept are not remembered either.
    seen: HashSet<(Code, Span)>,
    /// Takes the help and the labels of findings that are not kept; its own code means nothing.
    discarded: Found,
    limit: usize,
    errors: usize,
    warnings: usize,
    suppressed: usize,
}

/// A finding of a document that is being read.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    finding: Finding,
    /// The report includes it; it is neither repeated nor beyond the bound.
    kept: bool,
}

impl Found {
    fn new(code: Code, span: Span, message: String) -> Self {
        Found {
            finding: Finding::new(code.as_str(), code.severity(), Some(span), message),
            kept: true,
        }
    }

    /// Sets what to do about it.
    pub(crate) fn help(&mut self, help: impl Into<String>) -> &mut Self {
        self.finding.help = Some(help.into());
        self
    }

    /// Sets what to do about it when that can be found out. Not asked for findings that are not kept.
    pub(crate) fn help_with(&mut self, find: impl FnOnce() -> Option<String>) -> &mut Self {
        if self.kept
            && let Some(help) = find()
        {
            self.finding.help = Some(help);
        }
        self
    }

    /// Adds another place.
    pub(crate) fn label(&mut self, span: Span, message: impl Into<String>) -> &mut Self {
        self.finding.labels.push((span, message.into()));
        self
    }
}

impl Findings {
    /// Creates a collection that keeps at most `limit` errors and as many warnings.
    pub(crate) fn new(limit: usize) -> Findings {
        Findings {
            list: Vec::new(),
            seen: HashSet::new(),
            discarded: Found::new(Code::YamlSyntax, Span::default(), String::new()),
            limit,
            errors: 0,
            warnings: 0,
            suppressed: 0,
        }
    }

    /// Reports a finding; the table of codes has its severity.
    pub(crate) fn add(&mut self, code: Code, span: Span, message: impl Into<String>) -> &mut Found {
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
        self.list.push(Found::new(code, span, message.into()));
        self.list.last_mut().expect("a finding was just pushed")
    }

    fn discard(&mut self) -> &mut Found {
        self.discarded.finding.labels.clear();
        self.discarded.kept = false;
        &mut self.discarded
    }

    /// Returns whether the document cannot be used.
    pub(crate) fn has_errors(&self) -> bool {
        self.errors > 0
    }

    /// Returns the findings in the order of the document, and how many were left out.
    pub(crate) fn finish(self, lines: &LineIndex<'_>) -> (Vec<Diagnostic>, usize) {
        let located = self.list.into_iter().map(|it| it.finding.locate(lines));
        let mut list: Vec<_> = located.collect();
        list.sort_by_key(|it| (it.place.map(|place| place.span.start), it.severity));
        (list, self.suppressed)
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
