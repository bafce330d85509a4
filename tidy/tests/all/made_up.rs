//! Made-up workspaces, each with something that must be reported.

use std::fs;
use std::path::Path;

use tempfile::TempDir;

/// A document for a crate `low` with the modules `base` and `top`, and a crate `high` above it.
const DOCUMENT: &str = "# Crates

| crate | depends on | in tests also on |
|---|---|---|
| `low` | – | – |
| `high` | `low` | – |

## Modules of `low`

| module | what lives there | imports |
|---|---|---|
| `base` | everything small | – |
| `top` | everything large | `base` |
";

const BASE: &str = "//! Everything small.\n\npub struct Item;\n";
const TOP: &str =
    "//! Everything large.\n\nuse crate::base::Item;\n\npub struct Large(pub Item);\n";
const LIB: &str = "//! Low.\n\npub mod base;\npub mod top;\n\npub use base::Item;\n";

/// A workspace on disk that is as its document says, until files are changed.
struct MadeUp(TempDir);

impl MadeUp {
    fn new() -> Self {
        let made_up = MadeUp(TempDir::new().unwrap());
        let workspace = "[workspace]\nresolver = \"3\"\nmembers = [\"low\", \"high\"]\n";
        made_up.write("Cargo.toml", workspace);
        made_up.write("ARCHITECTURE.md", DOCUMENT);
        made_up.write("low/Cargo.toml", &manifest("low", ""));
        made_up.write("low/src/lib.rs", LIB);
        made_up.write("low/src/base.rs", BASE);
        made_up.write("low/src/top.rs", TOP);
        let needs_low = "[dependencies]\nlow = { path = \"../low\" }\n";
        made_up.write("high/Cargo.toml", &manifest("high", needs_low));
        made_up.write("high/src/main.rs", "fn main() {}\n");
        made_up
    }

