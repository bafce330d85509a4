//! What a gateway is told of what roles may be denied.

use std::sync::Arc;

use apollo_compiler::Schema;
use apollo_compiler::schema::ExtendedType;
use graphql_gen::typesystem::{Api, ApiOptions, FederationMode};

const SCHEMA: &str = "
id: /soml/denied
config: {enableCollectionCount: true, enableTypeCount: true, enableAggregates: true, enableConnections: true}
objects:
  Character:
    kind: abstract
    name: label
    props:
      label: {nonNullable: true}
      film: {range: Film, max: inf, nonNullable: true, nonNullableElements: true}
  Human: {inherits: Character, props: {height: {range: int, nonNullable: true}}}
  Droid: {inherits: Character}
  Film: {props: {title: {nonNullable: true}, review: {range: langString, nonNullable: true}}}
";

fn sdl(roles: &str, mode: FederationMode, nullable: bool) -> String {
    let text = format!("{SCHEMA}{roles}");
    let soml = soml_core::load(&text).schema.expect("a valid document");
    let options = ApiOptions::default()
        .with_federation(mode)
        .with_mutations(true)
        .with_nullable_where_denied(nullable);
    let api = Api::new(Arc::new(soml), &options).expect("an API");
    api.service_sdl().expect("an API of a federation")
}

/// The fields that have a value at any rate.
fn non_null(sdl: &str) -> Vec<String> {
    let schema = Schema::builder()
        .adopt_orphan_extensions()
        .parse(sdl, "subgraph.graphql")
        .build()
        .expect("a schema");
    let mut found = Vec::new();
    for (name, ty) in &schema.types {
        let fields = match ty {
            _ if ty.is_built_in() => continue,
            ExtendedType::Object(ty) => &ty.fields,
            ExtendedType::Interface(ty) => &ty.fields,
            _ => continue,
        };
        let fields = fields.iter().filter(|(_, field)| field.ty.is_non_null());
        found.extend(fields.map(|(field, _)| format!("{name}.{field}")));
    }
    found.sort();
    found
}

#[test]
fn where_roles_are_not_enforced_or_everybody_reads_everything_nothing_changes() {
    let one = "rbac: {roles: {R: {actions: ['Film/title/read']}}}";
    let all = "rbac: {roles: {Default: {actions: ['*/*/read']}, R: {actions: ['*/*/*']}}}";
    for mode in [FederationMode::V1, FederationMode::V2] {
        let declared = sdl("", mode, false);
        assert_eq!(sdl(one, mode, false), declared);
        assert_eq!(sdl(all, mode, true), declared);
        assert_ne!(sdl(one, mode, true), declared);
    }
}

#[test]
fn whoever_has_no_role_is_denied_everything_so_only_keys_and_insides_are_certain() {
    for roles in [
        // Roles that read everything make no difference to those who have none.
        "rbac: {roles: {R: {actions: ['*/*/read']}}}",
        // Without roles, nobody but a superuser reads anything.
        "",
    ] {
        let sdl = sdl(roles, FederationMode::V1, true);
        let certain = non_null(&sdl);
        let is_inside = |field: &String| {
            let (ty, name) = field.split_once('.').unwrap();
            name == "id"
                || ty == "Literal"
                || ty.ends_with("_Subscription")
                || field == "Object_Aggregate.groups"
                || name.starts_with("count")
                || ["hasNextPage", "hasPreviousPage", "totalCount", "key"].contains(&name)
        };
        let others: Vec<&String> = certain.iter().filter(|field| !is_inside(field)).collect();
        assert!(others.is_empty(), "{others:?}");
        for key in ["Object.id", "Character.id", "Human.id", "Film.id"] {
            assert!(certain.iter().any(|field| field == key), "{key}");
        }
    }
}

#[test]
fn what_leads_to_something_that_may_be_denied_may_be_left_out_with_it_and_nothing_else() {
    let roles =
        "rbac: {roles: {Default: {actions: ['*/*/read'], notActions: ['Human/height/read']}}}";
    let certain = non_null(&sdl(roles, FederationMode::V1, true));
    let mut declared = non_null(&sdl(roles, FederationMode::V1, false));
    declared.retain(|field| !certain.contains(field));
    let expected = [
        "CharacterConnection.edges",
        "CharacterConnection.nodes",
        "Human.height",
        "HumanConnection.edges",
        "HumanConnection.nodes",
        "Human_Aggregate.groups",
        "Human_Aggregate.height",
        "Human_Group.height",
        "ObjectConnection.edges",
        "ObjectConnection.nodes",
        "Query.character",
        "Query.human",
        "Query.object",
    ];
    assert_eq!(declared, expected);
}
