//! Values of input types: what is refused before any subgraph is asked, and where it is in the variables.
//!
//! The GraphQL library validates literals and coerces variables. What it does not know is `@oneOf`, and what it does not
//! say is the place of a wrong value in a variable.

use std::collections::HashSet;
use std::fmt::Write;

use apollo_compiler::ast::{self, Value};
use apollo_compiler::executable::{Operation, Selection, SelectionSet};
use apollo_compiler::response::{JsonMap, JsonValue};
use apollo_compiler::schema::{ExtendedType, InputObjectType};
use apollo_compiler::{ExecutableDocument, Name, Node, Schema};
use graphql_service::{ErrorCode, GraphqlError, Location, code};

/// Most faults that are reported of one request.
const MAX_FAULTS: usize = 100;

/// Longest text of a value in a message.
const MAX_TEXT: usize = 60;

/// Returns whether a schema has input objects of which exactly one field is given.
pub(crate) fn has_one_of(api: &Schema) -> bool {
    api.types
        .values()
        .any(|ty| matches!(ty, ExtendedType::InputObject(input) if is_one_of(input)))
}

/// Returns whether exactly one field of an input object is given.
pub(crate) fn is_one_of(input: &InputObjectType) -> bool {
    input.directives.has("oneOf")
}

/// Returns what is wrong with the values of an operation's variables.
pub(crate) fn wrong_variables(
    api: &Schema,
    document: &ExecutableDocument,
    operation: &Operation,
    given: &JsonMap,
) -> Vec<GraphqlError> {
    let mut wrong = Vec::new();
    for variable in &operation.variables {
        let place = Location::of(variable.location(), &document.sources);
        let mut check = Check {
            api,
            place,
            wrong: &mut wrong,
        };
        let mut path = format!("${}", variable.name);
        match given.get(variable.name.as_str()) {
            Some(value) => check.value(&variable.ty, value, &mut path),
            None if variable.ty.is_non_null() && variable.default_value.is_none() => {
                check.report(&path, format!("of the type `{}` has no value", variable.ty));
            }
            None => {}
        }
    }
    wrong
}

/// Checks the values of one variable.
struct Check<'c> {
    api: &'c Schema,
    place: Option<Location>,
    wrong: &'c mut Vec<GraphqlError>,
}

