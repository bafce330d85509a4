//! Any text is read without a panic, and everything said about it is said about its own text.
//!
//! In the folder of `soml-core`, with the scenario folders as seeds:
//! `cargo +nightly fuzz run load fuzz/corpus tests/cases -- -max_total_time=600`.

#![no_main]

use libfuzzer_sys::fuzz_target;
use soml_core::{LoadOptions, Severity, load_with};

fuzz_target!(|text: &str| {
    let options = LoadOptions { max_nodes: 50_000, max_text: 1 << 20, ..LoadOptions::default() };
    let loaded = load_with(text, &options);
    for diagnostic in &loaded.diagnostics {
        let labels = diagnostic.labels.iter().map(|label| label.span);
        for span in labels.chain([diagnostic.span]) {
            assert!(text.get(span.range()).is_some(), "{diagnostic}");
        }
    }
    let has_errors = loaded.diagnostics.iter().any(|d| d.severity == Severity::Error);
    assert_eq!(loaded.schema.is_none(), has_errors);
});
