//! `/soml`: checking, storing, reading, replacing, removing, binding and unbinding schemas.

use serde_json::json;

use crate::service::{Answer, Service};

const PLANETS: &str = include_str!("../data/soml/swapi-schema-planets.yaml");
const SPECIES: &str = include_str!("../data/soml/swapi-schema-species.yaml");
const BROKEN: &str = include_str!("../data/soml/swapi-schema-broken.yaml");
const YAML: (&str, &str) = ("content-type", "text/yaml");

fn post(service: &Service, text: &str) -> Answer {
    service.send(
        "POST",
        "/soml",
        &[YAML, ("accept", "application/ld+json")],
        text.as_bytes(),
    )
}

fn put(service: &Service, path: &str, text: &str) -> Answer {
    service.send("PUT", path, &[YAML], text.as_bytes())
}

#[test]
fn a_new_schema_is_answered_with_its_status_document() {
    let service = Service::empty();
    let answer = post(&service, PLANETS);
    assert_eq!(answer.status, 201, "{}", answer.text());
    assert_eq!(answer.header("content-type"), "application/ld+json");
    assert_eq!(answer.header("location"), "/soml/swapi-planets");
    let document = answer.json();
    assert_eq!(document["@type"], "SOML");
    assert_eq!(document["@id"], "/soml/swapi-planets");
    assert_eq!(document["input"], PLANETS);
    assert_eq!(
        document["@context"],
        json!({
            "@vocab": "http://ontotext.com/ontology/status/",
            "@base": "http://data.ontotext.com/",
            "xsd": "http://www.w3.org/2001/XMLSchema#",
            "hydra": "http://www.w3.org/ns/hydra/core#",
        })
    );
}

#[test]
fn an_identifier_can_be_stored_once() {
    let service = Service::empty();
    assert_eq!(post(&service, PLANETS).status, 201);
    let again = post(&service, PLANETS);
    assert_eq!(
        (again.status, again.code().as_str()),
        (409, "SCHEMA_EXISTS")
    );
}

#[test]
fn an_invalid_schema_is_reported_with_its_text_and_not_stored() {
    let service = Service::empty();
    let answer = post(&service, BROKEN);
    assert_eq!(
        (answer.status, answer.code().as_str()),
        (422, "YAML_SYNTAX")
    );
    let document = answer.json();
    assert_eq!(document["code"], "SCHEMA_INVALID");
    assert_eq!(document["input"], BROKEN);
    assert_eq!(document["valid"], false);
    assert_eq!(document["errors"][0]["line"], 24);
    assert_eq!(document["errors"].as_array().unwrap().len(), 1);
    assert_eq!(service.get("/soml").json()["hydra:totalItems"], 0);
}

#[test]
fn another_media_type_is_415_and_a_large_body_413() {
    let service = Service::empty();
    let answer = service.send("POST", "/soml", &[], PLANETS.as_bytes());
    assert_eq!(
        (answer.status, answer.code().as_str()),
        (415, "UNSUPPORTED_MEDIA_TYPE")
    );
    let large = "#".repeat(9 << 20);
    assert_eq!(post(&service, &large).code(), "BODY_TOO_LARGE");
}

#[test]
fn schemas_are_listed_and_read() {
    let service = Service::demo();
    post(&service, PLANETS);
    let list = service.get("/soml").json();
    assert_eq!(
        list["hydra:member"],
        json!([
            { "@type": "SOML", "@id": "/soml/swapi", "bound": true },
            { "@type": "SOML", "@id": "/soml/swapi-planets", "bound": false },
        ])
    );
    let one = service.get("/soml/swapi-planets");
    assert_eq!(one.json()["input"], PLANETS);
    let text = service.send(
        "GET",
        "/soml/swapi-planets",
        &[("accept", "text/yaml")],
        b"",
    );
    assert_eq!(text.text(), PLANETS);
    let unknown = service.get("/soml/none");
    assert_eq!(
        (unknown.status, unknown.code().as_str()),
        (404, "SCHEMA_NOT_FOUND")
    );
}

#[test]
fn replacing_compares_the_revision() {
    let service = Service::empty();
    let path = "/soml/swapi-planets";
    let first = post(&service, PLANETS).header("etag");
    let headers = [YAML, ("if-match", first.as_str())];
    let changed = format!("{PLANETS}\n# changed\n");
    let replaced = service.send("PUT", path, &headers, changed.as_bytes());
    assert_eq!(replaced.status, 200, "{}", replaced.text());
    assert_ne!(replaced.header("etag"), first);
    let late = service.send("PUT", path, &headers, PLANETS.as_bytes());
    assert_eq!(
        (late.status, late.code().as_str()),
        (412, "PRECONDITION_FAILED")
    );
    let late = service.send("DELETE", path, &headers[1..], b"");
    assert_eq!(late.status, 412);
    assert_eq!(service.get(path).json()["input"], changed);
}

