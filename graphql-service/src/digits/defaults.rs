//! Defaults of variables and of fields of input objects that a JSON value cannot hold as they are written.
//!
//! The GraphQL library fills defaults in when it coerces variables. It refuses numbers that are out of range and loses
//! digits of others, so such defaults are filled in before.

use std::collections::HashMap;

use apollo_compiler::ast::{Type, Value};
use apollo_compiler::executable::Operation;
use apollo_compiler::response::{JsonMap, JsonValue};
use apollo_compiler::schema::ExtendedType;
use apollo_compiler::{Name, Schema};

use super::{Digits, Members, Part, is_exact, parsed, stand_in};

/// The defaults of a schema that are inexact, by input object and field; usually none.
#[derive(Debug, Default)]
pub(crate) struct InexactDefaults(HashMap<Name, Vec<(Name, JsonValue, Part)>>);

impl InexactDefaults {
    /// Looks through the input objects of a schema.
    pub(crate) fn new(schema: &Schema) -> Self {
        let mut found: HashMap<Name, Vec<_>> = HashMap::new();
        for (name, ty) in &schema.types {
            let ExtendedType::InputObject(input) = ty else {
                continue;
            };
            for field in input.fields.values() {
                let default = field.default_value.as_deref();
                if let Some((default, part)) = default.and_then(|it| Some((it, part(it)?))) {
                    let fields = found.entry(name.clone()).or_default();
                    fields.push((field.name.clone(), json(default), part));
                }
            }
        }
        InexactDefaults(found)
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
        let not_given = operation.variables.iter().filter_map(|variable| {
            let default = variable.default_value.as_deref()?;
            let is_given = given.contains_key(variable.name.as_str());
            let part = (!is_given).then(|| part(default)).flatten()?;
            Some((variable.name.as_str(), json(default), part))
        });
        let not_given: Vec<(&str, JsonValue, Part)> = not_given.collect();
        if not_given.is_empty() && self.0.is_empty() {
            return None;
        }
        let mut values = given.clone();
        let mut parts: Members = digits.0.as_deref().cloned().unwrap_or_default();
        for (name, value, part) in not_given {
            values.insert(name, value);
            parts.retain(|(known, _)| **known != *name);
            parts.push((name.into(), part));
        }
        for variable in &operation.variables {
            let name = variable.name.as_str();
            if let Some(value) = values.get_mut(name) {
                let place = parts.iter().position(|(known, _)| **known == *name);
                let mut part = place.map(|place| parts.swap_remove(place).1);
                self.complete(schema, &variable.ty, value, &mut part);
                parts.extend(part.map(|part| (name.into(), part)));
            }
        }
        Some((values, Digits::of_members(parts)))
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
                    let known = parts.next_if(|(place, _)| *place == index);
                    let mut known = known.map(|(_, part)| part);
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
        let mut parts = match part.take() {
            Some(Part::Members(parts)) => parts,
            _ => Vec::new(),
        };
        for (name, default, digits) in self.0.get(name).into_iter().flatten() {
            if !members.contains_key(name.as_str()) {
                members.insert(name.as_str(), default.clone());
                parts.push((name.as_str().into(), digits.clone()));
            }
        }
        for field in input.fields.values() {
            let name = field.name.as_str();
            if let Some(value) = members.get_mut(name) {
                let place = parts.iter().position(|(known, _)| **known == *name);
                let mut part = place.map(|place| parts.swap_remove(place).1);
                self.complete(schema, &field.ty, value, &mut part);
                parts.extend(part.map(|part| (name.into(), part)));
            }
        }
        parts.sort_by(|(one, _), (other, _)| one.cmp(other));
        *part = (!parts.is_empty()).then_some(Part::Members(parts));
    }
}

/// Returns the digits of a literal without variables.
fn part(literal: &Value) -> Option<Part> {
    let number = |text: &str| (!is_exact(text)).then(|| Part::Number(text.into()));
    match literal {
        Value::Int(text) => number(text.as_str()),
        Value::Float(text) => number(text.as_str()),
        Value::List(items) => {
            let items = items.iter().enumerate();
            let parts = items.filter_map(|(index, item)| Some((index, part(item)?)));
            let parts: Vec<(usize, Part)> = parts.collect();
            (!parts.is_empty()).then_some(Part::Items(parts))
        }
        Value::Object(members) => {
            let parts = members.iter();
            let parts =
                parts.filter_map(|(name, value)| Some((name.as_str().into(), part(value)?)));
            let mut parts: Members = parts.collect();
            parts.sort_by(|(one, _), (other, _)| one.cmp(other));
            (!parts.is_empty()).then_some(Part::Members(parts))
        }
        _ => None,
    }
}

/// Returns the value of a literal without variables.
fn json(literal: &Value) -> JsonValue {
    let number = |text: &str| {
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
        Value::List(items) => items.iter().map(|item| json(item)).collect(),
        Value::Object(members) => {
            let members = members.iter();
            let members = members.map(|(name, value)| (name.as_str(), json(value)));
            members.collect()
        }
    }
}
