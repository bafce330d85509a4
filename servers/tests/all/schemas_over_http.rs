//! `/soml`: checking, storing, reading, replacing, removing, binding and unbinding schemas.

use serde_json::json;
use servers::config::Settings;

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

#[test]
fn a_stored_schema_is_read_as_the_status_document_that_storing_answered() {
    let service = Service::empty();
    // Without an identifier, so that there is a warning.
    let text = PLANETS.split_once('\n').unwrap().1;
    let stored = post(&service, text);
    let path = stored.header("location");
    let read = service.get(&path);
    assert_eq!(read.header("content-type"), "application/ld+json");
    assert_eq!(read.header("etag"), stored.header("etag"));
    assert_eq!(read.json(), stored.json());
    assert_eq!(read.json()["valid"], true);
    assert_eq!(read.json()["errors"], json!([]));
    assert_eq!(read.json()["warnings"][0]["code"], "MISSING_ID");
}

#[test]
fn a_slash_after_soml_changes_nothing() {
    let service = Service::empty();
    let stored = service.send("POST", "/soml/", &[YAML], PLANETS.as_bytes());
    assert_eq!(
        (stored.status, stored.header("location").as_str()),
        (201, "/soml/swapi-planets")
    );
    let checked = service.send("POST", "/soml/validate/", &[YAML], PLANETS.as_bytes());
    assert_eq!(checked.json()["valid"], true);
    assert_eq!(put(&service, "/soml/swapi-planets/", PLANETS).status, 200);
}

#[test]
fn the_media_type_that_weighs_more_is_answered() {
    let service = Service::empty();
    post(&service, PLANETS);
    let read = |accept| {
        let headers = [("accept", accept)];
        let answer = service.send("GET", "/soml/swapi-planets", &headers, b"");
        assert!(answer.header("vary").contains("accept"));
        answer.header("content-type")
    };
    assert_eq!(
        read("text/yaml;q=0.4, application/ld+json"),
        "application/ld+json"
    );
    assert_eq!(
        read("text/yaml, application/ld+json;q=0.4"),
        "text/yaml; charset=utf-8"
    );
    assert_eq!(read("*/*"), "application/ld+json");
}

#[test]
fn if_match_takes_several_tags_and_no_weak_one() {
    let service = Service::empty();
    let path = "/soml/swapi-planets";
    let mut tag = post(&service, PLANETS).header("etag");
    let replace = |value: &str| {
        let headers = [YAML, ("if-match", value)];
        let answer = service.send("PUT", path, &headers, PLANETS.as_bytes());
        (answer.status, answer)
    };
    for list in ["\"old\", {}", "{},\"old\"", "\"a,b\" , W/\"c\",, {}", "*"] {
        let (status, answer) = replace(&list.replace("{}", &tag));
        assert_eq!(status, 200, "{list}: {}", answer.text());
        tag = answer.header("etag");
    }
    for list in ["\"old\", \"older\"", "W/{}", "\"old\", W/{}"] {
        let (status, answer) = replace(&list.replace("{}", &tag));
        assert_eq!(
            (status, answer.code().as_str()),
            (412, "PRECONDITION_FAILED"),
            "{list}"
        );
    }
    for list in ["old", "\"old", "{} {}", "*, {}"] {
        let (status, answer) = replace(&list.replace("{}", &tag));
        assert_eq!(
            (status, answer.code().as_str()),
            (400, "REQUEST_MALFORMED"),
            "{list}"
        );
    }
    // Not what a header can hold as text, and yet not ignored.
    let obscure = [("if-match", "\"é\"")];
    assert_eq!(service.send("DELETE", path, &obscure, b"").status, 412);
    let objects = format!("{path}/objects");
    let old = [("if-match", "\"old\"")];
    assert_eq!(service.send("PUT", &objects, &old, b"").status, 412);
    let current = [("if-match", tag.as_str())];
    assert_eq!(service.send("PUT", &objects, &current, b"").status, 200);
    assert_eq!(service.send("DELETE", &objects, &old, b"").status, 412);
    assert_eq!(service.send("DELETE", &objects, &current, b"").status, 204);
    assert_eq!(service.send("DELETE", path, &current, b"").status, 204);
}

#[test]
fn the_tag_of_a_compressed_response_is_as_good_as_any() {
    let service = Service::empty();
    let path = "/soml/swapi-planets";
    let tag = post(&service, PLANETS).header("etag");
    for encoding in ["gzip", "br", "zstd"] {
        let read = service.send("GET", path, &[("accept-encoding", encoding)], b"");
        assert_eq!(read.header("content-encoding"), encoding);
        let encoded = read.header("etag");
        assert_ne!(encoded, tag);
        let known = [("if-none-match", encoded.as_str())];
        assert_eq!(service.send("GET", path, &known, b"").status, 304);
        let matching = [("if-match", encoded.as_str())];
        let bound = service.send("PUT", &format!("{path}/objects"), &matching, b"");
        assert_eq!(bound.status, 200, "{encoded}");
    }
}

