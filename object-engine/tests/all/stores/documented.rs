//! The queries of `docs/stores.md` are those that are sent.

use std::fmt::Write as _;
use std::path::Path;

use graphql_service::Request;
use object_engine::ServiceOptions;

use crate::back_end::{BackEnd, Kind};
use crate::fixture;
use crate::stores::quads;
use crate::stores::round_trips::SCHEMA;

const DATA: &str = "
    @prefix : <http://e/> .
    @prefix v: <http://v/> .
    :t1 a v:Thing ; v:label \"a\" ; v:part :p1 .
    :p1 a v:Part ; v:label \"b\" .
";

#[test]
fn the_documented_queries_are_sent() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/stores.md");
    let page = std::fs::read_to_string(&file).expect("the page");
    let (before, rest) = page.split_once("```graphql\n").expect("an example");
    let (query, rest) = rest.split_once("\n```\n").expect("an example that ends");
    let prose = rest.rsplit_once("```\n").expect("queries below").1;
    let mut expected = format!("{before}```graphql\n{query}\n```\n");
    for sparql in sent(query) {
        write!(expected, "\n```sparql\n{sparql}\n```\n").expect("writing to a string");
    }
    expected.push_str(prose);
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(&file, expected).expect("the page is written");
    } else {
        assert_eq!(page, expected, "UPDATE_EXPECT=1 rewrites the page");
    }
}

/// Returns the queries for a request, in the order in which they were answered.
fn sent(query: &str) -> Vec<String> {
    let back_end = BackEnd::new(Kind::Remote);
    back_end.load(&quads(DATA));
    let service = fixture::service(SCHEMA, back_end.graph_store(), ServiceOptions::default());
    let explained = fixture::explained(&service, Request::new(query));
    let answer = fixture::json(&explained.response.body.to_bytes());
    let part = &answer["data"]["thing"][0]["part"][0]["label"];
    assert_eq!(part, "b", "{answer}");
    let explanation = explained.explanation.expect("the request was executed");
    let steps = explanation.steps.into_iter();
    let queries: Vec<String> = steps.filter_map(|step| step.sparql).collect();
    assert_eq!(queries.len(), 3, "{queries:?}");
    queries
}
