//! What is refused or kept that the parsers alone would take in another way.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;

use graph_store::image::{ImageBuilder, ImageStore};
use rdf_load::{Finding, LoadObserver, LoadOptions, load_files};

/// The lines of what was skipped.
#[derive(Default)]
struct Skipped(Vec<u64>);

impl LoadObserver for Skipped {
    fn finding(&mut self, finding: &Finding) {
        self.0.extend(finding.line);
    }

    fn progress(&mut self, _bytes: u64, _statements: u64) {}
}

/// Loads a text, and returns the quads with the IRI `<http://e/p>`, in order, and the lines of what was skipped.
fn load(name: &str, text: &str) -> (Vec<String>, Vec<u64>) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    fs::write(&path, text).unwrap();
    let store = ImageStore::new(ImageBuilder::new().build().unwrap());
    let mut skipped = Skipped::default();
    load_files(&store, &[path], &LoadOptions::default(), &mut skipped).unwrap();
    let quads = store.snapshot();
    let quads = quads.iter().map(|quad| quad.to_string());
    let mut found: Vec<_> = quads.filter(|quad| quad.contains("<http://e/p>")).collect();
    found.sort();
    (found, skipped.0)
}

#[test]
fn in_a_list_a_date_is_not_three_numbers() {
    for value in ["2024-01-01", "1.5.6", "12abc", "e:a&b", "\"x\"@en_US"] {
        let text = format!(
            "@prefix e: <http://e/> .\ne:a e:q ( e:b {value} ) ; e:p e:c .\ne:a e:p 'kept' .\n"
        );
        let (found, skipped) = load("a.ttl", &text);
        assert_eq!(found, ["<http://e/a> <http://e/p> \"kept\""], "{value}");
        assert_eq!(skipped, [2], "{value}");
    }
}
