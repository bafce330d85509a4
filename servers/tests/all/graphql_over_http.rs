//! `/graphql`: answers of the demo, media types, statuses, limits, what a client may get wrong.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::{Command, Stdio};
use std::time::Duration;

use graph_store::value::Numbers;
use serde_json::json;
use servers::config::{Settings, Switch};

use crate::processes::{PATIENCE, Running};
use crate::service::Service;

const JSON: (&str, &str) = ("content-type", "application/json");
const GRAPHQL_RESPONSE: (&str, &str) = ("accept", "application/graphql-response+json");

#[test]
fn the_demo_answers_with_exact_bodies() {
    let service = Service::demo();
    for (query, body) in [
        (
            r#"{ starship(ID: "https://swapi.co/resource/starship/9") { name } }"#,
            r#"{"data":{"starship":[{"name":"Death Star"}]}}"#,
        ),
        (
            r#"{ planet(ID: "https://swapi.co/resource/planet/1") { name } }"#,
            r#"{"data":{"planet":[{"name":"Tatooine"}]}}"#,
        ),
    ] {
        assert_eq!(service.query(query), body);
    }
}

#[test]
fn get_takes_query_variables_and_operation_name() {
    let service = Service::demo();
    let path = "/graphql?query=query%20A%20%7B__typename%7D%20query%20B(%24i%3A%20ID!)%20%7Bplanet(ID%3A%20%5B%24i%5D)%20%7Bname%7D%7D&operationName=B&variables=%7B%22i%22%3A%22https%3A%2F%2Fswapi.co%2Fresource%2Fplanet%2F1%22%7D";
    let answer = service.get(path);
    assert_eq!(answer.status, 200);
    assert_eq!(
        answer.text(),
        r#"{"data":{"planet":[{"name":"Tatooine"}]}}"#
    );
}

#[test]
fn get_without_query_or_with_malformed_variables_is_400() {
    let service = Service::demo();
    for path in ["/graphql", "/graphql?query=%7B__typename%7D&variables=%7B"] {
        let answer = service.get(path);
        assert_eq!(
            (answer.status, answer.code().as_str()),
            (400, "REQUEST_MALFORMED"),
            "{path}"
        );
    }
}

#[test]
fn a_mutation_by_get_is_405() {
    let service = Service::demo();
    let answer = service.get("/graphql?query=mutation%20%7Ba%7D");
    assert_eq!(
        (answer.status, answer.code().as_str()),
        (405, "MUTATION_BY_GET")
    );
    assert_eq!(answer.header("allow"), "POST");
    let named = "/graphql?query=query%20Q%7B__typename%7D%20mutation%20M%7Ba%7D&operationName=";
    assert_eq!(service.get(&format!("{named}Q")).status, 200);
    assert_eq!(service.get(&format!("{named}M")).status, 405);
}

#[test]
fn the_media_type_follows_accept() {
    let service = Service::demo();
    let body = br#"{"query": "{ __typename }"}"#;
    for (accept, content_type) in [
        ("application/json", "application/json; charset=utf-8"),
        ("*/*", "application/json; charset=utf-8"),
        (
            "application/graphql-response+json",
            "application/graphql-response+json; charset=utf-8",
        ),
        (
            "application/graphql-response+json, application/json;q=0.9",
            "application/graphql-response+json; charset=utf-8",
        ),
    ] {
        let answer = service.send("POST", "/graphql", &[JSON, ("accept", accept)], body);
        assert_eq!(answer.status, 200);
        assert_eq!(answer.header("content-type"), content_type, "{accept}");
        assert_eq!(answer.json(), json!({ "data": { "__typename": "Query" } }));
    }
    let answer = service.send("POST", "/graphql", &[JSON, ("accept", "text/html")], body);
    assert_eq!(
        (answer.status, answer.code().as_str()),
        (406, "NOT_ACCEPTABLE")
    );
}

#[test]
fn a_request_error_is_200_as_json_and_400_as_graphql_response() {
    let service = Service::demo();
    for query in [
        "{ planet { nope } }",
        "{",
        "query A { a } query B { b }",
        "{ planet(limit: \"x\") { id } }",
    ] {
        let body = json!({ "query": query }).to_string();
        let json = service.post_text(&body);
        let graphql = service.send(
            "POST",
            "/graphql",
            &[JSON, GRAPHQL_RESPONSE],
            body.as_bytes(),
        );
        assert_eq!((json.status, graphql.status), (200, 400), "{query}");
        assert!(json.json().get("data").is_none());
        assert!(!json.code().is_empty());
        assert_eq!(json.text(), graphql.text());
    }
}

