//! Loading of data files: syntaxes, findings with their lines, bases, blank nodes.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use graph_store::Statements;
use graph_store::image::ImageStore;
use oxrdf::{NamedNode, Term};
use rdf_load::{
    Finding, FindingKind, LoadError, LoadObserver, LoadOptions, LoadSummary, load_files,
};
use tempfile::TempDir;

use crate::images;

#[derive(Default)]
pub(crate) struct Watch {
    findings: Vec<Finding>,
}

impl LoadObserver for Watch {
    fn finding(&mut self, finding: &Finding) {
        self.findings.push(finding.clone());
    }

    fn progress(&mut self, _bytes: u64, _statements: u64) {}
}

pub(crate) struct Loaded {
    pub(crate) store: ImageStore,
    pub(crate) summary: LoadSummary,
    pub(crate) findings: Vec<Finding>,
}

/// Loads files into a store without data, which has none if that fails.
pub(crate) fn load(files: &[PathBuf], options: &LoadOptions) -> Result<Loaded, LoadError> {
    let store = images::empty();
    let mut watch = Watch::default();
    let loaded = load_files(&store, files, options, &mut watch);
    if loaded.is_err() {
        assert!(store.is_empty());
    }
    Ok(Loaded {
        summary: loaded?,
        store,
        findings: watch.findings,
    })
}

#[test]
fn an_image_keeps_lexical_forms_and_what_was_there_before() {
    let dir = TempDir::new().unwrap();
    let one = write(
        &dir,
        "1.ttl",
        "@prefix x: <http://www.w3.org/2001/XMLSchema#> .
         <http://e/s> <http://e/p> 01, 1, '1'^^x:int, '1.50'^^x:decimal, 'a'@EN-us .",
    );
    let two = write(&dir, "2.ttl", "<http://e/s> <http://e/p> 1 , 2 .");
    let image = images::empty();
    let load = |path| {
        load_files(
            &image,
            &[path],
            &LoadOptions::default(),
            &mut Watch::default(),
        )
    };
    let first = load(one).unwrap();
    assert_eq!(first.added, 5);
    let second = load(two).unwrap();
    assert_eq!((second.statements, second.added), (2, 1));
    let mut values = Vec::new();
    let subject = NamedNode::new_unchecked("http://e/s");
    let each = &mut |_, value: Term| values.push(value.to_string());
    image.snapshot().about(&subject, each).unwrap();
    values.sort();
    let xsd =
        |value: &str, name: &str| format!("\"{value}\"^^<http://www.w3.org/2001/XMLSchema#{name}>");
    let expected = [
        xsd("01", "integer"),
        xsd("1", "int"),
        xsd("1", "integer"),
        xsd("1.50", "decimal"),
        xsd("2", "integer"),
        "\"a\"@en-us".to_owned(),
    ];
    assert_eq!(values, expected);
}

fn load_text(name: &str, text: &str) -> Loaded {
    let dir = TempDir::new().unwrap();
    load(&[write(&dir, name, text)], &LoadOptions::default()).unwrap()
}

fn write(dir: &TempDir, name: &str, text: &str) -> PathBuf {
    let path = dir.path().join(name);
    fs::write(&path, text).unwrap();
    path
}

fn statements(store: &ImageStore) -> Vec<String> {
    let snapshot = store.snapshot();
    let mut lines: Vec<_> = snapshot.iter().map(|quad| quad.to_string()).collect();
    lines.sort();
    lines
}

