//! Defaults of variables and of fields of input objects that a JSON value cannot hold as they are written.
//!
//! The GraphQL library fills defaults in when it coerces variables. It refuses numbers that are out of range and loses
//! digits of others, so such defaults are filled in before.

use std::collections::{BTreeMap, HashMap, HashSet};

use apollo_compiler::ast::{Type, Value};
use apollo_compiler::executable::Operation;
use apollo_compiler::response::{JsonMap, JsonValue};
use apollo_compiler::schema::{ExtendedType, InputObjectType};
use apollo_compiler::{Name, Schema};

use super::{Digits, Members, Part, is_exact, parsed, stand_in};

/// The defaults of a schema that are inexact; usually none.
#[derive(Debug, Default)]
pub(crate) struct InexactDefaults {
    /// The defaults, by input object and field.
    by_input: HashMap<Name, Vec<(Name, JsonValue, Part)>>,
    /// The input objects that have such a default in them, at any depth.
    around: HashSet<Name>,
}

impl InexactDefaults {
    /// Looks through the input objects of a schema.
    pub(crate) fn new(schema: &Schema) -> Self {
        let mut by_input: HashMap<Name, Vec<_>> = HashMap::new();
        for (name, input) in inputs(schema) {
            for field in input.fields.values() {
                let default = field.default_value.as_deref();
                let found = default.and_then(|it| Some((it, part(schema, &field.ty, it)?)));
                if let Some((default, part)) = found {
                    let value = json(schema, &field.ty, default);
                    let fields = by_input.entry(name.clone()).or_default();
                    fields.push((field.name.clone(), value, part));
                }
            }
        }
        let around = around(schema, by_input.keys());
        InexactDefaults { by_input, around }.completed(schema)
    }

    /// Fills the defaults into each other, one level deep: the library fills defaults into what it is given, so it
    /// does so into defaults that were filled in before. All levels could be many, or without end.
    fn completed(self, schema: &Schema) -> Self {
        let mut by_input = self.by_input.clone();
        for (name, input) in inputs(schema) {
            for (field, value, part) in by_input.get_mut(name).into_iter().flatten() {
                let mut whole = Some(part.clone());
                if let Some(field) = input.fields.get(&*field) {
                    self.complete(schema, &field.ty, value, &mut whole);
                }
                if let Some(whole) = whole {
                    *part = whole;
                }
            }
        }
        InexactDefaults { by_input, ..self }
    }

    /// Returns the values of the variables of an operation with such defaults filled in, and the digits of all;
    /// `None` if there are none.
    pub(crate) fn filled_in(
        &self,
        schema: &Schema,
        operation: &Operation,
        given: &JsonMap,
        digits: &Digits,
    ) -> Option<(JsonMap, Digits)> {
        let is_given = |name: &Name| given.contains_key(name.as_str());
        let not_given = operation.variables.iter().filter_map(|variable| {
            let default = variable.default_value.as_deref()?;
            if is_given(&variable.name) {
                return None;
            }
            let part = part(schema, &variable.ty, default)?;
            let value = json(schema, &variable.ty, default);
            Some((variable.name.as_str(), value, part))
        });
        let not_given: Vec<(&str, JsonValue, Part)> = not_given.collect();
        let around = &self.around;
        let concerned = || {
            let variables = operation.variables.iter();
            variables.filter(move |variable| around.contains(variable.ty.inner_named_type()))
        };
        if not_given.is_empty() && !concerned().any(|variable| is_given(&variable.name)) {
            return None;
        }
        let mut values = given.clone();
        let mut parts: BTreeMap<Box<str>, Part> = digits
            .0
            .as_deref()
            .cloned()
            .unwrap_or_default()
            .into_iter()
            .collect();
        for (name, value, part) in not_given {
            values.insert(name, value);
            parts.insert(name.into(), part);
        }
        for variable in concerned() {
            let name = variable.name.as_str();
            if let Some(value) = values.get_mut(name) {
                let mut part = parts.remove(name);
                self.complete(schema, &variable.ty, value, &mut part);
                if let Some(part) = part {
                    parts.insert(name.into(), part);
                }
            }
        }
        Some((values, Digits::of_members(parts.into_iter().collect())))
    }

    /// Fills defaults into a value.
    fn complete(&self, schema: &Schema, ty: &Type, value: &mut JsonValue, part: &mut Option<Part>) {
        match value {
            JsonValue::Array(items) if ty.is_list() => {
                let mut parts = match part.take() {
                    Some(Part::Items(parts)) => parts,
                    _ => Vec::new(),
                }
                .into_iter()
                .peekable();
                let mut completed = Vec::new();
                for (index, item) in items.iter_mut().enumerate() {
                    let mut known = parts
                        .next_if(|(place, _)| *place == index)
                        .map(|(_, part)| part);
                    self.complete(schema, ty.item_type(), item, &mut known);
                    completed.extend(known.map(|part| (index, part)));
                }
                *part = (!completed.is_empty()).then_some(Part::Items(completed));
            }
            // One value stands for a list of it.
            value if ty.is_list() => self.complete(schema, ty.item_type(), value, part),
            JsonValue::Object(members) => {
                self.complete_object(schema, ty.inner_named_type(), members, part);
            }
            _ => {}
        }
    }

