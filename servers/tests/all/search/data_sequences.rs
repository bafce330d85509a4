//! A client that has changed data finds what it has written: a search waits for the change that it names.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant, SystemTime};

use graph_store::write::QuadChange;
use oxrdf::vocab::xsd;
use oxrdf::{GraphName, Literal, NamedNode, Quad};
use search_service::Engines;
use serde_json::{Value, json};

use super::stoppable::Stoppable;
use super::{Sky, World, add_planet, commit, embedded, image, on_both_engines};
use crate::processes::{Running, agent, base};

const A: &str = "@prefix v: <http://e/> . v:a a v:Planet ; v:title \"A\" .";

on_both_engines! {
    a_search_waits_until_it_finds_the_change_that_it_names
    what_others_change_is_found_by_a_comparison_on_demand
}

/// Searches everything, once it has some changes.
fn awaiting(sky: &Sky, sequences: &str) -> Value {
    let root = &sky.root;
    let query = format!("{{ {root} {{ total {{ value }} }} }}");
    let body = json!({ "query": query }).to_string();
    let headers = [
        ("content-type", "application/json"),
        ("await-data-sequence", sequences),
    ];
    let answer = sky
        .service
        .send("POST", "/graphql", &headers, body.as_bytes());
    let json = answer.json();
    match &json["errors"] {
        Value::Null => json["data"][root]["total"]["value"].clone(),
        errors => errors[0]["extensions"]["code"].clone(),
    }
}

fn a_search_waits_until_it_finds_the_change_that_it_names(world: &World) {
    let data = image(A);
    let mut parts = world.parts(data.clone());
    // Nobody looks for changes by itself as long as the test takes.
    parts.options.refresh_interval = Duration::from_secs(3_600);
    let sky = world.serve_parts(parts);
    sky.wait("the index is followed", |sky| {
        sky.info()["following"]["state"] == "HERE"
    });
    assert_eq!(awaiting(&sky, "0"), 1);
    add_planet(&*data, "b");
    assert_eq!(sky.total(), 1);
    assert_eq!(awaiting(&sky, "1"), 2);
    for name in ["c", "d", "e"] {
        add_planet(&*data, name);
    }
    assert_eq!(awaiting(&sky, "4"), 5);
    // Those of another store, which a gateway may pass on too, are not waited for.
    add_planet(&*data, "f");
    assert_eq!(awaiting(&sky, "5, 1000"), 6);
    add_planet(&*data, "g");
    assert_eq!(awaiting(&sky, "1000"), 6);
    assert_eq!(awaiting(&sky, "many"), "REQUEST_MALFORMED");
}

#[test]
fn a_search_waits_no_longer_than_its_request_may_take() {
    let mut world = World::embedded();
    world.settings.request_timeout = Duration::from_secs(3);
    let (data, engine) = (image(A), Stoppable::new(embedded()));
    let sky = world.serve_parts(world.parts_over(data.clone(), Engines::of(engine.clone())));
    engine.hold_bulks(true);
    add_planet(&*data, "b");
    let begun = Instant::now();
    assert_eq!(awaiting(&sky, "1"), "INDEX_BEHIND");
    assert!(begun.elapsed() >= Duration::from_secs(2), "it has waited");
    assert_eq!(sky.total(), 1, "whoever does not wait is answered");
    engine.hold_bulks(false);
    sky.wait("the change is found", |sky| awaiting(sky, "1") == 2);
}

#[test]
fn where_nothing_is_followed_a_search_cannot_wait() {
    let mut world = World::embedded();
    world.settings.request_timeout = Duration::from_secs(3);
    let engine = embedded();
    drop(world.serve_parts(world.parts_over(image(A), Engines::of(engine.clone()))));
    let mut parts = world.parts_over(image(A), Engines::of(engine));
    parts.data = None;
    let sky = world.serve_parts(parts);
    assert_eq!(sky.total(), 1);
    // The index says how far it is, whoever builds it.
    assert_eq!(awaiting(&sky, "0"), 1);
    assert_eq!(awaiting(&sky, "1"), "INDEX_BEHIND");
}

/// Asks for a comparison of the indexes with the data.
fn refresh(sky: &Sky) -> (u16, Value) {
    let path = "/soml/sky/search/refresh";
    let answer = sky.service.send("POST", path, &[], b"");
    (answer.status, answer.json())
}

/// Waits until a comparison has ended well.
fn refreshed(sky: &Sky) -> Value {
    sky.wait("the comparison has ended", |sky| {
        sky.info()["refresh"]["state"] != "RUNNING"
    });
    let refresh = sky.info()["refresh"].clone();
    assert_eq!(refresh["state"], "DONE", "{refresh}");
    refresh
}

