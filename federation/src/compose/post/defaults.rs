//! Default values in the merged schema: what subgraphs agree on must still be there.

use apollo_compiler::ast::InputValueDefinition;
use apollo_compiler::schema::ExtendedType;
use apollo_compiler::{Node, Schema};

use crate::compose::code::CompositionCode;
use crate::compose::facts::fields;
use crate::compose::finding::CompositionError;
use crate::compose::read::Subgraph;
use crate::compose::values::fits;

/// Checks that default values are of their merged types: an enum may have lost a value that a subgraph uses.
///
/// # Errors
/// With each one that is not.
pub(in crate::compose) fn check(
    schema: &Schema,
    subgraphs: &[Subgraph],
) -> Result<(), Vec<CompositionError>> {
    let mut errors = Vec::new();
    for (coordinate, place, input) in inputs(schema) {
        let Some(default) = &input.default_value else {
            continue;
        };
        if fits(schema, &input.ty, default) {
            continue;
        }
        let message = format!(
            "the default value {default} of `{coordinate}` is not of the type `{}` once subgraphs are merged",
            input.ty
        );
        let known = subgraphs.iter().filter_map(|subgraph| {
            let found = place.find(&subgraph.schema)?;
            let default = found.default_value.as_ref()?;
            Some(subgraph.place(default.location()))
        });
        let error = CompositionError::new(CompositionCode::INVALID_GRAPHQL, message)
            .about(coordinate)
            .at_all(known);
        errors.push(error.help(
            "define what the default value uses in all subgraphs, or use a different \
                        default value",
        ));
    }
    if errors.is_empty() {
        Ok(())
    } else {
        Err(errors)
    }
}

/// Where an argument or an input field is: its type and field, and its name if it is an argument.
struct At<'s> {
    ty: &'s str,
    field: &'s str,
    argument: Option<&'s str>,
}

impl At<'_> {
    fn find<'t>(&self, schema: &'t Schema) -> Option<&'t Node<InputValueDefinition>> {
        let ty = schema.types.get(self.ty)?;
        match (self.argument, ty) {
            (Some(argument), _) => fields(ty)?.get(self.field)?.argument_by_name(argument),
            (None, ExtendedType::InputObject(input)) => {
                input.fields.get(self.field).map(|field| &field.node)
            }
            _ => None,
        }
    }
}

/// Returns the arguments and input fields of a schema, with their coordinates.
fn inputs(schema: &Schema) -> impl Iterator<Item = (String, At<'_>, &InputValueDefinition)> {
    let own = schema.types.iter().filter(|(_, ty)| !ty.is_built_in());
    own.flat_map(|(name, ty)| {
        let fields = fields(ty).into_iter().flatten();
        let arguments = fields.flat_map(move |(field, definition)| {
            definition.arguments.iter().map(move |argument| {
                let at = At {
                    ty: name,
                    field,
                    argument: Some(&argument.name),
                };
                (
                    format!("{name}.{field}({}:)", argument.name),
                    at,
                    &**argument,
                )
            })
        });
        let input = ty.as_input_object().into_iter();
        let of_inputs = input.flat_map(move |input| {
            input.fields.iter().map(move |(field, definition)| {
                let at = At {
                    ty: name,
                    field,
                    argument: None,
                };
                (format!("{name}.{field}"), at, &***definition)
            })
        });
        arguments.chain(of_inputs)
    })
}
