//! SOML documents: any text is read without a panic, and everything that is reported about it
//! points into its own text.

use soml_core::{LoadOptions, Severity, load_with};

/// Reads a document.
pub fn run(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else {
        return;
    };
    let options = LoadOptions {
        max_nodes: 50_000,
        max_text: 1 << 20,
        ..LoadOptions::default()
    };
    let loaded = load_with(text, &options);
    for diagnostic in &loaded.diagnostics {
        let labels = diagnostic.labels.iter().map(|label| label.place);
        for place in labels.chain(diagnostic.place) {
            assert!(text.get(place.span.range()).is_some(), "{diagnostic}");
        }
    }
    let is_error = |severity: Severity| severity == Severity::Error;
    let has_errors = loaded.diagnostics.iter().any(|d| is_error(d.severity));
    assert_eq!(loaded.schema.is_none(), has_errors);
}
