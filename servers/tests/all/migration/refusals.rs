//! Migrations that cannot be done, or that fail: what the programs say, and whether they go on.

use std::fs;

use tempfile::TempDir;

use super::{SOML, command, refused, start};
use crate::processes::{agent, base, eventually};

const SERVICES: [&str; 2] = [
    env!("CARGO_BIN_EXE_object-service"),
    env!("CARGO_BIN_EXE_search-service"),
];

/// Nobody listens there.
const NOWHERE: &str = "soml.storage.rdf4j.address=http://127.0.0.1:1";

#[test]
fn a_migration_without_a_source_or_to_memory_or_to_the_same_store_stops_the_start() {
    let folder = TempDir::new().unwrap();
    let data = format!("store.dataDir={}", folder.path().join("data").display());
    let from = |store: &str| format!("soml.storage.migration.source={store}");
    let to = |store: &str| format!("soml.storage.migration.destination={store}");
    let provider = |store: &str| format!("soml.storage.provider={store}");
    let address = NOWHERE.to_owned();
    for (properties, said) in [
        (vec![data.clone()], "`soml.storage.migration.source`"),
        (vec![from("file"), data.clone()], "from `file` to `file`"),
        (
            vec![from("rdf4j"), provider("rdf4j"), address.clone()],
            "from `rdf4j` to `rdf4j`",
        ),
        (
            vec![from("mongodb"), to("mongodb")],
            "from `mongodb` to `mongodb`",
        ),
        (vec![from("mongodb")], "the memory of the process"),
        (
            vec![from("mongodb"), provider("in-memory"), data.clone()],
            "the memory of the process",
        ),
        (
            vec![from("mongodb"), to("in-memory")],
            "which keep schemas over a restart",
        ),
        (vec![from("in-memory")], "`mongodb`, `rdf4j`, `file`"),
        (
            vec![from("file"), to("mongodb")],
            "name it with `store.dataDir`",
        ),
        (
            vec![from("rdf4j"), to("mongodb")],
            "`soml.storage.migration.source` is `rdf4j`, but `soml.storage.rdf4j.address`",
        ),
    ] {
        let mut all = vec![
            "soml.storage.migration.enabled=true",
            "security.enabled=false",
        ];
        all.extend(properties.iter().map(String::as_str));
        for (program, arguments) in [
            (SOML, &["serve", "--port", "0"][..]),
            (SERVICES[0], &["--port", "0"]),
            (SERVICES[1], &["--port", "0"]),
            (SOML, &["migrate"]),
            (SOML, &["migrate", "--dry-run"]),
        ] {
            let text = refused(&mut command(program, arguments, &[], &all), 64);
            assert!(text.contains(said), "{program} {properties:?}: {text}");
        }
    }
    assert!(!folder.path().join("data").exists() || is_empty(&folder));
}

#[test]
fn a_schema_is_not_named_while_others_are_moved_beside_the_service() {
    let folder = TempDir::new().unwrap();
    let properties = failing(&folder);
    let mut properties: Vec<&str> = properties.iter().map(String::as_str).collect();
    properties.push("soml.storage.migration.async=true");
    let named = ["--port", "0", "--schema", "films.yaml"];
    for (program, arguments) in [
        (SOML, [&["serve"][..], &named].concat()),
        (SERVICES[0], named.to_vec()),
        (SERVICES[1], named.to_vec()),
    ] {
        let text = refused(&mut command(program, &arguments, &[], &properties), 64);
        assert!(text.contains("`soml.storage.migration.async`"), "{text}");
    }
    assert!(!folder.path().join("data").exists());
}

/// Returns whether no schema was ever stored in the folder.
fn is_empty(folder: &TempDir) -> bool {
    let documents = folder.path().join("data/schemas/documents");
    fs::read_dir(documents).is_ok_and(|mut documents| documents.next().is_none())
}

/// Returns the properties of a migration from a server that does not answer.
fn failing(folder: &TempDir) -> Vec<String> {
    let data = folder.path().join("data");
    [
        "soml.storage.migration.enabled=true",
        "soml.storage.migration.source=rdf4j",
        "soml.storage.migration.retries=2",
        "soml.storage.provider=file",
        "security.enabled=false",
        NOWHERE,
    ]
    .map(str::to_owned)
    .into_iter()
    .chain([format!("store.dataDir={}", data.display())])
    .collect()
}

#[test]
fn a_migration_that_fails_stops_the_service_after_it_was_tried_again() {
    for (program, arguments) in [
        (SOML, &["serve", "--port", "0"][..]),
        (SERVICES[0], &["--port", "0"]),
    ] {
        let folder = TempDir::new().unwrap();
        let properties = failing(&folder);
        let properties: Vec<&str> = properties.iter().map(String::as_str).collect();
        let text = refused(&mut command(program, arguments, &[], &properties), 3);
        let last = text.lines().last().unwrap();
        assert!(last.starts_with("error[SCHEMA_MIGRATION_FAILED]"), "{text}");
        assert!(last.contains("in the origin"), "{text}");
        assert_eq!(text.matches("is retried").count(), 2, "{text}");
    }
    let folder = TempDir::new().unwrap();
    let properties = failing(&folder);
    let properties: Vec<&str> = properties.iter().map(String::as_str).collect();
    let text = refused(&mut command(SOML, &["migrate"], &[], &properties), 3);
    assert!(text.starts_with("error[SCHEMA_MIGRATION_FAILED]"), "{text}");
    let text = refused(
        &mut command(SOML, &["migrate", "--dry-run"], &[], &properties),
        3,
    );
    assert!(text.contains("in the origin"), "{text}");
}

#[test]
fn the_delay_is_between_two_attempts() {
    let folder = TempDir::new().unwrap();
    let mut properties = failing(&folder);
    // It would be waited for longer than any test takes.
    properties.push("soml.storage.migration.delay=3600000".to_owned());
    let properties: Vec<&str> = properties.iter().map(String::as_str).collect();
    let log = folder.path().join("log");
    let mut command = command(SOML, &["serve", "--port", "0"], &[], &properties);
    command.stderr(fs::File::create(&log).unwrap());
    let mut running = crate::processes::Running::start(&mut command);
    let said = || fs::read_to_string(&log).unwrap();
    eventually(|| said().contains("is retried"));
    assert_eq!(said().matches("is retried").count(), 1);
    assert!(running.child.try_wait().unwrap().is_none());
}

#[test]
fn with_async_a_migration_that_fails_is_logged_and_the_service_goes_on() {
    let folder = TempDir::new().unwrap();
    let mut properties = failing(&folder);
    properties.push("soml.storage.migration.async=true".to_owned());
    let properties: Vec<&str> = properties.iter().map(String::as_str).collect();
    let log = folder.path().join("log");
    let mut serve = command(SOML, &["serve", "--port", "0"], &[], &properties);
    let (mut running, said) = start(&mut serve, &log, "Security:");
    eventually(|| {
        let log = fs::read_to_string(&log).unwrap();
        log.contains("SCHEMA_MIGRATION_FAILED") && log.contains("the service continues")
    });
    let about = format!("{}/__about", base(&said, "GraphQL:"));
    assert_eq!(agent().get(about).call().unwrap().status(), 200);
    assert!(running.stop().success());
}
