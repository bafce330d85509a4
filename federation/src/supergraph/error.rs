//! Why a supergraph cannot be served.

use apollo_compiler::Schema;
use apollo_compiler::diagnostic::Diagnostic;
use apollo_compiler::parser::SourceSpan;
use apollo_compiler::validation::DiagnosticData;
use graphql_service::{ErrorCode, Location};

/// A problem of a supergraph, and its place.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{message}")]
#[non_exhaustive]
pub struct SupergraphError {
    /// The code, from [`code`](crate::code).
    pub code: ErrorCode,
    /// The problem, in human-readable form.
    pub message: String,
    /// The place in the SDL.
    pub location: Option<Location>,
    /// What helps, if it is known.
    pub help: Option<String>,
}

impl SupergraphError {
    pub(crate) fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        SupergraphError {
            code,
            message: message.into(),
            location: None,
            help: None,
        }
    }

    /// Sets the place of a finding of the GraphQL library.
    pub(crate) fn of(mut self, finding: &Diagnostic<'_, DiagnosticData>) -> Self {
        self.location = finding.line_column_range().map(|range| Location {
            line: range.start.line,
            column: range.start.column,
        });
        self
    }

    pub(crate) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    pub(crate) fn at(mut self, span: Option<SourceSpan>, schema: &Schema) -> Self {
        self.location = Location::of(span, &schema.sources);
        self
    }
}
