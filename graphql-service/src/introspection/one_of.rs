//! What the September 2025 edition of the specification adds to
//! [introspection](https://spec.graphql.org/September2025/#sec-Schema-Introspection.Schema-Introspection-Schema), and the
//! GraphQL library does not have: `@oneOf`, and which input objects have it.

use apollo_compiler::ast::{DirectiveDefinition, DirectiveLocation, FieldDefinition};
use apollo_compiler::schema::{Component, ExtendedType};
use apollo_compiler::validation::Valid;
use apollo_compiler::{Node, Schema, name, ty};

/// Returns a schema with the directive `@oneOf` and the field `__Type.isOneOf`.
pub(crate) fn with_one_of(schema: &Valid<Schema>) -> Valid<Schema> {
    let mut schema = Schema::clone(schema);
    let directives = &mut schema.directive_definitions;
    directives.entry(name!("oneOf")).or_insert_with(|| {
        let description = "Indicates that exactly one field of an input object must be given, and \
                           not be null.";
        Node::new(DirectiveDefinition {
            description: Some(Node::new_str(description)),
            name: name!("oneOf"),
            arguments: Vec::new(),
            repeatable: false,
            locations: vec![DirectiveLocation::InputObject],
        })
    });
    if let Some(ExtendedType::Object(described)) = schema.types.get_mut("__Type") {
        let field = FieldDefinition {
            description: None,
            name: name!("isOneOf"),
            arguments: Vec::new(),
            // Nullable: only input objects have an answer.
            ty: ty!(Boolean),
            directives: Default::default(),
        };
        let fields = &mut described.make_mut().fields;
        fields
            .entry(field.name.clone())
            .or_insert_with(|| Component::new(field));
    }
    // A built-in directive and a field of a built-in type keep a valid schema valid.
    Valid::assume_valid(schema)
}
