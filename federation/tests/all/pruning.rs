//! Types that no operation can reach are left out of the API schema if that is asked for.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use apollo_compiler::ExecutableDocument;
use federation::compose::{ComposeOptions, compose};
use federation::{Gateway, GatewayOptions, InProcess, Supergraph, SupergraphOptions};
use graphql_service::{Request, RequestContext, Service};
use serde_json::{Value, json};

use crate::cases::folders;
use crate::composition::source;

const SUBGRAPH: &str = r#"
type Query {
  me(filter: Filter = { order: UP }): User
  search: [Found!]
  node: Node
}
type Mutation { touch(what: Touch): Touched }
type Subscription { ticks: Tick }

input Filter { order: Order nested: Nested }
input Nested { since: Day }
enum Order { UP DOWN }
scalar Day
input Touch { day: Day }
type Touched { pressure: Pressure }
enum Pressure { LOW HIGH }
type Tick { at: Moment }
scalar Moment

interface Node { id: ID! }
interface Named { name: String titled(style: Style): Title }
scalar Style
type Title { text: String }
type User implements Node & Named { id: ID! name: String titled(style: Style): Title }
type Robot implements Node { id: ID! battery: Battery secret: Secret @inaccessible }
type Battery { level: Float }
union Found = User | Place
type Place { at: Geo }
scalar Geo

type Ghost implements Named { name: String titled(style: Style): Title kind: GhostKind }
enum GhostKind { WHITE }
type Secret { key: SecretKey }
scalar SecretKey
type Lost { again: Lost some(input: LostInput, order: Order): LostEnum all: LostUnion node: LostNode }
input LostInput { scalar: LostScalar }
scalar LostScalar
enum LostEnum { A B }
union LostUnion = Lost | Ghost
interface LostNode { lost: Lost }
type LostObject implements LostNode { lost: Lost }
"#;

const UNREACHABLE: [&str; 11] = [
    "Ghost",
    "GhostKind",
    "Lost",
    "LostEnum",
    "LostInput",
    "LostNode",
    "LostObject",
    "LostScalar",
    "LostUnion",
    "Secret",
    "SecretKey",
];

fn sdl() -> String {
    let subgraph = source("a", Some("2.9"), SUBGRAPH);
    let composed = compose(&[subgraph], &ComposeOptions::default());
    composed.unwrap().supergraph_sdl
}

fn pruned(sdl: &str) -> Supergraph {
    let mut options = SupergraphOptions::default();
    options.prune_unreachable_types = true;
    Supergraph::parse_with(sdl, "supergraph.graphql", &options).unwrap()
}

fn whole(sdl: &str) -> Supergraph {
    Supergraph::parse(sdl, "supergraph.graphql").unwrap()
}

/// Returns the types that clients see.
fn types(supergraph: &Supergraph) -> BTreeSet<String> {
    let names = supergraph.api().types.keys();
    names.map(ToString::to_string).collect()
}

fn gateway(supergraph: Supergraph) -> Gateway {
    let answers = InProcess::new().with_function("a", |_| {
        json!({ "data": { "node": { "__typename": "Robot", "id": "1", "battery": { "level": 0.5 } } } })
    });
    let options = GatewayOptions::default();
    Gateway::new(Arc::new(supergraph), Arc::new(answers), options).unwrap()
}

fn ask(gateway: &Gateway, query: &str) -> Value {
    let response = gateway.respond(Request::new(query), RequestContext::new());
    let response = futures::executor::block_on(response);
    serde_json::from_slice(&response.body.to_bytes()).unwrap()
}

#[test]
fn what_no_root_field_reaches_is_left_out() {
    let sdl = sdl();
    let (whole, pruned) = (types(&whole(&sdl)), types(&pruned(&sdl)));
    assert!(pruned.is_subset(&whole));
    let gone: BTreeSet<&str> = whole.difference(&pruned).map(String::as_str).collect();
    assert_eq!(gone, BTreeSet::from(UNREACHABLE));
}

/// A schema without an option is what it was.
#[test]
fn unreachable_types_stay_unless_asked_for() {
    let types = types(&whole(&sdl()));
    assert!(UNREACHABLE.iter().all(|name| types.contains(*name)));
}

#[test]
fn an_interface_of_a_reached_object_has_only_reached_objects() {
    let gateway = gateway(pruned(&sdl()));
    let possible = |name: &str| {
        let query = format!(r#"{{ __type(name: "{name}") {{ possibleTypes {{ name }} }} }}"#);
        ask(&gateway, &query)["data"]["__type"]["possibleTypes"].clone()
    };
    // No field leads to it, so a ghost is none of its objects that anybody can meet.
    assert_eq!(possible("Named"), json!([{ "name": "User" }]));
    let nodes = json!([{ "name": "User" }, { "name": "Robot" }]);
    assert_eq!(possible("Node"), nodes);
    let lost = ask(&gateway, r#"{ __type(name: "Lost") { name } }"#);
    assert_eq!(lost, json!({ "data": { "__type": null } }));
    let refused = ask(&gateway, "{ node { ... on Ghost { name } } }");
    assert!(
        refused["errors"][0]["message"]
            .as_str()
            .unwrap()
            .contains("Ghost"),
        "{refused}"
    );
}

#[test]
fn introspection_and_the_scalars_of_graphql_stay() {
    let gateway = gateway(pruned(&sdl()));
    let answer = ask(
        &gateway,
        "{ __schema { types { name } directives { name } } }",
    );
    let names = |what: &str| -> BTreeSet<String> {
        let list = answer["data"]["__schema"][what].as_array().unwrap().iter();
        let names = list.map(|it| it["name"].as_str().unwrap().to_owned());
        names.collect()
    };
    let types = names("types");
    for name in ["__Schema", "__Type", "String", "Boolean", "ID", "Float"] {
        assert!(types.contains(name), "{name}");
    }
    assert!(!types.contains("Int"), "nothing is of it");
    assert!(names("directives").contains("deprecated"));
    let answer = ask(
        &gateway,
        "{ node { __typename id ... on Robot { battery { level } } } }",
    );
    assert_eq!(answer["data"]["node"]["battery"]["level"], 0.5);
}

/// Written and read again, a supergraph has what its subgraphs have, whatever clients see of it.
#[test]
fn a_pruned_supergraph_is_written_as_a_whole() {
    let sdl = sdl();
    assert_eq!(pruned(&sdl).to_sdl(), whole(&sdl).to_sdl());
}

#[test]
fn operations_of_all_scenarios_are_valid_as_without_pruning() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let mut found = Vec::new();
    folders(&root, &mut found);
    let mut count = 0;
    for folder in found {
        let sdl = fs::read_to_string(folder.join("supergraph.graphql"))
            .or_else(|_| fs::read_to_string(folder.parent().unwrap().join("supergraph.graphql")))
            .unwrap();
        let query = fs::read_to_string(folder.join("query.graphql")).unwrap();
        let (whole, pruned) = (whole(&sdl), pruned(&sdl));
        let validated = |it: &Supergraph| {
            let document = ExecutableDocument::parse_and_validate(it.api(), &query, "query");
            document
                .map(|it| it.to_string())
                .map_err(|it| it.to_string())
        };
        assert_eq!(validated(&whole), validated(&pruned), "{folder:?}");
        count += 1;
    }
    assert!(count >= 200, "{count}");
}
