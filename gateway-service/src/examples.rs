//! Sample queries for a composite schema, shown in GraphiQL.

use apollo_compiler::Schema;
use apollo_compiler::schema::{ExtendedType, FieldDefinition, ObjectType};
use service_runtime::Example;

/// Root fields that a query asks for.
const ROOTS: usize = 3;
/// Values that it shows of each object.
const FIELDS: usize = 4;
/// Levels of objects below a root field.
const DEPTH: usize = 2;

/// Returns a sample query over the first fields of the query type that need no arguments.
pub(super) fn example_queries(schema: &Schema) -> Vec<Example> {
    let query = schema
        .schema_definition
        .query
        .as_ref()
        .and_then(|name| schema.get_object(name.as_str()));
    let mut text = String::from("{\n");
    let fields = query
        .into_iter()
        .flat_map(|query| query.fields.values())
        .filter_map(|field| selection(schema, field, DEPTH, 1));
    for field in fields.take(ROOTS) {
        text.push_str(&field);
    }
    if text.len() == 2 {
        text.push_str("  __typename\n");
    }
    text.push_str("}\n");
    vec![Example {
        title: "First fields",
        query: text,
    }]
}

/// Returns a field with some fields below it; nothing if it needs arguments, or there is nothing to show.
fn selection(
    schema: &Schema,
    field: &FieldDefinition,
    depth: usize,
    indent: usize,
) -> Option<String> {
    if field
        .arguments
        .iter()
        .any(|argument| argument.is_required())
    {
        return None;
    }
    let space = "  ".repeat(indent);
    let of = field.ty.inner_named_type();
    match schema.types.get(of)? {
        ExtendedType::Scalar(_) | ExtendedType::Enum(_) => Some(format!("{space}{}\n", field.name)),
        ExtendedType::Object(_) | ExtendedType::Interface(_) if depth == 0 => None,
        ExtendedType::Object(object) => {
            let below = below(schema, object, depth - 1, indent + 1)?;
            Some(format!("{space}{} {{\n{below}{space}}}\n", field.name))
        }
        ExtendedType::Interface(_) | ExtendedType::Union(_) => Some(format!(
            "{space}{} {{\n{space}  __typename\n{space}}}\n",
            field.name
        )),
        ExtendedType::InputObject(_) => None,
    }
}

fn below(schema: &Schema, object: &ObjectType, depth: usize, indent: usize) -> Option<String> {
    let fields = object.fields.values();
    let shown: String = fields
        .filter_map(|field| selection(schema, field, depth, indent))
        .take(FIELDS)
        .collect();
    (!shown.is_empty()).then_some(shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_asks_for_what_needs_no_arguments() {
        let schema = Schema::parse_and_validate(
            "type Query { planet(id: ID!): Planet, planets(limit: Int): [Planet!], any: Any, one: Int }
             type Planet { id: ID!, moons: [Moon], far(x: Int!): Int, title: String }
             type Moon { title: String, of: Planet }
             union Any = Planet | Moon",
            "schema.graphql",
        )
        .unwrap();
        let [example] = example_queries(&schema).try_into().unwrap();
        let expected = "{\n  planets {\n    id\n    moons {\n      title\n    }\n    title\n  }\n  any {\n    \
                        __typename\n  }\n  one\n}\n";
        assert_eq!(example.query, expected);
    }
}
