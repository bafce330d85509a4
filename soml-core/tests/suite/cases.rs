//! Scenario folders `tests/cases/<CODE>[-variant]/`: the smallest document that causes a finding, the
//! findings as text, and one line that says why the folder is there.
//!
//! `UPDATE_EXPECT=1 cargo nextest run -p soml-core cases` rewrites the expected findings.

use std::fs;
use std::path::PathBuf;

use soml_core::codes::CODES;
use soml_core::{Severity, load};

fn folders() -> Vec<PathBuf> {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cases");
    let mut folders: Vec<_> = fs::read_dir(root)
        .expect(root)
        .map(|entry| entry.expect(root).path())
        .collect();
    folders.sort();
    folders
}

fn name(folder: &std::path::Path) -> &str {
    folder
        .file_name()
        .and_then(|name| name.to_str())
        .expect("folders have names")
}

#[test]
fn every_scenario_gives_the_expected_findings() {
    let rewrite = std::env::var_os("UPDATE_EXPECT").is_some();
    let mut wrong = Vec::new();
    for folder in folders() {
        let read = |file: &str| fs::read_to_string(folder.join(file)).unwrap_or_default();
        let loaded = load(&read("schema.yaml"));
        let found: String = loaded
            .diagnostics
            .iter()
            .map(|d| format!("{d}\n"))
            .collect();
        let code = name(&folder).split('-').next().unwrap_or_default();
        assert!(
            found.contains(&format!("[{code}]")),
            "{}:\n{found}",
            name(&folder)
        );
        assert_eq!(
            read("why.md").lines().count(),
            1,
            "{}: one line says why",
            name(&folder)
        );
        let has_errors = loaded
            .diagnostics
            .iter()
            .any(|d| d.severity == Severity::Error);
        assert_eq!(loaded.schema.is_none(), has_errors, "{}", name(&folder));
        if rewrite {
            fs::write(folder.join("expected.txt"), &found).expect("the folder can be written");
        } else if found != read("expected.txt") {
            wrong.push(format!("{}:\n{found}", name(&folder)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_code_has_a_scenario() {
    let folders = folders();
    for row in CODES {
        assert!(
            folders.iter().any(|f| name(f) == row.name),
            "no folder for {}",
            row.name
        );
    }
}

#[test]
fn every_example_of_the_table_causes_its_code() {
    for row in CODES.iter().filter(|row| row.name != "LIMIT_EXCEEDED") {
        let loaded = load(row.example);
        let found = loaded
            .diagnostics
            .iter()
            .any(|d| d.code == row.code.as_str());
        assert!(found, "{}: {:?}", row.name, loaded.diagnostics);
    }
}
