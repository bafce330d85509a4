//! Plain YAML values, for keys whose content is not interpreted by this crate.

use crate::span::Span;

/// A value as written, with its position.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Value {
    /// The value itself.
    pub kind: ValueKind,
    /// Where it is in the document.
    pub span: Span,
}

/// What a [`Value`] is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ValueKind {
    /// Nothing.
    #[default]
    Null,
    /// Text; numbers and booleans as they were written.
    Text {
        /// The text.
        text: String,
        /// Quoted in the document, so never a number or a boolean.
        quoted: bool,
    },
    /// A list.
    List(Vec<Value>),
    /// A mapping in document order.
    Map(Vec<(String, Value)>),
}

impl Value {
    /// Tells whether there is nothing.
    #[must_use]
    pub fn is_null(&self) -> bool {
        self.kind == ValueKind::Null
    }
}
