//! Findings of the GraphQL library as errors of ours, with a hint where a name is nearly right.

use apollo_compiler::diagnostic::Diagnostic;
use apollo_compiler::validation::{DiagnosticData, DiagnosticList};
use apollo_compiler::{Schema, ast};

use crate::code;
use crate::error::{ErrorCode, GraphqlError, Location};
use crate::suggestions::{Suggestions, Unknown};

/// Maximum number of findings that one answer lists.
const MAX_FINDINGS: usize = 100;

/// Converts syntax errors of the parser.
pub(crate) fn of_syntax(list: &DiagnosticList) -> Vec<GraphqlError> {
    errors(list, code::GRAPHQL_PARSE_FAILED, |_| None)
}

/// Converts validation errors; unknown names come with a hint at the nearest known one.
pub(crate) fn of_validation(
    list: &DiagnosticList,
    document: &ast::Document,
    schema: &Schema,
) -> Vec<GraphqlError> {
    let unknown = list.iter().take(MAX_FINDINGS);
    let unknown = unknown.filter_map(|finding| Unknown::of(finding.error));
    let suggestions = Suggestions::new(schema, document, unknown);
    let hint = |error: &_| suggestions.get(Unknown::of(error)?);
    errors(list, code::GRAPHQL_VALIDATION_FAILED, hint)
}

/// Converts findings to errors with `code`; a last one says how many were omitted.
fn errors<'s>(
    list: &DiagnosticList,
    code: ErrorCode,
    hint: impl Fn(&DiagnosticData) -> Option<&'s str>,
) -> Vec<GraphqlError> {
    let mut errors: Vec<GraphqlError> = list
        .iter()
        .take(MAX_FINDINGS)
        .map(|finding| error(&finding, code, hint(finding.error)))
        .collect();
    if let Some(omitted) = list.len().checked_sub(MAX_FINDINGS).filter(|n| *n > 0) {
        let message = format!("{omitted} more errors are not listed");
        errors.push(GraphqlError::new(code::ERRORS_OMITTED, message));
    }
    errors
}

fn error(
    finding: &Diagnostic<'_, DiagnosticData>,
    code: ErrorCode,
    hint: Option<&str>,
) -> GraphqlError {
    let mut message = finding
        .error
        .unstable_compat_message()
        .unwrap_or_else(|| finding.error.to_string());
    if let Some(name) = hint {
        message.push_str(&format!(" Did you mean \"{name}\"?"));
    }
    let range = finding.line_column_range();
    let place = range.map(|r| Location {
        line: r.start.line,
        column: r.start.column,
    });
    GraphqlError::new(code, message).at(place)
}
