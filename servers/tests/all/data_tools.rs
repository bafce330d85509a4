//! `soml check` and `soml explain-query`, run as processes.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::command_line::{code, err, out, soml};
use crate::processes::PATIENCE;
use crate::sparql_server::SparqlServer;

const BOOKS: [&str; 4] = [
    "--schema",
    "../docs/examples/books.yaml",
    "--data",
    "../docs/examples/books.ttl",
];

fn check(data: &str, more: &[&str]) -> std::process::Output {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("data.ttl");
    let prefixes = "@prefix : <http://example.org/vocabulary/> . @base <http://r/> .\n";
    fs::write(&path, format!("{prefixes}{data}")).unwrap();
    let mut arguments = vec!["check", BOOKS[0], BOOKS[1], "--data"];
    arguments.push(path.to_str().unwrap());
    arguments.extend(more);
    soml(&arguments)
}

#[test]
fn data_that_fit_end_with_0() {
    let output = soml(&["check", BOOKS[0], BOOKS[1], BOOKS[2], BOOKS[3]]);
    assert_eq!(code(&output), Some(0), "{}", out(&output));
    let text = out(&output);
    assert!(text.contains("Book               3 objects"), "{text}");
    assert!(
        text.ends_with("0 kinds of errors, 0 kinds of warnings, 0 kinds of notes\n"),
        "{text}"
    );
}

#[test]
fn data_that_do_not_fit_end_with_2_and_are_listed_with_examples() {
    let output = check("<1> a :Book ; :year \"long ago\" ; :odd 1 .", &[]);
    assert_eq!(code(&output), Some(2));
    let expected = "\
Book               1 object
no objects of: Person

error[TOO_FEW_VALUES]: Book.title: 1 object has fewer values than `min` (min: 1)
    <http://r/1>  0 values

error[VALUE_NOT_OF_RANGE]: Book.year: 1 value is not in the range (xsd:string where integer is declared)
    <http://r/1>  \"long ago\"

warning[PROPERTY_UNKNOWN]: Book: 1 statement uses a property that is not in the schema (<http://example.org/vocabulary/odd>)
    <http://r/1>  \"1\"^^<http://www.w3.org/2001/XMLSchema#integer>

2 kinds of errors, 1 kind of warning, 0 kinds of notes
";
    assert_eq!(out(&output), expected);
}

#[test]
fn warnings_alone_leave_the_exit_code_at_0() {
    let output = check("<1> a :Mystery . <2> a :Book ; :title \"T\" .", &[]);
    assert_eq!(code(&output), Some(0));
    assert!(out(&output).contains("CLASS_UNKNOWN"), "{}", out(&output));
}

#[test]
fn data_without_an_object_of_the_schema_fail_and_their_classes_are_named() {
    let output = check("<1> a :Mystery . <2> a :Mystery . <3> a :Riddle .", &[]);
    assert_eq!(code(&output), Some(2));
    let expected = "\
no objects of: Book, Person

error[NO_MATCHING_OBJECTS]: 2 classes are in the data, but no object of any type of the schema
    <http://example.org/vocabulary/Mystery>  2 instances
    <http://example.org/vocabulary/Riddle>  1 instance
";
    let text = out(&output);
    assert!(text.starts_with(expected), "{text}");
    let output = check("", &["--format", "json"]);
    assert_eq!(code(&output), Some(2));
    let report: Value = serde_json::from_str(&out(&output)).unwrap();
    assert_eq!(report["errors"], 1);
    assert_eq!(report["findings"][0]["code"], "NO_MATCHING_OBJECTS");
}

#[test]
fn the_classes_of_a_server_are_named_too() {
    let server = SparqlServer::with("<http://r/1> a <http://v/Mystery> .");
    let flags = server.flags();
    let flags = flags.each_ref().map(String::as_str);
    let output = soml(&[&["check", BOOKS[0], BOOKS[1]], &flags[..]].concat());
    assert_eq!(code(&output), Some(2), "{}", err(&output));
    let text = out(&output);
    let finding =
        "1 class is in the data, but no object of any type of the schema\n    <http://v/Mystery>";
    assert!(text.contains(finding), "{text}");
}

/// Runs `soml serve` until its log says something of the data, and returns that line.
fn warning_of(arguments: &[&str]) -> Option<String> {
    let mut child = Command::new(env!("CARGO_BIN_EXE_soml"))
        .args(["serve", "--port", "0", "--set", "logging.level=info"])
        .args(arguments)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let (found, waiting) = std::sync::mpsc::channel();
    let log = BufReader::new(child.stderr.take().unwrap());
    let reader = std::thread::spawn(move || {
        for line in log.lines().map_while(Result::ok) {
            if line.contains("no object of any type") {
                let _ = found.send(line);
            }
        }
    });
    let line = waiting.recv_timeout(PATIENCE).ok();
    child.kill().unwrap();
    child.wait().unwrap();
    reader.join().unwrap();
    line
}

#[test]
fn serve_warns_that_the_data_are_of_other_classes() {
    let folder = TempDir::new().unwrap();
    let data = folder.path().join("data.ttl");
    fs::write(&data, "<http://r/1> a <http://v/Mystery> .").unwrap();
    let line = warning_of(&[BOOKS[0], BOOKS[1], "--data", data.to_str().unwrap()]);
    let line = line.expect("a warning");
    assert!(
        line.contains("WARN") && line.contains("<http://v/Mystery> (1)"),
        "{line}"
    );

    let server = SparqlServer::with("<http://r/1> a <http://v/Mystery> .");
    let flags = server.flags();
    let flags = flags.each_ref().map(String::as_str);
    let line = warning_of(&[&[BOOKS[0], BOOKS[1]], &flags[..]].concat());
    assert!(line.expect("a warning").contains("<http://v/Mystery> (1)"));

    let line = warning_of(&[BOOKS[0], BOOKS[1]]);
    assert!(line.expect("a warning").contains("no classes at all"));
}

#[test]
fn a_report_for_machines_has_counts_and_examples() {
    let output = check(
        "<1> a :Book . <2> a :Book . <3> a :Book .",
        &["--format", "json", "--examples", "2"],
    );
    let report: Value = serde_json::from_str(&out(&output)).unwrap();
    assert_eq!(report["errors"], 1);
    assert_eq!(report["objects"][0], json!({"name": "Book", "count": 3}));
    let finding = &report["findings"][0];
    assert_eq!(finding["code"], "TOO_FEW_VALUES");
    assert_eq!(finding["severity"], "error");
    assert_eq!(finding["object"], "Book");
    assert_eq!(finding["property"], "title");
    assert_eq!(finding["count"], 3);
    assert_eq!(finding["examples"].as_array().map(Vec::len), Some(2));
    assert_eq!(report["notChecked"], json!([]));
}

#[test]
fn a_check_needs_a_schema_and_data() {
    assert_eq!(code(&soml(&["check", BOOKS[2], BOOKS[3]])), Some(64));
    let output = soml(&["check", BOOKS[0], BOOKS[1]]);
    assert_eq!(code(&output), Some(64));
    assert!(err(&output).contains("--data"), "{}", err(&output));
}

#[test]
fn only_writers_of_a_server_can_race() {
    let output = soml(&["check", BOOKS[0], BOOKS[1], BOOKS[2], BOOKS[3], "--writers"]);
    assert_eq!(code(&output), Some(64));
    let text = err(&output);
    assert!(text.contains("--writers needs a SPARQL server"), "{text}");
    let output = soml(&[
        "check",
        BOOKS[0],
        BOOKS[1],
        BOOKS[2],
        BOOKS[3],
        "--writers",
        "0",
    ]);
    assert_eq!(code(&output), Some(64), "{}", err(&output));
}

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
    assert_eq!(steps[0]["work"], "look-ups");
    assert_eq!(steps[0]["rows"], 1);
    assert_eq!(
        (&steps[0]["by"], &steps[0]["candidates"]),
        (&json!("values"), &json!(1))
    );
    assert!(explained["planningMicroseconds"].is_u64());
    assert_eq!(explained["errors"], json!([]));
}

