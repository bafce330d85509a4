//! Which levels are read together over an endpoint: as many as make the server look at hardly more than
//! it would level by level; and the answer is the one of the embedded store.

use graphql_service::Request;
use object_engine::{ObjectService, ServiceOptions};
use serde_json::Value;

use crate::back_end::{BackEnd, Kind};
use crate::fixture;
use crate::stores::quads;

const SCHEMA: &str = "
id: /soml/ahead
specialPrefixes: {base_iri: 'http://e/', vocab_iri: 'http://v/', vocab_prefix: v}
objects:
  Named: {kind: abstract, props: {label: {}}}
  Person:
    inherits: Named
    props:
      nick: {max: inf}
      size: {range: int}
      home: {range: City}
      knows: {range: Person, max: inf}
      likes: {range: Named, max: inf}
  City:
    inherits: Named
    props:
      people: {range: Person, inverseAlias: home, rangeCheck: true, max: inf}
      lies: {range: City}
";

const DATA: &str = "
    @prefix : <http://e/> . @prefix v: <http://v/> .
    :a a v:Person ; v:label \"Ann\" ; v:nick \"A\", \"An\" ; v:home :x ; v:knows :b, :c, :nobody, \"text\", [] ;
       v:likes :x, :b, :thing .
    :b a v:Person ; v:label \"Bob\" ; v:nick \"B\" ; v:home :x ; v:knows :a .
    :c a v:Person ; v:label \"Cem\" ; v:home :y ; v:knows :a, :b .
    :robot v:label \"Rob\" ; v:home :x .
    :thing v:label \"thing\" .
    :a v:size 2 . :b v:size \"large\" . :c v:size 1 .
    :x a v:City ; v:label \"X\" ; v:lies :y .
    :y a v:City ; v:label \"Y\" ; v:lies :z, :y .
    :z a v:City ; v:label \"Z\" .
    [] v:home :x ; a v:Person ; v:label \"nobody\" .
";

/// Operations, each with the number of queries that it costs.
const OPERATIONS: &[(&str, u64)] = &[
    // An id is not asked for its type first.
    ("{ person(ID: \"http://e/a\") { label } }", 1),
    ("{ person(ID: \"http://e/x\") { label } }", 1),
    (
        "{ person(ID: \"http://e/none\") { label knows { id } } }",
        1,
    ),
    (
        "{ named(ID: [\"http://e/a\", \"http://e/x\", \"http://e/thing\"]) { __typename label } }",
        1,
    ),
    (
        "{ person(ID: [\"http://e/c\", \"http://e/a\", \"http://e/c\"]) { id nick } }",
        1,
    ),
    // With further conditions on it.
    (
        "{ person(ID: [\"http://e/a\", \"http://e/b\"], where: {label: {RE: \"^B\"}}) { label } }",
        1,
    ),
    (
        "{ person(ID: \"http://e/a\", orderBy: {label: DESC}) { label } }",
        1,
    ),
    ("{ person(where: {ID: \"http://e/a\"}) { label } }", 1),
    (
        "{ person(ID: [\"http://e/a\", \"http://e/b\"], orderBy: {label: DESC}) { label } }",
        2,
    ),
    // What needs no values is selected alone.
    ("{ person(ID: \"http://e/a\") { id } }", 1),
    // Chains of single values, and a list of which single values are read.
    (
        "{ person(ID: \"http://e/a\") { home { lies { lies { label } } } } }",
        1,
    ),
    (
        "{ person(ID: \"http://e/a\") { knows { label home { label lies { label } } } } }",
        1,
    ),
    (
        "{ person(ID: [\"http://e/a\", \"http://e/b\"]) { knows { label home { label } } } }",
        1,
    ),
    (
        "{ person(ID: \"http://e/a\") { likes { __typename label ... on City { lies { label } } } } }",
        1,
    ),
    // A list below the first list, of objects that are reached once.
    (
        "{ person(ID: \"http://e/a\") { home { people { nick knows { label } } } } }",
        1,
    ),
    (
        "{ person(ID: \"http://e/a\") { knows { nick knows { label } } } }",
        1,
    ),
    // Lists with a page or an order.
    (
        "{ person(ID: \"http://e/a\") { knows(orderBy: {label: DESC}, limit: 1) { label } } }",
        2,
    ),
    (
        "{ person(ID: \"http://e/a\") { home { people(orderBy: {home: {label: ASC}, label: DESC}) { label } } } }",
        2,
    ),
    (
        "{ person(ID: \"http://e/a\") { home { people(where: {label: {RE: \"o\"}}) { label } } } }",
        1,
    ),
    (
        "{ person(ID: \"http://e/a\") { home { people(ID: []) { label } label } } }",
        1,
    ),
    // One level by two ways.
    (
        "query { person(ID: \"http://e/a\") { home { ...P } knows { home { ...P } } } }
         fragment P on City { lies { label } }",
        2,
    ),
    // Root fields are read at once, each with what it leads to.
    (
        "{ a: person(ID: \"http://e/a\") { home { label } } b: city(ID: \"http://e/x\") { people { label } } }",
        2,
    ),
    // Few objects, however they were selected.
    ("{ person { knows { label } } }", 2),
    ("{ person(from: [], ID: \"http://e/a\") { label } }", 0),
];

