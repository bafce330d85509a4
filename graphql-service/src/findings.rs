//! Findings of the GraphQL library as errors of ours, with a hint where a name is nearly right.

use apollo_compiler::diagnostic::Diagnostic;
use apollo_compiler::validation::{DiagnosticData, DiagnosticList};
use apollo_compiler::{Schema, ast};
use call_context::ErrorCode;

use crate::code;
use crate::error::{GraphqlError, Location};
use crate::suggestions::{MeantFields, Suggestions, Unknown};

/// Maximum number of findings that one answer lists.
const MAX_FINDINGS: usize = 100;

/// How messages end that speak of the end of the document.
const AT_THE_END: &str = "got EOF";

/// Converts syntax errors of the parser.
pub(crate) fn of_syntax(list: &DiagnosticList) -> Vec<GraphqlError> {
    let mut errors = errors(list, code::GRAPHQL_PARSE_FAILED, |_| None);
    // Whatever is open at the end of a document, the document is cut off once.
    let end = errors
        .iter()
        .find(|error| error.message.ends_with(AT_THE_END));
    if let Some(end) = end.map(|error| error.locations.clone()) {
        let mut is_said = false;
        errors.retain(|error| error.locations != end || !std::mem::replace(&mut is_said, true));
    }
    errors
}

/// Converts validation errors; unknown names come with a hint at the nearest known one.
pub(crate) fn of_validation(
    list: &DiagnosticList,
    document: &ast::Document,
    schema: &Schema,
    meant: &MeantFields,
) -> Vec<GraphqlError> {
    let unknown = list
        .iter()
        .take(MAX_FINDINGS)
        .filter_map(|finding| Unknown::of(finding.error));
    let suggestions = Suggestions::new(schema, document, meant, unknown);
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
    if let Some(meant) = hint {
        message.push_str(&format!(" Did you mean {meant}?"));
    }
    let range = finding.line_column_range();
    let place = range.map(|r| Location {
        line: r.start.line,
        column: r.start.column,
    });
    GraphqlError::new(code, message).at(place)
}
