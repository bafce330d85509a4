//! What a gateway that has composed its subgraphs serves.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::Router;
use axum::routing::get;
use serde_json::{Value, json};
use tokio::sync::watch;

use super::process::Gateway;
use super::subgraph::{PLANETS, Said, Subgraph, planets, served};
use crate::processes::PATIENCE;

fn sky() -> (Subgraph, Subgraph) {
    (Subgraph::planets(), Subgraph::moons())
}

fn over(planets: &Subgraph, moons: &Subgraph, variables: &[(&str, &str)]) -> Gateway {
    let urls = [planets.url("/graphql"), moons.url("/graphql")];
    Gateway::over(&[&urls[0], &urls[1]], variables)
}

#[test]
fn an_operation_over_two_subgraphs_is_answered_as_by_one() {
    let (planets, moons) = sky();
    let gateway = over(&planets, &moons, &[]);
    let answer = gateway.query("{ planets { title moons gravity } moonCount }");
    let expected = json!({"data": {"planets": [
        {"title": "Tatooine", "moons": 3, "gravity": 10}, {"title": "Hoth", "moons": 3, "gravity": 10}
    ], "moonCount": 6}});
    assert_eq!(answer, expected);
    let [asked] = planets.asked().try_into().unwrap();
    assert!(!asked.query.contains("moons"), "{}", asked.query);
    let sent = moons.asked();
    let entities = sent
        .iter()
        .find(|asked| asked.query.contains("_entities"))
        .unwrap();
    let expected = json!([
        {"__typename": "Planet", "id": "1", "diameter": 10465},
        {"__typename": "Planet", "id": "2", "diameter": 10465}
    ]);
    assert_eq!(entities.variables["representations"], expected);
}

