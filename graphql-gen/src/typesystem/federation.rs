//! What federation adds to the API: `_service`, `_entities` and their types.

use apollo_compiler::collections::IndexSet;
use apollo_compiler::schema::{ComponentName, DirectiveList, ExtendedType, Type, UnionType};
use apollo_compiler::{Node, name};

use super::nodes::{field, fields, input, named, object_type, required, scalar_type, text};
use super::options::{ApiOptions, FederationMode};
use super::query::QueryType;
use super::table::{Origin, TypeTable};
use super::targets::Targets;

/// Types that only the machinery of federation uses.
pub(super) const MACHINERY_TYPES: [&str; 3] = ["_Service", "_Entity", "_Any"];

/// Fields of `Query` that only the machinery of federation uses.
pub(super) const MACHINERY_FIELDS: [&str; 2] = ["_service", "_entities"];

/// Adds what the options ask for.
pub(super) fn add(
    table: &mut TypeTable<'_>,
    query: &mut QueryType,
    targets: &Targets,
    options: &ApiOptions,
) {
    let federated = options.federation != FederationMode::Off;
    if federated || options.service {
        add_service(table, query);
    }
    if federated {
        add_entities(table, query, targets);
    }
}

fn add_service(table: &mut TypeTable<'_>, query: &mut QueryType) {
    let string = name!("String");
    let sdl = text("Schema with the directives of federation; null when federation is off");
    let full = text("Schema with all directives");
    let service = fields([
        field(&name!("sdl"), sdl, Vec::new(), named(&string)),
        field(&name!("full_sdl"), full, Vec::new(), named(&string)),
    ]);
    let none = IndexSet::default();
    let description = text("Schema of the service");
    table.add(
        Origin::BuiltIn,
        object_type(name!("_Service"), description, none, service),
    );
    let description = text("The schema as text");
    query.add_other(field(
        &name!("_service"),
        description,
        Vec::new(),
        required(&name!("_Service")),
    ));
}

fn add_entities(table: &mut TypeTable<'_>, query: &mut QueryType, targets: &Targets) {
    let members: IndexSet<_> = targets
        .concrete()
        .map(|t| ComponentName::from(&t.ty))
        .collect();
    if members.is_empty() {
        return;
    }
    let entity = UnionType {
        description: text("Any object, as another service refers to it"),
        name: name!("_Entity"),
        directives: DirectiveList::new(),
        members,
    };
    table.add(Origin::BuiltIn, ExtendedType::Union(Node::new(entity)));
    let description = text("Representation of an object: `__typename` and `id`");
    table.add(Origin::BuiltIn, scalar_type(name!("_Any"), description));
    let each = Type::NonNullList(Box::new(required(&name!("_Any"))));
    let representations = input(&name!("representations"), None, each);
    let ty = Type::NonNullList(Box::new(named(&name!("_Entity"))));
    let description = text("Objects by their representations");
    query.add_other(field(
        &name!("_entities"),
        description,
        vec![representations],
        ty,
    ));
}