#[test]
fn replacing_needs_a_stored_schema_and_its_own_identifier() {
    let service = Service::empty();
    assert_eq!(
        put(&service, "/soml/swapi-planets", PLANETS).code(),
        "SCHEMA_NOT_FOUND"
    );
    post(&service, PLANETS);
    let other = put(&service, "/soml/swapi-planets", SPECIES);
    assert_eq!(
        (other.status, other.code().as_str()),
        (422, "SCHEMA_ID_MISMATCH")
    );
}

#[test]
fn binding_serves_the_schema_and_unbinding_ends_that() {
    let service = Service::empty();
    post(&service, PLANETS);
    for path in ["/soml/swapi-planets/objects", "/soml/swapi-planets/soaas"] {
        let bound = service.send("PUT", path, &[], b"");
        assert_eq!(bound.status, 200, "{}", bound.text());
        assert_eq!(bound.json()["bound"], true);
        assert_eq!(
            service.query("{ __typename }"),
            r#"{"data":{"__typename":"Query"}}"#
        );
        assert_eq!(service.send("DELETE", path, &[], b"").status, 204);
        assert_eq!(service.send("DELETE", path, &[], b"").status, 204);
        assert_eq!(service.get("/graphql?query=%7B__typename%7D").status, 503);
    }
    let unknown = service.send("PUT", "/soml/none/objects", &[], b"");
    assert_eq!(
        (unknown.status, unknown.code().as_str()),
        (404, "SCHEMA_NOT_FOUND")
    );
}

#[test]
fn a_bound_schema_is_replaced_in_place_and_an_invalid_one_leaves_it() {
    let service = Service::demo();
    let path = "/soml/swapi";
    let planet = r#"{ planet(ID: "https://swapi.co/resource/planet/1") { name } }"#;
    let broken = put(&service, path, "id: /soml/swapi\nobjects: [\n");
    assert_eq!(broken.status, 422);
    assert!(service.query(planet).contains("Tatooine"));
    let removed = service.send("DELETE", path, &[], b"");
    assert_eq!(
        (removed.status, removed.code().as_str()),
        (409, "SCHEMA_BOUND")
    );

    let renamed = PLANETS.replace("/soml/swapi-planets", "/soml/swapi");
    assert_eq!(put(&service, path, &renamed).status, 200);
    let answer = service.query("{ film { name } }");
    assert!(answer.contains("GRAPHQL_VALIDATION_FAILED"), "{answer}");

    assert_eq!(
        service
            .send("DELETE", "/soml/swapi/objects", &[], b"")
            .status,
        204
    );
    assert_eq!(service.send("DELETE", path, &[], b"").status, 204);
    assert_eq!(service.get(path).status, 404);
}

#[test]
fn a_schema_without_an_identifier_gets_one() {
    let service = Service::empty();
    let text = PLANETS.split_once('\n').unwrap().1;
    let answer = post(&service, text);
    assert_eq!(answer.status, 201, "{}", answer.text());
    assert_eq!(answer.json()["warnings"][0]["code"], "MISSING_ID");
    let path = answer.header("location");
    let changed = format!("{text}\n# changed\n");
    assert_eq!(put(&service, &path, &changed).status, 200);
    assert_eq!(
        service
            .send("PUT", &format!("{path}/objects"), &[], b"")
            .status,
        200
    );
    assert_eq!(put(&service, &path, text).json()["bound"], true);
}

#[test]
fn checking_a_schema_answers_findings_with_the_text_and_stores_nothing() {
    let service = Service::empty();
    let check = |text: &str| service.send("POST", "/soml/validate", &[YAML], text.as_bytes());
    let good = check(PLANETS);
    assert_eq!(good.status, 200, "{}", good.text());
    assert_eq!(good.header("content-type"), "application/ld+json");
    let document = good.json();
    let diagnostics = soml_core::load(PLANETS).diagnostics;
    assert_eq!(
        document,
        soml_core::report::json_ld("/soml/swapi-planets", PLANETS, &diagnostics)
    );
    let bad = check(BROKEN);
    assert_eq!((bad.status, bad.code().as_str()), (200, "YAML_SYNTAX"));
    let document = bad.json();
    assert_eq!(document["valid"], false);
    assert_eq!(document["input"], BROKEN);
    assert_eq!(document["errors"][0]["line"], 24);
    assert_eq!(service.get("/soml").json()["hydra:totalItems"], 0);

    let untyped = service.send("POST", "/soml/validate", &[], PLANETS.as_bytes());
    assert_eq!(untyped.status, 415);
    let elsewhere = service.send("POST", "/soml/other", &[YAML], PLANETS.as_bytes());
    assert_eq!(
        (elsewhere.status, elsewhere.code().as_str()),
        (405, "METHOD_NOT_ALLOWED")
    );
}

#[test]
fn a_schema_named_validate_is_as_any_other() {
    let service = Service::empty();
    let text = PLANETS.replace("/soml/swapi-planets", "/soml/validate");
    assert_eq!(post(&service, &text).status, 201);
    assert_eq!(service.get("/soml/validate").json()["input"], text);
    let removed = service.send("DELETE", "/soml/validate", &[], b"");
    assert_eq!(removed.status, 204);
}
