//! Schemas that were published by others.

use flate2::read::GzDecoder;
use soml_core::{Loaded, Schema, Severity, Valid, load};

fn read(name: &str) -> String {
    let path = format!("{}/tests/data/{name}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn say(loaded: &Loaded) -> String {
    loaded
        .diagnostics
        .iter()
        .map(|d| format!("{d}\n"))
        .collect()
}

fn good(name: &str) -> Valid<Schema> {
    let loaded = load(&read(name));
    assert_eq!(say(&loaded), "", "{name}");
    loaded.schema.expect(name)
}

fn counts(name: &str) -> (usize, usize) {
    let schema = good(name);
    (schema.objects.len(), schema.property_name_count())
}

#[test]
fn published_schemas_load_without_a_finding_and_count_as_published() {
    assert_eq!(counts("graphdb-workbench/swapi-schema.yaml"), (56, 68));
    assert_eq!(
        counts("graphdb-workbench/swapi-schema-planets.yaml"),
        (1, 10)
    );
    assert_eq!(
        counts("graphdb-workbench/swapi-schema-species.yaml"),
        (2, 17)
    );
    assert_eq!(
        good("graphdb-workbench/swapi-schema-film-restricted.yaml")
            .objects
            .len(),
        44
    );
    for (name, objects) in [
        ("orig", 12),
        ("refact", 11),
        ("refact@fd10ed32", 11),
        ("template", 0),
        ("withDiagram-noLabel", 11),
    ] {
        assert_eq!(
            good(&format!("bsdd/bsdd-graphql-soml-{name}.yaml"))
                .objects
                .len(),
            objects
        );
    }
    assert_eq!(
        good("talk2powersystem/cim-subset-pretty-ontology.yaml")
            .objects
            .len(),
        359
    );
}

#[test]
fn the_broken_star_wars_schema_has_one_error_at_the_colon() {
    let loaded = load(&read("graphdb-workbench/swapi-schema-broken.yaml"));
    let [error] = &loaded.diagnostics[..] else {
        panic!("{}", say(&loaded))
    };
    let start = error.place.expect("a place").start;
    assert_eq!((start.line, start.column), (24, 10));
    assert_eq!(error.severity, Severity::Error);
    assert!(
        error
            .help
            .as_ref()
            .is_some_and(|h| h.contains("line 23 lacks its colon")),
        "{error}"
    );
}

#[test]
fn repeated_keys_are_reported_once_each_with_their_number() {
    let packed = std::fs::File::open(format!(
        "{}/tests/data/graphdb-workbench/big-swapi-schema-broken.yaml.gz",
        env!("CARGO_MANIFEST_DIR")
    ));
    let mut text = String::new();
    std::io::Read::read_to_string(
        &mut GzDecoder::new(packed.expect("the file is there")),
        &mut text,
    )
    .expect("the file is compressed text");
    let start = std::time::Instant::now();
    let loaded = load(&text);
    let took = start.elapsed();
    assert_eq!(loaded.diagnostics.len(), 64, "{}", say(&loaded));
    for d in &loaded.diagnostics {
        assert_eq!(d.code, soml_core::Code::DuplicateKey.as_str());
        assert!(d.message.contains("224 times"), "{d}");
        assert!(d.labels.len() <= 5, "{d}");
    }
    assert!(took < std::time::Duration::from_secs(60), "{took:?}");
}
