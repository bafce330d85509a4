//! The API schema: the supergraph without its machinery and without what is inaccessible.

use std::collections::HashSet;

use apollo_compiler::schema::{Component, DirectiveList, ExtendedType};
use apollo_compiler::validation::Valid;
use apollo_compiler::{Name, Node, Schema, ast};

use super::error::SupergraphError;
use super::reach;
use crate::code;

/// Directives that clients may see or use.
const KEPT: [&str; 5] = ["skip", "include", "deprecated", "specifiedBy", "oneOf"];

/// Beginnings of the names that specifications of the supergraph define.
const MACHINERY: [&str; 8] = [
    "join__",
    "link__",
    "core__",
    "federation__",
    "context__",
    "cost__",
    "policy__",
    "requiresScopes__",
];

/// How a supergraph is read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SupergraphOptions {
    /// Whether types that no operation can reach are left out of [`Supergraph::api`](super::Supergraph::api), such as those that subgraphs
    /// have for each other only. Operations that name a type that is left out, as a type condition, are refused; others
    /// are answered as before.
    ///
    /// Reached is what root fields lead to: by fields, arguments, input fields, members of unions and objects of
    /// interfaces. An object keeps its interfaces.
    pub prune_unreachable_types: bool,
}

/// Returns whether a name belongs to a specification that describes the supergraph.
pub(super) fn is_machinery(name: &str) -> bool {
    MACHINERY.iter().any(|prefix| name.starts_with(prefix))
}

/// Makes the API schema of a supergraph.
pub(super) fn schema(
    supergraph: &Schema,
    options: &SupergraphOptions,
) -> Result<Valid<Schema>, Vec<SupergraphError>> {
    let mut schema = supergraph.clone();
    schema
        .directive_definitions
        .retain(|name, _| KEPT.contains(&name.as_str()));
    let directives = &mut schema.schema_definition.make_mut().directives;
    directives.0.clear();
    let hidden: HashSet<Name> = schema
        .types
        .iter()
        .filter(|(name, ty)| is_machinery(name) || ty.directives().has("inaccessible"))
        .map(|(name, _)| name.clone())
        .collect();
    schema.types.retain(|name, _| !hidden.contains(name));
    let roots = schema.schema_definition.make_mut();
    for root in [&mut roots.mutation, &mut roots.subscription] {
        root.take_if(|root| hidden.contains(&root.name));
    }
    for ty in schema.types.values_mut() {
        reduce(ty, &hidden);
    }
    if options.prune_unreachable_types {
        reach::prune(&mut schema);
    }
    check_one_of(&schema)?;
    schema.validate().map_err(|invalid| {
        let errors = invalid.errors.iter().map(|finding| {
            let message = format!("the API schema is not valid: {}", finding.error);
            SupergraphError::new(code::INVALID_FEDERATION_SUPERGRAPH, message).of(&finding)
        });
        errors.collect()
    })
}

/// Checks that input objects of which exactly one field is given can be given each.
fn check_one_of(schema: &Schema) -> Result<(), Vec<SupergraphError>> {
    let inputs = schema.types.values().filter_map(|ty| match ty {
        ExtendedType::InputObject(input) if input.directives.has("oneOf") => Some(input),
        _ => None,
    });
    let fields = inputs.flat_map(|input| input.fields.values().map(move |field| (input, field)));
    let wrong = fields.filter(|(_, field)| field.ty.is_non_null() || field.default_value.is_some());
    let errors = wrong.map(|(input, field)| {
        let message = format!(
            "`{}.{}` is a field of a `@oneOf` input object: it must be nullable and have no default",
            input.name, field.name
        );
        let error = SupergraphError::new(code::INVALID_FEDERATION_SUPERGRAPH, message);
        error.at(field.location(), schema)
    });
    let errors: Vec<SupergraphError> = errors.collect();
    if errors.is_empty() {
        Ok(())
    } else {
        Err(errors)
    }
}

/// Removes from a type what clients may not see.
fn reduce(ty: &mut ExtendedType, hidden: &HashSet<Name>) {
    match ty {
        ExtendedType::Scalar(scalar) => keep(&mut scalar.make_mut().directives),
        ExtendedType::Object(object) => {
            let object = object.make_mut();
            keep(&mut object.directives);
            object
                .implements_interfaces
                .retain(|name| !hidden.contains(&name.name));
            object
                .fields
                .retain(|_, field| !field.directives.has("inaccessible"));
            object.fields.values_mut().for_each(reduce_field);
        }
        ExtendedType::Interface(interface) => {
            let interface = interface.make_mut();
            keep(&mut interface.directives);
            interface
                .implements_interfaces
                .retain(|name| !hidden.contains(&name.name));
            interface
                .fields
                .retain(|_, field| !field.directives.has("inaccessible"));
            interface.fields.values_mut().for_each(reduce_field);
        }
        ExtendedType::Union(union) => {
            let union = union.make_mut();
            keep(&mut union.directives);
            union.members.retain(|name| !hidden.contains(&name.name));
        }
        ExtendedType::Enum(values) => {
            let values = values.make_mut();
            keep(&mut values.directives);
            values
                .values
                .retain(|_, value| !value.directives.has("inaccessible"));
            for value in values.values.values_mut() {
                keep_ast(&mut value.make_mut().directives);
            }
        }
        ExtendedType::InputObject(input) => {
            let input = input.make_mut();
            keep(&mut input.directives);
            input
                .fields
                .retain(|_, field| !field.directives.has("inaccessible"));
            for field in input.fields.values_mut() {
                keep_ast(&mut field.make_mut().directives);
            }
        }
    }
}

fn reduce_field(field: &mut Component<ast::FieldDefinition>) {
    let field = field.make_mut();
    keep_ast(&mut field.directives);
    field
        .arguments
        .retain(|argument| !argument.directives.has("inaccessible"));
    for argument in &mut field.arguments {
        keep_ast(&mut Node::make_mut(argument).directives);
    }
}

fn keep(directives: &mut DirectiveList) {
    directives
        .0
        .retain(|directive| KEPT.contains(&directive.name.as_str()));
}

fn keep_ast(directives: &mut ast::DirectiveList) {
    directives
        .0
        .retain(|directive| KEPT.contains(&directive.name.as_str()));
}
