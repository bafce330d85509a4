//! Connections after the Relay cursor connections specification: a root field beside each list, with
//! its types.

use apollo_compiler::ast::FieldDefinition;
use apollo_compiler::collections::IndexSet;
use apollo_compiler::schema::Type;
use apollo_compiler::{Name, name};
use soml_core::schema::Schema;

use super::arguments::described;
use super::nodes::{FieldNode, field, input, named, object_type, required, text};
use super::origin::{Origin, Source};
use super::setting::Setting;
use super::table::TypeTable;
use super::targets::{Target, Targets};

/// The arguments of a list that a connection does without: `first` and `last` take their place
/// (<https://relay.dev/graphql/connections.htm#sec-Arguments>).
const PAGE_ARGUMENTS: [&str; 2] = ["limit", "offset"];

/// Returns `<list>Connection` (docs/queries.md, "Connections").
pub(super) fn root_field(list: &FieldDefinition, target: &Target) -> FieldNode {
    let of_list = list.arguments.iter();
    let mut arguments: Vec<_> = of_list
        .filter(|argument| !PAGE_ARGUMENTS.contains(&argument.name.as_str()))
        .map(described)
        .collect();
    let (int, string) = (name!("Int"), name!("String"));
    let window = [
        (
            name!("first"),
            "Maximum number of objects, from the start",
            &int,
        ),
        (name!("after"), "Only objects after this cursor", &string),
        (
            name!("last"),
            "Maximum number of objects, from the end",
            &int,
        ),
        (name!("before"), "Only objects before this cursor", &string),
    ];
    // Behind `ID`, `orderBy` and `where`.
    let place = arguments.len().min(3);
    let window = window.map(|(name, description, ty)| input(&name, text(description), named(ty)));
    arguments.splice(place..place, window);
    field(
        &Name::new_unchecked(&format!("{}Connection", list.name)),
        text(&format!("Pages of {}", list.name)),
        arguments,
        named(&type_name(target)),
    )
}

/// Adds the types of all connections.
pub(super) fn add(table: &mut TypeTable<'_>, soml: &Schema, targets: &Targets) {
    add_page_info(table);
    add_types(table, Source::BuiltIn, &targets.any_object);
    for (id, _) in soml.objects() {
        add_types(table, Source::Object(id), targets.object_range(id));
    }
}

fn type_name(target: &Target) -> Name {
    Name::new_unchecked(&format!("{}Connection", target.ty))
}

/// Adds `PageInfo`, which connections of all types share
/// (<https://relay.dev/graphql/connections.htm#sec-Reserved-Types>). Its cursors are nullable,
/// since a page may be empty.
fn add_page_info(table: &mut TypeTable<'_>) {
    let (boolean, string) = (name!("Boolean"), name!("String"));
    let of =
        |name: Name, description: &str, ty: Type| field(&name, text(description), Vec::new(), ty);
    let info = [
        of(
            name!("hasNextPage"),
            "Whether there are objects after the page",
            required(&boolean),
        ),
        of(
            name!("hasPreviousPage"),
            "Whether there are objects before the page",
            required(&boolean),
        ),
        of(
            name!("startCursor"),
            "Cursor of the first edge",
            named(&string),
        ),
        of(
            name!("endCursor"),
            "Cursor of the last edge",
            named(&string),
        ),
    ];
    let description = text("Position of a page in a connection");
    let ty = object_type(name!("PageInfo"), description, IndexSet::default(), info);
    table.add(Origin::BUILT_IN.under(Setting::Connections), ty);
}

/// Adds `<Type>Connection` (<https://relay.dev/graphql/connections.htm#sec-Connection-Types>) and
/// `<Type>Edge` (<https://relay.dev/graphql/connections.htm#sec-Edge-Types>).
fn add_types(table: &mut TypeTable<'_>, source: Source, target: &Target) {
    let origin = Origin::of(source).under(Setting::Connections);
    let ty = &target.ty;
    let edge = Name::new_unchecked(&format!("{ty}Edge"));
    let all = |name: &Name| Type::NonNullList(Box::new(required(name)));
    let of =
        |name: Name, description: &str, ty: Type| field(&name, text(description), Vec::new(), ty);
    let connection = [
        of(name!("edges"), "The objects with their cursors", all(&edge)),
        of(name!("nodes"), "The objects", all(ty)),
        of(
            name!("pageInfo"),
            "Position of the page",
            required(&name!("PageInfo")),
        ),
        of(
            name!("totalCount"),
            "Number of objects on all pages",
            required(&name!("Int")),
        ),
    ];
    let none = IndexSet::default;
    let description = text(&format!("A page of {ty}"));
    table.add(
        origin,
        object_type(type_name(target), description, none(), connection),
    );
    let edge_fields = [
        // Nullable, so that a null in the object leaves the other edges and this cursor in place.
        of(name!("node"), "The object", named(ty)),
        of(name!("cursor"), "Its place", required(&name!("String"))),
    ];
    let description = text(&format!("An object of a page of {ty}"));
    table.add(origin, object_type(edge, description, none(), edge_fields));
}
