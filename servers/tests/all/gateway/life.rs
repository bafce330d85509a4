//! How a gateway comes to its composite schema, and how it lives with subgraphs that come and go.

use std::time::{Duration, Instant};

use serde_json::json;

use super::process::Gateway;
use super::sockets::{Behaviour, Server, answer, nobody, with_headers};
use super::subgraph::{PLANETS, Subgraph, moons, planets};

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
    let begun = Instant::now();
    let mut gateway = Gateway::start(&[("GRAPHQL_SERVICE_0", &url), ("SERVICE_DWELL", "200")]);
    gateway.wait_for_log("waiting for subgraphs", 4);
    assert!(begun.elapsed() >= 3 * Duration::from_millis(200));
    planets.resume();
    gateway.composed();
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

/// Starts a gateway over servers that give one answer each, by names; returns it without waiting.
fn over_answers(answers: &[(&str, Vec<u8>)]) -> Gateway {
    let mut variables = Vec::new();
    for (number, (name, answer)) in answers.iter().enumerate() {
        let server = Server::start(Behaviour::Answers(answer.clone()));
        variables.push((format!("GRAPHQL_SERVICE_{number}"), server.url()));
        let name = (*name).to_owned();
        variables.push((format!("GRAPHQL_SERVICE_{number}_NAME"), name));
    }
    let variables: Vec<_> = variables
        .iter()
        .map(|(k, v)| (k.as_str(), v.as_str()))
        .collect();
    Gateway::start(&variables)
}

#[test]
fn what_answers_and_is_no_subgraph_ends_the_start_with_a_hint() {
    const JSON: &str = "application/json";
    let page = "<html>not here</html>";
    let denied = r#"{"errors":[{"message":"who are you?"}]}"#;
    let unknown = r#"{"errors":[{"message":"Query has no field _service"}]}"#;
    let removed = r#"{"data":{"_service":{}},"errors":[{"message":"removed",
        "extensions":{"code":"ACCESS_FIELD_REMOVED"}}]}"#;
    let off = r#"{"data":{"_service":{"sdl":null}}}"#;
    let endpoint = "that of the GraphQL endpoint, such as http://localhost:9995/graphql";
    let reasons = [
        (
            "absent",
            answer("404 Not Found", "text/html", page),
            "it answered 404",
            endpoint,
        ),
        (
            "moved",
            with_headers("302 Found", "location: /\r\n", ""),
            "it answered 302",
            "redirects are not followed",
        ),
        (
            "page",
            answer("200 OK", "text/html", page),
            "not a GraphQL response: it is not JSON",
            endpoint,
        ),
        (
            "list",
            answer("200 OK", JSON, "[]"),
            "neither `data` nor `errors`",
            endpoint,
        ),
        (
            "plain",
            answer("200 OK", JSON, unknown),
            "no `_service { sdl }`: Query has no field _service",
            "`graphql.federation.enabled=true`",
        ),
        (
            "off",
            answer("200 OK", JSON, off),
            "no `_service { sdl }`",
            "`graphdql.federation.enabled=true`",
        ),
        (
            "anonymous",
            answer("401 Unauthorized", JSON, denied),
            "demands a token: it answered 401 Unauthorized: who are you?",
            "SECURITY_ENABLED=true",
        ),
        (
            "closed",
            answer("403 Forbidden", JSON, denied),
            "does not allow its schema to be read: it answered 403",
            "`_Service/sdl/read`",
        ),
        (
            "removing",
            answer("200 OK", JSON, removed),
            "does not allow its schema to be read: removed",
            "`_Service/sdl/read`",
        ),
    ];
    let answers: Vec<_> = reasons.iter().map(|it| (it.0, it.1.clone())).collect();
    let (code, log) = over_answers(&answers).end();
    assert_eq!(code, Some(1), "{log}");
    for (name, _, reason, hint) in reasons {
        let line = log
            .lines()
            .find(|line| line.contains(&format!(" {name}: ")));
        let line = line.unwrap_or_else(|| panic!("{name}: {log}"));
        assert!(line.contains(reason), "{name}: {line}");
        let (_, help) = line
            .split_once("; help: ")
            .unwrap_or_else(|| panic!("{line}"));
        assert!(help.contains(hint), "{name}: {line}");
    }
}

#[test]
fn what_may_answer_later_is_waited_for_with_a_hint() {
    let busy = Server::start(Behaviour::Answers(answer(
        "503 Busy",
        "text/plain",
        "later",
    )));
    let (away, busy) = (nobody(), busy.url());
    let gateway = Gateway::start(&[
        ("GRAPHQL_SERVICE_0", &away),
        ("GRAPHQL_SERVICE_0_NAME", "away"),
        ("GRAPHQL_SERVICE_1", &busy),
        ("GRAPHQL_SERVICE_1_NAME", "busy"),
    ]);
    gateway.wait("it waits", |gateway| {
        gateway.get("/__gtg").json()["message"] == "the gateway waits for the subgraphs away, busy"
    });
    let (_, log) = gateway.stop();
    for (name, reason, hint) in [
        (
            "away",
            "it does not answer: ",
            "start the service, or correct its address",
        ),
        (
            "busy",
            "it is not ready: it answered 503",
            "tries again every SERVICE_DWELL",
        ),
    ] {
        let (_, text) = log
            .split_once(&format!("{name}: "))
            .unwrap_or_else(|| panic!("{log}"));
        let text = text.split(" busy: ").next().unwrap();
        assert!(
            text.contains(reason) && text.contains(hint),
            "{name}: {log}"
        );
    }
}

#[test]
fn a_schema_that_is_no_graphql_document_ends_the_start_with_its_place() {
    let planets = Subgraph::planets();
    let broken = Subgraph::start("type Query {\n  moons: [Int\n}", moons);
    let (a, b) = (planets.url("/graphql"), broken.url("/graphql"));
    let mut gateway = Gateway::start(&[
        ("GRAPHQL_SERVICE_0", &a),
        ("GRAPHQL_SERVICE_1", &b),
        ("GRAPHQL_SERVICE_1_NAME", "broken"),
    ]);
    let (code, log) = gateway.end();
    assert_eq!(code, Some(1), "{log}");
    for part in [
        "[INVALID_GRAPHQL]",
        "(at broken:3:",
        "`_service { sdl }` of `broken` returns",
    ] {
        assert!(log.contains(part), "{part}: {log}");
    }
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
    let checks = planets.health_checks().len();
    gateway.wait("health checks", |_| {
        planets.health_checks().len() > checks + 3
    });
    let refused = gateway.post("{ stars }", &[]);
    assert_eq!(refused.code(), "GRAPHQL_VALIDATION_FAILED");
    assert_eq!(planets.asked_for_schema().len(), 1);
    drop(gateway);
    let gateway = Gateway::over(&[&url], &[]);
    assert!(gateway.query("{ stars }").get("data").is_some());
}