    fn write(&self, file: &str, text: &str) {
        let path = self.0.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Replaces a part of a file that occurs there.
    fn edit(&self, file: &str, from: &str, to: &str) {
        let text = fs::read_to_string(self.0.path().join(file)).unwrap();
        assert!(text.contains(from), "{from} is not in {file}");
        self.write(file, &text.replace(from, to));
    }

    /// Returns what is reported.
    fn report(&self) -> Vec<String> {
        let findings = tidy::check(self.0.path());
        findings.iter().map(ToString::to_string).collect()
    }

    /// Returns the one finding.
    fn finding(&self) -> String {
        let mut report = self.report();
        assert_eq!(report.len(), 1, "{}", report.join("\n\n"));
        report.remove(0)
    }
}

fn manifest(name: &str, rest: &str) -> String {
    format!("[package]\nname = \"{name}\"\nversion = \"0.0.0\"\nedition = \"2024\"\n{rest}")
}

/// What must be said of `base` importing `top` by a path on a line.
fn is_forbidden(made_up: &MadeUp, line: usize, path: &str) {
    let report = made_up.report();
    let edge = format!(
        "`base` of `low` imports `top`, and ARCHITECTURE.md does not list that
  at low/src/base.rs:{line}: `{path}`
    Can the item move down, or be given as an argument?
    If the edge is meant, line 12 of ARCHITECTURE.md becomes:
    | `base` | everything small | `top` |"
    );
    assert!(report.contains(&edge), "{}", report.join("\n\n"));
    let ring = "modules of `low` import each other in a ring: `base` → `top` → `base`";
    assert!(
        report.iter().any(|text| text.starts_with(ring)),
        "{}",
        report.join("\n\n")
    );
}

#[test]
fn a_workspace_as_its_document_says_is_fine() {
    assert_eq!(MadeUp::new().report(), [""; 0]);
}

#[test]
fn a_forbidden_use_is_shown_with_the_line_to_add_and_the_ring_it_makes() {
    let made_up = MadeUp::new();
    made_up.write(
        "low/src/base.rs",
        &format!("{BASE}\nuse crate::top::Large;\n"),
    );
    is_forbidden(&made_up, 5, "crate::top::Large");
}

#[test]
fn a_forbidden_path_is_found_wherever_it_stands() {
    let cases = [
        (
            "use super::{top::Large, base::Item as I};",
            "super::top::Large",
        ),
        ("use crate::{self as root, top};", "crate::top"),
        ("use crate::top::*;", "crate::top"),
        ("pub use crate::top::Large as Big;", "crate::top::Large"),
        (
            "fn f() -> Option<crate::top::Large> { None }",
            "crate::top::Large",
        ),
        (
            "fn f() { let _ = crate::top::Large(Item); }",
            "crate::top::Large",
        ),
        (
            "impl From<super::top::Large> for Item {}",
            "super::top::Large",
        ),
        (
            "fn f() { println!(\"{}\", super::top::f()) }",
            "super::top::f",
        ),
        ("mod inner { use super::super::top; }", "super::super::top"),
        ("fn f() { use crate::top::Large; }", "crate::top::Large"),
        (
            "macro_rules! m { () => { $crate::top::f() } }",
            "crate::top::f",
        ),
        ("#[serde(with = \"crate::top\")] struct S;", "crate::top"),
        ("#[cfg(feature = \"x\")] use crate::top;", "crate::top"),
        ("#[cfg(not(test))] use crate::top;", "crate::top"),
        ("fn f(x: impl crate::top::T) {}", "crate::top::T"),
    ];
    for (code, path) in cases {
        let made_up = MadeUp::new();
        made_up.write("low/src/base.rs", &format!("{BASE}{code}\n"));
        is_forbidden(&made_up, 4, path);
    }
}

#[test]
fn what_is_no_edge_is_not_shown() {
    let cases = [
        "#[cfg(test)] mod tests { use crate::top::Large; }",
        "#[cfg(all(test, unix))] use crate::top;",
        "#[cfg(test)] impl Item { fn f(_: crate::top::Large) {} }",
        "impl Item { #[cfg(test)] fn f(_: crate::top::Large) {} }",
        "/// See [`crate::top::Large`].\npub(crate) struct Other;",
        "mod inner { use super::Item; pub(in crate::base) struct S; }",
        "use self::inner::*; mod inner { pub struct X(crate::base::Item); }",
        "use ::std::fmt; fn top() {} fn f() { top::<u8>() }",
        "const TEXT: &str = \"crate::top\";",
    ];
    for code in cases {
        let made_up = MadeUp::new();
        made_up.write("low/src/base.rs", &format!("{BASE}{code}\n"));
        assert_eq!(made_up.report(), [""; 0], "{code}");
    }
}

#[test]
fn files_below_a_module_belong_to_it() {
    let made_up = MadeUp::new();
    made_up.edit(
        "low/src/base.rs",
        "pub struct",
        "mod deep;\n#[path = \"elsewhere.rs\"]\nmod odd;\npub struct",
    );
    made_up.write("low/src/base/deep/mod.rs", "mod er;\n");
    made_up.write("low/src/base/deep/er.rs", "use super::super::super::top;\n");
    made_up.write(
        "low/src/elsewhere.rs",
        "use crate::top;\nuse super::Item;\n",
    );
    let report = made_up.report().join("\n");
    assert!(
        report.contains("low/src/base/deep/er.rs:1: `super::super::super::top`"),
        "{report}"
    );
    assert!(
        report.contains("low/src/elsewhere.rs:1: `crate::top`"),
        "{report}"
    );
}

#[test]
fn an_item_of_the_crate_root_is_imported_from_where_it_is() {
    let made_up = MadeUp::new();
    made_up.edit(
        "low/src/top.rs",
        "use crate::base::Item;",
        "use crate::base::Item; use crate::Item as I;",
    );
    let expected = "`crate::Item` in module `top` takes an item from the crate root, \
        which depends on every module
  at low/src/top.rs:3: `crate::Item`
    Write `crate::base::Item`, where it comes from.";
    assert_eq!(made_up.finding(), expected);
}

#[test]
fn items_of_the_crate_root_itself_and_all_of_it_are_refused() {
    for code in [
        "fn f() { crate::f() }",
        "use crate::*;",
        "use super::*;",
        "use crate as root;",
    ] {
        let made_up = MadeUp::new();
        made_up.write("low/src/top.rs", &format!("{TOP}{code}\n"));
        made_up.edit("low/src/lib.rs", "pub use", "fn f() {}\n\npub use");
        let finding = made_up.finding();
        assert!(finding.contains("the crate root"), "{finding}");
        assert!(finding.contains("low/src/top.rs:6"), "{finding}");
    }
}

#[test]
fn an_exported_macro_counts_for_the_module_that_defines_it() {
    let made_up = MadeUp::new();
    let defined = format!(
        "{BASE}\n#[macro_export]\nmacro_rules! item {{ () => {{ $crate::base::Item }} }}\n"
    );
    made_up.write("low/src/base.rs", &defined);
    made_up.edit(
        "low/src/top.rs",
        "use crate::base::Item;",
        "fn f() { crate::item!() }",
    );
    assert_eq!(made_up.report(), [""; 0]);
    made_up.edit(
        "low/src/lib.rs",
        "pub mod base;",
        "#[macro_use]\npub mod base;",
    );
    assert!(
        made_up
            .finding()
            .starts_with("`#[macro_use]` on `mod base`"),
        "{}",
        made_up.finding()
    );
}

#[test]
fn a_listed_edge_that_is_gone_is_taken_out() {
    let made_up = MadeUp::new();
    made_up.write("low/src/top.rs", "//! Everything large.\n");
    let expected = "ARCHITECTURE.md lists `base` for `top` of `low`, which does not import it
  at ARCHITECTURE.md:13
    An edge less: well done. To keep it away, line 13 of ARCHITECTURE.md becomes:
    | `top` | everything large | – |";
    assert_eq!(made_up.finding(), expected);
}

#[test]
fn a_module_and_a_row_need_each_other() {
    let made_up = MadeUp::new();
    made_up.edit(
        "low/src/lib.rs",
        "pub mod top;",
        "pub mod top;\nmod extra { use crate::top; }\nmod bare {}",
    );
    made_up.edit(
        "low/src/lib.rs",
        "mod extra",
        "/// What is more. And more.\nmod extra",
    );
    made_up.edit(
        "ARCHITECTURE.md",
        "| `top` |",
        "| `gone` | nothing | – |\n| `top` |",
    );
    let report = made_up.report().join("\n");
    assert!(report.contains("low/src/lib.rs:6: `mod extra`"), "{report}");
    assert!(
        report.contains("    | `extra` | What is more | `top` |"),
        "{report}"
    );
    assert!(report.contains("    | `bare` | … | – |"), "{report}");
    assert!(
        report.contains("lists `gone`, which is no module of `low`\n  at ARCHITECTURE.md:13"),
        "{report}"
    );
}

#[test]
fn a_table_goes_from_the_ground_up() {
    let made_up = MadeUp::new();
    let document = DOCUMENT.replace("| `base` | everything small | – |\n", "");
    made_up.write(
        "ARCHITECTURE.md",
        &format!("{document}| `base` | everything small | – |\n"),
    );
    let finding = made_up.finding();
    assert!(
        finding.starts_with("the row of `top` stands above that of `base`"),
        "{finding}"
    );
}

#[test]
fn a_library_without_a_table_is_given_one() {
    let made_up = MadeUp::new();
    let at = DOCUMENT.find("## Modules").unwrap();
    made_up.write("ARCHITECTURE.md", &DOCUMENT[..at]);
    let expected = "ARCHITECTURE.md has no table of the modules of `low`
    Add one:
    
    ### Modules of `low`
    
    | module | what lives there | imports |
    |---|---|---|
    | `base` | Everything small | – |
    | `top` | Everything large | `base` |
    ";
    assert_eq!(made_up.finding(), expected);
}

#[test]
fn the_table_of_crates_is_held_to_the_manifests() {
    let made_up = MadeUp::new();
    made_up.write(
        "Cargo.toml",
        "[workspace]\nresolver = \"3\"\nmembers = [\"low\", \"high\", \"other\"]\n",
    );
    made_up.write("other/Cargo.toml", &manifest("other", ""));
    made_up.write("other/src/main.rs", "fn main() {}\n");
    made_up.edit("high/Cargo.toml", "[dependencies]", "[dev-dependencies]");
    let needs = "[build-dependencies]\nrenamed = { path = \"../other\", package = \"other\" }\n";
    made_up.write("low/Cargo.toml", &manifest("low", needs));
    made_up.edit(
        "ARCHITECTURE.md",
        "| `low` | – | – |",
        "| `low` | – | – |\n| `past` | – | – |",
    );
    let report = made_up.report().join("\n\n");
    for expected in [
        "`high` depends on `low`, and ARCHITECTURE.md does not list that under \
         “in tests also on”
  at high/Cargo.toml:6: `low`",
        "    | `high` | – | `low` |",
        "ARCHITECTURE.md lists `low` under “depends on” of `high`, which does not depend on it
  at ARCHITECTURE.md:7",
        "`low` depends on `other`, and ARCHITECTURE.md does not list that under “depends on”
  at low/Cargo.toml:6: `renamed`",
        "    | `low` | `other` | – |",
        "has no row for `other`",
        "ARCHITECTURE.md has a row for `past`, which is no crate of the workspace",
    ] {
        assert!(
            report.contains(expected),
            "{expected}\n--- is not in\n{report}"
        );
    }
}

#[test]
fn what_cannot_be_read_is_reported() {
    let made_up = MadeUp::new();
    made_up.write("low/src/top.rs", "\nfn f( {}\n");
    assert!(
        made_up.finding().contains("at low/src/top.rs:2"),
        "{}",
        made_up.finding()
    );
    fs::remove_file(made_up.0.path().join("low/src/top.rs")).unwrap();
    assert!(
        made_up.finding().contains("no file for `mod top`"),
        "{}",
        made_up.finding()
    );
    fs::remove_file(made_up.0.path().join("ARCHITECTURE.md")).unwrap();
    assert!(
        made_up
            .finding()
            .starts_with("failed to read ARCHITECTURE.md"),
        "{}",
        made_up.finding()
    );
    made_up.write("Cargo.toml", "[workspace]\nmembers = [\"absent\"]\n");
    assert!(made_up.report()[0].starts_with("failed to read Cargo.toml"));
    assert!(tidy::check(Path::new("/absent/folder")).len() == 2);
}
