//! Input objects of which [exactly one field](https://spec.graphql.org/September2025/#sec-OneOf-Input-Objects) is given.

use apollo_compiler::Schema;
use apollo_compiler::schema::{ExtendedType, InputObjectType};

/// Returns whether a schema has such input objects.
pub(crate) fn has_one_of(schema: &Schema) -> bool {
    let mut types = schema.types.values();
    types.any(|ty| matches!(ty, ExtendedType::InputObject(input) if is_one_of(input)))
}

/// Returns whether exactly one field of an input object has to be given.
pub(super) fn is_one_of(input: &InputObjectType) -> bool {
    input.directives.has("oneOf")
}

/// Returns why fields that are given are not exactly one.
pub(super) fn not_one(input: &InputObjectType, given: usize, nulls: usize) -> Option<String> {
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
            "has {given} fields, but exactly one of {names} is expected"
        )),
    }
}
