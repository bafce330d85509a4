//! The third phase: what is wrong with the merged schema.

mod auth;
pub(super) mod defaults;
mod inaccessible;
mod interfaces;

use super::finding::CompositionError;
use super::merge::Merged;
use super::read::Subgraph;

/// Checks a merged schema.
///
/// # Errors
/// With everything that is wrong.
pub(super) fn check(merged: &Merged, subgraphs: &[Subgraph]) -> Result<(), Vec<CompositionError>> {
    let mut errors = Vec::new();
    interfaces::check(merged, subgraphs, &mut errors);
    auth::check(merged, subgraphs, &mut errors);
    // What is inaccessible is judged by types that have all of their fields.
    if errors.is_empty() {
        inaccessible::check(merged, subgraphs, &mut errors);
    }
    if errors.is_empty() {
        Ok(())
    } else {
        Err(errors)
    }
}

/// Returns where a type, or a field of it, is in each subgraph that has it.
fn places(subgraphs: &[Subgraph], ty: &str, field: Option<&str>) -> Vec<super::Place> {
    let found = subgraphs.iter().filter_map(|subgraph| {
        let ty = subgraph.schema.types.get(ty)?;
        let span = match field {
            None => ty.name().location(),
            Some(field) => match super::facts::fields(ty) {
                Some(fields) => fields.get(field)?.name.location(),
                None => ty.name().location(),
            },
        };
        Some(subgraph.place(span))
    });
    found.collect()
}
