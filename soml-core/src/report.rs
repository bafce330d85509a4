//! Machine-readable forms of a validation result.

use serde_json::{Value, json};

use crate::diagnostic::{Diagnostic, Severity};

/// Returns the plain JSON form: `{ "valid", "errors", "warnings" }`.
///
/// Each diagnostic has `code`, `severity`, `line`, `column`, `endLine`, `endColumn`, `message`, `help`
/// (or null) and `related`, a list of positions with their own messages.
#[must_use]
pub fn json(diagnostics: &[Diagnostic]) -> Value {
    json!({
        "valid": !has_errors(diagnostics),
        "errors": findings(diagnostics, Severity::Error),
        "warnings": findings(diagnostics, Severity::Warning),
    })
}

/// Returns the JSON-LD form: the status document with the text of the document and its diagnostics.
///
/// `@id` is the identifier of the schema, `input` the text that was validated. The members of
/// [`json()`] are added; through `@vocab`, their names are terms of the status vocabulary.
///
/// ```
/// let text = "id: /soml/films\nobjects: {Film: {kind: abstrct}}\n";
/// let loaded = soml_core::load(text);
/// let report = soml_core::report::json_ld("/soml/films", text, &loaded.diagnostics);
/// assert_eq!(report["@id"], "/soml/films");
/// assert_eq!(report["valid"], false);
/// assert_eq!(report["errors"][0]["code"], "UNKNOWN_KIND");
/// assert_eq!(report["errors"][0]["line"], 2);
/// ```
#[must_use]
pub fn json_ld(id: &str, input: &str, diagnostics: &[Diagnostic]) -> Value {
    let mut report = json!({
        "@context": {
            "@vocab": "http://ontotext.com/ontology/status/",
            "@base": "http://data.ontotext.com/",
            "xsd": "http://www.w3.org/2001/XMLSchema#",
            "hydra": "http://www.w3.org/ns/hydra/core#",
        },
        "@type": "SOML",
        "@id": id,
        "input": input,
    });
    if let (Value::Object(report), Value::Object(result)) = (&mut report, json(diagnostics)) {
        report.extend(result);
    }
    report
}

fn has_errors(diagnostics: &[Diagnostic]) -> bool {
    diagnostics.iter().any(|d| d.severity == Severity::Error)
}

fn findings(diagnostics: &[Diagnostic], severity: Severity) -> Vec<Value> {
    diagnostics
        .iter()
        .filter(|d| d.severity == severity)
        .map(|d| serde_json::to_value(d).expect("a finding consists of texts and numbers"))
        .collect()
}
