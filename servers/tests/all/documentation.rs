//! Documentation that comes from the code says what the code does.
//!
//! `UPDATE_EXPECT=1` rewrites the generated parts.

use std::fs;
use std::path::PathBuf;
use std::sync::Mutex;

use serde_json::Value;

use crate::service::Service;

fn path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("..")
        .join(name)
}

/// Held while a page is read and rewritten; some have several generated parts.
pub(crate) static PAGES: Mutex<()> = Mutex::new(());

/// Compares the part of a page between `<!-- generated … -->` and `<!-- end -->`.
fn compare(page: &str, generated: &str) {
    let _page = PAGES.lock();
    let text = fs::read_to_string(path(page)).unwrap();
    let start = text.find("<!-- generated").unwrap();
    let start = start + text[start..].find("-->\n").unwrap() + "-->\n".len();
    let end = text.find("<!-- end -->").unwrap();
    let wanted = format!("\n{}\n", generated.trim_end());
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        let new = format!("{}{wanted}\n{}", &text[..start], &text[end..]);
        fs::write(path(page), new).unwrap();
        return;
    }
    let found = text[start..end].trim();
    assert_eq!(
        found,
        wanted.trim(),
        "{page} is out of date: run with UPDATE_EXPECT=1"
    );
}

#[test]
fn the_page_of_properties_is_the_table() {
    compare("docs/configuration.md", &servers::config::markdown());
}

#[test]
fn the_page_of_codes_is_the_tables() {
    compare("docs/errors.md", &servers::codes::errors_markdown());
}

#[test]
fn the_table_of_keys_is_that_of_the_code() {
    compare("docs/first-schema.md", &soml_core::keys_markdown());
}

#[test]
fn the_page_of_findings_is_the_table() {
    compare(
        "docs/diagnostics.md",
        &servers::codes::diagnostics_markdown(),
    );
}

#[test]
fn the_page_of_changes_is_the_table() {
    compare("docs/changes.md", &servers::codes::changes_markdown());
}

#[test]
fn the_page_of_checks_is_the_table() {
    compare("docs/checks.md", &servers::codes::checks_markdown());
}

#[test]
fn the_query_of_the_readme_has_the_answer_that_it_shows() {
    let text = fs::read_to_string(path("README.md")).unwrap();
    let block = |language: &str| {
        let from = text.split_once(&format!("```{language}\n")).unwrap().1;
        from.split_once("```").unwrap().0.to_owned()
    };
    let shown: Value = serde_json::from_str(&block("json")).unwrap();
    let answer: Value = serde_json::from_str(&Service::demo().query(&block("graphql"))).unwrap();
    assert_eq!(answer, shown);
}

#[test]
fn the_links_of_the_pages_lead_somewhere() {
    let pages = [
        "README.md",
        "CONTRIBUTING.md",
        "docs/access.md",
        "docs/changes.md",
        "docs/cli.md",
        "docs/checks.md",
        "docs/diagnostics.md",
        "docs/embedding.md",
        "docs/errors.md",
        "docs/first-schema.md",
        "docs/http.md",
        "docs/identity.md",
        "docs/loading.md",
        "docs/queries.md",
        "docs/schema.md",
        "docs/sparql-servers.md",
        "docs/writing.md",
    ];
    for page in pages {
        let text = fs::read_to_string(path(page)).unwrap();
        let targets = text
            .split("](")
            .skip(1)
            .map(|rest| rest.split(')').next().unwrap());
        for target in targets.filter(|target| !target.starts_with("http")) {
            let file = target.split('#').next().unwrap();
            let found = path(page).parent().unwrap().join(file);
            assert!(found.exists(), "{page} links to {target}");
        }
    }
}