#[test]
fn sparql_is_shown_only_where_it_is_sent() {
    let query = "{ book(where: {year: {GT: 1700}}) { title } }";
    let embedded = soml(&[&["explain-query"], &BOOKS[..], &[query]].concat());
    let text = out(&embedded);
    assert!(
        text.contains("some <http://example.org/vocabulary/year> > 1700"),
        "{text}"
    );
    assert!(!text.contains("SELECT"), "{text}");

    let server = SparqlServer::with(&fs::read_to_string(BOOKS[3]).unwrap());
    let flags = server.flags();
    let flags = flags.each_ref().map(String::as_str);
    let arguments = [&["explain-query", BOOKS[0], BOOKS[1], query], &flags[..]].concat();
    let remote = out(&soml(&arguments));
    let plan = |text: &str| text.split("Execution").next().map(str::to_owned);
    let after_time = |text: &str| plan(text).and_then(|p| Some(p.split_once(':')?.1.to_owned()));
    assert_eq!(
        after_time(&remote),
        after_time(&text),
        "one plan for all stores"
    );
    let queries = remote.lines().map(str::trim_start);
    let queries = queries.filter(|line| line.starts_with("SELECT DISTINCT"));
    assert_eq!(queries.count(), 1, "{remote}");
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
    assert!(text.starts_with("The operation is rejected"), "{text}");
    assert!(
        text.contains("GRAPHQL_VALIDATION_FAILED") && text.contains("(line 1, column 10)"),
        "{text}"
    );
}
