//! Mutations over HTTP, the records of what they change, and the walk of `docs/writing.md`.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use servers::config::{MutationSettings, Settings, Switch};

use crate::command_line::{code, out, soml};
use crate::documentation::PAGES;
use crate::processes::PATIENCE;
use crate::service::Service;

const PAGE: &str = "../docs/writing.md";
const PLANET: &str = "https://swapi.co/resource/planet/new";

fn create(id: &str) -> Value {
    let query = "mutation($id: ID) { create_Planet(objects: [{id: $id, rdfs_label: \"New\"}]) {
        affected_count { count kind } planet { id rdfs_label } } }";
    json!({ "query": query, "variables": { "id": id } })
}

fn post(service: &Service, key: &str, body: &Value) -> crate::service::Answer {
    let headers = [
        ("content-type", "application/json"),
        ("accept", "application/graphql-response+json"),
        ("idempotency-key", key),
    ];
    service.send("POST", "/graphql", &headers, body.to_string().as_bytes())
}

fn with(mutation: MutationSettings) -> Settings {
    Settings {
        mutation,
        ..Settings::default()
    }
}

#[test]
fn a_mutation_is_carried_out_and_recorded() {
    let service = Service::demo();
    let answer = service.post(&create(PLANET)).json();
    assert_eq!(answer["errors"], Value::Null, "{answer}");
    let read = format!("{{ planet(ID: \"{PLANET}\") {{ rdfs_label }} }}");
    let read: Value = serde_json::from_str(&service.query(&read)).unwrap();
    assert_eq!(read["data"]["planet"][0]["rdfs_label"], "New", "{read}");
    let page = service.get("/changes").json();
    let objects = json!([{ "kind": "created", "type": "Planet", "ids": [PLANET] }]);
    assert_eq!(page["changes"][0]["objects"], objects, "{page}");
    assert_eq!(page["changes"].as_array().unwrap().len(), 1);
    assert_eq!(page["next"], page["changes"][0]["sequence"]);
}

#[test]
fn pages_of_changes_are_bounded_and_go_on() {
    let service = Service::demo();
    for number in 0..3 {
        service.post(&create(&format!("{PLANET}/{number}")));
    }
    let first = service.get("/changes?limit=2").json();
    assert_eq!(first["changes"].as_array().unwrap().len(), 2, "{first}");
    let second = service
        .get(&format!("/changes?limit=2&after={}", first["next"]))
        .json();
    assert_eq!(second["changes"].as_array().unwrap().len(), 1, "{second}");
    let end = service.get(&format!("/changes?after={}", second["next"]));
    assert_eq!(end.json(), json!({ "changes": [], "next": second["next"] }));
    assert_eq!(end.header("cache-control"), "no-store");
    for wrong in ["limit=0", "limit=1001", "after=-1", "after=x"] {
        let answer = service.get(&format!("/changes?{wrong}"));
        let found = (answer.status, answer.code());
        assert_eq!(found, (400, "REQUEST_MALFORMED".to_owned()), "{wrong}");
    }
}

#[test]
fn a_key_makes_a_mutation_happen_once() {
    let service = Service::demo();
    let body = create(PLANET);
    let first = post(&service, "once", &body).json();
    assert_eq!(first["errors"], Value::Null, "{first}");
    let again = post(&service, "once", &body).json();
    assert_eq!(again["extensions"]["idempotentReplay"], true, "{again}");
    assert_eq!(again["data"], first["data"]);
    let changes = service.get("/changes").json();
    assert_eq!(changes["changes"].as_array().unwrap().len(), 1);

    let other = post(
        &service,
        "once",
        &create("https://swapi.co/resource/planet/other"),
    );
    assert_eq!(other.status, 422, "{}", other.text());
    assert_eq!(other.code(), "IDEMPOTENCY_KEY_REUSED");
    assert_eq!(other.json()["data"], Value::Null);

    let long = "x".repeat(256);
    for key in ["", "a b", &long] {
        let refused = post(&service, key, &body);
        let found = (refused.status, refused.code());
        assert_eq!(found, (400, "IDEMPOTENCY_KEY_INVALID".to_owned()));
        assert!(!refused.text().contains("xxx"), "{}", refused.text());
    }
    let query = post(&service, "once", &json!({ "query": "{ __typename }" }));
    assert_eq!(query.status, 200);
}

#[test]
fn pages_of_allowed_origins_may_send_a_key() {
    let settings = Settings {
        cors_origins: service_runtime::Origins::Any,
        ..Settings::default()
    };
    let service = Service::demo_with(settings);
    let headers = [
        ("origin", "https://app.example.org"),
        ("access-control-request-method", "POST"),
        ("access-control-request-headers", "idempotency-key"),
    ];
    let answer = service.send("OPTIONS", "/graphql", &headers, b"");
    let allowed = answer.header("access-control-allow-headers");
    assert!(allowed.contains("idempotency-key"), "{allowed}");
}

