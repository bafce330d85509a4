//! The part of an API that a role can read.

use std::sync::Arc;

use apollo_compiler::Schema;
use graphql_gen::typesystem::{Api, ApiOptions};
use soml_core::access::Rights;

const SCHEMA: &str = "
id: /soml/access
specialPrefixes: {vocab_iri: 'http://v/', vocab_prefix: v}
config: {enableCollectionCount: true, enableTypeCount: true, enableAggregates: true, enableConnections: true}
objects:
  Character: {kind: abstract, name: label, props: {label: {}, mass: {range: int}, film: {range: Film, max: inf}}}
  Human: {inherits: Character, props: {height: {range: int}}}
  Droid: {inherits: Character, props: {function: {}}}
  Film: {name: title, props: {title: {}, secret: {}, cast: {range: Character, inverseAlias: film, max: inf}}}
rbac:
  roles:
    All: {actions: ['*/*/read']}
    NoSecret: {actions: ['*/*/read'], notActions: ['Film/secret/*']}
    NoDroid: {actions: ['*/*/read'], notActions: ['Droid/*/*']}
    NoMass: {actions: ['*/*/read'], notActions: ['Droid/mass/read']}
    Films: {actions: ['Film/*/read']}
    Sdl: {actions: ['_Service/full_sdl/read']}
";

/// The valid schema that is printed for roles.
fn printed(roles: &[&str]) -> String {
    let soml = soml_core::load(SCHEMA).schema.expect("a valid document");
    let api = Api::new(Arc::new(soml), &ApiOptions::default()).expect("an API");
    let rights = Arc::new(Rights::new(api.soml()));
    let sdl = api.sdl_for(&rights.of(roles.iter().copied()));
    if sdl.contains("type Query {\n") {
        Schema::parse_and_validate(&sdl, "role.graphql").unwrap_or_else(|error| panic!("{error}"));
    }
    sdl
}

fn has(sdl: &str, ty: &str, member: &str) -> bool {
    let schema = Schema::parse(sdl, "role.graphql").expect("a schema");
    let Some(ty) = schema.types.get(ty) else {
        return false;
    };
    match ty {
        apollo_compiler::schema::ExtendedType::Object(ty) => ty.fields.contains_key(member),
        apollo_compiler::schema::ExtendedType::Interface(ty) => ty.fields.contains_key(member),
        apollo_compiler::schema::ExtendedType::InputObject(ty) => ty.fields.contains_key(member),
        apollo_compiler::schema::ExtendedType::Enum(ty) => ty.values.contains_key(member),
        _ => false,
    }
}

#[test]
fn a_role_with_all_rights_reads_the_pruned_api() {
    let sdl = printed(&["All"]);
    for (ty, member) in [
        ("Film", "secret"),
        ("Film_Where_Multi", "secret"),
        ("Film_OrderBy", "secret"),
        ("Droid", "function"),
        ("Query", "droid"),
        ("_Service", "full_sdl"),
    ] {
        assert!(has(&sdl, ty, member), "{ty}.{member}\n{sdl}");
    }
}

#[test]
fn a_denied_property_is_gone_from_types_conditions_orders_and_aggregates() {
    let sdl = printed(&["NoSecret"]);
    assert!(!sdl.contains("secret"), "{sdl}");
    assert!(has(&sdl, "Film", "title"));
}

#[test]
fn a_denied_type_is_gone_with_all_that_names_it() {
    let sdl = printed(&["NoDroid"]);
    assert!(!sdl.to_lowercase().contains("droid"), "{sdl}");
    assert!(has(&sdl, "Character", "mass") && has(&sdl, "Human", "height"));
}

#[test]
fn a_property_denied_of_one_type_is_gone_from_its_interface_too() {
    let sdl = printed(&["NoMass"]);
    assert!(!has(&sdl, "Droid", "mass") && !has(&sdl, "Character", "mass"));
    assert!(has(&sdl, "Human", "mass"));
    assert!(
        has(&sdl, "Character_Where_Multi", "mass"),
        "conditions go by each type"
    );
}

#[test]
fn links_to_what_is_not_shown_are_gone() {
    let sdl = printed(&["Films"]);
    assert!(
        has(&sdl, "Film", "secret") && !has(&sdl, "Film", "cast"),
        "{sdl}"
    );
    assert!(!has(&sdl, "Query", "human") && !has(&sdl, "Query", "character"));
}

#[test]
fn whoever_may_read_no_object_has_no_root_field_of_one() {
    let sdl = printed(&["Sdl"]);
    assert!(has(&sdl, "_Service", "full_sdl") && !has(&sdl, "_Service", "sdl"));
    assert!(
        !has(&sdl, "Query", "film") && !has(&sdl, "Query", "object"),
        "{sdl}"
    );
}

#[test]
fn roles_show_in_the_api_where_they_are_exposed() {
    let api = |exposed: bool| {
        let soml = soml_core::load(SCHEMA).schema.expect("a valid document");
        let options = ApiOptions::default().with_roles_exposed(exposed);
        Api::new(Arc::new(soml), &options).expect("an API")
    };
    let exposed = api(true);
    let sdl = exposed.sdl();
    assert!(sdl.contains("directive @hasRole("), "{sdl}");
    assert!(sdl.contains("secret(") || sdl.contains("secret:"), "{sdl}");
    let secret = sdl
        .lines()
        .find(|line| line.trim_start().starts_with("secret"))
        .unwrap();
    assert!(
        secret.contains(r#"@hasRole(read: ["All", "NoDroid", "NoMass", "Films"], write: [])"#),
        "{secret}"
    );
    let full = exposed.full_sdl();
    let said_once = |line: &str| line.matches("@hasRole(").count() < 2;
    assert!(full.lines().all(said_once), "{full}");
    assert!(full.contains("@nameAlias"), "{full}");
    assert!(!api(false).sdl().contains("hasRole"));
}
