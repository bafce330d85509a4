//! The generated schema against the introspection of the original product, point by point.
//!
//! Both introspections are flattened to facts (`Country.name.type` is `String`, …) and compared.
//! Every difference must be in [`ALLOWED`], and every entry there must occur as often as it says.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::sync::Arc;

use apollo_compiler::request::coerce_variable_values;
use apollo_compiler::response::JsonMap;
use apollo_compiler::{ExecutableDocument, introspection};
use graphql_gen::typesystem::{Api, ApiOptions};
use serde_json::Value;

/// A set of differences that is meant to be there.
struct Allowed {
    /// Tells whether a fact belongs to the set.
    matches: fn(&Difference) -> bool,
    /// How many facts do.
    count: usize,
    reason: &'static str,
}

const ALLOWED: &[Allowed] = &[
    Allowed {
        matches: |d| {
            let path = d.path.replace(".units", ".unit");
            let about_unit = [
                "Property.unit",
                "Property_Where.unit",
                "Property_Where_Multi.unit",
            ]
            .iter()
            .filter_map(|p| path.strip_prefix(p))
            .any(|rest| rest.is_empty() || rest.starts_with(['.', '#']));
            let renamed = d.ours.as_deref().map(|o| o.replace(" unit ", " units "));
            about_unit || (d.path.ends_with("#order") && renamed == d.theirs)
        },
        count: 41,
        reason: "the document calls the property `unit`, the document that was served `units`",
    },
    Allowed {
        matches: |d| {
            d.path.ends_with(".id.type")
                && d.ours.as_deref() == Some("ID!")
                && d.theirs.as_deref() == Some("ID")
        },
        count: 12,
        reason: "the key of every type is `id` of type `ID!`",
    },
    Allowed {
        matches: |d| d.path == "@deprecated#locations",
        count: 1,
        reason: "the locations of `@deprecated` are those of the GraphQL specification",
    },
];

/// A fact that only one side has, or that the sides disagree about.
#[derive(Debug)]
struct Difference {
    path: String,
    ours: Option<String>,
    theirs: Option<String>,
}

#[test]
fn the_schema_is_the_one_that_clients_of_the_original_know() {
    let ours = introspect();
    let theirs = original();
    let (ours_facts, _) = facts(&ours);
    let (theirs_facts, counts) = facts(&theirs);
    println!("compared: {counts:?}");
    assert_eq!(counts["types"], 188);

    let mut unexpected = Vec::new();
    let mut used = vec![0; ALLOWED.len()];
    for difference in differences(&ours_facts, &theirs_facts) {
        match ALLOWED.iter().position(|a| (a.matches)(&difference)) {
            Some(position) => used[position] += 1,
            None => unexpected.push(difference),
        }
    }
    assert!(
        unexpected.is_empty(),
        "{} differences: {unexpected:#?}",
        unexpected.len()
    );
    for (allowed, used) in ALLOWED.iter().zip(&used) {
        println!("{used:3} allowed: {}", allowed.reason);
    }
    let expected: Vec<usize> = ALLOWED.iter().map(|a| a.count).collect();
    assert_eq!(used, expected, "how often each allowed difference occurs");
}

fn differences(
    ours: &BTreeMap<String, String>,
    theirs: &BTreeMap<String, String>,
) -> Vec<Difference> {
    let paths: BTreeSet<&String> = ours.keys().chain(theirs.keys()).collect();
    paths
        .into_iter()
        .filter(|path| ours.get(*path) != theirs.get(*path))
        .map(|path| Difference {
            path: path.clone(),
            ours: ours.get(path).cloned(),
            theirs: theirs.get(path).cloned(),
        })
        .collect()
}

fn introspect() -> Value {
    let text =
        include_str!("../../../soml-core/tests/data/bsdd/bsdd-graphql-soml-refact@fd10ed32.yaml");
    let loaded = soml_core::load(text);
    let soml = Arc::new(loaded.schema.expect("the document is valid"));
    let api = Api::new(soml, &ApiOptions::minimal()).expect("the document has an API");
    let schema = api.schema();
    let query = include_str!("../data/introspection.graphql");
    let document = ExecutableDocument::parse_and_validate(schema, query, "introspection.graphql")
        .expect("the introspection query is valid");
    let operation = document
        .operations
        .get(None)
        .expect("there is one operation");
    let variables = coerce_variable_values(schema, operation, &JsonMap::new())
        .expect("the query has no variables");
    let response = introspection::partial_execute(
        schema,
        &schema.implementers_map(),
        &document,
        operation,
        &variables,
    )
    .expect("introspection is executed");
    assert!(response.errors.is_empty(), "{:?}", response.errors);
    serde_json::to_value(&response.data).expect("a response is JSON")["__schema"].take()
}

fn original() -> Value {
    let compressed = include_bytes!("../data/bsdd/bsdd-graphql-schema-refact.json.gz");
    let mut text = String::new();
    flate2::read::GzDecoder::new(&compressed[..])
        .read_to_string(&mut text)
        .expect("the file is compressed text");
    let mut response: Value = serde_json::from_str(&text).expect("the file is JSON");
    response["data"]["__schema"].take()
}

