//! Random valid documents.

use proptest::prelude::*;
use serde_json::{Map, Value, json};
use soml_core::datatype::Scalar;

/// A property without its name.
#[derive(Clone, Debug)]
struct Prop {
    range: Range,
    min: u32,
    max: Option<u32>,
    flags: [bool; 6],
    label: Option<String>,
    rdf: bool,
    lang: Option<&'static str>,
    search: Option<bool>,
}

#[derive(Clone, Debug)]
enum Range {
    Default,
    Scalar(usize),
    Literal(usize),
    Custom(usize),
    Object(usize),
}

#[derive(Clone, Debug)]
struct Object {
    is_abstract: bool,
    parent: Option<usize>,
    name: Option<&'static str>,
    plain_name: bool,
    types: Option<bool>,
    own: Vec<Prop>,
    globals: Vec<usize>,
    overrides: Option<String>,
    alias: bool,
    extra: [bool; 4],
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-zA-Z][a-zA-Z ]{0,12}[a-z]",
        "[ -~é€]{1,12}",
        Just("yes".to_owned()),
        Just("null".to_owned())
    ]
}

fn prop() -> impl Strategy<Value = Prop> {
    let range = prop_oneof![
        Just(Range::Default),
        (0..Scalar::ALL.len()).prop_map(Range::Scalar),
        (0..4_usize).prop_map(Range::Literal),
        (0..2_usize).prop_map(Range::Custom),
        (0..8_usize).prop_map(Range::Object),
    ];
    let lang = prop::option::of(prop::sample::select(vec![
        "en",
        "fr,en~,NONE",
        "ALL,-en-US",
        "BROWSER,ANY",
    ]));
    (
        range,
        0..4_u32,
        prop::option::of(0..5_u32),
        any::<[bool; 6]>(),
        prop::option::of(text()),
        any::<bool>(),
        lang,
        prop::option::of(any::<bool>()),
    )
        .prop_map(|(range, min, max, flags, label, rdf, lang, search)| Prop {
            range,
            min,
            max,
            flags,
            label,
            rdf,
            lang,
            search,
        })
}

fn object() -> impl Strategy<Value = Object> {
    (
        any::<bool>(),
        prop::option::of(0..8_usize),
        prop::option::of(prop::sample::select(vec![
            "rdfs:label",
            "v:name",
            "skos:prefLabel",
        ])),
        any::<bool>(),
        prop::option::of(any::<bool>()),
        prop::collection::vec(prop(), 0..4),
        prop::collection::vec(0..4_usize, 0..3),
        prop::option::of(text()),
        any::<bool>(),
        any::<[bool; 4]>(),
    )
        .prop_map(
            |(
                is_abstract,
                parent,
                name,
                plain_name,
                types,
                own,
                globals,
                overrides,
                alias,
                extra,
            )| Object {
                is_abstract,
                parent,
                name,
                plain_name,
                types,
                own,
                globals,
                overrides,
                alias,
                extra,
            },
        )
}

/// A valid document as JSON, which is YAML too.
pub(super) fn document() -> impl Strategy<Value = Value> {
    (
        prop::collection::vec(object(), 1..8),
        prop::collection::vec(prop(), 4),
        text(),
        any::<[bool; 6]>(),
    )
        .prop_map(|(objects, globals, label, config)| build(&objects, &globals, &label, config))
}

fn build(objects: &[Object], globals: &[Prop], label: &str, config: [bool; 6]) -> Value {
    let count = objects.len();
    let mut sections = Map::new();
    let globals = globals
        .iter()
        .enumerate()
        .map(|(i, p)| (format!("g.{i}"), property(p, count)));
    sections.insert("properties".to_owned(), Value::Object(globals.collect()));
    let written = objects
        .iter()
        .enumerate()
        .map(|(i, o)| (format!("Obj-{i}"), self::written(i, o, objects)));
    sections.insert("objects".to_owned(), Value::Object(written.collect()));
    sections.insert(
        "types".to_owned(),
        json!({
            "Kind": {"values": [{"name": "A", "label": label}, "B_2"], "descr": label},
            "Mixed": {"union": ["date", "langString", "int"]},
        }),
    );
    sections.insert(
        "config".to_owned(),
        json!({
            "enable_mutations": config[0], "nullJsonArrays": config[1], "queryPfx": if config[2] { "q_" } else { "" },
            "lang": if config[3] { json!("en,ANY") } else { json!({"fetch": "ALL", "validate": "en,fr~;UNIQ", "implicit": "en"}) },
            "search": if config[4] { json!(true) } else { json!({"analysis": {"analyzer": "simple"}}) },
            "includeInferred": config[5],
        }),
    );
    sections.insert(
        "prefixes".to_owned(),
        json!({"v": "https://ex.test/v#", "other": "https://ex.test/o/"}),
    );
    sections.insert(
        "specialPrefixes".to_owned(),
        json!({"vocab_prefix": "v", "vocab_iri": "https://ex.test/v#", "base_iri": "https://ex.test/id/"}),
    );
    sections.insert("rbac".to_owned(), json!({"roles": {"Reader": {"description": label, "actions": ["*/*/read", "Obj-0/id/write"]}}}));
    sections.insert("id".to_owned(), json!("/soml/random"));
    sections.insert("label".to_owned(), json!(label));
    Value::Object(sections)
}

