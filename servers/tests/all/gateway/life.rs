//! How a gateway comes to its composite schema, and how it lives with subgraphs that come and go.

use serde_json::json;

use super::process::Gateway;
use super::subgraph::{MOONS, PLANETS, Subgraph, moons, planets};

#[test]
fn the_port_opens_at_once_and_requests_get_503_until_the_subgraphs_are_there() {
    let (planets, mut moons) = (Subgraph::planets(), Subgraph::moons());
    moons.pause();
    let (first, second) = (planets.url("/graphql"), moons.url("/graphql"));
    let mut gateway = Gateway::start(&[
        ("GRAPHQL_SERVICE_0", &first),
        ("GRAPHQL_SERVICE_1", &second),
        ("GRAPHQL_SERVICE_1_NAME", "moons"),
        ("SERVICE_DWELL", "50"),
    ]);
    gateway.wait("it waits", |gateway| {
        gateway.get("/__gtg").json()["message"] == "the gateway waits for the subgraphs moons"
    });
    let reply = gateway.post("{ moonCount }", &[]);
    assert_eq!(
        (reply.status, reply.code()),
        (503, json!("GATEWAY_STARTING"))
    );
    assert_eq!(reply.header("retry-after"), "1");
    assert_eq!(gateway.get("/__gtg").status, 503);
    assert_eq!(gateway.get("/__live").status, 200);
    let record = gateway.get("/__health").json();
    assert_eq!(record["status"], "ERROR");
    assert_eq!(record["healthChecks"][0]["status"], "OK");
    assert_eq!(record["healthChecks"][1]["status"], "ERROR");
    moons.resume();
    gateway.composed();
    assert_eq!(
        gateway.query("{ moonCount }"),
        json!({"data": {"moonCount": 6}})
    );
    gateway.wait("good to go", |gateway| gateway.get("/__gtg").status == 200);
}

#[test]
fn a_subgraph_is_waited_for_until_it_is_good_to_go() {
    let planets = Subgraph::planets();
    planets.set_good_to_go(false);
    let (url, good) = (planets.url("/graphql"), planets.url("/__gtg"));
    let mut gateway = Gateway::start(&[
        ("GRAPHQL_SERVICE_0", &url),
        ("GRAPHQL_SERVICE_0_GTG", &good),
        ("SERVICE_DWELL", "30"),
    ]);
    gateway.wait("it waits", |gateway| {
        let said = gateway.get("/__gtg").json();
        said["message"].as_str().unwrap().contains("waits for")
    });
    assert!(planets.asked_for_schema().is_empty());
    planets.set_good_to_go(true);
    gateway.composed();
    assert_eq!(planets.asked_for_schema().len(), 1);
}

#[test]
fn subgraphs_are_asked_again_after_each_dwell() {
    let mut planets = Subgraph::planets();
    planets.pause();
    let url = planets.url("/graphql");
    let mut gateway = Gateway::start(&[("GRAPHQL_SERVICE_0", &url), ("SERVICE_DWELL", "400")]);
    std::thread::sleep(std::time::Duration::from_millis(1_000));
    planets.resume();
    gateway.composed();
    let (_, log) = gateway.stop();
    let tries = log.matches("waiting for subgraphs").count();
    assert!((2..=5).contains(&tries), "{tries}: {log}");
}

#[test]
fn a_faulty_composition_ends_the_start_with_all_reasons() {
    let first = Subgraph::start(
        "type Query { planet: Int, star: Int } type Planet @key(fields: \"id\") { id: ID! size: Int }",
        planets,
    );
    let second = Subgraph::start(
        "type Query { planet: Int, star: Int } extend type Planet @key(fields: \"id\") { id: ID! @external }",
        moons,
    );
    let (a, b) = (first.url("/graphql"), second.url("/graphql"));
    let mut gateway = Gateway::start(&[
        ("GRAPHQL_SERVICE_0", &a),
        ("GRAPHQL_SERVICE_0_NAME", "objects"),
        ("GRAPHQL_SERVICE_1", &b),
        ("GRAPHQL_SERVICE_1_NAME", "extension"),
    ]);
    let (code, log) = gateway.end();
    assert_eq!(code, Some(1), "{log}");
    for field in ["Query.planet", "Query.star"] {
        assert!(log.contains(field), "{field}: {log}");
    }
    assert!(log.contains("INVALID_FIELD_SHARING"), "{log}");
}

