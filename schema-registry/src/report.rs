//! Reports on checked documents, as JSON and JSON-LD.

use serde_json::{Map, Value};
use soml_core::{Severity, report};

use crate::check::Checked;

/// Returns the diagnostics of the document `file` as JSON: the report of `soml_core`, including
/// diagnostics of the generated API.
#[must_use]
pub fn json(file: &str, checked: &Checked) -> Value {
    let mut report = Map::new();
    report.insert("file".to_owned(), file.into());
    insert_findings(&mut report, checked);
    report.insert("suppressed".to_owned(), checked.suppressed.into());
    Value::Object(report)
}

/// Returns the JSON-LD status document: the text of the document and its diagnostics.
///
/// `id` is the identifier of the schema; without one, the status document has no `@id`.
#[must_use]
pub fn json_ld(id: Option<&str>, text: &str, checked: &Checked) -> Map<String, Value> {
    let report = report::json_ld(id.unwrap_or_default(), text, &[]);
    let Value::Object(mut report) = report else {
        return Map::new();
    };
    if id.is_none() {
        report.shift_remove("@id");
    }
    insert_findings(&mut report, checked);
    report
}

/// Sets the members that say what was found.
fn insert_findings(report: &mut Map<String, Value>, checked: &Checked) {
    let notes = |severity: Severity| -> Value {
        let notes = checked
            .notes
            .iter()
            .filter(|note| note.severity == severity);
        notes
            .map(|note| serde_json::to_value(note).expect("a note consists of texts and numbers"))
            .collect()
    };
    report.insert("valid".to_owned(), checked.valid.into());
    report.insert("errors".to_owned(), notes(Severity::Error));
    report.insert("warnings".to_owned(), notes(Severity::Warning));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::check;

    const TEXT: &str = "id: /soml/a\nobjects:\n  A: {kind: abstrct}\n  A: {}\n  B: {inherit: A}\n";

    #[test]
    fn reports_are_those_of_the_library() {
        let (checked, diagnostics) = (check(TEXT), soml_core::load(TEXT).diagnostics);
        assert!(diagnostics.len() > 1, "{diagnostics:?}");
        let report = Value::Object(json_ld(Some("/soml/a"), TEXT, &checked));
        assert_eq!(report, report::json_ld("/soml/a", TEXT, &diagnostics));
        let plain = report::json(&diagnostics);
        let file = json("a.yaml", &checked);
        for member in ["valid", "errors", "warnings"] {
            assert_eq!(file[member], plain[member]);
        }
    }

    #[test]
    fn findings_about_the_api_stand_among_the_errors() {
        let text = "id: /soml/a\nobjects:\n  Film: {props: {AND: {}}}\n";
        let report = json_ld(None, text, &check(text));
        assert!(!report.contains_key("@id"));
        assert_eq!(report["valid"], false);
        assert_eq!(report["errors"][0]["code"], "API_FIELD_NAME_TAKEN");
    }
}
