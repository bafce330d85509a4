//! Answers in one form, whoever has given them.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

/// What an answer says.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Said {
    pub(crate) data: Value,
    /// The code, the message and the response path of each error.
    pub(crate) errors: BTreeSet<[String; 3]>,
}

impl Said {
    /// Reads an answer. A service leaves out what may not be read, and the gateway answers null for it, as a
    /// schema says nothing of roles: a field that is left out equals null. Errors that a subgraph has given
    /// have their code within the one of the gateway.
    pub(crate) fn of(answer: &Value) -> Said {
        let errors = answer["errors"].as_array();
        let errors = errors.into_iter().flatten().map(|error| {
            let extensions = &error["extensions"];
            let own = &extensions["subgraph"]["code"];
            let code = own.as_str().or(extensions["code"].as_str());
            [
                code.unwrap_or("none").to_owned(),
                error["message"].as_str().unwrap().to_owned(),
                error["path"].to_string(),
            ]
        });
        Said {
            errors: errors.collect(),
            data: without_nulls(&answer["data"]),
        }
    }

    /// Returns the codes of the errors.
    pub(crate) fn codes(&self) -> BTreeSet<&str> {
        self.errors.iter().map(|[code, ..]| code.as_str()).collect()
    }
}

/// Leaves out what is null, and objects in which nothing else is left.
fn without_nulls(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let fields = fields
                .iter()
                .map(|(name, value)| (name.clone(), without_nulls(value)))
                .filter(|(_, value)| !value.is_null());
            let fields: Map<_, _> = fields.collect();
            if fields.is_empty() {
                Value::Null
            } else {
                Value::Object(fields)
            }
        }
        Value::Array(values) => values.iter().map(without_nulls).collect(),
        other => other.clone(),
    }
}