/// Operations in which many objects may lead to the same one, and this to many: it is found out first which they are. Each with
/// the number of queries where each form of a query goes all ways, and where levels may stand apart in it.
const SHARED: &[(&str, u64, u64)] = &[
    (
        "{ person(ID: \"http://e/a\") { knows { knows { nick } } } }",
        2,
        1,
    ),
    (
        "{ person(ID: \"http://e/a\") { knows { home { people { label } } } } }",
        2,
        1,
    ),
    (
        "{ person(ID: [\"http://e/a\", \"http://e/b\"]) { home { people { label } } } }",
        2,
        1,
    ),
    // With objects that are of no type, and none of them.
    (
        "{ person(ID: [\"http://e/a\", \"http://e/none\"]) { likes { label ... on City { people { label } } } } }",
        2,
        1,
    ),
    // One level that stands apart below another one is read in another query.
    (
        "{ person(ID: \"http://e/a\") { knows { home { people { knows { nick } } } } } }",
        4,
        2,
    ),
    // Lists with an order stand apart as others do.
    (
        "{ person(ID: [\"http://e/a\", \"http://e/c\"]) { home { people(orderBy: {label: DESC}) { id } } } }",
        2,
        1,
    ),
];

/// Operations of which the objects are found with their values, each with the number of queries where the form of a query has no
/// subqueries, and where it has.
const FOUND: &[(&str, u64, u64)] = &[
    (
        "{ person(ID: [\"http://e/a\", \"http://e/b\"], limit: 1) { label } }",
        2,
        1,
    ),
    (
        "{ person(limit: 2) { label home { label lies { label } } } }",
        2,
        1,
    ),
    ("{ person(limit: 2, offset: 1) { nick } }", 2, 1),
    (
        "{ person(orderBy: {label: DESC}, limit: 2, offset: 1) { label home { label } } }",
        2,
        1,
    ),
    (
        "{ person(where: {label: {RE: \"b\"}}) { label nick } }",
        2,
        1,
    ),
    (
        "{ person(where: {home: {ID: \"http://e/x\"}}) { knows { id } } }",
        2,
        1,
    ),
    // However many they are, single objects that they lead to are no more.
    (
        "{ person(where: {label: {RE: \"b\"}}) { home { label lies { __typename label } } } }",
        2,
        1,
    ),
    // The server tries once to cut a page of what it orders otherwise.
    (
        "{ person(orderBy: {size: ASC}, limit: 2) { label home { label } } }",
        3,
        3,
    ),
    // More is skipped than shown, and an order that leads through other objects.
    (
        "{ person(orderBy: {label: ASC}, limit: 1, offset: 2) { label } }",
        2,
        2,
    ),
    (
        "{ person(orderBy: {home: {label: ASC}, label: DESC}, limit: 2) { label } }",
        2,
        2,
    ),
];

fn service(back_end: &BackEnd) -> ObjectService {
    back_end.load(&quads(DATA));
    fixture::service(SCHEMA, back_end.graph_store(), ServiceOptions::default())
}

/// Returns an answer, with its lists sorted unless an order is asked for, and the number of queries.
fn answer(service: &ObjectService, operation: &str) -> (Value, u64) {
    let explained = fixture::explained(service, Request::new(operation));
    let mut body = fixture::json(&explained.response.body.to_bytes());
    if !operation.contains("orderBy") {
        sort(&mut body);
    }
    let explanation = explained.explanation.expect("the request was executed");
    (body, explanation.round_trips)
}

fn sort(value: &mut Value) {
    match value {
        Value::Array(elements) => {
            elements.iter_mut().for_each(sort);
            elements.sort_by_key(Value::to_string);
        }
        Value::Object(fields) => {
            // Positions in lists depend on their order.
            fields.remove("path");
            fields.values_mut().for_each(sort);
        }
        _ => {}
    }
}

fn check(kind: Kind) {
    let is_nested = matches!(kind, Kind::RemoteNested | Kind::Rdf4j { .. } | Kind::Fuseki);
    let (expected, asked) = (BackEnd::new(Kind::Image), BackEnd::new(kind));
    let (expected, asked) = (service(&expected), service(&asked));
    let shared = SHARED
        .iter()
        .chain(FOUND)
        .map(|&(operation, all_ways, apart)| {
            let trips = if is_nested { apart } else { all_ways };
            (operation, trips)
        });
    for (operation, trips) in OPERATIONS.iter().copied().chain(shared) {
        let (body, _) = answer(&expected, operation);
        assert_eq!(answer(&asked, operation), (body, trips), "{operation}");
    }
}

#[test]
fn levels_are_read_together_where_that_is_cheap() {
    check(Kind::Remote);
}

#[test]
fn so_they_are_in_the_nested_form() {
    check(Kind::RemoteNested);
}

#[test]
fn so_they_are_where_graphs_stand_apart() {
    check(Kind::RemoteApart);
}

#[test]
#[ignore = "needs a running RDF4J Server named by RDF4J_URL"]
fn so_they_are_over_rdf4j() {
    check(Kind::Rdf4j { infers: false });
}

#[test]
#[ignore = "needs a running Fuseki server named by FUSEKI_URL"]
fn so_they_are_over_fuseki() {
    check(Kind::Fuseki);
}

/// A store whose options forbid it, or whose batches are too small, is asked level by level.
#[test]
fn a_store_of_unknown_kind_is_asked_level_by_level() {
    let operation = "{ person(ID: [\"http://e/a\", \"http://e/b\"]) { knows { label } } }";
    for (adjust, trips) in [
        (
            (|options| options.tree_form = None) as fn(&mut graph_store::remote::RemoteOptions),
            3,
        ),
        (|options| options.batch = 1, 7),
    ] {
        let back_end = BackEnd::adjusted(Kind::Remote, adjust);
        let (_, found) = answer(&service(&back_end), operation);
        assert_eq!(found, trips);
    }
}