#[test]
fn every_syntax_gives_the_same_statement() {
    let expected = ["<http://example.org/s> <http://example.org/p> \"v\"@en"];
    let triple = "<http://example.org/s> <http://example.org/p> \"v\"@en .";
    let json = r#"{"@id": "http://example.org/s", "http://example.org/p": {"@value": "v", "@language": "en"}}"#;
    let xml = r#"<?xml version="1.0"?>
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="http://example.org/">
<rdf:Description rdf:about="http://example.org/s"><e:p xml:lang="en">v</e:p></rdf:Description>
</rdf:RDF>"#;
    for (name, text) in [
        ("a.ttl", triple),
        ("a.trig", triple),
        ("a.nt", triple),
        ("a.nq", triple),
        ("a.jsonld", json),
        ("a.rdf", xml),
    ] {
        let loaded = load_text(name, text);
        assert_eq!(statements(&loaded.store), expected, "{name}");
        assert_eq!(loaded.findings, [], "{name}");
    }
}

#[test]
fn gzip_is_unpacked() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("a.nt.gz");
    let file = fs::File::create(&path).unwrap();
    let mut encoder = flate2::write::GzEncoder::new(file, flate2::Compression::fast());
    encoder
        .write_all(b"<http://e/s> <http://e/p> <http://e/o> .\n")
        .unwrap();
    encoder.finish().unwrap();
    assert_eq!(
        load(&[path], &LoadOptions::default())
            .unwrap()
            .summary
            .added,
        1
    );
}

#[test]
fn named_graphs_are_kept() {
    let loaded = load_text(
        "a.trig",
        "<http://e/g> { <http://e/s> <http://e/p> <http://e/o> }",
    );
    assert_eq!(
        statements(&loaded.store),
        ["<http://e/s> <http://e/p> <http://e/o> <http://e/g>"]
    );
}

#[test]
fn relative_iris_resolve_against_the_file_or_the_given_base() {
    let dir = TempDir::new().unwrap();
    let path = write(&dir, "a b.ttl", "<#s> <p> <> .");
    let here = dir.path().canonicalize().unwrap();
    let here = here.to_str().unwrap();
    let loaded = load(std::slice::from_ref(&path), &LoadOptions::default()).unwrap();
    assert_eq!(
        statements(&loaded.store),
        [format!(
            "<file://{here}/a%20b.ttl#s> <file://{here}/p> <file://{here}/a%20b.ttl>"
        )]
    );
    let options = LoadOptions {
        base: Some("http://example.org/x/".to_owned()),
        ..LoadOptions::default()
    };
    assert_eq!(
        statements(&load(&[path], &options).unwrap().store),
        ["<http://example.org/x/#s> <http://example.org/x/p> <http://example.org/x/>"]
    );
}

#[test]
fn blank_nodes_of_two_files_do_not_meet() {
    let dir = TempDir::new().unwrap();
    let one = write(
        &dir,
        "1.nt",
        "_:b <http://e/p> _:b .\n_:b <http://e/q> \"1\" .\n",
    );
    let two = write(&dir, "2.nt", "_:b <http://e/p> _:b .\n");
    let loaded = load(&[one, two], &LoadOptions::default()).unwrap();
    assert_eq!(loaded.summary.added, 3);
    let subjects: std::collections::HashSet<_> = loaded
        .store
        .snapshot()
        .iter()
        .map(|quad| quad.subject)
        .collect();
    assert_eq!(subjects.len(), 2);
}

#[test]
fn malformed_language_tag_keeps_the_literal_and_warns_with_the_line() {
    let loaded = load_text(
        "a.ttl",
        "@prefix e: <http://e/> .\ne:s e:p \"a\"@en ;\n  e:q \"b\"@zh-classical ,\n    \"c\"@toolongtag\n  ;\n  e:r \"d\" .\n",
    );
    assert_eq!(loaded.summary.added, 4);
    let found: Vec<_> = loaded.findings.iter().map(|f| (f.line, f.kind)).collect();
    let kept = FindingKind::LanguageTagKept;
    assert_eq!(found, [(Some(3), kept), (Some(4), kept)]);
    assert!(
        statements(&loaded.store)
            .iter()
            .any(|s| s.ends_with("\"b\"@zh-classical"))
    );
}

