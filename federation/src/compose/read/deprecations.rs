//! What is required cannot be deprecated: who stops using it could no longer ask.

use apollo_compiler::schema::ExtendedType;
use apollo_compiler::{Node, Schema, ast::InputValueDefinition};

use super::{Reading, is_own};
use crate::compose::code::CompositionCode;
use crate::compose::facts::fields;
use crate::compose::finding::CompositionError;

/// Reports required arguments and input fields that are deprecated.
pub(super) fn check(schema: &Schema, reading: &mut Reading<'_>) {
    for ty in schema.types.values().filter(|ty| is_own(ty)) {
        let name = ty.name();
        for (field, definition) in fields(ty).into_iter().flatten() {
            for argument in &definition.arguments {
                check_one(
                    argument,
                    &format!("{name}.{field}({}:)", argument.name),
                    reading,
                );
            }
        }
        if let ExtendedType::InputObject(input) = ty {
            for field in input.fields.values() {
                check_one(field, &format!("{name}.{}", field.name), reading);
            }
        }
    }
    for directive in schema.directive_definitions.values() {
        for argument in &directive.arguments {
            let coordinate = format!("@{}({}:)", directive.name, argument.name);
            check_one(argument, &coordinate, reading);
        }
    }
}

fn check_one(input: &Node<InputValueDefinition>, coordinate: &str, reading: &mut Reading<'_>) {
    let Some(directive) = input.directives.get("deprecated") else {
        return;
    };
    if !input.is_required() {
        return;
    }
    let message = format!("`{coordinate}` is required, and cannot be deprecated");
    let error = CompositionError::new(CompositionCode::INVALID_GRAPHQL, message);
    let error = error.about(coordinate).at(reading.place(directive.location()));
    reading.report(error.help("make it nullable or give it a default value first"));
}
