//! The guard of `where` in mutations: what selects more objects than its author means is refused
//! (docs/writing.md, "Deleting").
//!
//! A mutation cannot be taken back as a query can. So a condition that every object of its type satisfies is
//! refused in whatever form it comes, and so is one that leaves something out because a variable has no value:
//! in a query, `name: {EQ: $name}` is as if it were not written then.

use apollo_compiler::parser::{SourceMap, SourceSpan};
use apollo_compiler::{Name, Node, ast};
use graphql_service::error::{GraphqlError, Location};

use super::build::Result;
use super::input::Variables;
use crate::code;

/// Checks that every variable in the `where` of a mutation has a value.
pub(super) fn check_variables(
    argument: &ast::Argument,
    variables: &Variables<'_>,
    sources: &SourceMap,
) -> Result<()> {
    let mut path = vec![argument.name.as_str()];
    let Some((variable, place)) = absent(&argument.value, variables, &mut path) else {
        return Ok(());
    };
    let key = path.last().copied().unwrap_or_default();
    let message = format!(
        "`{key}` is given, but its variable `${variable}` has no value: without it, more objects \
         would be selected; give it a value, or leave out `{key}`"
    );
    let error = GraphqlError::new(code::NULL_OPERAND, message).at(Location::of(place, sources));
    Err(error.with("argumentPath", path.join(".")))
}

/// Returns the first variable of a value that has none, with its place; `path` then leads to it.
fn absent<'v>(
    value: &'v Node<ast::Value>,
    variables: &Variables<'_>,
    path: &mut Vec<&'v str>,
) -> Option<(&'v Name, Option<SourceSpan>)> {
    match &**value {
        ast::Value::Variable(name) => (!variables.have(name)).then(|| (name, value.location())),
        ast::Value::List(items) => items.iter().find_map(|item| absent(item, variables, path)),
        ast::Value::Object(members) => members.iter().find_map(|(key, value)| {
            path.push(key.as_str());
            let found = absent(value, variables, path);
            if found.is_none() {
                path.pop();
            }
            found
        }),
        _ => None,
    }
}
