//! The tables of keys as Markdown, for the documentation.

use std::fmt::Write;

use crate::keys::{self, Key, Shape, Table};

/// Returns a section for each kind of mapping in a SOML document: a table of its keys with the form
/// and the meaning of each, beginning with the document itself.
///
/// ```
/// let text = soml_core::keys_markdown();
/// assert!(text.contains("| `inherits` | string |"));
/// ```
#[must_use]
pub fn keys_markdown() -> String {
    let sections = sections();
    let mut text = String::new();
    for section in &sections {
        if !text.is_empty() {
            text.push('\n');
        }
        let _ = writeln!(text, "### {}\n", section.heading);
        text.push_str("| key | value | meaning |\n|---|---|---|\n");
        for key in section.table.keys {
            let value = value(&key.shape, &sections);
            let _ = writeln!(text, "| `{}` | {value} | {} |", key.name, meaning(key));
        }
    }
    text
}

struct Section {
    table: &'static Table,
    heading: String,
}

/// Returns the tables in the order in which they are first met, the keys of one table after the
/// other.
fn sections() -> Vec<Section> {
    let mut found: Vec<(&'static Table, Option<&'static Table>)> = vec![(&keys::DOCUMENT, None)];
    let mut next = 0;
    while let Some(&(table, _)) = found.get(next) {
        for key in table.keys {
            for inner in tables(&key.shape) {
                if !found.iter().any(|(known, _)| known.name == inner.name) {
                    found.push((inner, Some(table)));
                }
            }
        }
        next += 1;
    }
    let headings = found.iter().map(|&(table, parent)| {
        let same = found.iter().filter(|(other, _)| other.what == table.what);
        let what = match parent {
            Some(parent) if same.count() > 1 => format!("{} of {}", table.what, parent.what),
            _ => table.what.to_owned(),
        };
        Section {
            table,
            heading: capitalized(&what),
        }
    });
    headings.collect()
}

/// Returns the tables that a form refers to.
fn tables(shape: &'static Shape) -> Vec<&'static Table> {
    match shape {
        Shape::Map(table) | Shape::MapOf(table) | Shape::ListOf(table) => vec![table],
        Shape::Either(one, other) => {
            let mut both = tables(one);
            both.extend(tables(other));
            both
        }
        _ => Vec::new(),
    }
}

fn value(shape: &'static Shape, sections: &[Section]) -> String {
    let link = |table: &Table| {
        let section = sections.iter().find(|s| s.table.name == table.name);
        let heading = &section.expect("every table has a section").heading;
        format!("[{}](#{})", table.what, anchor(heading))
    };
    match shape {
        Shape::Text => "string".to_owned(),
        Shape::Texts => "string or list of strings".to_owned(),
        Shape::Bool => "boolean".to_owned(),
        Shape::Natural => "non-negative integer".to_owned(),
        Shape::Max => "positive integer or `inf`".to_owned(),
        Shape::Choice(words) => one_of(words),
        Shape::Choices(words) => format!("list of {}", one_of(words)),
        Shape::Map(table) => format!("mapping: {}", link(table)),
        Shape::MapOf(table) => format!("mapping of names: {}", link(table)),
        Shape::TextMap => "mapping of names to strings".to_owned(),
        Shape::ListOf(table) => format!("list of strings or mappings: {}", link(table)),
        Shape::Either(one, other) => {
            format!("{}, or {}", value(one, sections), value(other, sections))
        }
        Shape::Any => "any".to_owned(),
    }
}

fn one_of(words: &[&str]) -> String {
    let words: Vec<_> = words.iter().map(|word| format!("`{word}`")).collect();
    match words.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, before)) => format!("{} or {last}", before.join(", ")),
        None => String::new(),
    }
}

fn meaning(key: &Key) -> String {
    match key.instead {
        Some(today) => format!("Old spelling of `{today}`."),
        None => key.doc.replace('|', "\\|"),
    }
}

/// Returns the anchor that Markdown renderers give a heading.
fn anchor(heading: &str) -> String {
    let letters = heading.chars().filter_map(|c| match c {
        ' ' => Some('-'),
        c if c.is_alphanumeric() || matches!(c, '-' | '_') => Some(c.to_ascii_lowercase()),
        _ => None,
    });
    letters.collect()
}

fn capitalized(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().into_iter().flat_map(char::to_uppercase);
    first.chain(letters).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_key_of_the_json_schema_is_in_the_tables() {
        let text = keys_markdown();
        let schema = crate::json_schema();
        let definitions = schema["$defs"].as_object().unwrap();
        let keys = definitions.values().flat_map(|definition| {
            let properties = definition["properties"].as_object().unwrap();
            properties.keys().cloned()
        });
        let keys: Vec<String> = keys.collect();
        let rows = text.lines().filter(|line| line.starts_with("| `")).count();
        assert_eq!(rows, keys.len());
        for key in keys {
            assert!(text.contains(&format!("| `{key}` | ")), "{key}");
        }
    }

    #[test]
    fn headings_are_distinct_and_links_lead_to_them() {
        let text = keys_markdown();
        let headings = text.lines().filter_map(|line| line.strip_prefix("### "));
        let mut anchors = HashSet::new();
        for heading in headings {
            assert!(anchors.insert(anchor(heading)), "{heading}");
        }
        let links: Vec<_> = text
            .split("](#")
            .skip(1)
            .filter_map(|rest| rest.split(')').next())
            .collect();
        assert!(links.len() >= anchors.len() - 1);
        for link in links {
            assert!(anchors.contains(link), "{link}");
        }
    }
}
