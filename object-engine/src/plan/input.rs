//! Argument values with variables substituted.

use std::cell::Cell;

use apollo_compiler::response::JsonValue;
use apollo_compiler::{Node, ast};
use graphql_service::ExactValue;
use graphql_service::document::Prepared;
use graphql_service::error::{GraphqlError, Location};
use serde_json::Value as Json;
use soml_core::lang::LangSpec;

use crate::code;
use crate::limits::EngineLimits;

/// The variables of a request. They notice whether planning reads any.
pub(crate) struct Variables<'a> {
    prepared: &'a Prepared,
    are_read: Cell<bool>,
}

impl<'a> Variables<'a> {
    pub(crate) fn new(prepared: &'a Prepared) -> Self {
        Variables {
            prepared,
            are_read: Cell::new(false),
        }
    }

    fn get(&self, name: &str) -> Option<ExactValue<'a>> {
        self.are_read.set(true);
        self.prepared.variable(name)
    }

    /// Returns whether a variable has a value, be it null.
    pub(crate) fn have(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// Returns whether a variable was read, other than [`apart`](Self::apart).
    pub(crate) fn are_read(&self) -> bool {
        self.are_read.get()
    }

    /// Does something apart from the rest, and tells whether it reads a variable.
    pub(crate) fn apart<T>(&self, act: impl FnOnce() -> T) -> (T, bool) {
        let before = self.are_read.replace(false);
        let done = act();
        (done, self.are_read.replace(before))
    }
}

/// An argument value without variables. Object keys keep the order in which they were written.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Input {
    Null,
    Boolean(bool),
    /// An `Int` or `Float` as written.
    Number(String),
    String(String),
    Enum(String),
    List(Vec<Input>),
    Object(Vec<(String, Input)>),
    /// In a condition of a role alone: the claim of the sender at this path.
    Claim(String),
}

impl Input {
    /// Returns the value of a claim, or one of its values; `None` where it has another form.
    pub(crate) fn of_claim(claim: &Json) -> Option<Input> {
        match claim {
            Json::String(text) => Some(Input::String(text.clone())),
            Json::Number(number) => Some(Input::Number(number.to_string())),
            Json::Bool(value) => Some(Input::Boolean(*value)),
            Json::Null | Json::Array(_) | Json::Object(_) => None,
        }
    }

    /// Substitutes the variables; `None` for a variable without a value, which counts as absent
    /// (<https://spec.graphql.org/September2025/#sec-Input-Objects.Input-Coercion>). Defaults of
    /// arguments and of input fields are not filled in: whatever reads them knows its own.
    pub(crate) fn from_ast(value: &ast::Value, variables: &Variables<'_>) -> Option<Input> {
        Some(match value {
            ast::Value::Null => Input::Null,
            ast::Value::Boolean(b) => Input::Boolean(*b),
            ast::Value::Int(n) => Input::Number(n.as_str().to_owned()),
            ast::Value::Float(n) => Input::Number(n.as_str().to_owned()),
            ast::Value::String(s) => Input::String(s.clone()),
            ast::Value::Enum(name) => Input::Enum(name.to_string()),
            ast::Value::Variable(name) => Input::from_json(variables.get(name.as_str())?),
            ast::Value::List(items) => Input::List(
                // An absent variable inside a list is null, as the GraphQL specification requires.
                items
                    .iter()
                    .map(|item| Input::from_ast(item, variables).unwrap_or(Input::Null))
                    .collect(),
            ),
            ast::Value::Object(fields) => Input::Object(
                fields
                    .iter()
                    .filter_map(|(name, value)| {
                        Some((name.to_string(), Input::from_ast(value, variables)?))
                    })
                    .collect(),
            ),
        })
    }

    fn from_json(exact: ExactValue<'_>) -> Input {
        match exact.value() {
            JsonValue::Null => Input::Null,
            JsonValue::Bool(b) => Input::Boolean(*b),
            JsonValue::Number(_) => Input::Number(exact.number().unwrap_or_default().into_owned()),
            JsonValue::String(s) => Input::String(s.as_str().to_owned()),
            JsonValue::Array(_) => {
                let items = exact.items().into_iter().flatten();
                Input::List(items.map(Input::from_json).collect())
            }
            JsonValue::Object(_) => {
                let members = exact
                    .members()
                    .into_iter()
                    .flatten()
                    .map(|(k, v)| (k.to_owned(), Input::from_json(v)));
                Input::Object(members.collect())
            }
        }
    }

