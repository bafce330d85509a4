//! What there is to say about properties: of one for a command, of all for a page.

use std::fmt::Write;

use crate::catalogue::Catalogue;
use crate::property::Asks;

impl<S> Catalogue<S> {
    /// Returns what there is to say about a property: its type, its default, its meaning, and the names of the interface
    /// that stand for it.
    #[must_use]
    pub fn described(&self, defaults: &S, name: &str) -> Option<String> {
        let name = self.alias(name).map_or(name, |alias| alias.key);
        if let Some(property) = self.find(name) {
            let (kind, default) = (property.kind.replace('`', ""), property.get(defaults));
            let mut text = format!(
                "{} ({kind}, default {default})\n{}",
                property.key, property.doc
            );
            for alias in self
                .aliases
                .iter()
                .filter(|alias| alias.key == property.key)
            {
                let _ = write!(text, "\nOther name: {}, {}", alias.name, alias.note);
            }
            return Some(text);
        }
        if let Some(found) = self.numbered(name) {
            let part = found.part;
            let kind = part.kind.replace('`', "");
            return Some(format!("{} ({kind})\n{}", found.key(), part.doc));
        }
        let planned = self.planned(name)?;
        Some(format!(
            "{}\nKnown, but not built yet: it has no effect.",
            planned.name
        ))
    }

    /// Returns the table of properties, in Markdown.
    #[must_use]
    pub fn table(&self, defaults: &S) -> String {
        let mut text = String::from("| property | type | default | meaning |\n|---|---|---|---|\n");
        for property in &self.properties {
            let secret = if property.secret { " Secret." } else { "" };
            let _ = writeln!(
                text,
                "| `{}` | {} | `{}` | {}{secret} |",
                property.key,
                property.kind,
                property.get(defaults),
                property.doc,
            );
        }
        text
    }

    /// Returns the table of the properties that each of the numbered things has, in Markdown.
    #[must_use]
    pub fn numbered_table(&self) -> String {
        let mut text = String::from("| property | type | meaning |\n|---|---|---|\n");
        let numbered = self.numbered.iter();
        for (family, part) in numbered.flat_map(|it| it.parts.iter().map(|part| (it.family, part)))
        {
            let end = part.end;
            let _ = writeln!(text, "| `{family}N{end}` | {} | {} |", part.kind, part.doc);
        }
        text
    }

    /// Returns the table of the other names of properties, in Markdown.
    #[must_use]
    pub fn alias_table(&self) -> String {
        let mut text = String::from("| name | stands for | difference |\n|---|---|---|\n");
        for alias in self.aliases {
            let (name, key, note) = (alias.name, alias.key, alias.note);
            let _ = writeln!(text, "| `{name}` | `{key}` | {note} |");
        }
        text
    }

    /// Returns the names of what is not built yet, in Markdown: what has no effect, and what asks for protection.
    #[must_use]
    pub fn planned_lists(&self) -> String {
        let mut text = String::new();
        for (kind, is_protection) in [("No effect yet", false), ("Protection", true)] {
            let names: Vec<String> = self
                .planned
                .iter()
                .filter(|planned| matches!(planned.asks, Asks::Service) != is_protection)
                .map(|planned| format!("`{}`", planned.name))
                .collect();
            let _ = writeln!(text, "\n{kind}: {}.", names.join(", "));
        }
        text
    }
}
