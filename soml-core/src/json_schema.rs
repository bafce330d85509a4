//! The JSON Schema of SOML documents, made from the tables of keys.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::keys::{self, Shape, Table};

/// Returns the JSON Schema (2020-12) of a SOML document, for editors that complete and check YAML.
///
/// ```
/// let schema = soml_core::json_schema();
/// assert!(schema["$defs"]["object"]["properties"]["props"].is_object());
/// ```
#[must_use]
pub fn json_schema() -> Value {
    let mut definitions = BTreeMap::new();
    let root = reference(&keys::DOCUMENT, &mut definitions);
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "SOML",
        "description": "A schema in the Semantic Objects Modeling Language.",
        "$ref": root["$ref"],
        "$defs": definitions,
    })
}

type Definitions = BTreeMap<&'static str, Value>;

fn reference(table: &'static Table, definitions: &mut Definitions) -> Value {
    if !definitions.contains_key(table.name) {
        // Taken before it is filled, for tables that contain themselves.
        definitions.insert(table.name, Value::Null);
        let mut properties = Map::new();
        for key in table.keys {
            properties.insert(key.name.to_owned(), described(key, definitions));
        }
        let definition = json!({
            "type": ["object", "null"],
            "properties": properties,
            "additionalProperties": false,
        });
        definitions.insert(table.name, definition);
    }
    json!({ "$ref": format!("#/$defs/{}", table.name) })
}

fn described(key: &'static keys::Key, definitions: &mut Definitions) -> Value {
    let mut schema = shape(&key.shape, definitions);
    let doc = match key.instead {
        Some(today) => format!("Old spelling of `{today}`."),
        None => key.doc.to_owned(),
    };
    if let Value::Object(members) = &mut schema {
        members.insert("description".to_owned(), json!(doc));
        if key.instead.is_some() {
            members.insert("deprecated".to_owned(), json!(true));
        }
    }
    schema
}

fn shape(shape: &'static Shape, definitions: &mut Definitions) -> Value {
    match shape {
        Shape::Text => text(),
        Shape::Texts => json!({ "anyOf": [text(), { "type": "array", "items": text() }] }),
        Shape::Bool => json!({ "enum": [true, false, null, "yes", "no", "on", "off"] }),
        Shape::Natural => json!({ "type": ["integer", "null"], "minimum": 0 }),
        Shape::Max => json!({
            "anyOf": [{ "type": ["integer", "null"], "minimum": 1 }, { "enum": ["inf"] }],
        }),
        Shape::Choice(words) => one_of(words),
        Shape::Choices(words) => {
            json!({ "anyOf": [one_of(words), { "type": "array", "items": one_of(words) }] })
        }
        Shape::Map(table) => reference(table, definitions),
        Shape::MapOf(table) => json!({
            "type": ["object", "null"],
            "additionalProperties": reference(table, definitions),
        }),
        Shape::TextMap => json!({ "type": ["object", "null"], "additionalProperties": text() }),
        Shape::ListOf(table) => json!({
            "type": ["array", "null"],
            "items": { "anyOf": [text(), reference(table, definitions)] },
        }),
        Shape::Either(one, other) => {
            json!({ "anyOf": [self::shape(one, definitions), self::shape(other, definitions)] })
        }
        Shape::Any => json!({}),
    }
}

/// Numbers and booleans are the text that was written.
fn text() -> Value {
    json!({ "type": ["string", "number", "boolean", "null"] })
}

fn one_of(words: &[&str]) -> Value {
    let words = words.iter().map(|word| json!(word)).chain([Value::Null]);
    json!({ "enum": words.collect::<Vec<_>>() })
}
