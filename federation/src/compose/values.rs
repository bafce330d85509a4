//! Which literals are values of which types.

use apollo_compiler::ast::{Type, Value};
use apollo_compiler::schema::ExtendedType;
use apollo_compiler::{Name, Node, Schema};

/// Returns whether a literal is a value of a type. As in other composers, names stand for strings and strings for enum
/// values, and an object may lack fields: clients never see what a subgraph alone makes of it.
pub(super) fn fits(schema: &Schema, ty: &Type, value: &Value) -> bool {
    match value {
        Value::Null => !ty.is_non_null(),
        Value::Variable(_) => false,
        Value::List(items) if ty.is_list() => {
            let mut items = items.iter();
            items.all(|item| fits(schema, ty.item_type(), item))
        }
        // One item stands for a list of it
        // (<https://spec.graphql.org/September2025/#sec-List.Input-Coercion>).
        _ if ty.is_list() => fits(schema, ty.item_type(), value),
        _ => fits_named(schema, ty.inner_named_type(), value),
    }
}

fn fits_named(schema: &Schema, name: &Name, value: &Value) -> bool {
    match schema.types.get(name) {
        Some(ExtendedType::Enum(definition)) => {
            let name = match value {
                Value::Enum(name) => name.as_str(),
                Value::String(text) => text,
                _ => return false,
            };
            definition.values.contains_key(name)
        }
        Some(ExtendedType::InputObject(definition)) => {
            let Value::Object(members) = value else {
                return false;
            };
            let is_of_field = |(name, value): &(Name, Node<Value>)| {
                let field = definition.fields.get(name);
                field.is_some_and(|field| fits(schema, &field.ty, value))
            };
            members.iter().all(is_of_field)
        }
        _ => match name.as_str() {
            "Int" => matches!(value, Value::Int(_)),
            // <https://spec.graphql.org/September2025/#sec-Float>
            "Float" => matches!(value, Value::Int(_) | Value::Float(_)),
            "String" => matches!(value, Value::String(_) | Value::Enum(_)),
            "ID" => matches!(value, Value::String(_) | Value::Int(_) | Value::Enum(_)),
            "Boolean" => matches!(value, Value::Boolean(_)),
            // What a scalar of the subgraph's own takes is not known.
            _ => true,
        },
    }
}