fn what_others_change_is_found_by_a_comparison_on_demand(world: &World) {
    let data = image(A);
    let sky = world.serve_parts(world.parts(data.clone()));
    sky.wait_until_ok("2200");
    assert_eq!(refresh(&sky).0, 202);
    let nothing = refreshed(&sky);
    assert_eq!(
        (&nothing["compared"], &nothing["repaired"]),
        (&json!(1), &json!(0))
    );
    // A change whose record says nothing of it.
    super::change_unseen(&*data, "b");
    sky.wait("the index has come to it", |sky| {
        sky.info()["indexes"][0]["sequence"] == 1
    });
    assert_eq!(sky.total(), 1);
    let (status, begun) = refresh(&sky);
    assert_eq!((status, &begun["refresh"]["schema"]), (202, &json!("sky")));
    assert_eq!(refreshed(&sky)["repaired"], 1);
    assert_eq!(sky.total(), 2);
    let other = sky
        .service
        .send("POST", "/soml/other/search/refresh", &[], b"");
    assert_eq!(other.status, 404);
}

/// A value that is mended by others, and an object that the engine does not take.
#[test]
fn a_comparison_says_what_documents_lack() {
    let world = World::embedded();
    let data = image(&format!("{A} v:b a v:Planet ; v:size \"large\" ."));
    let engine = Stoppable::new(embedded());
    engine.refuse_planet(usize::MAX, "c", 400);
    let sky = world.serve_parts(world.parts_over(data.clone(), Engines::of(engine.clone())));
    sky.wait_until_ok("2200");
    assert_eq!(sky.info()["indexes"][0]["malformedValues"], 1);
    let size = |value: Literal| {
        let node = |name| NamedNode::new_unchecked(format!("http://e/{name}"));
        Quad::new(node("b"), node("size"), value, GraphName::DefaultGraph)
    };
    let mended = QuadChange {
        removed: vec![size(Literal::from("large"))],
        added: vec![size(Literal::new_typed_literal("5", xsd::INT))],
    };
    commit(&*data, "mends", SystemTime::now(), mended, Vec::new());
    super::change_unseen(&*data, "c");
    assert_eq!(refresh(&sky).0, 202);
    assert_eq!(refreshed(&sky)["repaired"], 1);
    sky.wait("what they lack is said", |sky| {
        let index = &sky.info()["indexes"][0];
        index["malformedValues"] == 0 && index["rejected"] == 1
    });
    let index = &sky.info()["indexes"][0];
    assert_eq!(index["refused"][0]["iri"], "http://e/c");
    assert_eq!(index["problems"][0]["code"], "REJECTED");
    // A change of the object itself tries it again.
    engine.refuse(0, |_, _| None);
    add_planet(&*data, "c");
    sky.wait_until_ok("2200");
    assert_eq!(sky.total(), 3);
}

#[test]
fn what_a_client_has_written_it_finds_through_the_gateway() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_soml"));
    command.args(["serve", "--demo", "star-wars", "--port", "0"]);
    for property in [
        "search.port=0",
        "gateway.port=0",
        "graphql.mutation.enabled=true",
        "indexer.refreshInterval=3600000",
    ] {
        command.args(["--set", property]);
    }
    let running = Running::start(command.stderr(Stdio::null()));
    let said = running.said_until("Composed:");
    let url = |word: &str| format!("{}/graphql", base(&said, word));
    let (objects, gateway) = (url("GraphQL:"), url("Gateway:"));
    let send = |url: &str, query: &str, awaited: Option<&str>| -> (Option<String>, Value) {
        let mut request = agent().post(url).content_type("application/json");
        if let Some(awaited) = awaited {
            request = request.header("await-data-sequence", awaited);
        }
        let mut answer = request
            .send(json!({ "query": query }).to_string())
            .expect("an answer");
        let said = answer.headers().get("data-sequence");
        let said = said.map(|said| said.to_str().expect("numbers").to_owned());
        let text = answer.body_mut().read_to_string().expect("text");
        (said, serde_json::from_str(&text).expect("JSON"))
    };
    for name in ["Zyxwvut", "Tuvwxyz"] {
        let create = format!(
            "mutation {{ create_Planet(objects: [{{rdfs_label: \"{name}\"}}]) {{ affected_count {{ count }} }} }}"
        );
        let (said, answer) = send(&objects, &create, None);
        let said = said.unwrap_or_else(|| panic!("{answer}"));
        let search = format!(
            "{{ planet_search(query: {{match: {{rdfs_label: {{query: \"{name}\"}}}}}}) \
             {{ total {{ value }} hits {{ planet {{ rdfs_label }} }} }} }}"
        );
        let (nothing, found) = send(&gateway, &search, Some(&said));
        assert_eq!(nothing, None);
        let search = &found["data"]["planet_search"];
        assert_eq!(search["total"]["value"], 1, "{found}");
        assert_eq!(search["hits"][0]["planet"]["rdfs_label"], name, "{found}");
    }
}
