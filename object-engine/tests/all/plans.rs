//! What is remembered of a document fits each request: its variables, and the roles of its sender.

use std::sync::Arc;

use graphql_service::{Caller, Request, RequestContext};
use object_engine::{ObjectService, ServiceOptions};
use serde_json::{Value, json};

use crate::fixture::{answer, json, service};
use crate::images;

const SCHEMA: &str = "
id: /soml/plans
specialPrefixes: {base_iri: 'http://e/', vocab_iri: 'http://v/', vocab_prefix: v}
config: {enableCollectionCount: true, enableTypeCount: true, enableAggregates: true, enableConnections: true}
objects:
  Character:
    kind: abstract
    name: v:name
    props:
      name: {range: langString}
      about: {range: langString}
      mass: {range: int}
      nick: {max: inf}
      friend: {range: Character, max: inf}
      home: {range: Planet}
  Human: {inherits: Character, props: {height: {range: int}}}
  Droid: {inherits: Character}
  Planet:
    name: v:title
    props: {title: {}, size: {range: int}, natives: {range: Character, inverseAlias: home, max: inf}}
rbac:
  roles:
    All: {actions: ['*/*/read']}
    NoMass: {actions: ['*/*/read'], notActions: ['Character/mass/read']}
    Planets: {actions: ['Planet/*/read']}
";

const DATA: &str = "
@prefix v: <http://v/> . @prefix : <http://e/> .
:luke a v:Human ; v:name 'Luke'@en, 'Lukas'@de ; v:about 'pilot'@en, 'Pilot'@de ; v:mass 77 ; v:height 172 ; v:nick 'Red Five', 'Wormie' ; v:friend :leia, :r2, :c3 ; v:home :tatooine .
:leia a v:Human ; v:name 'Leia'@en ; v:about 'princess'@en, 'Prinzessin'@de ; v:mass 49 ; v:height 150 ; v:friend :luke, :r2 ; v:home :alderaan .
:r2 a v:Droid ; v:name 'R2-D2'@en ; v:mass 32 ; v:friend :luke, :c3 ; v:home :tatooine .
:c3 a v:Droid ; v:name 'C-3PO'@en ; v:mass 75 ; v:nick 'Goldenrod' ; v:friend :r2 ; v:home :tatooine .
:tatooine a v:Planet ; v:title 'Tatooine' ; v:size 10465 .
:alderaan a v:Planet ; v:title 'Alderaan' ; v:size 12500 .
";

