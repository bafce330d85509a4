//! Health, good-to-go, troubleshooting, about, probes, shutdown.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::{Value, json};
use servers::config::Settings;

use crate::processes::PATIENCE;
use crate::service::Service;

const PLANETS: &str = include_str!("../data/soml/swapi-schema-planets.yaml");

fn check<'a>(record: &'a Value, id: &str) -> &'a Value {
    let checks = record["healthChecks"].as_array().unwrap();
    checks.iter().find(|check| check["id"] == id).unwrap()
}

#[test]
fn the_health_record_of_the_demo_is_ok() {
    let service = Service::demo();
    let answer = service.get("/__health");
    assert_eq!(answer.status, 200);
    let record = answer.json();
    assert_eq!(record["status"], "OK");
    assert_eq!(record["id"], "object-service");
    assert_eq!(record["type"], "graphql");
    for (id, kind) in [
        ("1200", "sparql"),
        ("1300", "soml"),
        ("1350", "soml-rbac"),
        ("1400", "queryService"),
        ("1500", "mutationService"),
    ] {
        let check = check(&record, id);
        assert_eq!(check["status"], "OK", "{record:#}");
        assert_eq!(check["type"], kind);
        assert_eq!(check["healthChecks"], json!([]));
    }
}

#[test]
fn without_a_schema_health_says_what_to_do_and_gtg_is_503() {
    let service = Service::empty();
    let answer = service.get("/__health?cache=false");
    let record = answer.json();
    assert_eq!(
        (answer.status, record["status"].as_str()),
        (200, Some("ERROR"))
    );
    let schema = check(&record, "1300");
    assert_eq!(schema["status"], "ERROR");
    assert_eq!(schema["troubleshooting"], "/__trouble#1300");
    assert!(schema["impact"].is_string() && schema["message"].is_string());
    assert_eq!(check(&record, "1200")["status"], "WARNING");

    let gtg = service.get("/__gtg");
    assert_eq!((gtg.status, gtg.code().as_str()), (503, "SCHEMA_NOT_BOUND"));
    assert_eq!(service.get("/__ready").status, 200);
    assert_eq!(service.get("/__live").status, 200);
    assert!(service.get("/__trouble").text().contains("id=\"1300\""));
}

#[test]
fn binding_a_schema_is_seen_in_health_at_once() {
    let service = Service::empty();
    assert_eq!(service.get("/__health").json()["status"], "ERROR");
    let headers = [("content-type", "text/yaml")];
    assert_eq!(
        service
            .send("POST", "/soml", &headers, PLANETS.as_bytes())
            .status,
        201
    );
    assert_eq!(
        service
            .send("PUT", "/soml/swapi-planets/objects", &[], b"")
            .status,
        200
    );
    assert_eq!(
        check(&service.get("/__health").json(), "1300")["status"],
        "OK"
    );
}

#[test]
fn good_to_go_has_its_record() {
    let service = Service::demo();
    let answer = service.get("/__gtg");
    assert_eq!(
        (answer.status, answer.json()),
        (200, json!({ "gtg": "OK", "message": "OK" }))
    );
    assert_eq!(answer.header("cache-control"), "no-store");
}

#[test]
fn about_tells_version_and_schema() {
    let about = Service::demo().get("/__about").json();
    assert_eq!(about["schema"], "swapi");
    assert_eq!(about["version"], env!("CARGO_PKG_VERSION"));
}

#[test]
fn a_malformed_parameter_is_400() {
    let answer = Service::empty().get("/__health?cache=perhaps");
    assert_eq!(
        (answer.status, answer.code().as_str()),
        (400, "REQUEST_MALFORMED")
    );
}

#[test]
fn shutdown_ends_within_its_bound_although_a_client_hangs() {
    let settings = Settings {
        request_timeout: 10 * PATIENCE,
        ..Settings::default()
    };
    let mut service = Service::demo_with(settings);
    let mut stream = TcpStream::connect(service.base.trim_start_matches("http://")).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let head = "POST /graphql HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
        Content-Length: 10\r\nExpect: 100-continue\r\n\r\n";
    stream.write_all(head.as_bytes()).unwrap();
    // The service waits for the body, which never comes.
    let mut status = [0; 12];
    stream.read_exact(&mut status).unwrap();
    assert_eq!(&status, b"HTTP/1.1 100");
    // This waits for less time than the request may take.
    service.stop();
}

#[test]
fn the_root_is_for_browsers() {
    let service = Service::demo();
    let page = service.send("GET", "/", &[("accept", "text/html,*/*;q=0.8")], b"");
    assert_eq!(page.status, 200);
    assert!(
        page.header("content-security-policy")
            .contains("script-src 'self'")
    );
    assert!(page.text().contains("Ontotext Star Wars Ontology"));
    assert_eq!(service.get("/").status, 404);
    let page = page.text();
    let folder = page
        .split("\"graphiql/")
        .nth(1)
        .unwrap()
        .split('/')
        .next()
        .unwrap();
    let script = service.get(&format!("/graphiql/{folder}/graphiql.min.js"));
    assert_eq!(script.status, 200);
    assert!(script.header("cache-control").contains("immutable"));
    let tag = script.header("etag");
    let etag = [("if-none-match", tag.as_str())];
    let path = format!("/graphiql/{folder}/page.js");
    assert_eq!(service.send("GET", &path, &etag, b"").status, 304);
    assert_eq!(
        service.get("/graphiql/old/page.js").header("cache-control"),
        "no-cache"
    );
    assert_eq!(
        service.get(&format!("/graphiql/{folder}/none.js")).status,
        404
    );
}

#[test]
fn a_client_that_never_ends_its_headers_is_let_go() {
    let settings = Settings {
        header_timeout: Duration::from_millis(200),
        ..Settings::default()
    };
    let service = Service::demo_with(settings);
    let mut stream = TcpStream::connect(service.base.trim_start_matches("http://")).unwrap();
    // The service may have let it go already.
    let _ = stream.write_all(b"POST /graphql HTTP/1.1\r\nHost: x\r\n");
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    if let Err(error) = stream.read_to_end(&mut Vec::new()) {
        // What arrives after the end is answered by a reset.
        assert_eq!(error.kind(), ErrorKind::ConnectionReset);
    }
}
