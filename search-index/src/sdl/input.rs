//! Argument values with variables substituted.

use apollo_compiler::ast;
use apollo_compiler::response::JsonValue;
use graphql_service::{ExactValue, Prepared};

/// An argument value without variables. Numbers are as written, so that no digit is lost.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Input {
    Null,
    Boolean(bool),
    Number(String),
    Text(String),
    List(Vec<Input>),
    /// Members that are given; null ones are not.
    Object(Vec<(String, Input)>),
}

impl Input {
    /// Substitutes the variables; `None` for a variable without a value, which counts as absent.
    pub(super) fn new(value: &ast::Value, variables: &Prepared) -> Option<Input> {
        Some(match value {
            ast::Value::Null => Input::Null,
            ast::Value::Boolean(value) => Input::Boolean(*value),
            ast::Value::Int(number) => Input::Number(number.as_str().to_owned()),
            ast::Value::Float(number) => Input::Number(number.as_str().to_owned()),
            ast::Value::String(text) => Input::Text(text.clone()),
            ast::Value::Enum(name) => Input::Text(name.to_string()),
            ast::Value::Variable(name) => Input::of_json(variables.variable(name.as_str())?),
            ast::Value::List(items) => {
                let items = items.iter().map(|item| Input::new(item, variables));
                Input::List(items.map(|item| item.unwrap_or(Input::Null)).collect())
            }
            ast::Value::Object(members) => {
                let members = members.iter().filter_map(|(name, value)| {
                    Some((name.to_string(), Input::new(value, variables)?))
                });
                Input::object(members)
            }
        })
    }

    fn of_json(exact: ExactValue<'_>) -> Input {
        match exact.value() {
            JsonValue::Null => Input::Null,
            JsonValue::Bool(value) => Input::Boolean(*value),
            JsonValue::Number(_) => Input::Number(exact.number().unwrap_or_default().into_owned()),
            JsonValue::String(text) => Input::Text(text.as_str().to_owned()),
            JsonValue::Array(_) => {
                let items = exact.items().into_iter().flatten();
                Input::List(items.map(Input::of_json).collect())
            }
            JsonValue::Object(_) => {
                let members = exact.members().into_iter().flatten();
                Input::object(members.map(|(key, value)| (key.to_owned(), Input::of_json(value))))
            }
        }
    }

    fn object(members: impl Iterator<Item = (String, Input)>) -> Input {
        Input::Object(members.filter(|(_, value)| *value != Input::Null).collect())
    }

    /// Returns a member of an object.
    pub(super) fn get(&self, name: &str) -> Option<&Input> {
        let (_, value) = self.members().iter().find(|(key, _)| key == name)?;
        Some(value)
    }

    /// Returns the members of an object.
    pub(super) fn members(&self) -> &[(String, Input)] {
        match self {
            Input::Object(members) => members,
            _ => &[],
        }
    }

    /// Returns the elements of a list; a single value is a list of one
    /// (<https://spec.graphql.org/September2025/#sec-List.Input-Coercion>).
    pub(super) fn items(&self) -> &[Input] {
        match self {
            Input::List(items) => items,
            single => std::slice::from_ref(single),
        }
    }

    /// Returns the text of a string, an enum value, a number or a Boolean.
    pub(super) fn text(&self) -> Option<&str> {
        match self {
            Input::Text(text) | Input::Number(text) => Some(text),
            Input::Boolean(true) => Some("true"),
            Input::Boolean(false) => Some("false"),
            Input::Null | Input::List(_) | Input::Object(_) => None,
        }
    }
}
