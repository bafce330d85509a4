//! Definitions of indexes, as OpenSearch gets them.

use std::path::Path;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use search_index::mapping::{
    Analyzers, Dialect, FindingKind, IndexDefinition, Indexes, MappingOptions, Owner,
};
use search_index::soml_core::datatype::Scalar;
use serde_json::{Value, json};

use crate::{indexes, schema};

fn properties(index: &IndexDefinition) -> Value {
    let mut body = index.body(Dialect::OpenSearch2, &Owner::new("test"));
    body["mappings"]["properties"].take()
}

/// Returns the properties of the index of `Film` in a document.
fn of_film(text: &str) -> Value {
    let indexes = indexes(text).expect("the schema can be searched");
    properties(indexes.named("Film").expect("films are indexed"))
}

fn kinds(text: &str) -> Vec<&'static str> {
    match indexes(text) {
        Ok(indexes) => indexes.findings.iter().map(|f| f.code).collect(),
        Err(error) => error.findings.iter().map(|f| f.code).collect(),
    }
}

#[test]
fn each_scalar_has_its_fields() {
    let keyword = json!({"type": "keyword", "ignore_above": 8191});
    let plain = |ty: &str| json!({"p": {"type": ty}});
    let text =
        json!({"p": {"type": "text", "analyzer": "standard", "fields": {"keyword": keyword}}});
    let exact = json!({"p": {"type": "double"}, "p$exact": keyword});
    let date = json!({"p": {"type": "date", "format": "epoch_millis"}});
    let whole = json!({"p": keyword});
    let rows = [
        ("int", plain("integer")),
        ("double", plain("double")),
        ("string", text),
        ("boolean", plain("boolean")),
        ("iri", whole.clone()),
        ("long", plain("long")),
        ("short", plain("short")),
        ("byte", plain("byte")),
        ("unsignedLong", plain("unsigned_long")),
        ("unsignedInt", plain("long")),
        ("unsignedShort", plain("integer")),
        ("unsignedByte", plain("short")),
        ("decimal", exact.clone()),
        ("integer", exact.clone()),
        ("positiveInteger", exact.clone()),
        ("nonPositiveInteger", exact.clone()),
        ("negativeInteger", exact.clone()),
        ("nonNegativeInteger", exact),
        ("positiveFloat", plain("double")),
        ("nonPositiveFloat", plain("double")),
        ("negativeFloat", plain("double")),
        ("nonNegativeFloat", plain("double")),
        ("dateTime", date.clone()),
        ("date", date.clone()),
        ("time", whole),
        ("year", date.clone()),
        ("yearMonth", date),
    ];
    let named: Vec<_> = rows.iter().map(|(name, _)| *name).collect();
    let all: Vec<_> = Scalar::ALL
        .iter()
        .map(|scalar| scalar.soml_name())
        .collect();
    assert_eq!(named, all);
    for (scalar, expected) in rows {
        let document = format!(
            "id: /soml/f\nobjects:\n  Film: {{search: yes, props: {{p: {{range: {scalar}}}}}}}\n"
        );
        let mut found = of_film(&document);
        let members = found.as_object_mut().expect("properties");
        members.retain(|name, _| name.starts_with('p'));
        assert_eq!(found, expected, "{scalar}");
    }
}

#[test]
fn a_document_has_id_and_type_and_what_answers_show() {
    let found = of_film(
        "id: /soml/f\nobjects:\n  Film: {search: yes, props: {title: {}, mass: {range: decimal}}}\n",
    );
    let names: Vec<_> = found.as_object().expect("properties").keys().collect();
    assert_eq!(
        names,
        ["id", "type", "title", "mass", "mass$exact", "$shown"]
    );
    assert_eq!(found["$shown"], json!({"type": "object", "enabled": false}));
    assert_eq!(found["id"]["type"], "keyword");
}

#[test]
fn the_nearer_setting_wins() {
    let found = of_film(
        "
id: /soml/f
config: {search: {index: yes, analysis: {analyzer: simple}}}
objects:
  Film:
    search: {analysis: {analyzer: whitespace}}
    props:
      a: {}
      b: {search: {analysis: {analyzer: english}}}
      c: {search: no}
  Note: {search: {index: no}, props: {d: {}}}
",
    );
    assert_eq!(found["a"]["analyzer"], "whitespace");
    assert_eq!(found["b"]["analyzer"], "english");
    assert_eq!(found.get("c"), None);
    let indexes =
        indexes("id: /soml/f\nconfig: {search: yes}\nobjects:\n  Film: {}\n  Note: {search: no}\n");
    let names: Vec<_> = indexes
        .expect("films")
        .indexes
        .into_iter()
        .map(|i| i.name)
        .collect();
    assert_eq!(names, ["Film"]);
}

