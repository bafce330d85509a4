//! Scenarios: a schema, data, a query, and the answer that the rules ask for.
//!
//! Each folder `cases/<area>/<name>/` holds `query.graphql`, `expected.json` and one line `why.md`;
//! `schema.yaml` and `data.trig` are its own or those of its area. `variables.json` gives variables,
//! `context.json` the accepted languages, the operation, limits, and the roles of the caller, which are
//! enforced then. An error of `expected.json`
//! names what must be the same: its code and path, and more where that matters.
//!
//! `pending.md` in a folder says why the answer is not yet what it must be: then the case must still
//! differ over the embedded store. `UPDATE_EXPECT` rewrites the expectations of all other cases.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use graphql_service::{Caller, Limits, Request, RequestContext};
use object_engine::{EngineLimits, ServiceOptions};
use oxrdfio::RdfFormat;
use serde_json::{Map, Value, json};

use crate::back_end::{BackEnd, Kind};
use crate::images;

/// Members of an error that an expectation may name besides code and path.
const DETAILS: &[&str] = &["argumentPath", "limit"];

/// Codes that no query leads to.
const OF_THE_SERVICE: &[&str] = &[
    "LIMIT_VARIABLES",
    "OVERLOADED",
    "UNAUTHENTICATED",
    "FORBIDDEN",
    "EXPLAIN_DISABLED",
    "REQUEST_UNSUPPORTED",
    "INTROSPECTION_MODE",
    "STORE_UNAVAILABLE",
    "STORE_FAILED",
    "STORE_FULL",
    "LIMIT_STORE_RESULT",
    "SCHEMA_NOT_BOUND",
    "INTERNAL",
];

/// Codes of answers too long for a scenario; the tests of hostile documents lead to them.
const OF_LONG_ANSWERS: &[&str] = &["ERRORS_OMITTED"];

fn read(path: &Path) -> Option<String> {
    fs::read_to_string(path).ok()
}

fn read_json(path: &Path) -> Option<Value> {
    let text = read(path)?;
    let value = serde_json::from_str(&text);
    Some(value.unwrap_or_else(|error| panic!("{}: {error}", path.display())))
}

/// Reads a file of the case, or of its area.
fn shared(case: &Path, name: &str) -> String {
    let area = case.parent().expect("a case is in an area");
    read(&case.join(name))
        .or_else(|| read(&area.join(name)))
        .unwrap_or_else(|| panic!("{} has no {name}", case.display()))
}

fn folders(of: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(of).expect("a folder");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let mut folders: Vec<PathBuf> = paths.filter(|path| path.is_dir()).collect();
    folders.sort();
    folders
}

fn options(context: &Value) -> ServiceOptions {
    let mut options = ServiceOptions::default();
    let given = context["limits"].as_object().cloned().unwrap_or_default();
    for (name, value) in given {
        let bound = Some(value.as_u64().expect("a limit is a number"));
        let property = format!("graphql.limits.{name}");
        let limit = Limits::ROWS.iter().find(|row| row.property == property);
        let of_engine = EngineLimits::ROWS
            .iter()
            .find(|row| row.property == property);
        match (limit, of_engine) {
            (Some(row), _) => (row.set)(&mut options.limits, bound),
            (_, Some(row)) => (row.set)(&mut options.engine_limits, bound),
            (None, None) => panic!("unknown limit {name}"),
        }
    }
    options
}

/// Executes the request of a case over a store, whose data it replaces.
fn run(case: &Path, back_end: &BackEnd) -> Value {
    let context = read_json(&case.join("context.json")).unwrap_or_default();
    let data = shared(case, "data.trig");
    back_end.load(&images::quads(RdfFormat::TriG, data));
    let schema = shared(case, "schema.yaml");
    let roles = context["roles"].as_array().cloned();
    let options = options(&context).with_roles_enforced(roles.is_some());
    let service = crate::fixture::service(&schema, back_end.graph_store(), options);
    let mut request = json!({"query": shared(case, "query.graphql")});
    if let Some(variables) = read_json(&case.join("variables.json")) {
        request["variables"] = variables;
    }
    request["operationName"] = context["operationName"].clone();
    let request: Request = serde_json::from_value(request).expect("a request");
    let languages = context["acceptLanguage"].as_array().cloned();
    let languages = languages.unwrap_or_default().into_iter();
    let cancellation = tokio_util::sync::CancellationToken::new();
    if context["cancelled"] == json!(true) {
        cancellation.cancel();
    }
    let past = context["deadlinePassed"] == json!(true);
    let mut context = RequestContext::new();
    context.call.accept_language = languages
        .map(|tag| tag.as_str().expect("a tag").to_owned())
        .collect();
    context.call.deadline = past.then(std::time::Instant::now);
    context.call.cancellation = cancellation;
    if let Some(roles) = roles {
        let roles = roles.iter().filter_map(Value::as_str);
        context.caller = Some(Arc::new(Caller::with_roles(roles)));
    }
    crate::fixture::json(&crate::fixture::answer(&service, request, context))
}

/// The part of an answer that expectations speak of: messages may change.
fn essence(answer: &Value) -> Value {
    let mut essence = Map::new();
    if let Some(errors) = answer.get("errors").and_then(Value::as_array) {
        let errors: Vec<Value> = errors.iter().map(essence_of_error).collect();
        essence.insert("errors".to_owned(), errors.into());
    }
    if let Some(data) = answer.get("data") {
        essence.insert("data".to_owned(), data.clone());
    }
    Value::Object(essence)
}

