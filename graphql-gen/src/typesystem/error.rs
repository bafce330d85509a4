//! Why a SOML schema has no GraphQL API.

use std::fmt;

use soml_core::Label;
use soml_core::span::{LineIndex, Position, Span};

/// All reasons why no API can be generated from a schema.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub struct ApiError {
    /// What was found, in the order of the document where that is known.
    pub problems: Vec<Problem>,
}

/// One reason, with the places in the SOML document that cause it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Problem {
    /// What sort of problem it is.
    pub kind: ProblemKind,
    /// What is wrong, as a sentence fragment in lower case.
    pub message: String,
    /// The place to change; `None` where the problem has no single place.
    pub span: Option<Span>,
    /// Further places with what each contributes.
    pub related: Vec<(Span, String)>,
    /// What to do about it.
    pub help: Option<String>,
}

/// A [`Problem`] with its lines and columns.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ApiDiagnostic {
    /// What sort of problem it is.
    pub kind: ProblemKind,
    /// Where it is, in bytes; `None` where the problem has no single place.
    pub span: Option<Span>,
    /// Line and column of the start of [`ApiDiagnostic::span`].
    pub position: Option<Position>,
    /// Line and column of the end of [`ApiDiagnostic::span`].
    pub end: Option<Position>,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub help: Option<String>,
    /// Further places with what each contributes.
    pub labels: Vec<Label>,
}

/// The sorts of [`Problem`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ProblemKind {
    /// Two types of the API would have the same name.
    TypeNameTaken,
    /// Two fields of a type would have the same name.
    FieldNameTaken,
    /// Two root fields would have the same name.
    RootFieldTaken,
    /// A name cannot be a GraphQL name.
    NameInvalid,
    /// A subclass redefines a property in a way that its interface forbids.
    NotCovariant,
    /// A role has row rules, which the service cannot enforce.
    RowRules,
    /// The generated schema is not valid GraphQL; a fault of this crate.
    SchemaInvalid,
}

macro_rules! kinds {
    ($($variant:ident $code:literal $meaning:literal;)*) => {
        impl ProblemKind {
            /// All kinds, in the order of the documentation.
            pub const ALL: &'static [ProblemKind] = &[$(ProblemKind::$variant),*];

            /// Returns the stable code.
            #[must_use]
            pub fn code(self) -> &'static str {
                match self { $(ProblemKind::$variant => $code),* }
            }

            /// Returns one sentence for the documentation.
            #[must_use]
            pub fn meaning(self) -> &'static str {
                match self { $(ProblemKind::$variant => $meaning),* }
            }
        }
    };
}

kinds! {
    TypeNameTaken "API_TYPE_NAME_TAKEN" "Two types of the API would have the same name.";
    FieldNameTaken "API_FIELD_NAME_TAKEN" "A field or an input key would have a name that is already in use.";
    RootFieldTaken "API_ROOT_FIELD_TAKEN" "Two root fields would have the same name.";
    NameInvalid "API_NAME_INVALID" "A name in the document cannot be converted to a GraphQL name.";
    NotCovariant "API_NOT_COVARIANT" "A subclass redefines a property in a way that its interface does not allow.";
    RowRules "API_ROW_RULES" "A role has `filters` or `presets`; they cannot be enforced yet, so a service that enforces roles refuses the schema.";
    SchemaInvalid "API_SCHEMA_INVALID" "The generated schema is not valid; this is a bug in the generator.";
}

impl Problem {
    pub(super) fn new(kind: ProblemKind, message: String, span: Option<Span>) -> Self {
        Problem {
            kind,
            message,
            span,
            related: Vec::new(),
            help: None,
        }
    }

    pub(super) fn related(mut self, span: Span, text: impl Into<String>) -> Self {
        self.related.push((span, text.into()));
        self
    }

    pub(super) fn help(mut self, text: impl Into<String>) -> Self {
        self.help = Some(text.into());
        self
    }
}

impl ApiError {
    /// Returns the problems with their lines and columns in the document, which is `text`.
    #[must_use]
    pub fn diagnostics(&self, text: &str) -> Vec<ApiDiagnostic> {
        let lines = LineIndex::new(text);
        let problems = self.problems.iter();
        problems.map(|problem| problem.locate(&lines)).collect()
    }
}

impl Problem {
    fn locate(&self, lines: &LineIndex<'_>) -> ApiDiagnostic {
        let label = |(span, message): &(Span, String)| Label {
            span: *span,
            position: lines.position(span.start),
            end: lines.position(span.end),
            message: message.clone(),
        };
        ApiDiagnostic {
            kind: self.kind,
            span: self.span,
            position: self.span.map(|span| lines.position(span.start)),
            end: self.span.map(|span| lines.position(span.end)),
            message: self.message.clone(),
            help: self.help.clone(),
            labels: self.related.iter().map(label).collect(),
        }
    }
}

impl fmt::Display for ApiDiagnostic {
    /// Writes `line:column: error[CODE]: message`, then indented lines for labels and help, as
    /// [`soml_core::Diagnostic`] does. Without a place it begins with `error`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(Position { line, column }) = self.position {
            write!(f, "{line}:{column}: ")?;
        }
        write!(f, "error[{}]: {}", self.kind.code(), self.message)?;
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

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.kind.code(), self.message)
    }
}

impl fmt::Display for ApiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the schema has no GraphQL API")?;
        for problem in &self.problems {
            write!(f, "\n  {problem}")?;
        }
        Ok(())
    }
}
