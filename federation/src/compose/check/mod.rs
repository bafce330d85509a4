//! The first phase: what is wrong with one subgraph, whatever the others say.

mod auth;
mod context;
mod cost;
mod interface_objects;
mod selections;
mod sharing;

use apollo_compiler::parser::SourceSpan;

use super::code::CompositionCode;
use super::facts::Facts;
use super::finding::CompositionError;
use super::read::Subgraph;

/// Checks a subgraph by the rules of federation.
///
/// # Errors
/// With everything that is wrong.
pub(super) fn check(subgraph: &Subgraph, facts: &Facts) -> Vec<CompositionError> {
    let mut checked = Checked {
        subgraph,
        facts,
        errors: Vec::new(),
    };
    selections::check(&mut checked);
    sharing::check(&mut checked);
    interface_objects::check(&mut checked);
    auth::check(&mut checked);
    cost::check(&mut checked);
    context::check(&mut checked);
    checked.errors
}

/// A subgraph that is being checked.
struct Checked<'c> {
    subgraph: &'c Subgraph,
    facts: &'c Facts,
    errors: Vec<CompositionError>,
}

impl Checked<'_> {
    fn report(
        &mut self,
        code: CompositionCode,
        coordinate: impl Into<String>,
        span: Option<SourceSpan>,
        message: impl Into<String>,
    ) {
        let error = CompositionError::new(code, message).about(coordinate);
        self.errors.push(error.at(self.subgraph.place(span)));
    }
}
