//! What federation adds to the API: `_service`, `_entities` and their types.

use apollo_compiler::collections::IndexSet;
use apollo_compiler::name;
use apollo_compiler::schema::{ComponentName, Type};

use super::nodes::{field, input, named, object_type, required, scalar_type, text, union_type};
use super::options::{ApiOptions, FederationMode};
use super::origin::Origin;
use super::query::QueryType;
use super::setting::Setting;
use super::table::TypeTable;
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

/// Adds `_service` (Apollo Federation,
/// <https://www.apollographql.com/docs/federation/subgraph-spec>). There, `sdl` is non-null; here
/// it is null without federation, where `full_sdl` is served nevertheless (docs/queries.md,
/// "Federation").
fn add_service(table: &mut TypeTable<'_>, query: &mut QueryType) {
    let string = name!("String");
    let sdl = text("Schema with the directives of federation; null when federation is off");
    let full = text("Schema with all directives");
    let service = [
        field(&name!("sdl"), sdl, Vec::new(), named(&string)),
        field(&name!("full_sdl"), full, Vec::new(), named(&string)),
    ];
    let none = IndexSet::default();
    let description = text("Schema of the service");
    // Either is reason enough.
    let origin = Origin::BUILT_IN
        .under(Setting::Federation)
        .under(Setting::Service);
    table.add(
        origin,
        object_type(name!("_Service"), description, none, service),
    );
    let description = text("The schema as text");
    let ty = required(&name!("_Service"));
    let field = field(&name!("_service"), description, Vec::new(), ty);
    query.add_other(origin, field);
}

/// Adds `_entities`, whose elements are null for objects that do not exist (docs/queries.md,
/// "Federation").
fn add_entities(table: &mut TypeTable<'_>, query: &mut QueryType, targets: &Targets) {
    let members: IndexSet<_> = targets
        .concrete()
        .map(|t| ComponentName::from(&t.ty))
        .collect();
    // A union has at least one member (<https://spec.graphql.org/September2025/#sec-Unions>).
    if members.is_empty() {
        return;
    }
    let origin = Origin::BUILT_IN.under(Setting::Federation);
    let description = text("Any object, as referred to by another service");
    table.add(origin, union_type(name!("_Entity"), description, members));
    let description = text("Representation of an object: `__typename` and `id`");
    table.add(origin, scalar_type(name!("_Any"), description));
    let each = Type::NonNullList(Box::new(required(&name!("_Any"))));
    let representation = text("`__typename` and `id` of each object");
    let representations = input(&name!("representations"), representation, each);
    let ty = Type::NonNullList(Box::new(named(&name!("_Entity"))));
    let description = text("Objects by their representations");
    let arguments = vec![representations];
    let field = field(&name!("_entities"), description, arguments, ty);
    query.add_other(origin, field);
}
