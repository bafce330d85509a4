//! Operands of clauses.

use serde::{Serialize, Serializer};

/// A value as an index holds it.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A keyword, or text to be analysed.
    Text(String),
    /// An integer of up to 64 bits, or an instant in milliseconds.
    Integer(i64),
    /// An integer above those of [`Value::Integer`].
    Unsigned(u64),
    /// A finite floating-point number.
    Double(f64),
    /// A Boolean.
    Boolean(bool),
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Value::Text(text) => serializer.serialize_str(text),
            Value::Integer(number) => serializer.serialize_i64(*number),
            Value::Unsigned(number) => serializer.serialize_u64(*number),
            Value::Double(number) => serializer.serialize_f64(*number),
            Value::Boolean(value) => serializer.serialize_bool(*value),
        }
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Value::Text(text.to_owned())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Value::Text(text)
    }
}
