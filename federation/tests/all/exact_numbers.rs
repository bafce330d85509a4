//! Numbers that no value of 64 bits holds reach subgraphs as they are written: as variables, as defaults and as
//! literals, in the same process and over HTTP alike, since both are sent the same text.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use bytes::Bytes;
use federation::supergraph::Subgraph;
use federation::transport::request_of;
use federation::{
    Gateway, GatewayOptions, SubgraphRequest, SubgraphTransport, Supergraph, TransportError,
};
use graphql_service::{Limits, Request, RequestContext, Service};
use serde_json::Value as Json;

const SDL: &str = r#"schema @link(url: "https://specs.apollo.dev/join/v0.3", for: EXECUTION) { query: Query }
directive @link(url: String, as: String, for: link__Purpose, import: [link__Import]) repeatable on SCHEMA
directive @join__graph(name: String!, url: String!) on ENUM_VALUE
directive @join__type(graph: join__Graph!) repeatable on OBJECT | INPUT_OBJECT | ENUM | SCALAR
scalar link__Import
enum link__Purpose { SECURITY EXECUTION }
enum join__Graph { A @join__graph(name: "a", url: "") }
scalar Decimal @join__type(graph: A)
input Range @join__type(graph: A) { min: Decimal max: Decimal = 1.50 in: [Range!] }
type Query @join__type(graph: A) { find(x: Decimal, list: [Decimal!], range: Range, f: Float): Int }
"#;

const NUMBERS: [&str; 8] = [
    "12345678901234567890123.4567890123",
    "123456789012345678901234567890",
    "-18446744073709551616",
    "1e400",
    "-0",
    "1.0",
    "1",
    "1.50",
];

#[derive(Default)]
struct Recorded(Mutex<Vec<Bytes>>);

#[async_trait]
impl SubgraphTransport for Recorded {
    async fn send(
        &self,
        _: &Subgraph,
        request: SubgraphRequest,
        _: &RequestContext,
    ) -> Result<Bytes, TransportError> {
        self.0.lock().unwrap().push(request.body);
        Ok(Bytes::from_static(br#"{"data":{"find":1}}"#))
    }
}

/// Sends a request with variables, and returns the response and what the subgraph was sent.
fn sent(query: &str, variables: &str) -> (Json, Option<Bytes>) {
    let supergraph = Supergraph::parse(SDL, "supergraph.graphql").unwrap();
    let recorded = Arc::new(Recorded::default());
    let transport: Arc<Recorded> = Arc::clone(&recorded);
    let gateway = Gateway::new(Arc::new(supergraph), transport, GatewayOptions::default());
    let query = serde_json::to_string(query).unwrap();
    let text = format!(r#"{{"query":{query},"variables":{variables}}}"#);
    let request = Request::from_json(text.as_bytes(), &Limits::default()).unwrap();
    let gateway = gateway.unwrap();
    let response = futures::executor::block_on(gateway.respond(request, RequestContext::new()));
    let response = serde_json::from_slice(&response.body.to_bytes()).unwrap();
    let sent = recorded.0.lock().unwrap().pop();
    (response, sent)
}

/// Returns the variables and the query that a subgraph is sent, as text.
fn passed(query: &str, variables: &str) -> (String, String) {
    let (response, sent) = sent(query, variables);
    let sent = sent.unwrap_or_else(|| panic!("{query} {variables}: {response}"));
    let text = std::str::from_utf8(&sent).unwrap();
    let (query, variables) = match text.split_once(r#","variables":"#) {
        Some((query, variables)) => (query, variables.strip_suffix('}').unwrap()),
        None => (text, ""),
    };
    // A subgraph in the same process reads the same.
    let request = request_of(&sent).unwrap();
    if let Some(values) = &request.variables {
        assert_eq!(request.digits.text(values), variables);
    }
    (query.to_owned(), variables.to_owned())
}

#[test]
fn numbers_in_variables_reach_subgraphs_as_they_are_written() {
    for number in NUMBERS {
        for (ty, argument, value) in [
            ("Decimal", "x", number.to_owned()),
            ("[Decimal!]", "list", format!("[{number},2,{number}]")),
            (
                "Range",
                "range",
                format!(r#"{{"min":{number},"max":1,"in":[{{"max":{number}}}]}}"#),
            ),
        ] {
            let query = format!("query ($v: {ty}) {{ find({argument}: $v) }}");
            let variables = format!(r#"{{"v":{value}}}"#);
            assert_eq!(passed(&query, &variables).1, variables, "{ty}");
        }
        // As a part of a literal.
        let query = "query ($v: Decimal!) { find(range: { min: $v }, list: [$v, 1]) }";
        let variables = format!(r#"{{"v":{number}}}"#);
        assert_eq!(passed(query, &variables).1, variables);
    }
}

#[test]
fn numbers_in_operations_reach_subgraphs_as_they_are_written() {
    for number in NUMBERS {
        let literal =
            format!("{{ find(x: {number}, list: [{number}], range: {{ min: {number} }}) }}");
        let (query, _) = passed(&literal, "{}");
        assert_eq!(query.matches(&format!(": {number}")).count(), 2, "{query}");
        assert!(query.contains(&format!("[{number}]")), "{query}");
        let default = format!("query ($v: Decimal = {number}) {{ find(x: $v) }}");
        let (query, variables) = passed(&default, "{}");
        assert!(query.contains(&format!("= {number})")), "{query}");
        assert_eq!(variables, format!(r#"{{"v":{number}}}"#));
    }
}

#[test]
fn defaults_that_are_filled_in_keep_their_digits() {
    let query = "query ($v: Range) { find(range: $v) }";
    let (_, variables) = passed(query, r#"{"v":{"min":1}}"#);
    assert_eq!(variables, r#"{"v":{"min":1,"max":1.50}}"#);
}

#[test]
fn a_float_that_is_out_of_range_is_refused() {
    let (response, sent) = sent("query ($v: Float) { find(f: $v) }", r#"{"v":1e400}"#);
    assert!(sent.is_none());
    let error = &response["errors"][0];
    assert_eq!(error["extensions"]["code"], "VARIABLE_INVALID");
    assert!(
        error["message"].as_str().unwrap().contains("1e400"),
        "{error}"
    );
}
