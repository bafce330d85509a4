//! The documentation of spans is that of the table.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use traces::{SPANS, SpanKind};

const BEGIN: &str = "<!-- spans -->\n";
const END: &str = "<!-- end of spans -->";

/// Returns the table of all spans, in Markdown.
fn table() -> String {
    let mut text =
        String::from("\n| what | name | kind | below | attributes |\n|---|---|---|---|---|\n");
    for row in SPANS {
        let kinds = row.kinds.iter().map(|kind| match kind {
            SpanKind::Server => "server",
            SpanKind::Client => "client",
            SpanKind::Internal => "internal, within the process",
            other => panic!("{other:?}"),
        });
        let kinds: Vec<&str> = kinds.collect();
        let attributes = row.attributes.iter().map(|name| format!("`{name}`"));
        let attributes: Vec<String> = attributes.collect();
        let _ = writeln!(
            text,
            "| {} | `{}` | {} | {} | {} |",
            row.what,
            row.name,
            kinds.join("; "),
            row.parent,
            attributes.join(", ")
        );
    }
    text.push('\n');
    text
}

#[test]
fn every_span_is_documented() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/traces.md");
    let page = fs::read_to_string(&path).expect("the page is there");
    let (before, rest) = page.split_once(BEGIN).expect("a mark");
    let (_, after) = rest.split_once(END).expect("an end");
    let expected = format!("{before}{BEGIN}{}{END}{after}", table());
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        fs::write(&path, expected).expect("the page is written");
    } else {
        assert!(
            page == expected,
            "UPDATE_EXPECT=1 writes the table of docs/traces.md anew"
        );
    }
}
