//! Made-up workspaces, each with something that must be reported.

use std::fs;
use std::path::Path;

use tempfile::TempDir;
use tidy::rules::{FileCycles, Forbidden, Rules};

const DOCUMENT: &str = "# Crates\n\n`low` is low, and `high` is high.\n";

const CYCLES: FileCycles = FileCycles {
    most: 3,
    crates: &["low"],
};

const RULES: Rules = Rules {
    layers: &[&["low"], &["high"]],
    forbidden: &[],
    cycles: CYCLES,
};

/// Rules for more crates.
const MORE: Rules = Rules {
    layers: &[&["low", "other"], &["high"], &["higher"]],
    forbidden: &[Forbidden {
        from: "higher",
        to: "other",
        why: "they are strangers",
    }],
    cycles: CYCLES,
};

const BASE: &str = "//! Everything small.\n\npub struct Item;\n";
const TOP: &str =
    "//! Everything large.\n\nuse crate::base::Item;\n\npub struct Large(pub Item);\n";
const LIB: &str = "//! Low.\n\npub mod base;\npub mod top;\n\npub use base::Item;\n";

/// A workspace on disk that is as the rules say, until files are changed.
struct MadeUp {
    folder: TempDir,
    rules: Rules,
}

impl MadeUp {
    fn new() -> Self {
        let made_up = MadeUp {
            folder: TempDir::new().unwrap(),
            rules: RULES,
        };
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
        let path = self.folder.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Replaces a part of a file that occurs there.
    fn edit(&self, file: &str, from: &str, to: &str) {
        let text = fs::read_to_string(self.folder.path().join(file)).unwrap();
        assert!(text.contains(from), "{from} is not in {file}");
        self.write(file, &text.replace(from, to));
    }

    /// Returns what is reported.
    fn report(&self) -> Vec<String> {
        let findings = tidy::check(self.folder.path(), &self.rules);
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
    let expected = format!(
        "modules of `low` import each other in a cycle: `base` → `top` → `base`
    `base` imports `top` at low/src/base.rs:{line}: `{path}`
    `top` imports `base` at low/src/top.rs:3: `crate::base::Item`
    Move what the lower one needs down to it, or into a module below both."
    );
    let report = made_up.report();
    assert!(report.contains(&expected), "{}", report.join("\n\n"));
}

#[test]
fn a_workspace_as_the_rules_say_is_fine() {
    assert_eq!(MadeUp::new().report(), [""; 0]);
}

#[test]
fn a_forbidden_use_is_shown_with_the_ring_that_it_makes() {
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
    made_up.write("low/src/elsewhere.rs", "use super::Item;\n");
    let finding = made_up.finding();
    assert!(
        finding.contains("low/src/base/deep/er.rs:1: `super::super::super::top`"),
        "{finding}"
    );
    made_up.write("low/src/base/deep/er.rs", "");
    made_up.write(
        "low/src/elsewhere.rs",
        "use crate::top;\nuse super::Item;\n",
    );
    let finding = made_up.finding();
    assert!(
        finding.contains("low/src/elsewhere.rs:1: `crate::top`"),
        "{finding}"
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

/// A made-up workspace of more crates, each with what its manifest needs.
fn with_crates(crates: &[(&str, &str)]) -> MadeUp {
    let mut made_up = MadeUp::new();
    made_up.rules = MORE;
    let names: Vec<String> = crates.iter().map(|(name, _)| format!("{name:?}")).collect();
    let members = names.join(", ");
    let workspace =
        format!("[workspace]\nresolver = \"3\"\nmembers = [\"low\", \"high\", {members}]\n");
    made_up.write("Cargo.toml", &workspace);
    for (name, needs) in crates {
        made_up.write(&format!("{name}/Cargo.toml"), &manifest(name, needs));
        made_up.write(&format!("{name}/src/main.rs"), "fn main() {}\n");
    }
    let all: Vec<String> = crates.iter().map(|(name, _)| format!("`{name}`")).collect();
    made_up.write("ARCHITECTURE.md", &format!("{DOCUMENT}{}\n", all.join(" ")));
    made_up
}

#[test]
fn a_crate_depends_on_lower_layers_only() {
    let made_up = with_crates(&[("other", ""), ("higher", "")]);
    let needs = "[build-dependencies]\nrenamed = { path = \"../other\", package = \"other\" }\n";
    made_up.write("low/Cargo.toml", &manifest("low", needs));
    let expected = "`low` depends on `other`, which does not stand below it
  at low/Cargo.toml:6: `renamed`";
    assert!(made_up.finding().starts_with(expected));
    let needs = "[dev-dependencies]\nother = { path = \"../other\" }\n";
    made_up.write("low/Cargo.toml", &manifest("low", needs));
    assert_eq!(made_up.report(), [""; 0], "tests may");
}

#[test]
fn a_forbidden_edge_is_found_by_whatever_way() {
    let made_up = with_crates(&[
        ("other", ""),
        ("higher", "[dependencies]\nhigh = { path = \"../high\" }\n"),
    ]);
    made_up.edit(
        "high/Cargo.toml",
        "[dependencies]",
        "[dependencies]\nother = { path = \"../other\" }",
    );
    let expected = "`higher` leads to `other`: they are strangers
    It does so by `higher` → `high` → `other`.";
    assert_eq!(made_up.finding(), expected);
}

#[test]
fn every_crate_has_a_layer_and_a_description() {
    let made_up = with_crates(&[("other", ""), ("higher", ""), ("stray", "")]);
    made_up.write("ARCHITECTURE.md", DOCUMENT);
    let report = made_up.report().join("\n");
    for expected in [
        "`stray` has no layer\n  at stray/Cargo.toml",
        "ARCHITECTURE.md does not say what `stray` is for\n  at stray/Cargo.toml",
        "ARCHITECTURE.md does not say what `other` is for",
    ] {
        assert!(
            report.contains(expected),
            "{expected}\n--- is not in\n{report}"
        );
    }
    let mut made_up = MadeUp::new();
    made_up.rules = MORE;
    let report = made_up.report().join("\n");
    let gone = "has a place for `other`, which is no crate of the workspace";
    assert!(report.contains(gone), "{report}");
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
    fs::remove_file(made_up.folder.path().join("low/src/top.rs")).unwrap();
    assert!(
        made_up.finding().contains("no file for `mod top`"),
        "{}",
        made_up.finding()
    );
    made_up.write("low/src/top.rs", TOP);
    fs::remove_file(made_up.folder.path().join("ARCHITECTURE.md")).unwrap();
    assert!(
        made_up
            .finding()
            .starts_with("failed to read ARCHITECTURE.md"),
        "{}",
        made_up.finding()
    );
    made_up.write("Cargo.toml", "[workspace]\nmembers = [\"absent\"]\n");
    assert!(made_up.report()[0].starts_with("failed to read Cargo.toml"));
    assert!(tidy::check(Path::new("/absent/folder"), &RULES).len() == 1);
}

#[test]
fn more_files_than_allowed_that_import_each_other_are_reported_also_where_a_module_passes_names_on()
{
    let made_up = MadeUp::new();
    made_up.edit(
        "low/src/lib.rs",
        "pub mod top;\n",
        "pub mod top;\npub mod cycle;\n",
    );
    let parts =
        "//! A cycle.\n\nmod a;\nmod b;\nmod c;\n\npub use a::A;\npub use b::B;\npub use c::C;\n";
    made_up.write("low/src/cycle/mod.rs", parts);
    for (file, name, next) in [("a", "A", "b::B"), ("b", "B", "c::C"), ("c", "C", "a::A")] {
        let text =
            format!("use super::{next} as Next;\n\npub struct {name}(pub Option<Box<Next>>);\n");
        made_up.write(&format!("low/src/cycle/{file}.rs"), &text);
    }
    assert_eq!(made_up.report(), [""; 0]);
    made_up.edit("low/src/cycle/mod.rs", "mod c;\n", "mod c;\nmod d;\n");
    made_up.write(
        "low/src/cycle/d.rs",
        "use crate::cycle::A;\n\npub struct D(pub A);\n",
    );
    assert_eq!(made_up.report(), [""; 0]);
    made_up.edit("low/src/cycle/c.rs", "a::A", "d::D");
    let finding = made_up.finding();
    assert!(
        finding.contains("4 files import each other, and at most 3 may"),
        "{finding}"
    );
    assert!(finding.contains("low/src/cycle/d.rs"), "{finding}");
}
