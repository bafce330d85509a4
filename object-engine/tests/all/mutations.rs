//! Scenarios of writing: a schema, data, a mutation, its answer, and what it changes.
//!
//! Each folder `mutations/<area>/<name>/` holds `request.graphql`, `expected.json`, `changes.txt` and one
//! line `why.md`; `schema.yaml` and `data.trig` are those of its area, and `context.json` gives limits and
//! the roles of the caller, which are enforced then. `changes.txt` lists the quads that are removed and
//! added. A UUID that was made up stands as `UUID`. `UPDATE_EXPECT` rewrites the expectations.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use graphql_gen::typesystem::ApiOptions;
use graphql_service::{Caller, Request, RequestContext};
use object_engine::{EngineLimits, ServiceOptions};
use oxrdf::Quad;
use oxrdfio::RdfFormat;
use serde_json::{Map, Value, json};

use crate::back_end::{BackEnd, Kind};
use crate::images;

/// Codes that mutations lead to, and not scenarios: tests of stores and of transactions do.
const OF_TRANSACTIONS: &[&str] = &[
    "WRITE_CONFLICT",
    "IDEMPOTENCY_KEY_REUSED",
    "WRITE_OUTCOME_UNKNOWN",
    "READ_BACK_FAILED",
    "STORE_READ_ONLY",
    "STORE_NOT_ISOLATED",
];

/// Codes that only mutations lead to.
pub(crate) const CODES: &[&str] = &[
    "LIMIT_AFFECTED",
    "WHERE_REQUIRED",
    "DRY_RUN_MIXED",
    "INPUT_INVALID",
    "ID_INVALID",
    "ID_NOT_AVAILABLE",
    "NOT_FOUND",
    "REFERENCE_NOT_FOUND",
    "REFERENCED",
    "VALUE_INVALID",
    "VALUE_NOT_FOUND",
    "MIN_VIOLATED",
    "MAX_VIOLATED",
    "LANG_INVALID",
    "LANG_NOT_UNIQUE",
    "IMMUTABLE",
];

/// Codes that mutations lead to only where the schema was warned of something.
const OF_WARNINGS: &[&str] = &["PATTERN_UNSUPPORTED"];

/// Scenarios that need a store which shows what is not committed; Fuseki refuses them, and writes nothing.
const NEEDS_A_VIEW: &[&str] = &[
    "a-dry-run-answers-and-writes-nothing",
    "create-and-delete-in-one-request",
    "delete-together-with-what-needs-it",
    "later-fields-see-earlier-writes",
];

/// Returns whether queries do not lead to a code.
pub(crate) fn is_about_writing(code: &str) -> bool {
    [CODES, OF_WARNINGS, OF_TRANSACTIONS]
        .concat()
        .contains(&code)
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mutations")
}

