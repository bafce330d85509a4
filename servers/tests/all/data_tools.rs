//! `soml check` and `soml explain-query`, run as processes.

use std::fs;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::command_line::{code, err, out, soml};

const BOOKS: [&str; 4] = [
    "--schema",
    "../docs/examples/books.yaml",
    "--data",
    "../docs/examples/books.ttl",
];

#[test]
fn explanations_have_plan_steps_and_times() {
    let query = "{ book(where: {year: {GT: 1700}}) { title author { name } } }";
    let mut arguments = vec!["explain-query", "--format", "json"];
    arguments.extend(BOOKS);
    arguments.push(query);
    let output = soml(&arguments);
    assert_eq!(code(&output), Some(0), "{}", err(&output));
    let explained: Value = serde_json::from_str(&out(&output)).unwrap();
    assert_eq!(explained["plan"].as_array().map(Vec::len), Some(3));
    assert_eq!(explained["roundTrips"], 3);
    let steps = explained["steps"].as_array().unwrap();
    assert_eq!(steps[0]["work"], "query");
    assert!(steps[0]["sparql"].as_str().unwrap().contains("SELECT"));
    assert_eq!(steps[0]["rows"], 1);
    assert!(explained["planningMicroseconds"].is_u64());
    assert_eq!(explained["errors"], json!([]));
}

#[test]
fn an_operation_that_is_refused_has_no_plan() {
    let folder = TempDir::new().unwrap();
    let query = folder.path().join("query.graphql");
    fs::write(&query, "{ book { titel } }").unwrap();
    let mut arguments = vec!["explain-query", "--query", query.to_str().unwrap()];
    arguments.extend(BOOKS);
    let output = soml(&arguments);
    assert_eq!(code(&output), Some(1));
    let text = out(&output);
    assert!(text.starts_with("The operation is refused"), "{text}");
    assert!(
        text.contains("GRAPHQL_VALIDATION_FAILED") && text.contains("(line 1, column 10)"),
        "{text}"
    );
}
