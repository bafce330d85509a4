//! The table of properties as text: one property for `soml explain`, all of them as a page of the documentation.

use std::fmt::Write;

use super::contract::{ALIASES, Alias, Asks, PLANNED, Planned};
use super::subgraphs::{SUBGRAPH_PROPERTIES, SubgraphProperty};
use super::table::{PROPERTIES, Property};

/// Returns what there is to say about a property: its type, its default, its meaning, and the names of the interface
/// that stand for it.
pub(crate) fn described(name: &str) -> Option<String> {
    let name = Alias::find(name).map_or(name, |alias| alias.key);
    if let Some(property) = Property::find(name) {
        let (kind, default) = (property.kind.replace('`', ""), property.default());
        let mut text = format!(
            "{} ({kind}, default {default})\n{}",
            property.key, property.doc
        );
        for alias in ALIASES.iter().filter(|alias| alias.key == property.key) {
            let _ = write!(text, "\nOther name: {}, {}", alias.name, alias.note());
        }
        return Some(text);
    }
    if let Some(property) = SubgraphProperty::find(name) {
        let (kind, doc) = property.described();
        return Some(format!(
            "{} ({})\n{doc}",
            property.key(),
            kind.replace('`', "")
        ));
    }
    let planned = Planned::find(name)?;
    Some(format!(
        "{}\nKnown, but not built yet: it has no effect.",
        planned.name
    ))
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