/// Flattens an introspection to facts, and counts what they are about.
fn facts(schema: &Value) -> (BTreeMap<String, String>, BTreeMap<&'static str, usize>) {
    let mut facts = Facts::default();
    for root in ["queryType", "mutationType", "subscriptionType"] {
        facts.add(root.to_owned(), "", &schema[root]["name"]);
    }
    let compared = |t: &&Value| {
        let name = text(&t["name"]);
        !name.starts_with("__") && !["_AppliedDirective", "_DirectiveArgument"].contains(&name)
    };
    let types: Vec<&Value> = list(&schema["types"]).iter().filter(compared).collect();
    facts.order("types", types.iter().copied());
    for ty in types {
        facts.count("types");
        facts.add_type(ty);
    }
    facts.order("directives", list(&schema["directives"]));
    for directive in list(&schema["directives"]) {
        facts.count("directives");
        let path = format!("@{}", text(&directive["name"]));
        facts.add(path.clone(), "#description", &directive["description"]);
        let locations: Vec<_> = list(&directive["locations"]).iter().map(text).collect();
        facts.insert(format!("{path}#locations"), locations.join(" "));
        facts.add_inputs(&path, &directive["args"], "directive arguments");
    }
    (facts.facts, facts.counts)
}

#[derive(Default)]
struct Facts {
    facts: BTreeMap<String, String>,
    counts: BTreeMap<&'static str, usize>,
}

impl Facts {
    fn insert(&mut self, path: String, value: String) {
        assert!(
            self.facts.insert(path.clone(), value).is_none(),
            "{path} twice"
        );
    }

    fn add(&mut self, path: String, suffix: &str, value: &Value) {
        if !value.is_null() {
            self.insert(path + suffix, text(value).to_owned());
        }
    }

    fn count(&mut self, what: &'static str) {
        *self.counts.entry(what).or_default() += 1;
    }

    fn order<'a>(&mut self, path: &str, named: impl IntoIterator<Item = &'a Value>) {
        let names: Vec<_> = named.into_iter().map(|n| text(&n["name"])).collect();
        self.insert(format!("{path}#order"), format!(" {} ", names.join(" ")));
    }

    fn add_type(&mut self, ty: &Value) {
        let name = text(&ty["name"]);
        self.add(name.to_owned(), "#kind", &ty["kind"]);
        self.add(name.to_owned(), "#description", &ty["description"]);
        if ty["interfaces"].is_array() && ty["kind"] == "OBJECT" {
            self.order(&format!("{name}#interfaces"), list(&ty["interfaces"]));
            *self.counts.entry("implementations").or_default() += list(&ty["interfaces"]).len();
        }
        if ty["possibleTypes"].is_array() {
            self.order(&format!("{name}#possible"), list(&ty["possibleTypes"]));
        }
        if ty["fields"].is_array() {
            self.order(name, list(&ty["fields"]));
        }
        for field in list(&ty["fields"]) {
            self.count("fields");
            let path = format!("{name}.{}", text(&field["name"]));
            self.add(path.clone(), "", &field["name"]);
            self.add(path.clone(), ".description", &field["description"]);
            self.insert(format!("{path}.type"), type_text(&field["type"]));
            self.insert(
                format!("{path}.deprecated"),
                field["isDeprecated"].to_string(),
            );
            self.add_inputs(&path, &field["args"], "arguments");
        }
        if ty["inputFields"].is_array() {
            self.add_inputs(name, &ty["inputFields"], "input fields");
        }
        if ty["enumValues"].is_array() {
            self.order(name, list(&ty["enumValues"]));
        }
        for value in list(&ty["enumValues"]) {
            self.count("enum values");
            let path = format!("{name}.{}", text(&value["name"]));
            self.add(path.clone(), "", &value["name"]);
            self.add(path, ".description", &value["description"]);
        }
    }

    fn add_inputs(&mut self, owner: &str, inputs: &Value, what: &'static str) {
        self.order(&format!("{owner}#inputs"), list(inputs));
        for input in list(inputs) {
            self.count(what);
            let path = format!("{owner}.{}", text(&input["name"]));
            self.add(path.clone(), "", &input["name"]);
            self.add(path.clone(), ".description", &input["description"]);
            self.insert(format!("{path}.type"), type_text(&input["type"]));
            if !input["defaultValue"].is_null() {
                self.count("defaults");
                self.add(path, ".default", &input["defaultValue"]);
            }
        }
    }
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn text(value: &Value) -> &str {
    value.as_str().expect("names and texts are strings")
}

fn type_text(ty: &Value) -> String {
    match text(&ty["kind"]) {
        "NON_NULL" => format!("{}!", type_text(&ty["ofType"])),
        "LIST" => format!("[{}]", type_text(&ty["ofType"])),
        _ => text(&ty["name"]).to_owned(),
    }
}
