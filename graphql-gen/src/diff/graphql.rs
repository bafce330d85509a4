//! Changes between two GraphQL schemas that no SOML document stands behind, such as those of a federation.

use apollo_compiler::Schema;
use apollo_compiler::parser::SourceSpan;
use apollo_compiler::schema::ExtendedType;
use soml_core::span::Span;

use super::change::Change;
use super::compare::raw;
use super::coordinate::Coordinate;

/// Compares two GraphQL schemas as clients see them: the most critical changes first, then in the order of the schema.
///
/// Each difference is a change of its own, without consequences. Spans are those of the text that a schema was parsed
/// from. Types and directives of GraphQL itself, and the directives that are applied, are not looked at.
///
/// ```
/// use apollo_compiler::Schema;
/// use graphql_gen::diff::{ChangeCode, diff_schemas};
///
/// let schema = |sdl: &str| Schema::parse(sdl, "api.graphql").expect("the schema is well-formed");
/// let old = schema("type Query { planets: [String] moons: [String] }");
/// let new = schema("type Query { planets: [String] }");
///
/// let changes = diff_schemas(&old, &new);
/// assert_eq!(changes.len(), 1);
/// assert_eq!(changes[0].code, ChangeCode::FieldRemoved);
/// assert_eq!(changes[0].coordinate, "Query.moons");
/// ```
#[must_use]
pub fn diff_schemas(old: &Schema, new: &Schema) -> Vec<Change> {
    let changes = raw(old, new).into_iter().map(|found| Change {
        criticality: found.code.criticality(),
        code: found.code,
        coordinate: found.coordinate.to_string(),
        old_span: span(old, found.coordinate),
        new_span: span(new, found.coordinate),
        message: found.message,
        consequences: Vec::new(),
    });
    let mut changes: Vec<Change> = changes.collect();
    changes.sort_by_key(|change| std::cmp::Reverse(change.criticality));
    changes
}

/// Returns where a schema names what has a coordinate.
fn span(schema: &Schema, coordinate: Coordinate<'_>) -> Option<Span> {
    let found = match coordinate {
        Coordinate::Schema => schema.schema_definition.location(),
        Coordinate::Type(ty) | Coordinate::Related(ty, _) => {
            schema.types.get(ty)?.name().location()
        }
        Coordinate::Member(ty, member) => member_span(schema.types.get(ty)?, member),
        Coordinate::Argument(ty, field, argument) => {
            let field = match schema.types.get(ty)? {
                ExtendedType::Object(object) => object.fields.get(field)?,
                ExtendedType::Interface(interface) => interface.fields.get(field)?,
                _ => return None,
            };
            field.argument_by_name(argument)?.name.location()
        }
        Coordinate::Directive(directive) => {
            schema.directive_definitions.get(directive)?.name.location()
        }
        Coordinate::DirectiveArgument(directive, argument) => {
            let directive = schema.directive_definitions.get(directive)?;
            directive.argument_by_name(argument)?.name.location()
        }
    };
    found.map(|found| Span::new(found.offset(), found.end_offset()))
}

fn member_span(ty: &ExtendedType, member: &str) -> Option<SourceSpan> {
    match ty {
        ExtendedType::Object(object) => object.fields.get(member)?.name.location(),
        ExtendedType::Interface(interface) => interface.fields.get(member)?.name.location(),
        ExtendedType::InputObject(input) => input.fields.get(member)?.name.location(),
        ExtendedType::Enum(values) => values.values.get(member)?.value.location(),
        ExtendedType::Scalar(_) | ExtendedType::Union(_) => None,
    }
}