#[test]
fn the_composite_schema_answers_introspection_with_the_fields_of_extensions() {
    let (planets, moons) = sky();
    let gateway = over(&planets, &moons, &[]);
    let answer = gateway.query("{ __type(name: \"Planet\") { name fields { name } } }");
    let fields = answer["data"]["__type"]["fields"].as_array().unwrap();
    let names: Vec<_> = fields
        .iter()
        .map(|field| field["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["id", "title", "diameter", "moons", "gravity"]);
    assert!(planets.asked().is_empty() && moons.asked().is_empty());
    let schema = gateway.query("{ __schema { types { name } queryType { fields { name } } } }");
    let text = schema.to_string();
    for hidden in ["_service", "_entities", "_Any", "join__", "link__"] {
        assert!(!text.contains(hidden), "{hidden}: {text}");
    }
    let sdl = gateway.get("/schema.graphql").text;
    assert!(
        sdl.contains("moonCount: Int") && !sdl.contains("join__"),
        "{sdl}"
    );
    for hidden in [planets.address.to_string(), moons.address.to_string()] {
        assert!(!sdl.contains(&hidden), "{sdl}");
    }
}

#[test]
fn queries_are_answered_by_get_and_mutations_are_not() {
    let (planets, moons) = sky();
    let gateway = over(&planets, &moons, &[]);
    let reply = gateway.get("/graphql?query=%7B%20moonCount%20%7D");
    assert_eq!(reply.json(), json!({"data": {"moonCount": 6}}));
    planets.asked();
    let mutation = "mutation%20%7B%20rename(id:%221%22,title:%22x%22)%20%7B%20title%20%7D%20%7D";
    let refused = gateway.get(&format!("/graphql?query={mutation}"));
    assert_eq!(
        (refused.status, refused.code()),
        (405, json!("MUTATION_BY_GET"))
    );
    assert_eq!(refused.header("allow"), "POST");
    assert!(planets.asked().is_empty());
}

#[test]
fn a_mutation_goes_to_one_subgraph_whole_and_can_be_switched_off() {
    let (planets, moons) = sky();
    let mutation = "mutation { rename(id: \"1\", title: \"x\") { title moons } }";
    let gateway = over(&planets, &moons, &[]);
    let answer = gateway.query(mutation);
    assert_eq!(
        answer,
        json!({"data": {"rename": {"title": "Renamed", "moons": 3}}})
    );
    let sent = planets.asked();
    let mutations = sent.iter().filter(|asked| asked.query.contains("rename"));
    assert_eq!(mutations.count(), 1);
    drop(gateway);

    let gateway = over(&planets, &moons, &[("GATEWAY_MUTATIONS_ENABLED", "false")]);
    let refused = gateway.post(mutation, &[]);
    assert!(
        refused.json()["errors"][0]["message"].is_string(),
        "{}",
        refused.text
    );
    let schema = gateway.query("{ __schema { mutationType { name } types { name } } }");
    assert_eq!(schema["data"]["__schema"]["mutationType"], json!(null));
    assert!(!schema.to_string().contains("Mutation"), "{schema}");
    assert!(planets.asked().is_empty());
}

#[test]
fn answers_say_for_how_long_they_may_be_kept() {
    let aged = |asked: &super::subgraph::Asked| {
        let said = planets(asked);
        Said {
            headers: vec![("cache-control", "max-age=60".to_owned())],
            ..said
        }
    };
    let (planets, moons) = (Subgraph::start(PLANETS, aged), Subgraph::moons());
    let gateway = over(&planets, &moons, &[("CACHE_MAX_AGE", "5")]);
    let kept = |query: &str, headers: &[(&str, &str)]| {
        let reply = gateway.post(query, headers);
        assert_eq!(reply.status, 200, "{}", reply.text);
        reply.header("cache-control").to_owned()
    };
    // The subgraph's own time, the stand-in, and the shorter of both.
    assert_eq!(kept("{ planets { title } }", &[]), "max-age=60, public");
    assert_eq!(kept("{ moonCount }", &[]), "max-age=5, public");
    assert_eq!(
        kept("{ moonCount planets { title } }", &[]),
        "max-age=5, public"
    );
    let token = [("authorization", "Bearer x")];
    assert_eq!(kept("{ moonCount }", &token), "max-age=5, private");
    // Neither mutations, nor what has errors, nor what no subgraph was asked for.
    assert_eq!(
        kept(
            "mutation { rename(id: \"1\", title: \"x\") { title } }",
            &[]
        ),
        ""
    );
    assert_eq!(kept("{ __typename }", &[]), "");
    assert_eq!(kept("{ nothing }", &[]), "");
    let reply = gateway.post("{ moonCount }", &[]);
    assert_eq!(
        reply.header("vary"),
        "accept, await-data-sequence, authorization"
    );
    drop(gateway);
    let gateway = over(&planets, &moons, &[]);
    assert_eq!(
        gateway.post("{ moonCount }", &[]).header("cache-control"),
        ""
    );
}

#[test]
fn an_answer_with_errors_is_not_kept() {
    let broken = |_: &super::subgraph::Asked| {
        let body = json!({"data": {"moonCount": null}, "errors": [{"message": "WARN: lost",
            "extensions": {"code": "LOST"}}]});
        Said {
            status: 200,
            headers: vec![("cache-control", "max-age=60".to_owned())],
            body,
        }
    };
    let moons = Subgraph::start("type Query { moonCount: Int }", broken);
    let gateway = Gateway::over(&[&moons.url("/graphql")], &[("CACHE_MAX_AGE", "5")]);
    let reply = gateway.post("{ moonCount }", &[]);
    assert_eq!(reply.header("cache-control"), "");
    let error = &reply.json()["errors"][0];
    assert_eq!(error["message"], "WARN: lost");
    assert_eq!(error["extensions"]["code"], "DOWNSTREAM_SERVICE_ERROR");
}

#[test]
fn many_who_ask_for_health_at_once_make_few_requests_to_subgraphs() {
    let planets = Subgraph::planets();
    let asked = Arc::new(AtomicUsize::new(0));
    let counting = Arc::clone(&asked);
    let (release, mut held) = watch::channel(false);
    let health = get(move || async move {
        counting.fetch_add(1, Ordering::SeqCst);
        // Others ask meanwhile.
        let _ = held.wait_for(|is_released| *is_released).await;
        r#"{"status": "OK", "id": "9500"}"#
    });
    let (_runtime, address) = served(Router::new().route("/health", health));
    let health = format!("http://{address}/health");
    // Nobody has looked yet, and nobody looks by himself.
    let gateway = Gateway::over(
        &[&planets.url("/graphql")],
        &[
            ("GRAPHQL_SERVICE_0_HEALTH", &health),
            ("SERVICE_DWELL", "3600000"),
        ],
    );
    let address = gateway.base.strip_prefix("http://").unwrap();
    let asking = (0..50).map(|_| {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let request =
            format!("GET /__gtg HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).unwrap();
        stream
    });
    let asking: Vec<_> = asking.collect();
    // Connections are accepted in their order.
    assert_eq!(gateway.get("/__live").status, 200);
    gateway.wait("somebody looks", |_| asked.load(Ordering::SeqCst) > 0);
    release.send_replace(true);
    for mut stream in asking {
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    }
    let asked = asked.load(Ordering::SeqCst);
    assert!(asked <= 3, "{asked} requests");
}

#[test]
fn the_aggregate_record_has_the_record_of_each_subgraph() {
    let (planets, moons) = sky();
    let health = moons.url("/__health");
    moons.set_health(
        json!({"status": "OK", "id": "9500", "name": "Moons", "type": "graphql",
        "healthChecks": [{"status": "OK", "id": "9501", "type": "sparql"}]}),
    );
    let gateway = over(&planets, &moons, &[("GRAPHQL_SERVICE_1_HEALTH", &health)]);
    let record = gateway.get("/__health").json();
    assert_eq!(
        (&record["status"], &record["id"]),
        (&json!("OK"), &json!("federation-gateway"))
    );
    let [made, own] = record["healthChecks"].as_array().unwrap().as_slice() else {
        panic!("{record:#}");
    };
    assert_eq!(
        (&made["status"], &made["type"]),
        (&json!("OK"), &json!("graphql"))
    );
    assert_eq!(
        (&own["id"], &own["name"]),
        (&json!("9500"), &json!("Moons"))
    );
    assert_eq!(own["healthChecks"][0]["id"], "9501");

    moons.set_health(json!({"status": "ERROR", "id": "9500", "healthChecks": []}));
    let fresh = gateway.get("/__health?cache=false").json();
    assert_eq!(fresh["status"], "ERROR");
    assert_eq!(fresh["healthChecks"][0]["status"], "OK");
    moons.set_health(json!("no record"));
    let fresh = gateway.get("/__health?cache=false").json();
    let made = &fresh["healthChecks"][1];
    assert_eq!(
        (&made["status"], &made["type"]),
        (&json!("ERROR"), &json!("graphql"))
    );
    let addresses = [planets.address.to_string(), moons.address.to_string()];
    let shown = fresh["healthChecks"].to_string();
    assert!(
        !addresses
            .iter()
            .any(|it| shown.contains(&format!("http://{it}"))),
        "{shown}"
    );
}

#[test]
fn the_gateway_is_good_to_go_if_all_subgraphs_are() {
    let (planets, moons) = sky();
    let good = moons.url("/__gtg");
    let variables = [
        ("GRAPHQL_SERVICE_1_GTG", good.as_str()),
        ("SERVICE_DWELL", "50"),
    ];
    let gateway = over(&planets, &moons, &variables);
    let reply = gateway.get("/__gtg");
    assert_eq!(
        (reply.status, reply.json()),
        (200, json!({"gtg": "OK", "message": "OK"}))
    );
    moons.set_good_to_go(false);
    gateway.wait("good to go", |gateway| gateway.get("/__gtg").status == 503);
    let reply = gateway.get("/__gtg").json();
    assert_eq!(reply["gtg"], "ERROR");
    // Requests are answered all the same.
    assert_eq!(
        gateway.query("{ moonCount }"),
        json!({"data": {"moonCount": 6}})
    );
    moons.set_good_to_go(true);
    gateway.wait("good to go again", |gateway| {
        gateway.get("/__gtg").status == 200
    });
}

#[test]
fn pages_and_probes_are_those_of_every_service() {
    let (planets, moons) = sky();
    let gateway = over(&planets, &moons, &[]);
    let about = gateway.get("/__about").json();
    assert_eq!(about["name"], "federation-gateway");
    assert!(
        about["version"].is_string() && about["uptimeSeconds"].is_number(),
        "{about}"
    );
    let trouble = gateway.get("/__trouble").text;
    assert!(
        trouble.contains("id=\"3100\"") && trouble.contains("id=\"3200\""),
        "{trouble}"
    );
    for path in ["/__live", "/__ready"] {
        assert_eq!(gateway.get(path).status, 200, "{path}");
    }
    let page = gateway.send("GET", "/", &[("accept", "text/html")], "");
    assert_eq!(page.status, 200);
    assert!(page.text.contains("composite schema of"), "{}", page.text);
    let examples = gateway.get("/examples").json();
    for example in examples["examples"].as_array().unwrap() {
        let answer = gateway.query(example["query"].as_str().unwrap());
        assert!(answer.get("errors").is_none(), "{example}: {answer}");
    }
    for path in ["/soml", "/soml-rbac", "/changes", "/nothing"] {
        assert_eq!(gateway.get(path).status, 404, "{path}");
    }
    let version: Value = gateway.query("{ __typename }");
    assert_eq!(version, json!({"data": {"__typename": "Query"}}));
}