#[test]
fn a_bad_statement_is_skipped_and_counted_and_the_rest_is_loaded() {
    let loaded = load_text(
        "a.ttl",
        "@prefix e: <http://e/> .\ne:a e:p e:b .\ne:c e:p <http://e/x y> .\ne:d nope:p e:b .\ne:e e:p e:b .\n",
    );
    assert_eq!(loaded.summary.added, 2);
    assert_eq!(loaded.summary.statements_skipped, 2);
    let found: Vec<_> = loaded.findings.iter().map(|f| (f.line, f.kind)).collect();
    let skipped = FindingKind::StatementSkipped;
    assert_eq!(found, [(Some(3), skipped), (Some(4), skipped)]);
}

#[test]
fn strict_stops_at_the_first_finding_and_loads_nothing() {
    let dir = TempDir::new().unwrap();
    let path = write(
        &dir,
        "a.nt",
        "<http://e/a> <http://e/p> \"x\"@zh-classical .\n",
    );
    let store = images::empty();
    let options = LoadOptions {
        strict: true,
        ..LoadOptions::default()
    };
    let result = load_files(&store, &[path], &options, &mut Watch::default());
    assert!(matches!(result, Err(LoadError::Strict(finding)) if finding.line == Some(1)));
    assert!(store.is_empty());
}

#[test]
fn a_malformed_document_stops_the_load_with_its_line() {
    let dir = TempDir::new().unwrap();
    let path = write(&dir, "a.jsonld", "{\n  \"@id\": \"http://e/s\",\n  !\n}");
    let error = load(&[path], &LoadOptions::default()).err().unwrap();
    assert!(error.to_string().contains("a.jsonld:3:"), "{error}");
}

#[test]
fn a_remote_context_is_not_fetched() {
    let dir = TempDir::new().unwrap();
    let text = r#"{"@context": "http://127.0.0.1:9/context.jsonld", "@id": "http://e/s"}"#;
    let path = write(&dir, "a.jsonld", text);
    let error = load(&[path], &LoadOptions::default()).err().unwrap();
    assert!(matches!(error, LoadError::Document(_)), "{error}");
}

#[test]
fn missing_file_directory_and_unknown_extension_have_clear_errors() {
    let dir = TempDir::new().unwrap();
    let missing = dir.path().join("none.ttl");
    for (path, expected) in [
        (missing.as_path(), "failed to read"),
        (dir.path().join("x.ttl").as_path(), "failed to read"),
        (Path::new("data.csv"), "cannot tell the format"),
    ] {
        let error = load(&[path.to_owned()], &LoadOptions::default())
            .err()
            .unwrap();
        assert!(error.to_string().starts_with(expected), "{error}");
    }
}

#[test]
fn a_bad_base_is_refused() {
    let dir = TempDir::new().unwrap();
    let path = write(&dir, "a.ttl", "");
    let options = LoadOptions {
        base: Some("not an iri".to_owned()),
        ..LoadOptions::default()
    };
    assert!(matches!(
        load(&[path], &options),
        Err(LoadError::BaseInvalid { .. })
    ));
}

#[test]
fn the_multilingual_set_loads_with_one_warning_for_each_malformed_tag() {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/star-wars-multilingual/data.ttl.gz");
    let loaded = load(std::slice::from_ref(&path), &LoadOptions::default()).unwrap();
    assert_eq!(loaded.summary.added, 68_981);
    assert_eq!(
        (
            loaded.summary.language_tags_kept,
            loaded.summary.statements_skipped
        ),
        (38, 0)
    );
    // The line of each finding is the line that holds the tag.
    let text = rdf_load::read_text(&path).unwrap();
    let tagged: Vec<u64> = (1..)
        .zip(text.lines())
        .flat_map(|(number, line)| line.matches("@zh-classical").map(move |_| number))
        .collect();
    let found: Vec<u64> = loaded
        .findings
        .iter()
        .map(|finding| finding.line.unwrap())
        .collect();
    assert_eq!(found, tagged);
}