fn written(index: usize, object: &Object, objects: &[Object]) -> Value {
    let mut props = Map::new();
    for (i, own) in object.own.iter().enumerate() {
        props.insert(format!("p{index}_{i}"), property(own, objects.len()));
    }
    for global in &object.globals {
        let entry = object
            .overrides
            .as_ref()
            .map_or(Value::Null, |label| json!({"descr": label}));
        props.insert(format!("g.{global}"), entry);
    }
    if object.alias {
        props.insert(format!("from{index}"), json!({"range": format!("Obj-{index}"), "max": "inf", "inverseAlias": format!("to{index}"), "rangeCheck": true}));
        props.insert(
            format!("to{index}"),
            json!({"range": format!("v:Obj-{index}")}),
        );
    }
    if object.plain_name {
        props.insert("name".to_owned(), json!({"label": "Own name"}));
    }
    let mut out = Map::new();
    out.insert(
        "props".to_owned(),
        if props.is_empty() {
            Value::Null
        } else {
            Value::Object(props)
        },
    );
    if object.is_abstract {
        out.insert("kind".to_owned(), json!("abstract"));
    }
    // A superclass stands before its subclasses, so there is no cycle.
    if let Some(parent) = object.parent.filter(|_| index > 0) {
        out.insert(
            "inherits".to_owned(),
            json!(format!("Obj-{}", parent % index)),
        );
    } else if let Some(name) = object.name {
        out.insert("name".to_owned(), json!(name));
    }
    if let Some(list) = object.types {
        out.insert(
            "type".to_owned(),
            if list {
                json!(["v:A", "rel/b"])
            } else {
                json!("v:A")
            },
        );
    }
    let [prefix, extend, search, type_prop] = object.extra;
    if prefix {
        out.insert("prefix".to_owned(), json!(format!("obj{index}/")));
    }
    if extend {
        out.insert("extend".to_owned(), json!("yes"));
    }
    if search {
        out.insert(
            "search".to_owned(),
            json!({"index": true, "type": {"nestingLevel": 2}}),
        );
    }
    if type_prop {
        out.insert("typeProp".to_owned(), json!("other:kind"));
    }
    Value::Object(out)
}

fn property(prop: &Prop, objects: usize) -> Value {
    let mut out = Map::new();
    let range = match prop.range {
        Range::Default => None,
        Range::Scalar(i) => Some(Scalar::ALL[i].soml_name().to_owned()),
        Range::Literal(i) => Some(
            [
                "langString",
                "stringOrLangString",
                "literal",
                "dateOrYearOrMonth",
            ][i]
                .to_owned(),
        ),
        Range::Custom(i) => Some(["Kind", "Mixed"][i].to_owned()),
        Range::Object(i) => Some(format!("Obj-{}", i % objects)),
    };
    out.extend(range.map(|range| ("range".to_owned(), json!(range))));
    if let Some(more) = prop.max {
        let max = if more == 0 {
            json!("inf")
        } else {
            json!(prop.min + more)
        };
        out.insert("max".to_owned(), max);
        out.insert("min".to_owned(), json!(prop.min));
    }
    let keys = [
        "rangeCheck",
        "typeCast",
        "nonNullable",
        "nonNullableElements",
        "immutable",
    ];
    for (key, on) in keys.into_iter().zip(prop.flags) {
        if on {
            out.insert(key.to_owned(), json!(true));
        }
    }
    if prop.flags[5] {
        out.insert("regex".to_owned(), json!("^[a-z]+: \"#\"$"));
        out.insert("valuesIn".to_owned(), json!(["a", "b c"]));
    }
    out.extend(
        prop.label
            .clone()
            .map(|label| ("label".to_owned(), json!(label))),
    );
    out.extend(prop.lang.map(|lang| ("lang".to_owned(), json!(lang))));
    out.extend(
        prop.search
            .map(|search| ("search".to_owned(), json!(search))),
    );
    if prop.rdf {
        out.insert("rdfProp".to_owned(), json!("other:rdf"));
    }
    Value::Object(out)
}