#[test]
fn a_query_field_of_two_subgraphs_is_a_conflict_that_a_prefix_avoids() {
    let first = Subgraph::planets();
    let second = Subgraph::start("type Query { planets: Int }", moons);
    let (a, b) = (first.url("/graphql"), second.url("/graphql"));
    let mut gateway = Gateway::start(&[("GRAPHQL_SERVICE_0", &a), ("GRAPHQL_SERVICE_1", &b)]);
    let (code, log) = gateway.end();
    assert_eq!(code, Some(1), "{log}");
    assert!(
        log.contains("`config.queryPfx`") && log.contains("`objects_planets`"),
        "{log}"
    );
    second.set_sdl("type Query { objects_planets: Int }");
    let gateway = Gateway::over(&[&a, &b], &[]);
    let answer = gateway.query("{ planets { title } }");
    assert_eq!(answer["data"]["planets"][1]["title"], "Hoth");
}

#[test]
fn what_answers_and_is_no_subgraph_ends_the_start_with_a_hint() {
    let service = Subgraph::start_with(PLANETS, Some("t"), planets);
    let moons = Subgraph::start(MOONS, moons);
    let (a, b) = (service.url("/graphql"), moons.url("/elsewhere"));
    let mut gateway = Gateway::start(&[("GRAPHQL_SERVICE_0", &a), ("GRAPHQL_SERVICE_1", &b)]);
    let (code, log) = gateway.end();
    assert_eq!(code, Some(1), "{log}");
    assert!(
        log.contains("401") && log.contains("SECURITY_ENABLED=true"),
        "{log}"
    );
    assert!(log.contains("404"), "{log}");
}

#[test]
fn a_subgraph_that_goes_away_costs_its_fields_until_it_is_back() {
    let (planets, mut moons) = (Subgraph::planets(), Subgraph::moons());
    let urls = [planets.url("/graphql"), moons.url("/graphql")];
    let gateway = Gateway::over(&[&urls[0], &urls[1]], &[("SERVICE_DWELL", "50")]);
    moons.pause();
    let answer = gateway.query("{ planets { title moons } }");
    assert_eq!(
        answer["data"]["planets"][0],
        json!({"title": "Tatooine", "moons": null})
    );
    assert_eq!(
        answer["errors"][0]["extensions"]["code"],
        "DOWNSTREAM_SERVICE_ERROR"
    );
    assert!(
        !answer.to_string().contains(&moons.address.to_string()),
        "{answer}"
    );
    gateway.wait("the record", |gateway| {
        gateway.get("/__health").json()["status"] == "ERROR"
    });
    moons.resume();
    gateway.wait("the record", |gateway| {
        gateway.get("/__health").json()["status"] == "OK"
    });
    let answer = gateway.query("{ planets { moons } }");
    assert_eq!(answer["data"]["planets"][0], json!({"moons": 3}));
}

#[test]
fn the_composite_schema_stays_as_it_is_until_a_restart() {
    let planets = Subgraph::planets();
    let url = planets.url("/graphql");
    let gateway = Gateway::over(&[&url], &[("SERVICE_DWELL", "20")]);
    planets.set_sdl(&format!("{PLANETS} extend type Query {{ stars: Int }}"));
    std::thread::sleep(std::time::Duration::from_millis(200));
    let refused = gateway.post("{ stars }", &[]);
    assert_eq!(refused.code(), "GRAPHQL_VALIDATION_FAILED");
    assert_eq!(planets.asked_for_schema().len(), 1);
    drop(gateway);
    let gateway = Gateway::over(&[&url], &[]);
    assert!(gateway.query("{ stars }").get("data").is_some());
}
