//! This workspace is laid out as its rules say.

use std::path::Path;

use tidy::rules::RULES;
use tidy::workspace::Workspace;
use tidy::{crates, modules};

#[test]
fn crates_and_modules_depend_on_each_other_as_the_rules_say() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let findings = tidy::check(root, &RULES);
    let texts: Vec<String> = findings.iter().map(ToString::to_string).collect();
    assert!(texts.is_empty(), "\n\n{}\n\n", texts.join("\n\n"));
}

#[test]
fn every_library_has_a_table_of_its_modules_on_demand() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let workspace = Workspace::read(root).unwrap();
    let table = modules::table(&workspace, "tidy").unwrap();
    assert!(
        table.contains("\n| `crates` | Edges between the crates of the workspace | "),
        "{table}"
    );
    assert!(modules::table(&workspace, "absent").is_err());
    let table = crates::table(&workspace);
    let line = |name: &str| table.find(&format!("\n| `{name}` | ")).expect(name);
    assert!(line("call-context") < line("graph-store"));
    assert!(line("graph-store") < line("servers"));
}
