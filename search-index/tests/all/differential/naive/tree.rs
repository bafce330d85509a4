//! Documents as the engine keeps them: one node for the document, and one for each nested object.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use search_index::dsl::Value;
use search_index::mapping::{Content, Leaf, MAX_KEYWORD, ObjectFields, ScalarIndex};
use serde_json::Value as Json;

use super::words::words;

/// One value.
#[derive(Clone, Debug)]
pub(crate) enum Cell {
    /// A whole string, or a word.
    Text(String),
    Boolean(bool),
    Integer(i128),
    Double(f64),
}

impl Cell {
    /// Compares strings by code point, and numbers by value.
    pub(crate) fn order(&self, other: &Cell) -> Ordering {
        match (self, other) {
            (Cell::Text(a), Cell::Text(b)) => a.cmp(b),
            (Cell::Boolean(a), Cell::Boolean(b)) => a.cmp(b),
            (Cell::Integer(a), Cell::Integer(b)) => a.cmp(b),
            (Cell::Double(a), Cell::Double(b)) => a.total_cmp(b),
            _ => panic!("{self:?} and {other:?} are of one field"),
        }
    }

    /// Returns the value as answers have it.
    pub(crate) fn value(&self) -> Value {
        match self {
            Cell::Text(text) => Value::Text(text.clone()),
            Cell::Boolean(value) => Value::Boolean(*value),
            Cell::Double(number) => Value::Double(*number),
            Cell::Integer(number) => match i64::try_from(*number) {
                Ok(number) => Value::Integer(number),
                Err(_) => Value::Unsigned(u64::try_from(*number).expect("64 bits")),
            },
        }
    }
}

/// A document, or a nested object.
#[derive(Clone, Debug, Default)]
pub(crate) struct Node {
    /// The id of the document.
    pub(crate) id: String,
    /// The full name of the nested object; empty for the document.
    pub(crate) level: String,
    /// The values of each field that is there, words in their order, all others sorted.
    pub(crate) values: BTreeMap<String, Vec<Cell>>,
    /// Nested objects.
    pub(crate) children: Vec<Node>,
}

impl Node {
    /// Reads a document.
    pub(crate) fn new(id: &str, fields: &ObjectFields, source: &Json) -> Node {
        let mut node = Node {
            id: id.to_owned(),
            ..Node::default()
        };
        node.read(fields, source);
        node.sort();
        node
    }

    /// Returns all nested objects of a level that are inside.
    pub(crate) fn inside(&self, level: &str) -> Vec<&Node> {
        let mut found = Vec::new();
        for child in &self.children {
            if child.level == level {
                found.push(child);
            }
            found.extend(child.inside(level));
        }
        found
    }

    /// Calls `visit` with this node and all inside of it.
    pub(crate) fn for_each(&self, visit: &mut impl FnMut(&Node)) {
        visit(self);
        for child in &self.children {
            child.for_each(visit);
        }
    }

    /// Returns the values of a field; none if it is one of another level.
    pub(crate) fn cells(&self, field: &str) -> &[Cell] {
        self.values.get(field).map_or(&[], Vec::as_slice)
    }

    fn read(&mut self, fields: &ObjectFields, source: &Json) {
        self.keywords(fields.path_of("id"), source.get("id"));
        if !fields.id_only {
            self.keywords(fields.path_of("type"), source.get("type"));
        }
        for (name, field) in &fields.fields {
            let given = source.get(name);
            match &field.content {
                Content::Object(embedded) => {
                    for item in list(given) {
                        if !embedded.nested {
                            self.read(&embedded.fields, item);
                            continue;
                        }
                        let mut child = Node {
                            id: self.id.clone(),
                            level: embedded.fields.path.clone(),
                            ..Node::default()
                        };
                        child.read(&embedded.fields, item);
                        child.sort();
                        self.children.push(child);
                    }
                }
                Content::Leaf(Leaf::Language {
                    analyzer,
                    languages,
                }) => {
                    self.text(field.path.clone(), analyzer, given);
                    for language in languages {
                        let own = source.get(format!("{name}${}", language.tag));
                        self.text(field.language_path(language), &language.analyzer, own);
                    }
                    self.keywords(field.whole_path(), source.get(format!("{name}$keyword")));
                }
                Content::Leaf(Leaf::Scalar { index, analyzer }) => match index {
                    ScalarIndex::Text => {
                        let analyzer = analyzer.as_deref().expect("text has an analyzer");
                        self.text(field.path.clone(), analyzer, given);
                        self.keywords(field.whole_path(), given);
                    }
                    ScalarIndex::Keyword | ScalarIndex::Time => {
                        self.keywords(field.whole_path(), given);
                    }
                    ScalarIndex::Exact => {
                        self.keywords(field.whole_path(), source.get(format!("{name}$exact")));
                    }
                    ScalarIndex::Boolean
                    | ScalarIndex::Integer(_)
                    | ScalarIndex::Double
                    | ScalarIndex::Instant => {
                        let is_double = *index == ScalarIndex::Double;
                        for item in list(given) {
                            self.put(field.path.clone(), [number(item, is_double)]);
                        }
                    }
                },
            }
        }
    }

    fn put(&mut self, field: String, cells: impl IntoIterator<Item = Cell>) {
        self.values.entry(field).or_default().extend(cells);
    }

    /// Adds words. The field is there even if there are none.
    fn text(&mut self, field: String, analyzer: &str, given: Option<&Json>) {
        for item in list(given) {
            let text = item.as_str().expect("text is a string");
            let words = words(analyzer, text).into_iter().map(Cell::Text);
            self.put(field.clone(), words);
        }
    }

    /// Adds whole strings, those that are too long left out.
    fn keywords(&mut self, field: String, given: Option<&Json>) {
        for item in list(given) {
            let text = item.as_str().expect("a keyword is a string");
            if text.encode_utf16().count() <= MAX_KEYWORD {
                self.put(field.clone(), [Cell::Text(text.to_owned())]);
            }
        }
    }

    /// Sorts what is not words, and leaves each string and Boolean there once.
    fn sort(&mut self) {
        for cells in self.values.values_mut() {
            // The order of words does not matter either: no clause is about phrases.
            cells.sort_by(Cell::order);
        }
    }
}

fn list(given: Option<&Json>) -> Vec<&Json> {
    match given {
        None => Vec::new(),
        Some(Json::Array(items)) => items.iter().collect(),
        Some(item) => vec![item],
    }
}

fn number(item: &Json, is_double: bool) -> Cell {
    match item {
        Json::Bool(value) => Cell::Boolean(*value),
        Json::Number(number) if is_double => Cell::Double(number.as_f64().expect("a double")),
        Json::Number(number) => {
            let small = number.as_i64().map(i128::from);
            let integer = small.or(number.as_u64().map(i128::from));
            Cell::Integer(integer.expect("an integer of 64 bits"))
        }
        other => panic!("{other} is a number or a Boolean"),
    }
}
