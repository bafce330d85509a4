//! What is wrong with the values of variables, each with its place: `$entry.names[2]`.
//!
//! The GraphQL library coerces variables
//! ([CoerceVariableValues](https://spec.graphql.org/September2025/#CoerceVariableValues())). It
//! stops at the first value that does not fit, and does not know `@oneOf`.

use std::cell::LazyCell;
use std::fmt::Write;

use apollo_compiler::ast;
use apollo_compiler::executable::Operation;
use apollo_compiler::response::{JsonMap, JsonValue};
use apollo_compiler::schema::{ExtendedType, InputObjectType};
use apollo_compiler::{ExecutableDocument, Name, Schema};

use super::MAX_FAULTS;
use super::one_of::{is_one_of, not_one};
use crate::code;
use crate::digits::{Digits, ExactValue};
use crate::error::{GraphqlError, Location};
use crate::suggestions::{MeantFields, nearest, operator_path, written_out};

/// Maximum number of sent names that are compared with that of a variable without a value, since a
/// request may send any number of them.
const MAX_SENT: usize = 100;

/// Longest text of a value in a message.
const MAX_TEXT: usize = 60;

/// The values that are given for variables, with their digits.
#[derive(Clone, Copy)]
pub(crate) struct Given<'g> {
    pub(crate) values: &'g JsonMap,
    pub(crate) digits: &'g Digits,
}

/// Returns what is wrong with the values of an operation's variables.
pub(crate) fn wrong_variables(
    schema: &Schema,
    meant: &MeantFields,
    document: &ExecutableDocument,
    operation: &Operation,
    given: Given<'_>,
) -> Vec<GraphqlError> {
    let Given { values, digits } = given;
    let mut wrong = Vec::new();
    let sent = LazyCell::new(|| undeclared(operation, values));
    for variable in &operation.variables {
        let place = Location::of(variable.location(), &document.sources);
        let mut check = Check {
            schema,
            meant,
            place,
            wrong: &mut wrong,
        };
        let mut path = format!("${}", variable.name);
        match values.get(variable.name.as_str()) {
            Some(value) => {
                let value = digits.member(&variable.name, value);
                check.value(&variable.ty, value, &mut path);
            }
            None if variable.ty.is_non_null() && variable.default_value.is_none() => {
                let hint =
                    (!check.is_full()).then(|| nearest(&variable.name, sent.iter().copied()));
                let hint = hint
                    .flatten()
                    .map(|name| format!("; did you send it as \"{name}\"?"));
                let (ty, hint) = (&variable.ty, hint.unwrap_or_default());
                check.report(&path, format!("of the type `{ty}` has no value{hint}"));
            }
            None => {}
        }
    }
    wrong
}

/// Returns names under which values were sent that the operation does not declare, the first of them.
fn undeclared<'g>(operation: &Operation, given: &'g JsonMap) -> Vec<&'g str> {
    let names = given.keys().take(MAX_SENT).map(|name| name.as_str());
    let is_declared = |name: &str| {
        let mut declared = operation.variables.iter();
        declared.any(|variable| variable.name == name)
    };
    names.filter(|name| !is_declared(name)).collect()
}

/// Checks the values of one variable.
struct Check<'c> {
    schema: &'c Schema,
    meant: &'c MeantFields,
    place: Option<Location>,
    wrong: &'c mut Vec<GraphqlError>,
}

