//! Persisted queries, trusted documents, batches, plans on request, and metrics.

use serde_json::{Value, json};

use super::process::{Gateway, Reply};
use super::subgraph::Subgraph;

/// The SHA-256 hash of `{ moonCount }`.
const HASH: &str = "7ffb0936b3be1bec9f7e69a0dfdd0cee8afe5e7a8e274668aa89d48331862e15";

/// The hash of the mutation of these tests.
const MUTATION: &str = "79060e7fa1d932a477f222d1c48309716571c0112762a4a2b3741426dff9c28e";

fn send(gateway: &Gateway, body: &Value) -> Reply {
    let headers = [
        ("content-type", "application/json"),
        ("accept", "application/json"),
    ];
    gateway.send("POST", "/graphql", &headers, &body.to_string())
}

fn named(query: Option<&str>, hash: &str) -> Value {
    let mut body = json!({"extensions": {"persistedQuery": {"version": 1, "sha256Hash": hash}}});
    if let Some(query) = query {
        body["query"] = query.into();
    }
    body
}

fn over_moons(variables: &[(&str, &str)]) -> (Subgraph, Subgraph, Gateway) {
    let (planets, moons) = (Subgraph::planets(), Subgraph::moons());
    let urls = [planets.url("/graphql"), moons.url("/graphql")];
    let gateway = Gateway::over(&[&urls[0], &urls[1]], variables);
    (planets, moons, gateway)
}

#[test]
fn a_query_is_sent_once_and_named_from_then_on() {
    let (_planets, _moons, gateway) = over_moons(&[]);
    let unknown = send(&gateway, &named(None, HASH));
    assert_eq!(unknown.status, 200);
    assert_eq!(
        unknown.json()["errors"][0]["message"],
        "PersistedQueryNotFound"
    );
    assert_eq!(unknown.code(), "PERSISTED_QUERY_NOT_FOUND");
    let answer = json!({"data": {"moonCount": 6}});
    assert_eq!(
        send(&gateway, &named(Some("{ moonCount }"), HASH)).json(),
        answer
    );
    assert_eq!(send(&gateway, &named(None, HASH)).json(), answer);
    let extensions = named(None, HASH)["extensions"].to_string();
    let escaped = extensions
        .replace('{', "%7B")
        .replace('}', "%7D")
        .replace('"', "%22");
    let by_get = gateway.get(&format!("/graphql?extensions={escaped}"));
    assert_eq!(by_get.json(), answer);
    let wrong = send(&gateway, &named(Some("{ planets { title } }"), HASH));
    assert_eq!(wrong.code(), "PERSISTED_QUERY_MISMATCH");
}

#[test]
fn a_named_mutation_is_not_sent_by_get_either() {
    let (planets, _moons, gateway) = over_moons(&[]);
    let mutation = "mutation { rename(id: \"1\", title: \"x\") { title } }";
    assert!(
        send(&gateway, &named(Some(mutation), MUTATION))
            .json()
            .get("errors")
            .is_none()
    );
    planets.asked();
    let extensions = named(None, MUTATION)["extensions"].to_string();
    let escaped = extensions
        .replace('{', "%7B")
        .replace('}', "%7D")
        .replace('"', "%22");
    let refused = gateway.get(&format!("/graphql?extensions={escaped}"));
    assert_eq!(refused.status, 405, "{}", refused.text);
    assert!(planets.asked().is_empty());
}

#[test]
fn queries_of_clients_are_not_kept_where_that_is_off() {
    let (_planets, _moons, gateway) = over_moons(&[("GATEWAY_PERSISTEDQUERIES_ENABLED", "false")]);
    let refused = send(&gateway, &named(None, HASH));
    assert_eq!(
        refused.json()["errors"][0]["message"],
        "PersistedQueryNotSupported"
    );
}

#[test]
fn trusted_documents_are_named_and_can_be_the_only_ones() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("documents.json");
    std::fs::write(&file, json!({"count": "{ moonCount }"}).to_string()).unwrap();
    let (_planets, _moons, gateway) = over_moons(&[
        ("GATEWAY_TRUSTEDDOCUMENTS_FILE", file.to_str().unwrap()),
        ("GATEWAY_TRUSTEDDOCUMENTS_REQUIRED", "true"),
    ]);
    let answer = json!({"data": {"moonCount": 6}});
    assert_eq!(send(&gateway, &named(None, "count")).json(), answer);
    assert_eq!(gateway.query("{ moonCount }"), answer);
    let refused = gateway.post("{ planets { title } }", &[]);
    assert_eq!(refused.code(), "OPERATION_NOT_TRUSTED");
    let schema = gateway.post("{ __schema { queryType { name } } }", &[]);
    assert_eq!(schema.code(), "OPERATION_NOT_TRUSTED");
    drop(gateway);
    std::fs::write(&file, "[]").unwrap();
    let mut gateway = Gateway::start(&[
        ("GRAPHQL_SERVICE_0", "http://127.0.0.1:9/"),
        ("GATEWAY_TRUSTEDDOCUMENTS_FILE", file.to_str().unwrap()),
    ]);
    let (code, log) = gateway.end();
    assert_eq!(code, Some(64), "{log}");
    assert!(log.contains("gateway.trustedDocuments.file"), "{log}");
}