#[test]
fn languages_have_fields_of_their_own() {
    let found = of_film(
        "
id: /soml/f
objects:
  Film:
    search: {index: yes, analysis: {analyzer: simple, lang: {en: {analyzer: english}, en-GB: {analyzer: stop}}}}
    props: {label: {range: langString, max: inf}}
",
    );
    assert_eq!(
        found["label"],
        json!({"type": "text", "analyzer": "simple"})
    );
    assert_eq!(found["label$en"]["analyzer"], "english");
    assert_eq!(found["label$en-gb"]["analyzer"], "stop");
    assert_eq!(found["label$keyword"]["type"], "keyword");
}

/// Films, planets and people that refer to each other.
const RING: &str = "
id: /soml/f
objects:
  Film:
    search: yes
    props: {title: {}, planets: {range: Planet, max: inf, LEVEL}}
  Planet:
    search: SEARCH
    props: {label: {}, ruler: {range: Person}, films: {range: Film, max: inf}}
  Person:
    search: yes
    props: {alias: {}, home: {range: Planet}}
";

fn ring(level: &str, planet: &str) -> Value {
    of_film(&RING.replace("LEVEL", level).replace("SEARCH", planet))
}

fn keys(object: &Value) -> Vec<&str> {
    let members = object["properties"].as_object().expect("an object");
    members.keys().map(String::as_str).collect()
}

#[test]
fn objects_are_embedded_to_their_level_and_rings_are_cut() {
    let one = ring("", "yes");
    assert_eq!(one["planets"]["type"], "nested");
    assert_eq!(
        keys(&one["planets"]),
        ["id", "type", "label", "ruler", "films"]
    );
    assert_eq!(keys(&one["planets"]["properties"]["ruler"]), ["id"]);
    let none = ring("search: {type: {nestingLevel: 0}}", "yes");
    assert_eq!(
        (keys(&none["planets"]), &none["planets"]["type"]),
        (vec!["id"], &json!("object"))
    );
    let two = ring("search: {type: {nestingLevel: 2}}", "yes");
    let ruler = &two["planets"]["properties"]["ruler"];
    assert_eq!(ruler["type"], "object");
    assert_eq!(keys(ruler), ["id", "type", "alias", "home"]);
    // The film and the planet are on the path already.
    assert_eq!(keys(&two["planets"]["properties"]["films"]), ["id"]);
    assert_eq!(keys(&ruler["properties"]["home"]), ["id"]);
}

#[test]
fn an_object_that_asks_for_it_is_nested_wherever_it_is() {
    let document = RING
        .replace("LEVEL", "search: {type: {nestingLevel: 2}}")
        .replace("SEARCH", "yes");
    let nested = document.replace(
        "Person:\n    search: yes",
        "Person:\n    search: {index: yes, nested: true}",
    );
    let ty = |text: &str| of_film(text)["planets"]["properties"]["ruler"]["type"].clone();
    assert_eq!(
        (ty(&document), ty(&nested)),
        (json!("object"), json!("nested"))
    );
}

#[test]
fn the_name_of_an_object_is_searchable_as_its_name_property_is() {
    let text = "id: /soml/f\nobjects:\n  Film: {search: yes, name: label, props: {label: {range: langString}}}\n";
    let found = of_film(text);
    assert_eq!(
        (&found["name"]["type"], &found["label"]["type"]),
        (&json!("text"), &json!("text"))
    );
    let hidden = of_film(&text.replace("langString", "langString, search: no"));
    assert_eq!((hidden.get("name"), hidden.get("label")), (None, None));
}

#[test]
fn only_the_id_of_an_object_is_embedded_that_is_not_searchable() {
    assert_eq!(keys(&ring("", "no")["planets"]), ["id", "type"]);
}

#[test]
fn abstract_objects_have_an_index() {
    let text = "
id: /soml/f
objects:
  Work: {kind: abstract, search: yes, props: {title: {}}}
  Film: {inherits: Work, props: {length: {range: int}}}
";
    let indexes = indexes(text).expect("searchable");
    let work = properties(indexes.named("Work").expect("works are indexed"));
    assert_eq!(keys(&json!({"properties": work})), ["id", "type", "title"]);
    let film = properties(indexes.named("Film").expect("films inherit the settings"));
    assert_eq!(film["length"]["type"], "integer");
}