#[test]
fn what_is_switched_off_is_not_in_the_api() {
    let on = Service::demo();
    assert!(on.get("/schema.graphql").text().contains("type Mutation"));
    let examples = on.get("/examples").text();
    assert!(examples.contains("dryRun: true"), "{examples}");
    let subgraph = Service::demo_with(Settings {
        federation: Switch::On,
        ..Settings::default()
    });
    let service_sdl = subgraph.query("{ _service { sdl } }");
    assert!(service_sdl.contains("type Planet"), "{service_sdl}");
    assert!(!service_sdl.contains("type Mutation"));

    let off = Service::demo_with(with(MutationSettings {
        enabled: false,
        ..MutationSettings::default()
    }));
    assert!(!off.get("/schema.graphql").text().contains("type Mutation"));
    assert!(!off.get("/examples").text().contains("dryRun"));
    let refused = off.post(&create(PLANET));
    assert_eq!(refused.code(), "GRAPHQL_VALIDATION_FAILED");
    let check = mutation_check(&off);
    assert_eq!(check["status"], "OK", "{check}");
    let message = check["message"].as_str().unwrap();
    assert!(message.contains("graphql.mutation.enabled"), "{message}");
}

fn mutation_check(service: &Service) -> Value {
    let record = service.get("/__health?cache=false").json();
    let checks = record["healthChecks"].as_array().unwrap().clone();
    checks
        .into_iter()
        .find(|check| check["id"] == "1500")
        .unwrap()
}

#[test]
fn health_says_whether_what_is_written_is_kept() {
    let check = mutation_check(&Service::demo());
    assert_eq!(check["status"], "OK", "{check}");
    let message = check["message"].as_str().unwrap();
    assert!(message.contains("in memory only"), "{message}");
    let check = mutation_check(&Service::empty());
    assert_eq!(check["status"], "ERROR", "{check}");
    assert_eq!(check["troubleshooting"], "/__trouble#1500");
}

#[test]
fn new_triples_go_to_the_graph_of_the_settings() {
    let graph = oxrdf::NamedNode::new("http://example.org/written").unwrap();
    let service = Service::demo_with(with(MutationSettings {
        graph: Some(servers::config::Graph(graph.clone())),
        ..MutationSettings::default()
    }));
    service.post(&create(PLANET));
    let from = |graph: &str| {
        let query = format!("{{ planet(ID: \"{PLANET}\", from: [\"{graph}\"]) {{ id }} }}");
        let answer: Value = serde_json::from_str(&service.query(&query)).unwrap();
        assert_eq!(answer["errors"], Value::Null, "{answer}");
        answer["data"]["planet"].as_array().unwrap().len()
    };
    assert_eq!(from(graph.as_str()), 1);
    assert_eq!(from("http://example.org/other"), 0);
}

#[test]
fn old_records_are_removed() {
    let kept = Service::demo();
    let service = Service::demo_with(with(MutationSettings {
        retention: Some(Duration::ZERO),
        ..MutationSettings::default()
    }));
    kept.post(&create(PLANET));
    service.post(&create(PLANET));
    let left = || {
        service.get("/changes").json()["changes"]
            .as_array()
            .unwrap()
            .len()
    };
    let until = Instant::now() + PATIENCE;
    while left() > 0 {
        assert!(Instant::now() < until, "a record is kept");
        std::thread::sleep(Duration::from_millis(100));
    }
    assert_eq!(
        kept.get("/changes").json()["changes"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
}

#[test]
fn the_command_prints_the_changes_of_a_service() {
    let service = Service::demo();
    for number in 0..3 {
        service.post(&create(&format!("{PLANET}/{number}")));
    }
    let run = |arguments: &[&str]| {
        let output = soml(&[&["changes", "--url", &service.base], arguments].concat());
        assert_eq!(code(&output), Some(0), "{output:?}");
        out(&output)
    };
    let text = run(&[]);
    assert_eq!(text.lines().count(), 3, "{text}");
    assert!(
        text.contains(&format!("  created  Planet  <{PLANET}/0>")),
        "{text}"
    );
    let records: Vec<Value> = run(&["--format", "json", "--after", "1"])
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(records.len(), 2);
    assert_eq!(records[0]["sequence"], 2);
    let output = soml(&["changes", "--url", "ftp://localhost"]);
    assert_eq!(code(&output), Some(64));
}

#[test]
fn an_explained_mutation_is_not_carried_out() {
    let mutation = r#"mutation { create_Planet(objects: [{rdfs_label: "X"}]) { planet { id } } }"#;
    let text = out(&soml(&["explain-query", "--demo", "star-wars", mutation]));
    assert!(text.contains("create 1 objects"), "{text}");
    assert!(text.contains("which is rolled back"), "{text}");
}

/// Every `graphql` block of the section "First steps" is sent, one after the other, to one service; the
/// `json` block behind it is the answer.
#[test]
fn the_walk_of_the_page_is_answered_as_it_says() {
    let _page = PAGES.lock();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(PAGE);
    let text = fs::read_to_string(&path).unwrap();
    let service = Service::demo();
    let (before, walk) = text.split_once("\n## First steps\n").unwrap();
    let mut page = format!("{before}\n## First steps\n");
    let (mut rest, mut steps) = (walk, 0);
    while let Some((before, after)) = rest.split_once("```graphql\n") {
        let (query, after) = after.split_once("```").unwrap();
        let (between, after) = after.split_once("```json\n").expect("an answer");
        let (_, behind) = after.split_once("```").unwrap();
        let answer: Value = serde_json::from_str(&service.query(query)).unwrap();
        let answer = serde_json::to_string_pretty(&answer).unwrap();
        page.push_str(&format!(
            "{before}```graphql\n{query}```{between}```json\n{answer}\n```"
        ));
        rest = behind;
        steps += 1;
    }
    page.push_str(rest);
    assert!(steps >= 4, "{steps} steps");
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        fs::write(&path, page).unwrap();
    } else {
        assert_eq!(
            page, text,
            "the page is out of date: run with UPDATE_EXPECT=1"
        );
    }
}
