//! How many queries a request costs: 1, and for each level at most one per 1,000 parents.

use std::fmt::Write as _;

use graphql_gen::typesystem::FederationMode;
use graphql_service::Request;
use object_engine::ServiceOptions;
use serde_json::{Value, json};

use crate::back_end::{BackEnd, Kind};
use crate::fixture;
use crate::stores::quads;

pub(crate) const SCHEMA: &str = "
id: /soml/trips
specialPrefixes: {base_iri: 'http://e/', vocab_iri: 'http://v/', vocab_prefix: v}
objects:
  Thing: {props: {label: {}, part: {range: Part, max: inf}}}
  Part: {props: {label: {}}}
";

/// Returns things with a part each.
fn data(things: usize) -> String {
    let mut text = String::from("@prefix : <http://e/> . @prefix v: <http://v/> .\n");
    for number in 0..things {
        writeln!(
            text,
            ":t{number} a v:Thing ; v:label \"{number}\" ; v:part :p{number} .
             :p{number} a v:Part ; v:label \"part {number}\" ."
        )
        .expect("writing to a string");
    }
    text
}

/// Returns the number of calls to the store, and the number of things in the answer.
fn calls(back_end: &BackEnd, query: &str) -> (u64, usize) {
    let store = back_end.graph_store();
    let service = fixture::service(SCHEMA, store, ServiceOptions::default());
    let explained = fixture::explained(&service, Request::new(query));
    let answer = fixture::json(&explained.response.body.to_bytes());
    let explanation = explained.explanation.expect("the request was executed");
    assert_eq!(answer.get("errors"), None, "{answer}");
    (
        explanation.round_trips,
        answer["data"]["thing"].as_array().map_or(0, Vec::len),
    )
}

#[test]
fn one_query_selects_and_one_per_thousand_parents_fetches_a_level() {
    check(
        Kind::Remote,
        &[(1, 1), (1_000, 1), (1_001, 2), (10_000, 10)],
    );
}

#[test]
fn graphs_that_stand_apart_cost_no_query_more() {
    check(Kind::RemoteApart, &[(1_001, 2)]);
}

#[test]
#[ignore = "needs a running RDF4J Server named by RDF4J_URL"]
fn rdf4j_is_asked_as_often() {
    check(Kind::Rdf4j { infers: false }, &[(1_001, 2), (10_000, 10)]);
}

#[test]
#[ignore = "needs a running Fuseki server named by FUSEKI_URL"]
fn fuseki_is_asked_as_often() {
    check(Kind::Fuseki, &[(1_001, 2), (10_000, 10)]);
}

/// Checks the number of queries for numbers of things, each with the number of its batches.
fn check(kind: Kind, expected: &[(usize, u64)]) {
    let back_end = BackEnd::new(kind);
    let is_nested = matches!(kind, Kind::Rdf4j { .. } | Kind::Fuseki);
    for &(things, batches) in expected {
        back_end.load(&quads(&data(things)));
        let plain = calls(&back_end, "{ thing { label } }");
        // It is tried to read few of them together with their values.
        let attempts = u64::from(is_nested && things > 1_000);
        assert_eq!(plain, (attempts + 1 + batches, things), "{things} things");
        let nested = "{ thing(orderBy: {label: DESC}) { label part { label } } }";
        // Few things are read together with their parts.
        let levels = if things <= 100 { 1 } else { 2 };
        let expected = (1 + levels * batches, things);
        assert_eq!(calls(&back_end, nested), expected, "{things} things");
        let expected = (attempts + 1 + 2 * batches, things);
        let paged = "{ thing { part(orderBy: {label: ASC}, limit: 1) { label } } }";
        assert_eq!(calls(&back_end, paged), expected, "{things} things");
    }
}

#[test]
fn types_with_paths_of_their_own_cost_no_query_more() {
    let soml = "
id: /soml/trips
specialPrefixes: {base_iri: 'http://e/', vocab_iri: 'http://v/', vocab_prefix: v}
config: {enableAggregates: true, enableConnections: true}
objects:
  Thing: {kind: abstract, props: {size: {range: int}, next: {range: Thing}}}
  Large: {inherits: Thing}
  Small: {inherits: Thing, props: {size: {rdfProp: v:little}, next: {rdfProp: v:after}}}
";
    let back_end = BackEnd::new(Kind::Remote);
    let data = "@prefix : <http://e/> . @prefix v: <http://v/> .
        :a a v:Large ; v:size 3 ; v:little 9 ; v:next :b .
        :b a v:Small ; v:size 9 ; v:little 2 ; v:after :a .
        :c a v:Small ; v:little 1 ; v:next :a .";
    back_end.load(&quads(data));
    let service = fixture::service(soml, back_end.graph_store(), ServiceOptions::default());
    for (query, trips, expected) in [
        (
            "{ thing(where: {size: {LT: 9}}, orderBy: {next: {size: ASC}, size: ASC}) { size } }",
            2,
            r#"{"data":{"thing":[{"size":1},{"size":3},{"size":2}]}}"#,
        ),
        (
            "{ thing(where: {next: {size: {GT: 2}}}, orderBy: {size: ASC}) { size next { size } } }",
            3,
            r#"{"data":{"thing":[{"size":2,"next":{"size":3}}]}}"#,
        ),
        (
            "{ thingConnection(orderBy: {size: DESC}, first: 1) { nodes { size } } }",
            2,
            r#"{"data":{"thingConnection":{"nodes":[{"size":3}]}}}"#,
        ),
        (
            "{ thing_aggregate { size { max count } } }",
            2,
            r#"{"data":{"thing_aggregate":{"size":{"max":3,"count":3}}}}"#,
        ),
    ] {
        let explained = fixture::explained(&service, Request::new(query));
        let body = String::from_utf8(explained.response.body.to_vec()).expect("UTF-8");
        assert_eq!(body, expected, "{query}");
        let explanation = explained.explanation.expect("the request was executed");
        assert_eq!(explanation.round_trips, trips, "{query}");
    }
}

