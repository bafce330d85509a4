//! The SOML schema of the data.

#[test]
fn the_schema_has_no_error_and_no_warning() {
    let loaded = soml_core::load(benches::SCHEMA);
    assert!(loaded.schema.is_some());
    let findings: Vec<_> = loaded.diagnostics.iter().collect();
    assert!(findings.is_empty(), "{findings:?}");
}
