//! Slow operations are in the log by the hash of their document, and without any value of the client.

use aws_lc_rs::digest::{SHA256, digest};
use serde_json::{Value, json};

use crate::authentication::process::Process;

const DOCUMENT: &str = "query Slow($name: String!) { planet(where: {OR: [{name: {EQ: $name}}, {name: {EQ: \"a hidden literal\"}}]}) { name } }";

fn asked(threshold: &str) -> String {
    let process = Process::start(&[
        ("logging.format", "json"),
        ("logging.slowOperations.threshold", threshold),
    ]);
    let send = |body: Value| {
        let headers = b"Content-Type: application/json\r\nX-Request-ID: the-request\r\n";
        process.send(("POST", "/graphql"), headers, body.to_string().as_bytes())
    };
    let variables = json!({"name": "a hidden variable"});
    let answered = send(json!({"query": DOCUMENT, "variables": variables}));
    assert_eq!(answered.status, 200, "{}", answered.text);
    assert!(answered.text.contains("\"data\""), "{}", answered.text);
    send(json!({"query": "a hidden nonsense"}));
    // Its text is so long that it is read in a slot.
    let long = format!(
        "query Long {{ {} __typename }}",
        "# a hidden comment\n".repeat(20_000)
    );
    let answered = send(json!({"query": long}));
    assert_eq!(answered.status, 200, "{}", answered.text);
    process.log()
}

fn slow(log: &str) -> Vec<Value> {
    let lines = log
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    lines
        .filter(|line| line["message"] == "slow operation")
        .collect()
}

#[test]
fn a_slow_operation_is_logged_once_by_hash_and_never_by_value() {
    let log = asked("0");
    let lines = slow(&log);
    assert!(lines.len() >= 2, "{log}");
    let hash = digest(&SHA256, DOCUMENT.as_bytes());
    let hash: String = hash
        .as_ref()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    let of_document: Vec<_> = lines
        .iter()
        .filter(|line| line["sha256"] == hash.as_str())
        .collect();
    assert_eq!(of_document.len(), 1, "{log}");
    let line = of_document[0];
    assert_eq!(line["level"], "WARN");
    assert_eq!(line["span"]["request_id"], "the-request");
    assert_eq!(line["operation"], "Slow");
    assert_eq!(line["operation_type"], "query");
    assert_eq!(line["outcome"], "Executed");
    for number in ["ms", "calls", "bytes"] {
        assert!(line[number].is_u64(), "{number}: {line}");
    }
    assert!(
        line["calls"].as_u64() >= Some(1) && line["bytes"].as_u64() >= Some(10),
        "{line}"
    );
    let refused: Vec<_> = lines
        .iter()
        .filter(|line| line["outcome"] == "Refused")
        .collect();
    assert_eq!(refused.len(), 1, "{log}");
    assert_eq!(refused[0]["operation"], Value::Null);
    assert!(!log.contains("a hidden"), "{log}");
}

#[test]
fn nothing_is_slow_where_that_is_off_or_takes_longer() {
    for threshold in ["none", "3600000"] {
        let log = asked(threshold);
        assert!(slow(&log).is_empty(), "{log}");
    }
}
