//! The table of properties as text: for `--help`, and as a page of the documentation.

use std::fmt::Write;

use super::contract::{ALIASES, Asks, PLANNED};
use super::gateway::SUBGRAPH_PROPERTIES;
use super::table::PROPERTIES;

/// Returns the section of `--help`.
#[must_use]
pub fn help() -> String {
    let mut text = String::from(
        "Properties (--set KEY=VALUE, --config FILE, or the environment as KEY with `_` for `.`):\n",
    );
    for property in PROPERTIES.iter() {
        let _ = write!(
            text,
            "  {} <{}> [default: {}]\n      {}\n",
            property.key,
            property.kind.replace('`', ""),
            property.default(),
            property.doc.replace('`', ""),
        );
    }
    for (end, kind, doc) in SUBGRAPH_PROPERTIES {
        let _ = write!(
            text,
            "  graphql.service.N{end} <{kind}>\n      {}\n",
            doc.replace('`', "")
        );
    }
    text
}

/// Returns the tables of `docs/configuration.md`.
#[must_use]
pub fn markdown() -> String {
    let mut text = String::from("| property | type | default | meaning |\n|---|---|---|---|\n");
    for property in PROPERTIES.iter() {
        let secret = if property.secret { " Secret." } else { "" };
        let _ = writeln!(
            text,
            "| `{}` | {} | `{}` | {}{secret} |",
            property.key,
            property.kind,
            property.default(),
            property.doc,
        );
    }
    text.push_str(
        "\n## Subgraphs of the gateway\n\n| property | type | meaning |\n|---|---|---|\n",
    );
    for (end, kind, doc) in SUBGRAPH_PROPERTIES {
        let _ = writeln!(text, "| `graphql.service.N{end}` | {kind} | {doc} |");
    }
    text.push_str("\n## Other names\n\n| name | stands for | difference |\n|---|---|---|\n");
    for alias in ALIASES {
        let (name, key, note) = (alias.name, alias.key, alias.note());
        let _ = writeln!(text, "| `{name}` | `{key}` | {note} |");
    }
    text.push_str(PLANNED_HEAD);
    for (kind, is_protection) in [("No effect yet", false), ("Protection", true)] {
        let names: Vec<String> = PLANNED
            .iter()
            .filter(|planned| (planned.asks != Asks::Service) == is_protection)
            .map(|planned| format!("`{}`", planned.name))
            .collect();
        let _ = writeln!(text, "\n{kind}: {}.", names.join(", "));
    }
    text
}

const PLANNED_HEAD: &str = "
## Known properties that are not built yet

They are accepted from every source, with one warning that lists them. A value that asks for protection
stops the start with `PROTECTION_UNAVAILABLE`, whatever else is configured; `false` does not. With
`security.enabled: false`, the properties of `security` ask for nothing. `soml.storage.provider:
in-memory` is what the service does.
";
