//! The directives of the join specification, as they are written.

use apollo_compiler::ast::{Directive, Value};
use apollo_compiler::{Name, Node};

/// Returns a string argument.
pub(super) fn text<'d>(directive: &'d Directive, name: &str) -> Option<&'d str> {
    directive.specified_argument_by_name(name)?.as_str()
}

/// Returns whether a Boolean argument is given and true.
pub(super) fn is_set(directive: &Directive, name: &str) -> bool {
    let value = directive.specified_argument_by_name(name);
    value.and_then(|value| value.to_bool()).unwrap_or(false)
}

/// Returns whether a Boolean argument is given and false.
pub(super) fn is_unset(directive: &Directive, name: &str) -> bool {
    let value = directive.specified_argument_by_name(name);
    value.and_then(|value| value.to_bool()) == Some(false)
}

/// Returns the argument `graph`.
pub(super) fn graph(directive: &Directive) -> Option<&Name> {
    match directive.specified_argument_by_name("graph")?.as_ref() {
        Value::Enum(name) => Some(name),
        _ => None,
    }
}

/// Returns the items of a list argument.
pub(super) fn list<'d>(directive: &'d Directive, name: &str) -> &'d [Node<Value>] {
    let value = directive.specified_argument_by_name(name);
    value.and_then(|value| value.as_list()).unwrap_or_default()
}