fn essence_of_error(error: &Value) -> Value {
    let mut essence = json!({"code": error["extensions"]["code"]});
    if let Some(path) = error.get("path") {
        essence["path"] = path.clone();
    }
    for detail in DETAILS {
        if let Some(value) = error["extensions"].get(detail) {
            essence[*detail] = value.clone();
        }
    }
    let message = error["message"]
        .as_str()
        .expect("every error has a message");
    let repaired = ["MULTIPLE_VALUES", "VALUES_LEFT_OUT", "ACCESS_FIELD_REMOVED"].map(Value::from);
    let repaired = repaired.contains(&essence["code"]);
    assert_eq!(
        message.starts_with("WARN:"),
        repaired,
        "`WARN:` opens a message where data was repaired or dropped, and only there: {message}"
    );
    essence
}

/// Returns whether an answer is as expected; the order of members counts in `data`.
fn agrees(expected: &Value, actual: &Value) -> bool {
    let errors = |value: &Value| value.get("errors").and_then(Value::as_array).cloned();
    let (wanted, given) = (errors(expected), errors(actual));
    let same_errors = match (&wanted, &given) {
        (Some(wanted), Some(given)) => {
            wanted.len() == given.len()
                && wanted.iter().zip(given).all(|(wanted, given)| {
                    let members = wanted.as_object().expect("an error is an object");
                    let path = members.contains_key("path") == given.get("path").is_some();
                    path && members
                        .iter()
                        .all(|(key, value)| given.get(key) == Some(value))
                })
        }
        _ => wanted == given,
    };
    let data = |value: &Value| value.get("data").map(Value::to_string);
    same_errors && data(expected) == data(actual)
}

#[test]
fn answers_are_as_expected() {
    check_all(Kind::Image);
}

#[test]
fn answers_are_as_expected_over_quads_found_by_patterns() {
    check_all(Kind::Pattern);
}

#[test]
fn answers_are_as_expected_over_an_image_with_changes() {
    check_all(Kind::WrittenImage);
}

#[test]
fn answers_are_as_expected_over_an_endpoint() {
    check_all(Kind::Remote);
}

#[test]
fn answers_are_as_expected_over_an_endpoint_asked_in_the_nested_form() {
    check_all(Kind::RemoteNested);
}

#[test]
fn answers_are_as_expected_over_an_endpoint_with_its_default_graph_apart() {
    check_all(Kind::RemoteApart);
}

#[test]
#[ignore = "needs a running RDF4J Server named by RDF4J_URL"]
fn answers_are_as_expected_over_rdf4j() {
    check_all(Kind::Rdf4j { infers: false });
}

#[test]
#[ignore = "needs a running Fuseki server named by FUSEKI_URL"]
fn answers_are_as_expected_over_fuseki() {
    check_all(Kind::Fuseki);
}

fn check_all(kind: Kind) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    // The embedded store says what is expected; the others must agree.
    let rewrite = kind == Kind::Image && std::env::var_os("UPDATE_EXPECT").is_some();
    let back_end = BackEnd::new(kind);
    let mut failures = Vec::new();
    let mut codes = BTreeSet::new();
    for case in folders(&root).iter().flat_map(|area| folders(area)) {
        let name = case
            .strip_prefix(&root)
            .expect("below")
            .display()
            .to_string();
        let why = read(&case.join("why.md")).unwrap_or_else(|| panic!("{name} has no why.md"));
        assert_eq!(
            why.trim_end().lines().count(),
            1,
            "{name}: why.md is one line"
        );
        let actual = essence(&run(&case, &back_end));
        let errors = actual["errors"].as_array().cloned().unwrap_or_default();
        let code = |error: &Value| error["code"].as_str().expect("a code").to_owned();
        codes.extend(errors.iter().map(code));
        let file = case.join("expected.json");
        let expected = read_json(&file);
        let pending = match kind {
            Kind::Image | Kind::WrittenImage | Kind::Folder | Kind::Pattern => "pending.md",
            Kind::Remote | Kind::RemoteNested | Kind::RemoteApart => {
                "pending-over-oxigraph-sparql.md"
            }
            Kind::Rdf4j { .. } | Kind::Fuseki => "pending-over-servers.md",
        };
        let is_pending = case.join(pending).exists();
        if rewrite && !is_pending {
            let text = serde_json::to_string_pretty(&actual).expect("JSON");
            fs::write(&file, text + "\n").expect("a file is written");
            continue;
        }
        let expected = expected.unwrap_or_else(|| panic!("{name} has no expected.json"));
        match (agrees(&expected, &actual), is_pending) {
            (true, false) | (false, true) => {}
            (false, false) => failures.push(format!(
                "{name}: {why}  expected {expected}\n  but got  {actual}"
            )),
            (true, true) => failures.push(format!("{name} is as expected: remove {pending}")),
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    let missing: Vec<&str> = graphql_service::code::ALL
        .iter()
        .chain(object_engine::code::ALL)
        .map(|code| code.as_str())
        .filter(|code| !codes.contains(*code) && !OF_THE_SERVICE.contains(code))
        .filter(|code| !OF_LONG_ANSWERS.contains(code))
        .filter(|code| !crate::mutations::is_about_writing(code))
        .collect();
    assert!(missing.is_empty(), "no case leads to {missing:?}");
}