#[test]
fn settings_and_the_mark_of_the_owner_are_in_the_body() {
    let settings =
        r#"{"index": {"mapping": {"total_fields": {"limit": 2000}}, "gc_deletes": "5m"}}"#;
    let options = MappingOptions::default().with_settings(settings.parse().expect("settings"));
    let schema = schema("id: /soml/f\nobjects:\n  Film: {search: yes}\n");
    let indexes = Indexes::new(&schema, &options).expect("searchable");
    let body = |dialect| indexes.indexes[0].body(dialect, &Owner::new("demo"));
    let three = body(Dialect::OpenSearch3);
    assert_eq!(
        three["settings"],
        json!({
            "index.mapping.total_fields.limit": 2000,
            "index.gc_deletes": "5m",
            "index.similarity.default.type": "LegacyBM25",
        })
    );
    assert_eq!(
        three["mappings"]["properties"]["id"]["use_similarity"],
        true
    );
    let two = body(Dialect::OpenSearch2);
    assert_eq!(two["settings"].get("index.similarity.default.type"), None);
    assert_eq!(
        two["mappings"]["properties"]["id"].get("use_similarity"),
        None
    );
    let meta = &two["mappings"]["_meta"];
    assert_eq!(
        (&meta["application"], &meta["schema"], &meta["object"]),
        (&json!("demo"), &json!("/soml/f"), &json!("Film"))
    );
    assert_eq!(
        meta["fingerprint"],
        three["mappings"]["_meta"]["fingerprint"]
    );
}

/// Set `UPDATE_EXPECT` to rewrite the file.
#[test]
fn each_setting_has_the_definition_that_it_had() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    let text = std::fs::read_to_string(folder.join("settings.yaml")).expect("the schema");
    let indexes = indexes(&text).expect("the schema can be searched");
    assert_eq!(indexes.findings, []);
    let mut found = serde_json::Map::new();
    for index in &indexes.indexes {
        found.insert(index.name.clone(), properties(index));
    }
    let found = serde_json::to_string_pretty(&found).expect("JSON") + "\n";
    let path = folder.join("settings.json");
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(&path, &found).expect("the file is written");
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(found == expected, "differs from {}", path.display());
}

#[test]
fn the_fingerprint_changes_with_all_that_documents_are_made_of() {
    let text = "id: /soml/f\nobjects:\n  Film: {search: yes, props: {title: {}, of: {range: Note}}}\n  Note: {props: {text: {search: yes}}}\n";
    let fingerprint = |text: &str| {
        indexes(text).expect("searchable").indexes[0]
            .fingerprint
            .clone()
    };
    let first = fingerprint(text);
    assert_eq!(
        first,
        fingerprint(&format!("{text}  Other: {{search: yes}}\n"))
    );
    assert_eq!(
        first,
        fingerprint(&text.replace("title: {}", "title: {label: Name of it, min: 1}"))
    );
    let settings = r#"{"number_of_shards": 2}"#.parse().expect("settings");
    let options = MappingOptions::default().with_settings(settings);
    let with_settings = Indexes::new(&schema(text), &options).expect("searchable");
    assert_ne!(first, with_settings.indexes[0].fingerprint);
    for (from, to) in [
        ("title: {}", "title: {max: inf, range: int}"),
        ("title: {}", "title: {rdfProp: 'rdfs:label'}"),
        (
            "title: {}",
            "title: {search: {analysis: {analyzer: english}}}",
        ),
        ("title: {}", "titel: {}"),
        (
            "{text: {search: yes}}",
            "{text: {search: yes, rdfProp: 'rdfs:label'}}",
        ),
        ("Film: {search", "Film: {type: 'rdfs:Class', search"),
    ] {
        assert!(text.contains(from), "{from}");
        assert_ne!(first, fingerprint(&text.replace(from, to)), "{to}");
    }
}

#[test]
fn what_cannot_be_searched_is_a_finding() {
    let film = |props: &str| {
        format!("id: /soml/f\nobjects:\n  Film: {{search: yes, props: {{{props}}}}}\n")
    };
    let cases = [
        (
            "id: /soml/f\nobjects:\n  Film: {}\n".to_owned(),
            FindingKind::NothingIndexed,
        ),
        (
            film("a: {search: {analysis: {analyzer: klingon}}}"),
            FindingKind::AnalyzerUnsupported,
        ),
        (
            film("a: {search: {type: geo_point}}"),
            FindingKind::TypeUnsupported,
        ),
        (film("a: {search: {type: long}}"), FindingKind::TypeIgnored),
        (
            film("a: {range: Film, search: {type: {nestingLevel: 6}}}"),
            FindingKind::NestingLevel,
        ),
        (
            format!(
                "id: /soml/f\nobjects:\n  {}: {{search: yes}}\n",
                "F".repeat(221)
            ),
            FindingKind::IndexName,
        ),
    ];
    for (text, kind) in cases {
        assert_eq!(kinds(&text), [kind.code()], "{text}");
    }
    let fits = "a: {search: {type: keyword}}, b: {range: Film, max: inf, search: {type: object}}";
    assert!(kinds(&film(fits)).is_empty());
}