#[test]
fn batches_are_off_unless_allowed_and_bounded() {
    let batch = json!([
        {"query": "{ moonCount }"},
        {"query": "{ nothing }"},
        {"query": "{ planets { title } }"}
    ]);
    let (_planets, _moons, gateway) = over_moons(&[]);
    let refused = send(&gateway, &batch);
    assert_eq!(
        (refused.status, refused.code()),
        (400, json!("REQUEST_MALFORMED"))
    );
    drop(gateway);
    let (_planets, _moons, gateway) = over_moons(&[("GATEWAY_BATCHING_MAXOPERATIONS", "3")]);
    let reply = send(&gateway, &batch);
    assert_eq!(reply.status, 200, "{}", reply.text);
    let answers = reply.json();
    let [first, second, third] = answers.as_array().unwrap().as_slice() else {
        panic!("{answers}");
    };
    assert_eq!(first, &json!({"data": {"moonCount": 6}}));
    assert_eq!(
        second["errors"][0]["extensions"]["code"],
        "GRAPHQL_VALIDATION_FAILED"
    );
    assert_eq!(third["data"]["planets"][1]["title"], "Hoth");
    let long = json!(vec![json!({"query": "{ moonCount }"}); 4]);
    for wrong in [long, json!([])] {
        let refused = send(&gateway, &wrong);
        assert_eq!(
            (refused.status, refused.code()),
            (400, json!("BATCH_TOO_LONG")),
            "{wrong}"
        );
    }
    assert_eq!(
        gateway.query("{ moonCount }"),
        json!({"data": {"moonCount": 6}})
    );
}

#[test]
fn the_plan_is_shown_on_request_where_that_is_on() {
    let asked = json!({"query": "{ planets { moons } }", "extensions": {"explain": true}});
    let (_planets, _moons, gateway) = over_moons(&[]);
    assert!(send(&gateway, &asked).json().get("extensions").is_none());
    drop(gateway);
    let (_planets, _moons, gateway) = over_moons(&[("GRAPHQL_EXPLAIN_ENABLED", "true")]);
    let answer = send(&gateway, &asked).json();
    assert_eq!(answer["data"]["planets"][0], json!({"moons": 3}));
    let plan = answer["extensions"]["explain"]["plan"].as_array().unwrap();
    assert!(
        plan[0].as_str().unwrap().starts_with("waves 2, requests 2"),
        "{plan:?}"
    );
    assert!(gateway.query("{ moonCount }").get("extensions").is_none());
}

#[test]
fn metrics_say_what_subgraphs_cost_where_that_is_on() {
    let (_planets, _moons, gateway) = over_moons(&[]);
    assert_eq!(gateway.get("/metrics").status, 404);
    drop(gateway);
    let (_planets, mut moons, gateway) = over_moons(&[
        // The name of the property before all services had metrics.
        ("GATEWAY_METRICS_ENABLED", "true"),
        ("GRAPHQL_SERVICE_1_NAME", "moons"),
    ]);
    gateway.query("{ moonCount }");
    moons.pause();
    gateway.query("{ moonCount }");
    let reply = gateway.get("/metrics");
    assert!(
        reply
            .header("content-type")
            .starts_with("text/plain; version=0.0.4")
    );
    for line in [
        "graphql_subgraph_request_duration_seconds_count{service_name=\"federation-gateway\",graphql_subgraph_name=\"moons\",graphql_subgraph_outcome=\"answered\"} 1",
        "graphql_subgraph_request_duration_seconds_count{service_name=\"federation-gateway\",graphql_subgraph_name=\"moons\",graphql_subgraph_outcome=\"failed\"} 1",
        "graphql_operation_duration_seconds_count{service_name=\"federation-gateway\",graphql_operation_type=\"query\",graphql_outcome=\"executed\"} 1",
    ] {
        assert!(
            reply.text.lines().any(|known| known == line),
            "{line}: {}",
            reply.text
        );
    }
}