/// Documents, each with variables of requests that follow each other.
const REQUESTS: &[(&str, &[&str])] = &[
    // Roots: ids, filters, pages, counts.
    (
        "query($id: [ID!]) { character(ID: $id) { id friend { id mass } } }",
        &[
            r#"{"id": ["http://e/luke"]}"#,
            r#"{"id": ["http://e/leia", "http://e/r2"]}"#,
            r#"{"id": []}"#,
            "{}",
            r#"{"id": ["no iri"]}"#,
        ],
    ),
    (
        "query($where: Human_Where_Multi, $limit: PositiveInteger, $offset: NonNegativeInteger) { human(where: $where, limit: $limit, offset: $offset, orderBy: {mass: ASC}) { id } n: human_count(where: $where) }",
        &[
            r#"{"where": {"mass": {"GT": 50}}}"#,
            r#"{"limit": 1}"#,
            r#"{"limit": 1, "offset": 1}"#,
            r#"{"limit": 0}"#,
            "{}",
        ],
    ),
    // Lists of objects: two that are alike for one request only.
    (
        "query($a: Character_Where_Multi, $b: Character_Where_Multi) { human { id x: friend(where: $a) { id } y: friend(where: $b) { id mass } } }",
        &[
            r#"{"a": {"mass": {"GT": 50}}, "b": {"mass": {"GT": 50}}}"#,
            r#"{"a": {"mass": {"GT": 50}}, "b": {"mass": {"LT": 50}}}"#,
            r#"{"a": {"mass": {"LT": 40}}}"#,
            r#"{"b": {"friend": {"ID": ["http://e/luke"]}}}"#,
            "{}",
        ],
    ),
    (
        "query($a: Character_Where_Multi) { human { id x: friend(where: $a) { id } y: friend { id } z: friend(where: $a) { mass } } }",
        &[r#"{"a": {}}"#, r#"{"a": {"mass": {"LT": 40}}}"#, "{}"],
    ),
    (
        "query($limit: PositiveInteger, $order: Character_OrderBy) { human { id friend(limit: $limit, orderBy: $order) { id ... on Droid { nick } } } }",
        &[
            r#"{"limit": 1}"#,
            r#"{"limit": 2, "order": {"mass": "DESC"}}"#,
            r#"{"order": {"mass": "ASC"}}"#,
            "{}",
        ],
    ),
    // Below objects of several types.
    (
        "query($a: Character_Where_Multi) { character { id __typename friend(where: $a) { id home { natives(where: $a) { id } } } } }",
        &[
            r#"{"a": {"mass": {"GT": 70}}}"#,
            r#"{"a": {"ID": ["http://e/r2"]}}"#,
            "{}",
        ],
    ),
    // What decides which fields there are, or how they are shown.
    (
        "query($yes: Boolean!) { human { id mass @include(if: $yes) friend @skip(if: $yes) { id } } }",
        &[r#"{"yes": true}"#, r#"{"yes": false}"#, r#"{"yes": true}"#],
    ),
    (
        "query($lang: String) { human(lang: $lang) { name about { value lang } friend { name about { value } } } }",
        &[r#"{"lang": "de"}"#, r#"{"lang": "en"}"#, "{}"],
    ),
    (
        "query($lang: String) { human { friend(lang: $lang) { name about { value } } } }",
        &[r#"{"lang": "de"}"#, r#"{"lang": "en"}"#, "{}"],
    ),
    (
        "query($n: PositiveInteger, $a: Character_Where_Multi) { human { nick(limit: $n) friend_count(where: $a) } }",
        &[
            r#"{"n": 1}"#,
            r#"{"a": {"mass": {"GT": 50}}}"#,
            r#"{"n": 2, "a": {"mass": {"GT": 70}}}"#,
        ],
    ),
    // Connections and aggregates.
    (
        "query($first: Int, $after: String, $where: Character_Where_Multi) { characterConnection(first: $first, after: $after, where: $where) { totalCount edges { cursor node { id } } pageInfo { hasNextPage } } }",
        &[
            r#"{"first": 1}"#,
            r#"{"first": 2, "where": {"mass": {"GT": 40}}}"#,
            r#"{"after": "nonsense"}"#,
            r#"{"first": 0}"#,
            "{}",
        ],
    ),
    (
        "query($order: Character_OrderBy) { characterConnection(orderBy: $order) { nodes { id } edges { cursor } } }",
        &[
            r#"{"order": {"mass": "ASC"}}"#,
            r#"{"order": {"mass": "DESC"}}"#,
            "{}",
        ],
    ),
    (
        "query($where: Human_Where_Multi, $inner: Character_Where_Multi) { human_aggregate(where: $where) { count mass { max } } human { friend_aggregate(where: $inner) { mass { sum } } } }",
        &[
            r#"{"where": {"mass": {"GT": 50}}}"#,
            r#"{"inner": {"mass": {"LT": 50}}}"#,
            "{}",
        ],
    ),
    // Several operations of one document.
    (
        "query a($id: [ID!]) { human(ID: $id) { id } } query b($id: [ID!]) { droid(ID: $id) { id mass } }",
        &[
            r#"{"id": ["http://e/luke"], "operation": "a"}"#,
            r#"{"id": ["http://e/r2"], "operation": "b"}"#,
            r#"{"id": ["http://e/leia"], "operation": "a"}"#,
        ],
    ),
    // Nothing depends on variables.
    (
        "{ character { id mass home { title } } __typename }",
        &["{}", "{}"],
    ),
];

/// Roles of the senders, in turns; the first sender has none.
const ROLES: &[&[&str]] = &[
    &[],
    &["All"],
    &["NoMass"],
    &["Planets"],
    &["Planets", "NoMass"],
];

fn made(options: ServiceOptions) -> ObjectService {
    let store = images::from_turtle(DATA);
    service(SCHEMA, Arc::new(store), options)
}

fn ask(service: &ObjectService, query: &str, variables: &str, roles: Option<&[&str]>) -> Value {
    let mut variables: Value = serde_json::from_str(variables).expect("variables are JSON");
    let operation = variables
        .as_object_mut()
        .expect("an object")
        .remove("operation");
    let body = json!({"query": query, "variables": variables, "operationName": operation});
    let request: Request = serde_json::from_value(body).expect("a request");
    let context = match roles {
        Some(roles) => {
            RequestContext::new().with_caller(Arc::new(Caller::with_roles(roles.iter().copied())))
        }
        None => RequestContext::new(),
    };
    json(&answer(service, request, context))
}

#[test]
fn requests_are_answered_as_if_they_were_the_first_of_their_document() {
    let remembering = made(ServiceOptions::default());
    let forgetful = || made(ServiceOptions::default());
    for (query, requests) in REQUESTS {
        // Each request once after every other one.
        for (turn, first) in requests.iter().enumerate() {
            for variables in [first].into_iter().chain(requests.iter().skip(turn)) {
                let expected = ask(&forgetful(), query, variables, None);
                let errors = expected["errors"].to_string();
                assert!(!errors.contains("GRAPHQL_"), "{query}: {errors}");
                let actual = ask(&remembering, query, variables, None);
                assert_eq!(actual, expected, "{query} {variables}");
            }
        }
    }
}

#[test]
fn senders_see_what_their_own_roles_allow() {
    let enforcing = || made(ServiceOptions::default().with_roles_enforced(true));
    let remembering = enforcing();
    for (query, requests) in REQUESTS {
        for variables in *requests {
            for roles in ROLES {
                let expected = ask(&enforcing(), query, variables, Some(roles));
                let actual = ask(&remembering, query, variables, Some(roles));
                assert_eq!(actual, expected, "{query} {variables} {roles:?}");
            }
        }
    }
}

#[test]
fn lists_of_one_property_are_narrowed_each_by_its_own_variables() {
    let query = "query($a: Character_Where_Multi, $b: Character_Where_Multi) {
        human(ID: \"http://e/luke\") { x: friend(where: $a) { id } y: friend(where: $b) { id } }
    }";
    let service = made(ServiceOptions::default());
    let (light, heavy) = (json!({"mass": {"LT": 40}}), json!({"mass": {"GT": 60}}));
    let (r2, c3) = ("http://e/r2", "http://e/c3");
    for (a, x, b, y) in [(&light, r2, &heavy, c3), (&heavy, c3, &light, r2)] {
        let variables = json!({"a": a, "b": b}).to_string();
        let actual = ask(&service, query, &variables, None);
        let expected = json!({"human": [{"x": [{"id": x}], "y": [{"id": y}]}]});
        assert_eq!(actual["data"], expected);
    }
}