    /// Returns the elements of a list; a single value counts as a list of one
    /// (<https://spec.graphql.org/September2025/#sec-List.Input-Coercion>).
    pub(crate) fn as_list(&self) -> &[Input] {
        match self {
            Input::List(items) => items,
            single => std::slice::from_ref(single),
        }
    }

    /// Returns the text of a string, an enum value or a number. A number is the text of an id too
    /// (<https://spec.graphql.org/September2025/#sec-ID>), and big numbers come as strings.
    pub(crate) fn as_text(&self) -> Option<&str> {
        match self {
            Input::String(s) | Input::Enum(s) | Input::Number(s) => Some(s),
            _ => None,
        }
    }
}

/// The arguments of one field, with the position of each.
pub(crate) struct Arguments<'a> {
    arguments: &'a [Node<ast::Argument>],
    variables: &'a Variables<'a>,
    sources: &'a apollo_compiler::parser::SourceMap,
}

impl<'a> Arguments<'a> {
    pub(crate) fn new(
        arguments: &'a [Node<ast::Argument>],
        variables: &'a Variables<'a>,
        sources: &'a apollo_compiler::parser::SourceMap,
    ) -> Self {
        Arguments {
            arguments,
            variables,
            sources,
        }
    }

    /// Returns an argument and its position; null counts as absent (docs/queries.md, "Filters").
    pub(crate) fn get(&self, name: &str) -> Option<(Input, Option<Location>)> {
        let argument = self.arguments.iter().find(|a| a.name == name)?;
        match Input::from_ast(&argument.value, self.variables)? {
            Input::Null => None,
            input => Some((input, Location::of(argument.location(), self.sources))),
        }
    }
}

/// Parses a language specification (docs/queries.md, "Language") with a limited number of items,
/// each of which is compared with every value.
pub(crate) fn lang_spec(text: &str, limits: &EngineLimits) -> Result<LangSpec, GraphqlError> {
    let limit = limits.lang_items;
    if text.split(',').nth(limit).is_some() {
        let message = "the language specification has too many items";
        return Err(GraphqlError::new(code::LIMIT_LANG, message).with("limit", limit));
    }
    LangSpec::parse(text).map_err(|error| {
        let message = format!("`{text}` is not a language specification: {error}");
        GraphqlError::new(code::LANG_SPEC_INVALID, message)
    })
}

#[cfg(test)]
mod tests {
    use apollo_compiler::{Schema, executable::Selection};
    use graphql_service::{Documents, Limits, Request, RequestContext};

    use super::*;

    #[test]
    fn a_number_in_a_variable_keeps_the_digits_of_a_literal() {
        let sdl =
            "scalar Decimal input In { x: [Decimal] } type Query { a(in: In, x: Decimal): Int }";
        let schema = Schema::parse_and_validate(sdl, "schema.graphql").unwrap();
        let documents = Documents::new(&schema, Limits::default(), 1 << 16);
        let inputs = |query: &str, variables: &str| {
            let request =
                Request::new(query).with_variables_from_json(variables, documents.limits());
            let request = request.unwrap();
            let prepared = documents.read(&request, &RequestContext::new()).unwrap();
            let variables = Variables::new(&prepared);
            let Selection::Field(field) = &prepared.operation.selection_set.selections[0] else {
                panic!("a field");
            };
            let arguments = field.arguments.iter();
            let inputs = arguments.map(|it| Input::from_ast(&it.value, &variables).unwrap());
            inputs.collect::<Vec<Input>>()
        };
        for number in [
            "12345678901234567890123.4567890123",
            "1e400",
            "1.50",
            "-7",
            "0.5",
        ] {
            let literal = inputs(
                &format!("{{ a(in: {{x: [{number}]}}, x: {number}) }}"),
                "{}",
            );
            let variables = format!(r#"{{"in": {{"x": [{number}]}}, "x": {number}}}"#);
            let query = "query ($in: In, $x: Decimal) { a(in: $in, x: $x) }";
            assert_eq!(inputs(query, &variables), literal);
            assert_eq!(literal[1], Input::Number(number.to_owned()));
        }
    }
}