#[test]
fn what_needs_no_values_costs_no_query_for_them() {
    let back_end = BackEnd::new(Kind::Remote);
    back_end.load(&quads(&data(3)));
    assert_eq!(calls(&back_end, "{ thing { id } }"), (1, 3));
    assert_eq!(calls(&back_end, "{ thing(from: []) { label } }"), (0, 0));
}

#[test]
fn what_nothing_can_satisfy_costs_no_query() {
    let back_end = BackEnd::new(Kind::Remote);
    back_end.load(&quads(&data(3)));
    for arguments in [
        "ID: []",
        "ID: \"no IRI\"",
        "where: {ID: [\"no IRI\"]}",
        "where: {id: {IN: [\"no IRI\"]}}",
        "where: {id: {EQ: \"no IRI\"}}",
        "where: {label: {IN: []}}",
        "where: {OR: []}",
        "where: {NOT: {}}",
        "where: {part: {ID: \"no IRI\"}}",
        "where: {AND: [{label: {EQ: \"1\"}}, {ID: []}]}, orderBy: {label: ASC}",
    ] {
        let query = format!("{{ thing({arguments}) {{ label }} }}");
        assert_eq!(calls(&back_end, &query), (0, 0), "{arguments}");
    }
    // Beside something that is asked, and alone in its level.
    let parts = "{ thing { label part(ID: \"no IRI\") { label } } }";
    assert_eq!(calls(&back_end, parts), (2, 3));
    let parts = "{ thing { part(where: {label: {IN: []}}) { label } } }";
    assert_eq!(calls(&back_end, parts), (1, 3));
    let thing = "{ thing(where: {NOT: {ID: \"no IRI\"}}) { id } }";
    assert_eq!(calls(&back_end, thing), (1, 3));
}

#[test]
fn the_embedded_store_takes_a_step_per_level_and_per_thousand_objects_that_lead_no_further() {
    let back_end = BackEnd::new(Kind::Image);
    for (things, chunks) in [(1, 1), (1_000, 1), (1_001, 2), (10_000, 10)] {
        back_end.load(&quads(&data(things)));
        let plain = calls(&back_end, "{ thing { label } }");
        assert_eq!(plain, (1 + chunks, things));
        let nested = "{ thing(orderBy: {label: DESC}) { label part { label } } }";
        assert_eq!(calls(&back_end, nested), (2 + chunks, things));
    }
}

#[test]
fn few_entities_cost_a_query_and_many_one_more_per_thousand_representations() {
    check_entities(Kind::Remote, &[(1, 1), (100, 1), (1_000, 2), (10_000, 11)]);
}

#[test]
#[ignore = "needs a running RDF4J Server named by RDF4J_URL"]
fn rdf4j_is_asked_as_often_for_entities() {
    check_entities(
        Kind::Rdf4j { infers: false },
        &[(1, 1), (1_000, 1), (10_000, 11)],
    );
}

#[test]
#[ignore = "needs a running Fuseki server named by FUSEKI_URL"]
fn fuseki_is_asked_as_often_for_entities() {
    check_entities(Kind::Fuseki, &[(1, 1), (1_000, 1), (10_000, 11)]);
}

/// Checks the answers to `_entities` for numbers of representations, and the number of queries that each costs.
/// Every hundredth one is of an object that is not there.
fn check_entities(kind: Kind, expected: &[(usize, u64)]) {
    let back_end = BackEnd::new(kind);
    let mut options = ServiceOptions::default();
    options.api = options.api.with_federation(FederationMode::V2);
    for &(count, trips) in expected {
        back_end.load(&quads(&data(count)));
        let service = fixture::service(SCHEMA, back_end.graph_store(), options.clone());
        let numbers = (0..count).rev();
        let named = |number: usize| match number % 100 {
            99 => "http://e/nothing".to_owned(),
            _ => format!("http://e/t{number}"),
        };
        let of = |number| json!({ "__typename": "Thing", "id": named(number) });
        let representations: Vec<Value> = numbers.clone().map(of).collect();
        let query =
            "query($r: [_Any!]!) { _entities(representations: $r) { ... on Thing { label } } }";
        let body = json!({ "query": query, "variables": { "r": representations } });
        let request: Request = serde_json::from_value(body).expect("a request");
        let explained = fixture::explained(&service, request);
        let answer = fixture::json(&explained.response.body.to_bytes());
        let found = numbers.map(|number| match number % 100 {
            99 => Value::Null,
            _ => json!({ "label": number.to_string() }),
        });
        let found: Vec<Value> = found.collect();
        assert_eq!(answer["data"]["_entities"], Value::Array(found), "{count}");
        let explanation = explained.explanation.expect("the request was executed");
        assert_eq!(explanation.round_trips, trips, "{count} representations");
    }
}
