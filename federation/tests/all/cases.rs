//! Scenario folders: `query.graphql`, `plan.txt`, `answer.json`, `case.md`, which says why, and where they are needed
//! `variables.json`, `options.json` and `errors.txt`. The folder above has `supergraph.graphql`. The reference
//! computes the answer that is compared; `UPDATE_EXPECT=1` rewrites the plan, the answer and its errors. `SCENARIO` chooses
//! those whose path contains it.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Map;

use crate::bench::Case;
use crate::world::Rates;

pub(super) fn folders(root: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> = fs::read_dir(root)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    entries.sort();
    for entry in entries.into_iter().filter(|entry| entry.is_dir()) {
        if entry.join("query.graphql").exists() {
            found.push(entry);
        } else {
            folders(&entry, found);
        }
    }
}

#[test]
fn scenarios_are_planned_and_answered_as_written() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let mut found = Vec::new();
    folders(&root, &mut found);
    assert!(found.len() >= 200, "{}", found.len());
    if let Ok(part) = std::env::var("SCENARIO") {
        found.retain(|folder| folder.to_string_lossy().contains(&part));
    }
    let update = std::env::var_os("UPDATE_EXPECT").is_some();
    let mut wrong = Vec::new();
    for folder in found {
        if let Err(difference) = scenario(&folder, update) {
            wrong.push(format!("{}\n{difference}", folder.display()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// The data and the gateway of a scenario.
#[derive(serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Options {
    /// Labels that are active.
    labels: Vec<String>,
    /// What all values follow from.
    seed: u64,
    /// Percentages of values that are null, of fields that fail, and of entities that a subgraph does not know.
    nulls: u64,
    errors: u64,
    unknown: u64,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            labels: Vec::new(),
            seed: 7,
            nulls: 0,
            errors: 0,
            unknown: 0,
        }
    }
}

/// Returns the supergraph of a scenario, or that of its area.
fn supergraph(folder: &Path) -> String {
    let own = folder.join("supergraph.graphql");
    let area = folder.parent().unwrap().join("supergraph.graphql");
    fs::read_to_string(own)
        .or_else(|_| fs::read_to_string(area))
        .unwrap()
}

fn scenario(folder: &Path, update: bool) -> Result<(), String> {
    assert!(
        folder.join("case.md").exists(),
        "{} does not say why",
        folder.display()
    );
    let supergraph = supergraph(folder);
    let operation = fs::read_to_string(folder.join("query.graphql")).unwrap();
    let variables = match fs::read_to_string(folder.join("variables.json")) {
        Ok(text) => serde_json::from_str(&text).unwrap(),
        Err(_) => Map::new(),
    };
    let options: Options = match fs::read_to_string(folder.join("options.json")) {
        Ok(text) => serde_json::from_str(&text).unwrap(),
        Err(_) => Options::default(),
    };
    let case = Case {
        supergraph: &supergraph,
        operation: &operation,
        variables,
        labels: options.labels,
        seed: options.seed,
        rates: Rates {
            nulls: options.nulls,
            errors: options.errors,
            unknown: options.unknown,
        },
    };
    let outcome = case.run()?;
    let answer = serde_json::to_string_pretty(&outcome.data).unwrap() + "\n";
    let mut errors = String::new();
    for (path, message) in &outcome.errors {
        errors.push_str(&format!("{path} {message}\n"));
    }
    for (name, actual) in [
        ("plan.txt", outcome.plan_text),
        ("answer.json", answer),
        ("errors.txt", errors),
    ] {
        let file = folder.join(name);
        if update && name == "errors.txt" && actual.is_empty() {
            let _ = fs::remove_file(&file);
            continue;
        }
        if update {
            fs::write(&file, actual).unwrap();
            continue;
        }
        let expected = fs::read_to_string(&file).unwrap_or_default();
        if expected != actual {
            return Err(format!("{name}: expected\n{expected}\nbut is\n{actual}"));
        }
    }
    Ok(())
}
