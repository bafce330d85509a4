//! What is loaded of a file with mistakes.

use std::path::PathBuf;

use graph_store::GraphStore;
use load_damaged::load;
use rdf_load::{FindingKind, LoadError};

fn file(text: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("planets.ttl");
    std::fs::write(&path, text).unwrap();
    (folder, path)
}

#[test]
fn whatever_can_be_read_is_loaded_and_the_rest_has_a_line() {
    let (_folder, path) = file(
        "@prefix : <http://example.org/> .\n\
         :earth :moons 1 .\n\
         :mars :moon <http://example.org/no iri> .\n\
         :venus :name \"Venus\"@zh-classical .\n\
         :jupiter :moons 95 .\n",
    );
    let loaded = load(&[path]).unwrap();
    assert_eq!(loaded.summary.added, 3);
    assert_eq!(loaded.store.quads(), 3);
    let found: Vec<_> = loaded
        .findings
        .iter()
        .map(|finding| (finding.line, finding.kind))
        .collect();
    let expected = [
        (Some(3), FindingKind::StatementSkipped),
        (Some(4), FindingKind::LanguageTagKept),
    ];
    assert_eq!(found, expected);
    assert!(loaded.store.local().is_some());
}

#[test]
fn of_a_file_that_is_cut_off_nothing_is_loaded() {
    let (_folder, path) = file("<http://example.org/a> <http://example.org/b> <http://exam");
    let Err(error) = load(&[path]) else {
        panic!("it is cut off");
    };
    assert!(matches!(error, LoadError::CutOff { .. }), "{error}");
}
