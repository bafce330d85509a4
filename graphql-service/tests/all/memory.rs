//! The memory that requests are counted with is the memory that they take.

use std::alloc::System;

use apollo_compiler::Schema;
use graphql_service::{Documents, Limits, Prepared, Request, RequestContext};
use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

const SCHEMA: &str = "
    scalar Any
    input Where { EQ: String, n: Int, OR: [Where!], all: [[Int]] }
    type Query { find(where: [Where!], any: Any): Int }";

const QUERY: &str = "query ($where: [Where!], $any: Any) { find(where: $where, any: $any) }";

/// Bytes of text of the variables of a request.
const TEXT: usize = 200_000;

/// Returns the bytes that the process holds.
fn held() -> usize {
    let stats = ALLOCATOR.stats();
    stats.bytes_allocated - stats.bytes_deallocated
}

/// Returns the JSON text of a request with values of one kind.
fn body(variable: &str, item: &str) -> String {
    let count = TEXT / (item.len() + 1);
    let items = vec![item; count].join(",");
    let query = serde_json::to_string(QUERY).expect("JSON");
    format!("{{\"query\": {query}, \"variables\": {{\"{variable}\": [{items}]}}}}")
}

#[test]
fn variables_are_counted_at_the_size_that_they_have() {
    let schema = Schema::parse_and_validate(SCHEMA, "schema.graphql").expect("a schema");
    let documents = Documents::new(&schema, Limits::default(), 1 << 20);
    // Everything stays.
    let mut kept: Vec<(Request, Prepared)> = Vec::new();
    for (variable, item) in [
        ("where", r#"{"EQ":"a"}"#),
        ("where", "{}"),
        ("where", r#"{"OR":[{"OR":[{"n":1}]}]}"#),
        (
            "where",
            r#"{"EQ":"abcdefghijklmnopqrstuvwxyz","n":12345678}"#,
        ),
        ("where", r#"{"all":[[1,2,3],[4,5,6]]}"#),
        ("any", r#""abc""#),
        ("any", "[[]]"),
        ("any", "12345"),
        ("any", "1.50"),
        ("any", "123456789012345678901234567890.123456789"),
        ("any", r#"[1e400,{"a":1e400}]"#),
        ("any", r#"{"a":1,"b":2,"c":3,"d":4}"#),
    ] {
        let body = body(variable, item);
        let before = held();
        let mut counted = 0;
        while counted < 60 << 20 {
            let request = Request::from_json(body.as_bytes(), &Limits::default());
            let request = request.expect("a request");
            let prepared = documents.read(&request, &RequestContext::new());
            counted += request.footprint();
            kept.push((request, prepared.expect("a valid request")));
        }
        let grown = held() - before;
        assert!(
            counted * 10 >= grown * 9,
            "{item}: {counted} bytes counted, {grown} taken"
        );
        assert!(
            counted <= grown * 2,
            "{item}: {counted} bytes counted, {grown} taken"
        );
    }
    assert!(!kept.is_empty());
}
