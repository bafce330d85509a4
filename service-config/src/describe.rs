//! What there is to say about properties: of one for a command, of all for a page.

use std::fmt::Write;

use crate::catalogue::Catalogue;
use crate::property::{Asks, Planned};

impl<S> Catalogue<S> {
    /// Returns the description of a property: its type, its default, its meaning, and the names of the interface
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
        if let Some((named, _)) = self.named(name) {
            let kind = named.kind.replace('`', "");
            return Some(format!("{}NAME ({kind})\n{}", named.family, named.doc));
        }
        let planned = self.planned(name)?;
        let kind = planned.kind.name.replace('`', "");
        let (name, effect, doc) = (planned.name, planned.effect(), planned.doc);
        Some(format!(
            "{name} ({kind})\nAccepted, but without effect: {effect}. {doc}"
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

    /// Returns the table of the properties that each of the numbered things of a family has, in Markdown.
    #[must_use]
    pub fn numbered_table(&self, family: &str) -> String {
        let mut text = String::from("| property | type | meaning |\n|---|---|---|\n");
        let numbered = self.numbered.iter().filter(|it| it.family == family);
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
        let mut text = String::from("| name | property | difference |\n|---|---|---|\n");
        for alias in self.aliases {
            let (name, key, note) = (alias.name, alias.key, alias.note);
            let _ = writeln!(text, "| `{name}` | `{key}` | {note} |");
        }
        text
    }

    /// Returns the table of what is known and has no effect, in Markdown.
    #[must_use]
    pub fn planned_table(&self) -> String {
        let mut text =
            String::from("| property | type | if it is set | why |\n|---|---|---|---|\n");
        for planned in self.planned {
            let (name, kind, doc) = (planned.name, planned.kind.name, planned.doc);
            let _ = writeln!(text, "| `{name}` | {kind} | {} | {doc} |", planned.effect());
        }
        text
    }
}

impl<S> Planned<S> {
    /// Returns what comes of a value that asks for something.
    fn effect(&self) -> &'static str {
        match self.asks {
            Asks::Service => "a warning",
            Asks::Protection { .. } => "the service does not start",
        }
    }
}