fn folders(of: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(of).expect("a folder");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let mut folders: Vec<PathBuf> = paths.filter(|path| path.is_dir()).collect();
    folders.sort();
    folders
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn read_json(path: &Path) -> Value {
    serde_json::from_str(&read(path)).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn parsed(trig: &str) -> Vec<Quad> {
    images::quads(RdfFormat::TriG, trig)
}

/// What a scenario leads to.
struct Outcome {
    answer: Value,
    /// Quads in N-Quads, with `-` or `+` before each.
    changes: String,
}

fn run(case: &Path, kind: Kind) -> Outcome {
    let area = case.parent().expect("a case is in an area");
    let back_end = match kind {
        Kind::Rdf4j { .. } | Kind::Fuseki => BackEnd::written_on_server(kind),
        _ => BackEnd::new(kind),
    };
    back_end.load(&parsed(&read(&area.join("data.trig"))));
    let before = back_end.quads();
    let context = match case.join("context.json") {
        file if file.exists() => read_json(&file),
        _ => json!({}),
    };
    let roles = context["roles"].as_array().cloned();
    let mut options = ServiceOptions::new()
        .with_api(ApiOptions::default().with_mutations(true))
        .with_roles_enforced(roles.is_some());
    for (property, value) in context["limits"].as_object().into_iter().flatten() {
        let rows = EngineLimits::ROWS.iter();
        let row = rows.clone().find(|row| row.property == property);
        let row = row.unwrap_or_else(|| panic!("unknown limit {property}"));
        (row.set)(&mut options.engine_limits, value.as_u64());
    }
    let schema = read(&area.join("schema.yaml"));
    let service = crate::fixture::service(&schema, back_end.graph_store(), options);
    let mut request_context = RequestContext::new();
    if let Some(roles) = roles {
        let roles = roles.iter().filter_map(Value::as_str);
        request_context.caller = Some(Arc::new(Caller::with_roles(roles)));
    }
    let request = Request::new(read(&case.join("request.graphql")));
    let answer = crate::fixture::json(&crate::fixture::answer(&service, request, request_context));
    Outcome {
        answer: essence(&answer),
        changes: changes(&before, &back_end.quads()),
    }
}

/// Lists the quads that are in one of two lists alone.
fn changes(before: &[Quad], after: &[Quad]) -> String {
    let shown = |quads: &[Quad]| -> BTreeSet<String> {
        quads
            .iter()
            .map(|quad| without_uuids(&quad.to_string()))
            .collect()
    };
    let (before, after) = (shown(before), shown(after));
    let removed = before
        .difference(&after)
        .map(|quad| format!("- {quad} .\n"));
    let added = after
        .difference(&before)
        .map(|quad| format!("+ {quad} .\n"));
    removed.chain(added).collect()
}

fn without_uuids(text: &str) -> String {
    let uuid = regex::Regex::new("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}").expect("a pattern");
    uuid.replace_all(text, "UUID").into_owned()
}

/// The part of an answer that expectations speak of: messages may change.
fn essence(answer: &Value) -> Value {
    let mut essence = Map::new();
    if let Some(errors) = answer.get("errors").and_then(Value::as_array) {
        let of = |error: &Value| {
            let mut essence = Map::new();
            for key in ["code", "inputPath", "ids", "limit"] {
                if let Some(value) = error["extensions"].get(key) {
                    essence.insert(key.to_owned(), value.clone());
                }
            }
            if let Some(path) = error.get("path") {
                essence.insert("path".to_owned(), path.clone());
            }
            assert!(error["message"].is_string(), "every error has a message");
            Value::Object(essence)
        };
        essence.insert("errors".to_owned(), errors.iter().map(of).collect());
    }
    if let Some(data) = answer.get("data") {
        essence.insert("data".to_owned(), data.clone());
    }
    let text = without_uuids(&Value::Object(essence).to_string());
    serde_json::from_str(&text).expect("JSON without UUIDs is JSON")
}

fn check_all(kind: Kind) {
    let rewrite = kind == Kind::Image && std::env::var_os("UPDATE_EXPECT").is_some();
    let mut failures = Vec::new();
    let mut codes = BTreeSet::new();
    for case in folders(&root()).iter().flat_map(|area| folders(area)) {
        let name = case
            .file_name()
            .expect("a name")
            .to_string_lossy()
            .into_owned();
        assert_eq!(
            read(&case.join("why.md")).trim_end().lines().count(),
            1,
            "{name}"
        );
        let Outcome { answer, changes } = run(&case, kind);
        for error in answer["errors"].as_array().into_iter().flatten() {
            codes.insert(error["code"].as_str().expect("a code").to_owned());
        }
        if kind == Kind::Fuseki && NEEDS_A_VIEW.contains(&name.as_str()) {
            assert_eq!(answer["errors"][0]["code"], "STORE_UNSUPPORTED", "{name}");
            assert_eq!(changes, "", "{name}");
            continue;
        }
        let text = serde_json::to_string_pretty(&answer).expect("JSON") + "\n";
        for (file, actual) in [("expected.json", &text), ("changes.txt", &changes)] {
            let file = case.join(file);
            if rewrite {
                fs::write(&file, actual).expect("a file is written");
            } else if read(&file) != *actual {
                failures.push(format!(
                    "{name}: expected {}\nbut got {actual}",
                    read(&file)
                ));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    let missing: Vec<_> = CODES
        .iter()
        .chain(OF_WARNINGS)
        .filter(|code| !codes.contains(**code))
        .collect();
    assert!(missing.is_empty(), "no scenario leads to {missing:?}");
}

#[test]
fn mutations_do_as_expected() {
    check_all(Kind::Image);
}

#[test]
fn mutations_do_as_expected_over_an_image_in_a_folder() {
    check_all(Kind::Folder);
}

#[test]
fn mutations_do_as_expected_over_an_image_with_changes() {
    check_all(Kind::WrittenImage);
}

#[test]
#[ignore = "needs a running RDF4J Server named by RDF4J_URL"]
fn mutations_do_as_expected_over_rdf4j() {
    check_all(Kind::Rdf4j { infers: false });
}

#[test]
#[ignore = "needs a running Fuseki server named by FUSEKI_URL"]
fn mutations_do_as_expected_over_fuseki() {
    check_all(Kind::Fuseki);
}