#[test]
fn if_none_match_spares_what_is_known_and_protects_what_is_there() {
    let service = Service::empty();
    let path = "/soml/swapi-planets";
    let tag = post(&service, PLANETS).header("etag");
    let read = |value: &str| {
        service
            .send("GET", path, &[("if-none-match", value)], b"")
            .status
    };
    assert_eq!(read(&format!("\"old\", W/{tag}")), 304);
    assert_eq!(read("*"), 304);
    assert_eq!(read("\"old\""), 200);
    assert_eq!(read("old"), 400);
    let replace = |value: &str| {
        let headers = [YAML, ("if-none-match", value)];
        service
            .send("PUT", path, &headers, PLANETS.as_bytes())
            .status
    };
    assert_eq!(replace("*"), 412);
    assert_eq!(replace(&tag), 412);
    assert_eq!(replace("\"old\""), 200);
}

#[test]
fn identifiers_have_plain_characters_and_a_length() {
    let service = Service::empty();
    let named = |id: &str| PLANETS.replace("/soml/swapi-planets", id);
    for id in [
        "/soml/a b",
        "/soml/übung",
        "/soml/..",
        "/soml/-a",
        "/soml/a?b",
        "/soml/<b>",
    ] {
        let answer = post(&service, &named(&format!("'{id}'")));
        let found = (answer.status, answer.code());
        assert_eq!(found, (422, "SCHEMA_ID_INVALID".to_owned()), "{id}");
        let text = answer.text();
        assert!(text.contains("write an `id` such as `/soml/"), "{text}");
        let check = service.send(
            "POST",
            "/soml/validate",
            &[YAML],
            named(&format!("'{id}'")).as_bytes(),
        );
        assert_eq!(
            (check.status, check.code().as_str()),
            (200, "SCHEMA_ID_INVALID"),
            "{id}"
        );
        assert_eq!(check.json()["valid"], false, "{id}");
    }
    let longest = format!("/soml/{}", "x".repeat(128));
    assert_eq!(post(&service, &named(&longest)).status, 201);
    assert_eq!(
        post(&service, &named(&format!("{longest}x"))).code(),
        "SCHEMA_ID_INVALID"
    );
    assert_eq!(service.get(&longest).status, 200);
    assert_eq!(service.get("/soml/a%2Fb").code(), "SCHEMA_NOT_FOUND");
    assert_eq!(service.get("/soml").json()["hydra:totalItems"], 1);
}

#[test]
fn the_number_of_stored_schemas_is_bounded() {
    let service = Service::empty_with(Settings {
        max_stored_schemas: 2,
        ..Settings::default()
    });
    let named = |id: &str| PLANETS.replace("swapi-planets", id);
    assert_eq!(post(&service, &named("a")).status, 201);
    assert_eq!(post(&service, &named("b")).status, 201);
    let full = post(&service, &named("c"));
    assert_eq!(
        (full.status, full.code().as_str()),
        (507, "SCHEMA_STORE_FULL")
    );
    assert!(
        full.text().contains("soml.storage.maxSchemas"),
        "{}",
        full.text()
    );
    assert_eq!(put(&service, "/soml/a", &named("a")).status, 200);
    assert_eq!(service.send("DELETE", "/soml/b", &[], b"").status, 204);
    assert_eq!(post(&service, &named("c")).status, 201);
}

#[test]
fn the_bytes_of_stored_schemas_are_bounded() {
    let service = Service::empty_with(Settings {
        max_stored_bytes: 2 * PLANETS.len(),
        ..Settings::default()
    });
    let path = "/soml/swapi-planets";
    assert_eq!(post(&service, PLANETS).status, 201);
    let filler = |bytes: usize| format!("{PLANETS}\n#{}", "x".repeat(bytes - 2));
    let exact = put(&service, path, &filler(PLANETS.len()));
    assert_eq!(exact.status, 200, "{}", exact.text());
    let full = put(&service, path, &filler(PLANETS.len() + 1));
    assert_eq!(
        (full.status, full.code().as_str()),
        (507, "SCHEMA_STORE_FULL")
    );
    assert!(
        full.text().contains("soml.storage.maxBytes"),
        "{}",
        full.text()
    );
    assert_eq!(service.get(path).json()["input"], filler(PLANETS.len()));
    assert_eq!(put(&service, path, PLANETS).status, 200);
    let other = PLANETS.replace("swapi-planets", "second");
    assert_eq!(post(&service, &other).status, 201);
    assert_eq!(post(&service, SPECIES).code(), "SCHEMA_STORE_FULL");
}
