//! Spans within a process: operations, their planning, and searches.

use tracing::field::Empty;
use tracing::{Level, Span, span};

/// The target of all spans, by which subscribers choose them.
pub const TARGET: &str = "otel::tracing";

/// Characters of a name that a client or a configuration has chosen.
const MAX_NAME: usize = 128;

/// Begins the span of a GraphQL operation, below the span of its request. Without that, there is none.
#[must_use]
pub fn operation(parent: &Span) -> Span {
    if parent.is_disabled() {
        return Span::none();
    }
    span!(
        target: TARGET,
        parent: parent,
        Level::TRACE,
        "GraphQL operation",
        otel.name = Empty,
        graphql.operation.r#type = Empty,
        graphql.operation.name = Empty,
    )
}

/// Names the span of an operation, once it is known. `operation_type` is `query`, `mutation` or `subscription`.
pub fn record_operation(span: &Span, operation_type: &'static str, name: Option<&str>) {
    if span.is_disabled() {
        return;
    }
    span.record("graphql.operation.type", operation_type);
    match name.map(short) {
        None => span.record("otel.name", operation_type),
        Some(name) => {
            span.record("graphql.operation.name", name);
            span.record("otel.name", format!("{operation_type} {name}"))
        }
    };
}

/// Begins the span of planning an operation, below that of the operation. Without that, there is none.
#[must_use]
pub fn plan(parent: &Span) -> Span {
    if parent.is_disabled() {
        return Span::none();
    }
    span!(target: TARGET, parent: parent, Level::TRACE, "plan")
}

/// Begins the span of a search in an engine within the process, below that of the operation. Without that, there is none.
#[must_use]
pub fn search(parent: &Span, system: &'static str, operation: &'static str, index: &str) -> Span {
    if parent.is_disabled() {
        return Span::none();
    }
    let index = short(index);
    span!(
        target: TARGET,
        parent: parent,
        Level::TRACE,
        "search",
        otel.name = format!("{operation} {index}"),
        db.system.name = system,
        db.operation.name = operation,
        db.collection.name = index,
    )
}

/// Returns the beginning of a name.
pub(crate) fn short(name: &str) -> &str {
    match name.char_indices().nth(MAX_NAME) {
        Some((end, _)) => &name[..end],
        None => name,
    }
}
