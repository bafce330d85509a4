//! The JSON Schema accepts what the parser accepts without a finding.

use serde_json::{Map, Value, json};
use soml_core::yaml::{Document, NodeRef};
use soml_core::{json_schema, load};

fn to_json(node: NodeRef<'_, '_>) -> Value {
    if node.is_null() {
        return Value::Null;
    }
    if let Some(items) = node.items() {
        return items.map(to_json).collect();
    }
    if let Some(entries) = node.entries() {
        let text = |key: NodeRef<'_, '_>| key.text().unwrap_or_default().to_owned();
        return Value::Object(
            entries
                .map(|(key, value)| (text(key), to_json(value)))
                .collect::<Map<_, _>>(),
        );
    }
    let plain = node
        .plain_text()
        .and_then(|text| serde_json::from_str(text).ok());
    plain
        .filter(|value: &Value| !value.is_object() && !value.is_array())
        .unwrap_or_else(|| json!(node.text()))
}

/// Tells what does not follow the schema; knows the keywords that the schema uses.
fn mismatch(value: &Value, schema: &Value, root: &Value, path: &str) -> Option<String> {
    let inner = |value, schema, path: String| mismatch(value, schema, root, &path);
    if let Some(reference) = schema["$ref"].as_str() {
        let target = root
            .pointer(reference.trim_start_matches('#'))
            .expect(reference);
        return inner(value, target, path.to_owned());
    }
    if let Some(options) = schema["anyOf"].as_array() {
        let failures: Option<Vec<_>> = options
            .iter()
            .map(|o| inner(value, o, path.to_owned()))
            .collect();
        return failures.map(|f| f.join(" and "));
    }
    if let Some(values) = schema["enum"].as_array() {
        return (!values.contains(value))
            .then(|| format!("{path}: {value} is not one of {values:?}"));
    }
    if let Some(types) = schema["type"].as_array() {
        let is = match value {
            Value::Null => "null",
            Value::Bool(_) => "boolean",
            Value::Number(n) if n.is_u64() && types.contains(&json!("integer")) => "integer",
            Value::Number(_) => "number",
            Value::String(_) => "string",
            Value::Array(_) => "array",
            Value::Object(_) => "object",
        };
        if !types.contains(&json!(is)) {
            return Some(format!("{path}: {value} is not {types:?}"));
        }
    }
    if value.as_u64() < schema["minimum"].as_u64() && value.is_number() {
        return Some(format!("{path}: {value} is too small"));
    }
    if let Some(items) = value.as_array() {
        return items
            .iter()
            .find_map(|item| inner(item, &schema["items"], format!("{path}/-")));
    }
    let rest = &schema["additionalProperties"];
    value
        .as_object()?
        .iter()
        .find_map(|(key, value)| match schema["properties"].get(key) {
            Some(schema) => inner(value, schema, format!("{path}/{key}")),
            None if *rest == Value::Bool(false) => Some(format!("{path}: no key {key}")),
            None if rest.is_object() => inner(value, rest, format!("{path}/{key}")),
            None => None,
        })
}

fn check(text: &str) -> Option<String> {
    let document = Document::parse(text).expect("it is YAML");
    let root = json_schema();
    document
        .root()
        .and_then(|node| mismatch(&to_json(node), &root, &root, ""))
}

#[test]
fn published_schemas_follow_the_json_schema() {
    for name in [
        "graphdb-workbench/swapi-schema",
        "graphdb-workbench/swapi-schema-planets",
        "graphdb-workbench/swapi-schema-species",
        "graphdb-workbench/swapi-schema-film-restricted",
        "bsdd/bsdd-graphql-soml-orig",
        "bsdd/bsdd-graphql-soml-refact",
        "bsdd/bsdd-graphql-soml-refact@fd10ed32",
        "bsdd/bsdd-graphql-soml-template",
        "bsdd/bsdd-graphql-soml-withDiagram-noLabel",
        "talk2powersystem/cim-subset-pretty-ontology",
    ] {
        let path = format!("{}/tests/data/{name}.yaml", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(&path).expect(name);
        assert_eq!(check(&text), None, "{name}");
    }
}

#[test]
fn misspelt_keys_and_wrong_forms_do_not_follow_it() {
    for text in [
        "objects: {Film: {inherit: Work}}",
        "objects: {Film: {props: {title: {max: many}}}}",
        "objects: {Film: {props: [title]}}",
        "objects: {Film: {extend: maybe}}",
        "config: {disabledChecks: [none]}",
        "types: {Kind: {values: {A: 1}}}",
    ] {
        assert!(check(text).is_some(), "{text}");
        assert_ne!(load(text).diagnostics.len(), 0);
    }
    assert_eq!(
        check(
            "config: {lang: en, search: yes, disabledChecks: rangeCheck}\nrbac: {roles: {R: {actions: '*/*/*'}}}"
        ),
        None
    );
}

#[test]
fn the_schema_describes_every_key() {
    let schema = json_schema();
    for (name, definition) in schema["$defs"].as_object().expect("definitions") {
        for (key, member) in definition["properties"].as_object().expect(name) {
            assert!(
                member["description"]
                    .as_str()
                    .is_some_and(|d| d.ends_with('.')),
                "{name}.{key}"
            );
        }
    }
    assert_eq!(
        schema["$defs"]["property"]["properties"]["inverse"]["deprecated"],
        true
    );
}

/// A document in which the member stands in a mapping of the given definition.
fn document_with(definition: &str, member: &str) -> String {
    let around = match definition {
        "document" => "{@}",
        "config" => "{config: {@}}",
        "schemaLang" => "{config: {lang: {@}}}",
        "search" => "{config: {search: {@}}}",
        "searchType" => "{config: {search: {type: {@}}}}",
        "analysis" => "{config: {search: {analysis: {@}}}}",
        "langAnalysis" => "{config: {search: {analysis: {lang: {en: {@}}}}}}",
        "specialPrefixes" => "{specialPrefixes: {@}}",
        "type" => "{types: {Kind: {@}}}",
        "enumValue" => "{types: {Kind: {values: [{@}]}}}",
        "property" => "{properties: {p: {@}}}",
        "propertyLang" => "{properties: {p: {lang: {@}}}}",
        "object" => "{objects: {Film: {@}}}",
        "rbac" => "{rbac: {@}}",
        "role" => "{rbac: {roles: {Reader: {@}}}}",
        "rowFilter" => "{rbac: {roles: {Reader: {filters: {Film: {@}}}}}}",
        _ => panic!("where does {definition} stand?"),
    };
    around.replace('@', member)
}

#[test]
fn every_key_of_the_schema_is_read_by_the_parser() {
    let ignored = ["diagram", "graphql", "rdf", "graphqlExtension"];
    let schema = json_schema();
    for (name, definition) in schema["$defs"].as_object().expect("definitions") {
        for key in definition["properties"].as_object().expect(name).keys() {
            let text = document_with(name, &format!("{key}: [[x]]"));
            let at = text.find("[[").expect("the value is there");
            let told = load(&text)
                .diagnostics
                .iter()
                .any(|d| (at..at + 5).contains(&d.place.expect("a place").span.range().start));
            assert_eq!(told, !ignored.contains(&key.as_str()), "{text}");
        }
    }
}