#[test]
fn a_nesting_level_above_the_maximum_is_reported_where_it_is_written() {
    let found = |config: &str, note: &str, film: &str, title: &str| {
        let text = format!(
            "id: /soml/f\nconfig: {{search: {{index: yes{config}}}}}\nobjects:\n  \
             Note: {{search: {{index: yes{note}}}, props: {{text: {{}}}}}}\n  \
             Film: {{inherits: Note, search: {{index: yes{film}}}, \
             props: {{title: {{search: {{index: yes{title}}}}}}}}}\n"
        );
        let error = indexes(&text).err();
        let findings = error.into_iter().flat_map(|error| error.findings);
        findings.map(|finding| finding.message).collect::<Vec<_>>()
    };
    let (fits, high) = (", type: {nestingLevel: 5}", ", type: {nestingLevel: 6}");
    let says = |of: &str| vec![format!("nesting level 6 of {of} is above 5")];
    assert_eq!(found(fits, fits, fits, fits), Vec::<String>::new());
    assert_eq!(found(high, "", "", ""), says("`config`"));
    assert_eq!(found("", high, "", ""), says("object `Note`"));
    assert_eq!(found("", "", high, ""), says("object `Film`"));
    assert_eq!(found("", "", "", high), says("property `title`"));
    let two = found("", high, "", ", type: {nestingLevel: 7}");
    assert_eq!(two.len(), 2, "{two:?}");
}

#[test]
fn analyzers_of_the_settings_and_of_the_engine_count() {
    let schema = schema(
        "id: /soml/f\nobjects:\n  Film: {search: {index: yes, analysis: {analyzer: own}}, props: {a: {}}}\n",
    );
    let defined =
        r#"{"analysis": {"analyzer": {"own": {"type": "custom", "tokenizer": "standard"}}}}"#;
    let with = |options: MappingOptions| Indexes::new(&schema, &options).is_ok();
    assert!(!with(MappingOptions::default()));
    assert!(with(
        MappingOptions::default().with_settings(defined.parse().expect("settings"))
    ));
    assert!(with(
        MappingOptions::default().with_analyzers(Analyzers::from_iter(["own", "standard"]))
    ));
}

#[test]
fn an_index_beyond_the_limits_of_the_engine_is_reported_with_the_setting_to_raise() {
    let properties: Vec<_> = (0..600).map(|i| format!("p{i}: {{}}")).collect();
    let film = format!(
        "id: /soml/f\nobjects:\n  Film: {{search: yes, props: {{{}}}}}\n",
        properties.join(", ")
    );
    assert_eq!(kinds(&film), [FindingKind::TotalFields.code()]);
    let links: Vec<_> = (0..60)
        .map(|i| format!("p{i}: {{range: Note, max: inf}}"))
        .collect();
    let links = format!(
        "id: /soml/f\nobjects:\n  Film: {{search: yes, props: {{{}}}}}\n  Note: {{search: yes}}\n",
        links.join(", ")
    );
    assert_eq!(kinds(&links), [FindingKind::NestedFields.code()]);
    let raised = r#"{"mapping.total_fields.limit": 2000}"#.parse().expect("settings");
    let options = MappingOptions::default().with_settings(raised);
    let found = Indexes::new(&schema(&film), &options).expect("searchable");
    assert_eq!(found.findings, []);
}

#[test]
fn a_schema_of_very_many_ways_is_refused_without_following_them() {
    const LEVEL: u32 = 20;
    let names: Vec<_> = (0..40).map(|i| format!("O{i}")).collect();
    let links: Vec<_> = names
        .iter()
        .map(|name| format!("to{name}: {{range: {name}, max: inf}}"))
        .collect();
    let objects: Vec<_> = names
        .iter()
        .map(|name| format!("  {name}: {{props: {{{}}}}}", links.join(", ")))
        .collect();
    let text = format!(
        "id: /soml/f\nconfig: {{search: {{index: yes, type: {{nestingLevel: {LEVEL}}}}}}}\nobjects:\n{}\n",
        objects.join("\n")
    );
    let options = MappingOptions::default().with_max_nesting_level(LEVEL);
    let (sender, indexes) = mpsc::channel();
    thread::spawn(move || sender.send(Indexes::new(&schema(&text), &options)));
    // To follow 40 to the power of 20 ways would take for ever.
    let indexes = indexes.recv_timeout(Duration::from_secs(60));
    let error = indexes.expect("an end").expect_err("too many fields");
    let is_refused = |finding: &search_index::soml_core::Finding| {
        finding.code == FindingKind::TooManyFields.code()
    };
    assert!(error.findings.iter().any(is_refused), "{error:?}");
}