impl Check<'_> {
    fn report(&mut self, path: &str, reason: String) {
        if !self.is_full() {
            let message = format!("`{path}` {reason}");
            let error = GraphqlError::new(code::VARIABLE_INVALID, message).at(self.place);
            self.wrong.push(error.with("variable", path));
        }
    }

    /// Returns whether no more faults are reported, so that nothing has to be looked up for them.
    fn is_full(&self) -> bool {
        self.wrong.len() >= MAX_FAULTS
    }

    fn value(&mut self, ty: &ast::Type, value: ExactValue<'_>, path: &mut String) {
        if self.is_full() {
            return;
        }
        if value.value().is_null() {
            if ty.is_non_null() {
                self.report(path, format!("is null, but its type is `{ty}`"));
            }
            return;
        }
        let length = path.len();
        match (ty.is_list(), value.items()) {
            (true, Some(items)) => {
                for (index, item) in items.enumerate() {
                    let _ = write!(path, "[{index}]");
                    self.value(ty.item_type(), item, path);
                    path.truncate(length);
                }
            }
            // One value stands for a list of it
            // (<https://spec.graphql.org/September2025/#sec-List.Input-Coercion>).
            (true, None) => self.value(ty.item_type(), value, path),
            (false, _) => self.named(ty.inner_named_type(), value, path),
        }
    }

    fn named(&mut self, name: &Name, exact: ExactValue<'_>, path: &mut String) {
        let value = exact.value();
        let hint = match self.schema.types.get(name) {
            Some(ExtendedType::InputObject(input)) => match value.as_object() {
                Some(members) => return self.object(input, members, exact, path),
                None => self.bare(input, value),
            },
            // In JSON, an enum value is a string of its name
            // (<https://spec.graphql.org/September2025/#sec-Enums.Input-Coercion>).
            Some(ExtendedType::Enum(values)) => {
                let known = || values.values.keys().map(Name::as_str);
                let given = value.as_str().unwrap_or_default();
                if known().any(|known| known == given) {
                    return;
                }
                nearest(given, known()).map(|name| format!("\"{name}\""))
            }
            _ if fits_scalar(name, exact) => return,
            _ => None,
        };
        let hint = hint.map(|hint| format!("; did you mean {hint}?"));
        let (text, hint) = (shown(exact), hint.unwrap_or_default());
        self.report(
            path,
            format!("is {text}, which is not a value of `{name}`{hint}"),
        );
    }

    /// Returns how a bare value is written for an input object that has an operator for it.
    fn bare(&self, input: &InputObjectType, value: &JsonValue) -> Option<String> {
        let is_short = match value {
            JsonValue::String(text) => text.as_str().len() <= MAX_TEXT,
            other => !other.is_array(),
        };
        let path = operator_path(self.schema, input).filter(|_| is_short)?;
        let operand = value.to_string();
        Some(written_out(&path, &operand, |name| format!("\"{name}\"")))
    }

    fn unknown(&mut self, input: &InputObjectType, name: &str, path: &str) {
        if self.is_full() {
            return;
        }
        let known = input.fields.keys().map(Name::as_str);
        let meant = self.meant.get(&input.name, name);
        let hint = meant
            .or_else(|| nearest(name, known))
            .map(|name| format!("; did you mean \"{name}\"?"));
        let hint = hint.unwrap_or_default();
        self.report(path, format!("is not a field of `{}`{hint}", input.name));
    }

    fn object(
        &mut self,
        input: &InputObjectType,
        members: &JsonMap,
        exact: ExactValue<'_>,
        path: &mut String,
    ) {
        let length = path.len();
        for (name, value) in exact.members().into_iter().flatten() {
            let _ = write!(path, ".{name}");
            match input.fields.get(name) {
                Some(field) => self.value(&field.ty, value, path),
                None => self.unknown(input, name, path),
            }
            path.truncate(length);
        }
        for field in input.fields.values() {
            // <https://spec.graphql.org/September2025/#sec-Input-Objects.Input-Coercion>
            let is_required = field.ty.is_non_null() && field.default_value.is_none();
            if is_required && !members.contains_key(field.name.as_str()) {
                let _ = write!(path, ".{}", field.name);
                self.report(path, format!("of the type `{}` has no value", field.ty));
                path.truncate(length);
            }
        }
        if is_one_of(input) {
            let nulls = members.values().filter(|value| value.is_null()).count();
            if let Some(reason) = not_one(input, members.len(), nulls) {
                self.report(path, reason);
            }
        }
    }
}

/// Returns a value as a message shows it, shortened.
fn shown(value: ExactValue<'_>) -> String {
    let shortened = |text: &str| text.chars().take(MAX_TEXT).collect::<String>();
    if let Some(number) = value.number() {
        return shortened(&number);
    }
    match value.value() {
        JsonValue::Array(_) => "a list".to_owned(),
        JsonValue::Object(_) => "an object".to_owned(),
        JsonValue::String(text) => JsonValue::from(shortened(text.as_str())).to_string(),
        other => other.to_string(),
    }
}

/// Returns whether a value is one of a scalar
/// (<https://spec.graphql.org/September2025/#sec-Scalars>); what custom scalars allow is for
/// services to say.
fn fits_scalar(name: &str, exact: ExactValue<'_>) -> bool {
    let value = exact.value();
    match name {
        // 32 bits (<https://spec.graphql.org/September2025/#sec-Int>).
        "Int" => value.as_i64().is_some_and(|it| i32::try_from(it).is_ok()),
        "Float" => exact.is_float(),
        "String" => value.is_string(),
        "Boolean" => value.is_boolean(),
        // A string or an integer (<https://spec.graphql.org/September2025/#sec-ID>).
        "ID" => value.is_string() || value.is_i64(),
        _ => true,
    }
}