impl Check<'_> {
    fn report(&mut self, path: &str, reason: String) {
        if self.wrong.len() < MAX_FAULTS {
            let message = format!("`{path}` {reason}");
            let error = located(code::VARIABLE_INVALID, message, self.place);
            self.wrong.push(error.with("variable", path));
        }
    }

    fn value(&mut self, ty: &ast::Type, value: &JsonValue, path: &mut String) {
        if value.is_null() {
            if ty.is_non_null() {
                self.report(path, format!("is null, and its type is `{ty}`"));
            }
            return;
        }
        let length = path.len();
        match (ty.is_list(), value) {
            (true, JsonValue::Array(items)) => {
                for (index, item) in items.iter().enumerate() {
                    let _ = write!(path, "[{index}]");
                    self.value(ty.item_type(), item, path);
                    path.truncate(length);
                }
            }
            // One value stands for a list of it.
            (true, item) => self.value(ty.item_type(), item, path),
            (false, value) => self.named(ty.inner_named_type(), value, path),
        }
    }

    fn named(&mut self, name: &Name, value: &JsonValue, path: &mut String) {
        let fits = match self.api.types.get(name) {
            Some(ExtendedType::InputObject(input)) => match value.as_object() {
                Some(members) => return self.object(input, members, path),
                None => false,
            },
            Some(ExtendedType::Enum(values)) => {
                let name = value.as_str();
                name.is_some_and(|name| values.values.contains_key(name))
            }
            _ => fits_scalar(name, value),
        };
        if !fits {
            let text: String = value.to_string().chars().take(MAX_TEXT).collect();
            self.report(path, format!("is {text}, which is no value of `{name}`"));
        }
    }

    fn object(&mut self, input: &InputObjectType, members: &JsonMap, path: &mut String) {
        let length = path.len();
        for (name, value) in members {
            let _ = write!(path, ".{}", name.as_str());
            match input.fields.get(name.as_str()) {
                Some(field) => self.value(&field.ty, value, path),
                None => self.report(path, format!("is no field of `{}`", input.name)),
            }
            path.truncate(length);
        }
        for field in input.fields.values() {
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

/// Returns whether a value is one of a scalar; what custom scalars allow is for subgraphs to say.
fn fits_scalar(name: &str, value: &JsonValue) -> bool {
    match name {
        "Int" => value.as_i64().is_some_and(|it| i32::try_from(it).is_ok()),
        "Float" => value.is_number(),
        "String" => value.is_string(),
        "Boolean" => value.is_boolean(),
        "ID" => value.is_string() || value.is_i64(),
        _ => true,
    }
}

/// Returns why fields that are given are not exactly one.
fn not_one(input: &InputObjectType, given: usize, nulls: usize) -> Option<String> {
    let names: Vec<String> = input
        .fields
        .keys()
        .map(|name| format!("`{name}`"))
        .collect();
    let names = names.join(", ");
    match (given, nulls) {
        (1, 0) => None,
        (1, _) => Some("has one field, which is null or can be; it must have a value".to_owned()),
        _ => Some(format!(
            "has {given} fields, and exactly one of {names} is expected"
        )),
    }
}

fn located(code: ErrorCode, message: String, place: Option<Location>) -> GraphqlError {
    GraphqlError::new(code, message).at(place)
}

/// Returns what is wrong with the literals of an operation, as far as `@oneOf` is concerned.
pub(crate) fn wrong_literals(
    api: &Schema,
    document: &ExecutableDocument,
    operation: &Operation,
) -> Vec<GraphqlError> {
    let mut literals = Literals {
        api,
        document,
        operation,
        spread: HashSet::new(),
        wrong: Vec::new(),
    };
    for variable in &operation.variables {
        if let Some(default) = &variable.default_value {
            literals.value(&variable.ty, default);
        }
    }
    literals.selections(&operation.selection_set);
    literals.wrong
}

struct Literals<'l> {
    api: &'l Schema,
    document: &'l ExecutableDocument,
    operation: &'l Operation,
    /// The fragments that were looked through.
    spread: HashSet<&'l Name>,
    wrong: Vec<GraphqlError>,
}

impl<'l> Literals<'l> {
    fn selections(&mut self, set: &'l SelectionSet) {
        for selection in &set.selections {
            match selection {
                Selection::Field(field) => {
                    for argument in &field.arguments {
                        let definition = field.definition.argument_by_name(&argument.name);
                        if let Some(definition) = definition {
                            self.value(&definition.ty, &argument.value);
                        }
                    }
                    self.selections(&field.selection_set);
                }
                Selection::InlineFragment(inline) => self.selections(&inline.selection_set),
                Selection::FragmentSpread(spread) => {
                    let fragment = self.document.fragments.get(&spread.fragment_name);
                    if let Some(fragment) = fragment
                        && self.spread.insert(&spread.fragment_name)
                    {
                        self.selections(&fragment.selection_set);
                    }
                }
            }
        }
    }

    fn value(&mut self, ty: &ast::Type, value: &Node<Value>) {
        match value.as_ref() {
            Value::List(items) if ty.is_list() => {
                for item in items {
                    self.value(ty.item_type(), item);
                }
            }
            Value::Object(members) => {
                let Some(ExtendedType::InputObject(input)) =
                    self.api.types.get(ty.inner_named_type())
                else {
                    return;
                };
                for (name, value) in members {
                    if let Some(field) = input.fields.get(name) {
                        self.value(&field.ty, value);
                    }
                }
                if is_one_of(input) {
                    self.one_of(input, members, value);
                }
            }
            _ => {}
        }
    }

    fn one_of(
        &mut self,
        input: &InputObjectType,
        members: &[(Name, Node<Value>)],
        value: &Node<Value>,
    ) {
        let nulls = members.iter().filter(|(_, value)| self.may_be_null(value));
        if let Some(reason) = not_one(input, members.len(), nulls.count())
            && self.wrong.len() < MAX_FAULTS
        {
            let message = format!("a value of `{}` {reason}", input.name);
            let place = Location::of(value.location(), &self.document.sources);
            let error = located(code::GRAPHQL_VALIDATION_FAILED, message, place);
            self.wrong.push(error);
        }
    }

    /// Returns whether a literal is null, or a variable that could be.
    fn may_be_null(&self, value: &Value) -> bool {
        match value {
            Value::Null => true,
            Value::Variable(name) => {
                let mut variables = self.operation.variables.iter();
                let variable = variables.find(|variable| variable.name == *name);
                variable.is_none_or(|variable| !variable.ty.is_non_null())
            }
            _ => false,
        }
    }
}
