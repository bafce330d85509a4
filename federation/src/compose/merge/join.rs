//! Writes the directives of the join specification.

use apollo_compiler::ast::{Argument, Directive, Value};
use apollo_compiler::schema::Component;
use apollo_compiler::{Name, Node, name};

/// A directive of the join specification that is being written.
pub(super) struct Join(Directive);

impl Join {
    /// Begins `@join__…`.
    pub(super) fn new(name: Name) -> Join {
        Join(Directive {
            name,
            arguments: Vec::new(),
        })
    }

    /// Begins `@join__…(graph:)`.
    pub(super) fn of(name: Name, graph: &Name) -> Join {
        Join::new(name).with(name!("graph"), Value::Enum(graph.clone()))
    }

    pub(super) fn with(mut self, name: Name, value: impl Into<Value>) -> Join {
        let value = Node::new(value.into());
        self.0.arguments.push(Node::new(Argument { name, value }));
        self
    }

    /// Adds a string argument if there is one.
    pub(super) fn maybe(self, name: Name, text: Option<&str>) -> Join {
        match text {
            Some(text) => self.with(name, text),
            None => self,
        }
    }

    /// Adds a Boolean argument that is true, if it is.
    pub(super) fn flag(self, name: Name, is_set: bool) -> Join {
        match is_set {
            true => self.with(name, true),
            false => self,
        }
    }

    pub(super) fn node(self) -> Node<Directive> {
        Node::new(self.0)
    }

    pub(super) fn component(self) -> Component<Directive> {
        Component::new(self.0)
    }
}
