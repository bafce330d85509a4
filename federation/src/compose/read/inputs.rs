//! Arguments and input fields: what validation of schemas leaves out.

use apollo_compiler::ast::InputValueDefinition;
use apollo_compiler::schema::ExtendedType;
use apollo_compiler::{Node, Schema};

use super::{Reading, is_own};
use crate::compose::code::CompositionCode;
use crate::compose::facts::fields;
use crate::compose::finding::CompositionError;
use crate::compose::values::fits;

/// Reports default values that are not of their types, and what is deprecated though it is required: who stops
/// using it could no longer ask.
pub(super) fn check(schema: &Schema, reading: &mut Reading<'_>) {
    for ty in schema.types.values().filter(|ty| is_own(ty)) {
        let name = ty.name();
        for (field, definition) in fields(ty).into_iter().flatten() {
            for argument in &definition.arguments {
                let coordinate = format!("{name}.{field}({}:)", argument.name);
                check_one(schema, argument, &coordinate, reading);
            }
        }
        if let ExtendedType::InputObject(input) = ty {
            for field in input.fields.values() {
                let coordinate = format!("{name}.{}", field.name);
                check_one(schema, field, &coordinate, reading);
            }
        }
    }
    for directive in schema.directive_definitions.values() {
        for argument in &directive.arguments {
            let coordinate = format!("@{}({}:)", directive.name, argument.name);
            check_one(schema, argument, &coordinate, reading);
        }
    }
}

fn check_one(
    schema: &Schema,
    input: &Node<InputValueDefinition>,
    coordinate: &str,
    reading: &mut Reading<'_>,
) {
    if let Some(default) = &input.default_value
        && !fits(schema, &input.ty, default)
    {
        let message = format!(
            "the default value {default} of `{coordinate}` is not of the type `{}`",
            input.ty
        );
        let place = reading.place(default.location());
        let error = CompositionError::new(CompositionCode::INVALID_GRAPHQL, message);
        reading.report(error.about(coordinate).at(place));
    }
    // <https://spec.graphql.org/September2025/#sec--deprecated>
    let deprecated = input.directives.get("deprecated");
    if let Some(directive) = deprecated.filter(|_| input.is_required()) {
        let message = format!("`{coordinate}` is required, so it cannot be deprecated");
        let place = reading.place(directive.location());
        let error = CompositionError::new(CompositionCode::INVALID_GRAPHQL, message)
            .about(coordinate)
            .at(place);
        reading.report(error.help("make it nullable or give it a default value first"));
    }
}
