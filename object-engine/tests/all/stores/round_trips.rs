//! How many queries a request costs: 1, and for each level one per 1,000 parents.

use std::fmt::Write as _;

use graphql_service::Request;
use object_engine::ServiceOptions;

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
    let answer = fixture::json(&explained.response.body);
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
    for &(things, batches) in expected {
        back_end.load(&quads(&data(things)));
        let plain = calls(&back_end, "{ thing { label } }");
        assert_eq!(plain, (1 + batches, things), "{things} things");
        let nested = "{ thing(orderBy: {label: DESC}) { label part { label } } }";
        let expected = (1 + 2 * batches, things);
        assert_eq!(calls(&back_end, nested), expected, "{things} things");
        let paged = "{ thing { part(orderBy: {label: ASC}, limit: 1) { label } } }";
        assert_eq!(calls(&back_end, paged), expected, "{things} things");
    }
}

#[test]
fn what_needs_no_values_costs_no_query_for_them() {
    let back_end = BackEnd::new(Kind::Remote);
    back_end.load(&quads(&data(3)));
    assert_eq!(calls(&back_end, "{ thing { id } }"), (1, 3));
    assert_eq!(calls(&back_end, "{ thing(ID: []) { label } }"), (1, 0));
    assert_eq!(calls(&back_end, "{ thing(from: []) { label } }"), (0, 0));
}

#[test]
fn the_embedded_store_takes_a_step_per_level_and_per_thousand_objects_that_lead_no_further() {
    let back_end = BackEnd::new(Kind::Memory);
    for (things, chunks) in [(1, 1), (1_000, 1), (1_001, 2), (10_000, 10)] {
        back_end.load(&quads(&data(things)));
        let plain = calls(&back_end, "{ thing { label } }");
        assert_eq!(plain, (1 + chunks, things));
        let nested = "{ thing(orderBy: {label: DESC}) { label part { label } } }";
        assert_eq!(calls(&back_end, nested), (2 + chunks, things));
    }
}