#[test]
fn an_unknown_field_a_wrong_variable_and_a_null_operand_have_their_codes() {
    let service = Service::demo();
    for (body, code) in [
        (
            json!({ "query": "{ planet { nope } }" }),
            "GRAPHQL_VALIDATION_FAILED",
        ),
        (
            json!({ "query": "query($i: [ID!]) { planet(ID: $i) { id } }", "variables": { "i": 7.5 } }),
            "VARIABLE_INVALID",
        ),
        (
            json!({ "query": "{ planet(where: {name: {EQ: null}}) { id } }" }),
            "NULL_OPERAND",
        ),
    ] {
        let answer = service.post(&body);
        assert_eq!(
            (answer.status, answer.code().as_str()),
            (200, code),
            "{}",
            answer.text()
        );
    }
}

#[test]
fn a_malformed_body_is_400() {
    let service = Service::demo();
    for body in [
        "",
        "{",
        "null",
        "[]",
        "\"x\"",
        "{}",
        r#"{"query": 1}"#,
        r#"{"query": "{a}", "variables": []}"#,
        r#"{"query": "{a}", "operationName": {}}"#,
        r#"[{"query": "{__typename}"}]"#,
        "{\"query\": \"\u{1}\"}",
    ] {
        let answer = service.post_text(body);
        assert_eq!(
            (answer.status, answer.code().as_str()),
            (400, "REQUEST_MALFORMED"),
            "{body}"
        );
    }
    let not_utf8 = service.send("POST", "/graphql", &[JSON], b"{\"query\": \"\xff\"}");
    assert_eq!(not_utf8.status, 400);
}

#[test]
fn null_members_are_as_absent_and_unknown_ones_ignored() {
    let service = Service::demo();
    let body = r#"{"query": "{ __typename }", "variables": null, "operationName": null, "extensions": null, "more": 1}"#;
    assert_eq!(
        service.post_text(body).text(),
        r#"{"data":{"__typename":"Query"}}"#
    );
}

#[test]
fn a_body_of_another_type_is_415() {
    let service = Service::demo();
    let body = br#"{"query": "{ __typename }"}"#;
    for headers in [
        &[][..],
        &[("content-type", "text/plain")],
        &[("content-type", "application/x-www-form-urlencoded")],
        &[("content-type", "application/json; charset=latin1")],
        &[JSON, ("content-encoding", "gzip")],
    ] {
        let answer = service.send("POST", "/graphql", headers, body);
        assert_eq!(
            (answer.status, answer.code().as_str()),
            (415, "UNSUPPORTED_MEDIA_TYPE")
        );
    }
    let utf8 = [("content-type", "application/json; charset=UTF-8")];
    assert_eq!(service.send("POST", "/graphql", &utf8, body).status, 200);
}

#[test]
fn another_method_is_405() {
    let service = Service::demo();
    let answer = service.send("DELETE", "/graphql", &[], b"");
    assert_eq!(
        (answer.status, answer.code().as_str()),
        (405, "METHOD_NOT_ALLOWED")
    );
    assert!(answer.header("allow").contains("POST"));
}

