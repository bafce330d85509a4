//! Plain YAML values, for keys whose content is not interpreted by this crate.

use std::fmt;

use crate::span::Span;

/// A value as written, with its position.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
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
    /// Returns whether there is nothing.
    #[must_use]
    pub fn is_null(&self) -> bool {
        self.kind == ValueKind::Null
    }

    /// Returns the entries of a mapping.
    #[must_use]
    pub fn entries(&self) -> Option<&[(String, Value)]> {
        match &self.kind {
            ValueKind::Map(entries) => Some(entries),
            ValueKind::Null | ValueKind::Text { .. } | ValueKind::List(_) => None,
        }
    }
}

/// Writes a value on one line, as YAML.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let separator = |at: usize| if at == 0 { "" } else { ", " };
        match &self.kind {
            ValueKind::Null => f.write_str("null"),
            ValueKind::Text { text, quoted: true } => write!(f, "'{}'", text.replace('\'', "''")),
            ValueKind::Text { text, .. } => f.write_str(text),
            ValueKind::List(items) => {
                f.write_str("[")?;
                for (at, item) in items.iter().enumerate() {
                    write!(f, "{}{item}", separator(at))?;
                }
                f.write_str("]")
            }
            ValueKind::Map(entries) => {
                f.write_str("{")?;
                for (at, (key, value)) in entries.iter().enumerate() {
                    write!(f, "{}{key}: {value}", separator(at))?;
                }
                f.write_str("}")
            }
        }
    }
}
