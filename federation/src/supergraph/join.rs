//! Directives of supergraphs, those of the join specification above all: read and written.

use apollo_compiler::ast::{Argument, Directive, Type, Value};
use apollo_compiler::schema::Component;
use apollo_compiler::{Name, Node, name};

/// Returns a string argument.
pub(crate) fn text<'d>(directive: &'d Directive, name: &str) -> Option<&'d str> {
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

/// The most lists within lists of a type that is read, which is also what schemas are read with.
const LISTS: usize = 500;

/// Reads the text of a type. The parser of the GraphQL library panics on some texts that are none.
pub(super) fn field_type(text: &str) -> Option<Type> {
    nested_type(text, LISTS)
}

fn nested_type(text: &str, lists: usize) -> Option<Type> {
    let (inner, is_non_null) = match text.strip_suffix('!') {
        Some(inner) => (inner, true),
        None => (text, false),
    };
    let ty = match inner.strip_prefix('[') {
        Some(inner) => nested_type(inner.strip_suffix(']')?, lists.checked_sub(1)?)?.list(),
        None => Type::Named(Name::new(inner).ok()?),
    };
    Some(if is_non_null { ty.non_null() } else { ty })
}

/// A directive that is being written.
pub(crate) struct DirectiveBuilder(Directive);

impl DirectiveBuilder {
    /// Begins a directive of a name.
    pub(crate) fn new(name: Name) -> DirectiveBuilder {
        DirectiveBuilder(Directive {
            name,
            arguments: Vec::new(),
        })
    }

    /// Begins `@join__…(graph:)`.
    pub(crate) fn of_graph(name: Name, graph: &Name) -> DirectiveBuilder {
        DirectiveBuilder::new(name).with(name!("graph"), Value::Enum(graph.clone()))
    }

    pub(crate) fn with(mut self, name: Name, value: impl Into<Value>) -> DirectiveBuilder {
        self.0.arguments.push(argument(name, value.into()));
        self
    }

    /// Adds a string argument if there is one.
    pub(crate) fn maybe(self, name: Name, text: Option<&str>) -> DirectiveBuilder {
        match text {
            Some(text) => self.with(name, text),
            None => self,
        }
    }

    /// Adds a Boolean argument that is true, if it is.
    pub(crate) fn flag(self, name: Name, is_set: bool) -> DirectiveBuilder {
        if is_set { self.with(name, true) } else { self }
    }

    /// Begins a `@link` to a URL.
    pub(crate) fn link(url: &str) -> DirectiveBuilder {
        DirectiveBuilder::new(name!("link")).with(name!("url"), url)
    }

    pub(crate) fn node(self) -> Node<Directive> {
        Node::new(self.0)
    }

    pub(crate) fn component(self) -> Component<Directive> {
        Component::new(self.0)
    }
}

/// Makes an argument of a directive.
pub(crate) fn argument(name: Name, value: Value) -> Node<Argument> {
    let value = Node::new(value);
    Node::new(Argument { name, value })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_read_and_what_is_none_is_not() {
        for text in ["Int", "Int!", "[Int]", "[[Int!]!]!"] {
            assert_eq!(field_type(text).unwrap().to_string(), text);
        }
        for text in ["", " ", "!", "[", "[]", "Int!!", "[Int", "Int]", "a b", "7"] {
            assert_eq!(field_type(text), None, "{text}");
        }
    }

    /// The stack of a thread does not hold a call for each bracket of a long text.
    #[test]
    fn a_type_of_too_many_lists_is_none() {
        let lists = |count: usize| format!("{}Int{}", "[".repeat(count), "]".repeat(count));
        assert!(field_type(&lists(LISTS)).is_some());
        for count in [LISTS + 1, 1_000_000] {
            assert_eq!(field_type(&lists(count)), None, "{count}");
        }
    }
}