    /// Fills defaults into the members that an object has, then into the object. What is filled in stays as it is.
    fn complete_object(
        &self,
        schema: &Schema,
        name: &Name,
        members: &mut JsonMap,
        part: &mut Option<Part>,
    ) {
        let Some(input) = schema.get_input_object(name) else {
            return;
        };
        let parts = match part.take() {
            Some(Part::Members(parts)) => parts,
            _ => Vec::new(),
        };
        let mut parts: BTreeMap<Box<str>, Part> = parts.into_iter().collect();
        for field in input.fields.values() {
            let name = field.name.as_str();
            if self.around.contains(field.ty.inner_named_type())
                && let Some(value) = members.get_mut(name)
            {
                let mut part = parts.remove(name);
                self.complete(schema, &field.ty, value, &mut part);
                if let Some(part) = part {
                    parts.insert(name.into(), part);
                }
            }
        }
        for (name, default, digits) in self.by_input.get(name).into_iter().flatten() {
            if !members.contains_key(name.as_str()) {
                members.insert(name.as_str(), default.clone());
                parts.insert(name.as_str().into(), digits.clone());
            }
        }
        *part = (!parts.is_empty()).then(|| Part::Members(parts.into_iter().collect()));
    }
}

fn inputs(schema: &Schema) -> impl Iterator<Item = (&Name, &InputObjectType)> {
    schema.types.iter().filter_map(|(name, ty)| match ty {
        ExtendedType::InputObject(input) => Some((name, &**input)),
        _ => None,
    })
}

/// Returns some input objects, and those that have them in them, at any depth.
fn around<'n>(schema: &'n Schema, some: impl Iterator<Item = &'n Name>) -> HashSet<Name> {
    let mut open: Vec<&Name> = some.collect();
    let mut found = HashSet::new();
    if open.is_empty() {
        return found;
    }
    let mut users: HashMap<&Name, Vec<&Name>> = HashMap::new();
    for (name, input) in inputs(schema) {
        for field in input.fields.values() {
            let users = users.entry(field.ty.inner_named_type()).or_default();
            users.push(name);
        }
    }
    while let Some(name) = open.pop() {
        if found.insert(name.clone()) {
            open.extend(users.get(name).into_iter().flatten());
        }
    }
    found
}

/// Returns the digits of a literal without variables.
fn part(schema: &Schema, ty: &Type, literal: &Value) -> Option<Part> {
    let number = |text: &str| {
        let is_exact = is_exact(text) && !is_text(ty, text);
        (!is_exact).then(|| Part::Number(number_text(ty, text).into()))
    };
    match literal {
        Value::Int(text) => number(text.as_str()),
        Value::Float(text) => number(text.as_str()),
        Value::List(items) => {
            let items = items.iter().enumerate();
            let parts = items
                .filter_map(|(index, item)| Some((index, part(schema, ty.item_type(), item)?)));
            let parts: Vec<(usize, Part)> = parts.collect();
            (!parts.is_empty()).then_some(Part::Items(parts))
        }
        Value::Object(members) => {
            let parts = members.iter().filter_map(|(name, value)| {
                let part = part(schema, member_type(schema, ty, name), value)?;
                Some((name.as_str().into(), part))
            });
            let mut parts: Members = parts.collect();
            parts.sort_by(|(one, _), (other, _)| one.cmp(other));
            (!parts.is_empty()).then_some(Part::Members(parts))
        }
        _ => None,
    }
}

/// Returns the value of a literal without variables, which the library coerces without an error.
fn json(schema: &Schema, ty: &Type, literal: &Value) -> JsonValue {
    let number = |text: &str| -> JsonValue {
        if is_text(ty, text) {
            return text.into();
        }
        let text = number_text(ty, text);
        let number = parsed(text).or_else(|| parsed(&stand_in(text)));
        number.map_or(JsonValue::Null, JsonValue::Number)
    };
    match literal {
        Value::Null | Value::Variable(_) => JsonValue::Null,
        Value::Boolean(value) => (*value).into(),
        Value::Enum(name) => name.as_str().into(),
        Value::String(text) => text.as_str().into(),
        Value::Int(text) => number(text.as_str()),
        Value::Float(text) => number(text.as_str()),
        Value::List(items) => {
            let items = items.iter();
            items
                .map(|item| json(schema, ty.item_type(), item))
                .collect()
        }
        Value::Object(members) => {
            let members = members.iter().map(|(name, value)| {
                let value = json(schema, member_type(schema, ty, name), value);
                (name.as_str(), value)
            });
            members.collect()
        }
    }
}

/// Returns the type of a member of a literal; in a custom scalar, that of the literal.
fn member_type<'t>(schema: &'t Schema, ty: &'t Type, name: &Name) -> &'t Type {
    let input = schema.get_input_object(ty.inner_named_type());
    let field = input.and_then(|input| input.fields.get(name));
    field.map_or(ty, |field| &*field.ty)
}

/// Returns whether a number is an `ID` that becomes a text, since the library takes no number for it but integers of 64
/// bits.
fn is_text(ty: &Type, text: &str) -> bool {
    ty.inner_named_type().as_str() == "ID" && (text.parse::<i64>().is_err() || !is_exact(text))
}

/// Returns a number as it is written, but for the zero of an `Int`, which has no sign.
fn number_text<'t>(ty: &Type, text: &'t str) -> &'t str {
    match (ty.inner_named_type().as_str(), text) {
        ("Int", "-0") => "0",
        _ => text,
    }
}