#[test]
fn a_body_of_100_mb_is_413_and_the_service_goes_on() {
    // It is a process of its own, since other tests take memory too.
    let mut command = Command::new(env!("CARGO_BIN_EXE_soml"));
    command.args([
        "serve",
        "--port",
        "0",
        "--schema",
        "demo/star-wars/schema.yaml",
    ]);
    let service = Running::start(command.stderr(Stdio::null()));
    let line = service.line().unwrap();
    let url = line.strip_prefix("GraphQL:  ").unwrap();
    let address = url.strip_prefix("http://").unwrap();
    let address = address.strip_suffix("/graphql").unwrap();
    let id = service.child.id();
    let before = peak_bytes(id);
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.set_write_timeout(Some(PATIENCE)).unwrap();
    let size = 100 << 20;
    write!(
        stream,
        "POST /graphql HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {size}\r\nConnection: close\r\n\r\n"
    )
    .unwrap();
    let piece = vec![b' '; 1 << 16];
    for _ in 0..size / piece.len() {
        stream.write_all(&piece).unwrap();
    }
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 413"), "{answer}");
    assert!(answer.contains("BODY_TOO_LARGE"), "{answer}");
    let grown = peak_bytes(id).saturating_sub(before);
    assert!(grown < 64 << 20, "the process grew by {grown} bytes");
    let request = ureq::get(format!("{url}?query=%7B__typename%7D")).config();
    let request = request.timeout_global(Some(PATIENCE)).build();
    let answer = request.call().unwrap().body_mut().read_to_string().unwrap();
    assert_eq!(answer, r#"{"data":{"__typename":"Query"}}"#);
}

/// Returns the most resident memory of a process so far; 0 where the system does not tell.
fn peak_bytes(process: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let number = line.and_then(|line| line.split_whitespace().next());
    number.and_then(|kib| kib.parse::<u64>().ok()).unwrap_or(0) << 10
}

#[test]
fn a_query_10_000_deep_is_refused_and_the_service_goes_on() {
    let service = Service::demo();
    let query = format!("{}id{}", "{ film ".repeat(10_000), "}".repeat(10_000));
    let answer = service.post(&json!({ "query": query }));
    assert_eq!(answer.status, 200, "{}", answer.text());
    assert!(["LIMIT_DEPTH", "GRAPHQL_PARSE_FAILED"].contains(&answer.code().as_str()));
    let get = service.get(&format!("/graphql?query={}", "%7Ba".repeat(5_000)));
    assert_eq!(get.status, 200);
    let deep_list = format!(
        "{{ planet(where: {{AND: {}{}}}) {{ id }} }}",
        "[".repeat(10_000),
        "]".repeat(10_000)
    );
    assert!(
        !service
            .post(&json!({ "query": deep_list }))
            .code()
            .is_empty()
    );
    let deep_json = format!(
        "{{\"query\": \"{{a}}\", \"variables\": {{\"a\": {}{}}}}}",
        "[".repeat(10_000),
        "]".repeat(10_000)
    );
    assert_eq!(service.post_text(&deep_json).status, 400);
    assert_eq!(
        service.query("{ __typename }"),
        r#"{"data":{"__typename":"Query"}}"#
    );
}

#[test]
fn limits_come_from_the_settings() {
    let mut settings = Settings::default();
    settings.limits.fields = 2;
    let service = Service::demo_with(settings);
    assert_eq!(
        service
            .post(&json!({ "query": "{ planet { id name type } }" }))
            .code(),
        "LIMIT_FIELDS"
    );
}

#[test]
fn without_a_schema_every_request_is_503() {
    let service = Service::empty();
    let answer = service.post(&json!({ "query": "{ __typename }" }));
    assert_eq!(
        (answer.status, answer.code().as_str()),
        (503, "SCHEMA_NOT_BOUND")
    );
    assert_eq!(service.get("/graphql?query=%7B__typename%7D").status, 503);
}

#[test]
fn request_ids_are_taken_made_and_returned() {
    let service = Service::demo();
    let id = |given: &str| {
        let headers = [("x-request-id", given)];
        service
            .send("GET", "/__live", &headers, b"")
            .header("x-request-id")
            .to_owned()
    };
    for fit in [
        "my-request_1.2",
        "a b",
        "a/b",
        r#"{"a": "\n"}, b=c; d'e"#,
        &"~".repeat(128),
    ] {
        assert_eq!(id(fit), fit);
    }
    let printable: String = ('!'..='~').collect();
    assert_eq!(id(&printable), printable);
    for unfit in ["a\tb", &"x".repeat(129)] {
        let made = id(unfit);
        assert_eq!(made.len(), 36, "{made}");
    }
    let made = service.get("/nowhere");
    assert_eq!((made.status, made.code().as_str()), (404, "PATH_NOT_FOUND"));
    assert_eq!(made.header("x-request-id").len(), 36);
}

#[test]
fn answers_are_compressed_on_request() {
    let service = Service::demo();
    let body = json!({ "query": "{ planet { id name } }" }).to_string();
    let send = |encoding: &str| {
        let headers = [JSON, ("accept-encoding", encoding)];
        service.send("POST", "/graphql", &headers, body.as_bytes())
    };
    let plain = send("identity");
    assert_eq!(plain.header("content-encoding"), "");
    for encoding in ["gzip", "br", "zstd"] {
        let packed = send(encoding);
        assert_eq!(packed.header("content-encoding"), encoding);
        assert!(packed.body.len() * 2 < plain.body.len(), "{encoding}");
        assert!(packed.header("vary").contains("accept-encoding"));
    }
    let mut unpacked = Vec::new();
    flate2::read::GzDecoder::new(send("gzip").body.as_slice())
        .read_to_end(&mut unpacked)
        .unwrap();
    assert_eq!(unpacked, plain.body);
}

#[test]
fn a_request_beyond_its_deadline_is_ended() {
    let settings = Settings {
        request_timeout: Duration::from_millis(0),
        ..Settings::default()
    };
    let service = Service::demo_with(settings);
    let answer = service.get("/graphql?query=%7Bobject%7Bid%7D%7D");
    assert_eq!(
        (answer.status, answer.code().as_str()),
        (200, "DEADLINE_EXCEEDED")
    );
}

#[test]
fn settings_of_the_object_service_reach_it() {
    let service = Service::demo_with(Settings {
        explain: true,
        federation: Switch::On,
        numbers: Numbers::Number,
        ..Settings::default()
    });
    let body = service.post(&json!({
        "query": "{ planet(ID: \"https://swapi.co/resource/planet/1\") { diameter } _service { sdl } }",
        "extensions": {"explain": true},
    })).json();
    assert_eq!(body["data"]["planet"], json!([{"diameter": 10465}]));
    assert!(
        body["data"]["_service"]["sdl"]
            .as_str()
            .is_some_and(|sdl| sdl.contains("@key"))
    );
    assert_eq!(body["extensions"]["explain"]["roundTrips"], 2);
}
