//! What the HTTP transport does when servers and networks misbehave: an error within the deadline,
//! no panic, never a short list, and the next request works when the server is back.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod broken_off;
pub(crate) mod endpoint;
mod failover;
mod garbage;
mod kinds;
mod proxy;
mod rdf4j;
mod retries;
mod waiting;

use std::time::Duration;

use graph_store::query::Dataset;
use graph_store::remote::http::{ConnectionOptions, HttpEndpoint, ServerKind, ServerType};
use graph_store::remote::{EndpointQuery, Rows, SparqlEndpoint};
use graph_store::{CallContext, StoreError};
use oxrdf::{Literal, NamedNode, Term};
use spargebra::{Query, SparqlParser};

/// How long a test waits for what must happen, on a busy machine too.
const PATIENCE: Duration = Duration::from_secs(60);

/// Options for a server on this machine: no retries, and no time-out that something which works could reach.
fn options(addresses: &str) -> ConnectionOptions {
    ConnectionOptions {
        addresses: addresses.parse().unwrap(),
        server: ServerType::Known(ServerKind::Sparql11),
        max_retries: 0,
        retry_interval: Duration::from_millis(20),
        connection_request_timeout: PATIENCE,
        connect_timeout: PATIENCE,
        health_check_timeout: PATIENCE,
        ..ConnectionOptions::default()
    }
}

fn client(options: ConnectionOptions) -> HttpEndpoint {
    HttpEndpoint::new(options).unwrap()
}

fn query() -> Query {
    let parser = SparqlParser::new();
    parser
        .parse_query("SELECT ?s ?o WHERE { ?s ?p ?o }")
        .unwrap()
}

fn until(time: Duration) -> CallContext {
    CallContext::new()
        .with_timeout(time)
        .with_request_id("the-request")
}

async fn ask(client: &HttpEndpoint) -> Result<Rows, StoreError> {
    ask_within(client, PATIENCE).await
}

/// Asks, and insists that the deadline ends it.
async fn ask_within(client: &HttpEndpoint, time: Duration) -> Result<Rows, StoreError> {
    let context = until(time);
    let (query, dataset) = (query(), Dataset::default());
    let text = query.to_string();
    let asked = EndpointQuery {
        query: &query,
        text: &text,
        dataset: &dataset,
    };
    let answer = client.select(asked, &context);
    let answer = tokio::time::timeout(time + PATIENCE, answer).await;
    answer.expect("the deadline ends it")
}

/// Waits until something is so.
async fn comes_to(is_so: impl Fn() -> bool) {
    let coming = async {
        while !is_so() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    let come = tokio::time::timeout(PATIENCE, coming).await;
    come.expect("it happens");
}

/// What the servers of the tests answer, when they answer.
fn whole() -> Rows {
    let node = |name: &str| Some(Term::from(NamedNode::new(format!("urn:{name}")).unwrap()));
    let text = Literal::new_language_tagged_literal("ä\t\"x\"", "de").unwrap();
    Rows {
        width: 2,
        terms: vec![
            node("a"),
            Some(Literal::from(1).into()),
            node("b"),
            Some(text.into()),
            node("c"),
            None,
        ],
    }
}

/// The same as JSON, whose columns come in another order.
const JSON: &str = concat!(
    r#"{"head":{"vars":["o","s"]},"results":{"bindings":["#,
    r#"{"s":{"type":"uri","value":"urn:a"},"o":{"type":"literal","value":"1","#,
    r#""datatype":"http://www.w3.org/2001/XMLSchema#integer"}},"#,
    r#"{"s":{"type":"uri","value":"urn:b"},"#,
    r#""o":{"type":"literal","value":"ä\t\"x\"","xml:lang":"de"}},"#,
    r#"{"s":{"type":"uri","value":"urn:c"}}]}}"#,
);

/// The same as tab-separated values.
const TSV: &str = "?o\t?s\n1\t<urn:a>\n\"ä\\t\\\"x\\\"\"@de\t<urn:b>\n\t<urn:c>\n";
