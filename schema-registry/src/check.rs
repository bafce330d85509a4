//! Checks SOML text: the result is a schema that can be served, or errors.
//!
//! What is found out about the document and about the API that is generated from it is one list.

use std::fmt;
use std::sync::Arc;

use graphql_gen::typesystem::{Api, ApiOptions};
use soml_core::span::LineIndex;
use soml_core::{Code, Diagnostic, Severity, Valid};
use uuid::Uuid;

/// A checked SOML document.
#[derive(Clone, Debug)]
pub struct Checked {
    /// The schema, if there are no errors, and until someone takes it: it is large.
    pub schema: Option<UsableSchema>,
    /// Whether there are no errors.
    pub valid: bool,
    /// All diagnostics, in document order.
    pub notes: Vec<Diagnostic>,
    /// Number of diagnostics beyond the limit, which are not listed.
    pub suppressed: usize,
}

/// A schema without errors, with its generated API.
#[derive(Clone)]
#[non_exhaustive]
pub struct UsableSchema {
    /// Last segment of the identifier, such as `swapi`; the name in paths.
    pub id: String,
    /// Whether the document has an `id`; otherwise, one was generated.
    pub declares_id: bool,
    /// The schema itself.
    pub soml: Arc<Valid<soml_core::Schema>>,
    /// Its GraphQL API.
    pub api: Arc<Api>,
}

impl UsableSchema {
    /// Returns the path of the schema when it is stored.
    #[must_use]
    pub fn iri(&self) -> String {
        schema_iri(&self.id)
    }
}

/// Greatest length of the name of a stored schema.
const MAX_ID: usize = 128;

/// A name that no stored schema can have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{shown}` cannot name a schema: the last segment of an `id` has 1 to {MAX_ID} letters, digits, \
     `_`, `-` and `.` of ASCII, and begins with a letter or digit"
)]
#[non_exhaustive]
pub struct SchemaIdError {
    /// The name, cut when it is long.
    pub shown: String,
    /// How to fix it.
    pub help: String,
}

/// Checks that `id` can name a stored schema in paths.
///
/// # Errors
///
/// Fails on other characters than [`SchemaIdError`] lists, and on names that are too long.
pub fn check_id(id: &str) -> Result<(), SchemaIdError> {
    let is_fit = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    let begins_well = id.starts_with(|c: char| c.is_ascii_alphanumeric());
    if begins_well && id.len() <= MAX_ID && id.chars().all(is_fit) {
        return Ok(());
    }
    let fitted: String = id
        .chars()
        .map(|c| if is_fit(c) { c } else { '-' })
        .skip_while(|c| !c.is_ascii_alphanumeric())
        .take(MAX_ID)
        .collect();
    let fitted = fitted.trim_end_matches('-');
    let example = if fitted.is_empty() { "films" } else { fitted };
    Err(SchemaIdError {
        shown: id.chars().take(40).collect(),
        help: format!("write an `id` such as `{}`", schema_iri(example)),
    })
}

/// Returns the path of the stored schema named `id`.
#[must_use]
pub fn schema_iri(id: &str) -> String {
    format!("/soml/{id}")
}

impl fmt::Debug for UsableSchema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UsableSchema")
            .field("id", &self.id)
            .finish_non_exhaustive()
    }
}

impl Checked {
    /// Returns the number of diagnostics of one severity.
    #[must_use]
    pub fn count(&self, severity: Severity) -> usize {
        self.notes
            .iter()
            .filter(|note| note.severity == severity)
            .count()
    }
}

/// Returns the options of the API as the service serves it over a store that can be written to.
#[must_use]
pub fn served_api() -> ApiOptions {
    ApiOptions::default().with_mutations(true)
}

/// Checks a SOML document and generates the API as the service serves it.
#[must_use]
pub fn check(text: &str) -> Checked {
    check_with(text, &served_api())
}

/// Checks a SOML document and generates the API with the given options.
#[must_use]
pub fn check_with(text: &str, options: &ApiOptions) -> Checked {
    let loaded = soml_core::load(text);
    let mut notes = loaded.diagnostics;
    let declares_id = !notes
        .iter()
        .any(|note| note.code == Code::MissingId.as_str());
    let schema = loaded.schema.and_then(|soml| {
        let soml = Arc::new(soml);
        match Api::new(Arc::clone(&soml), options) {
            Ok(api) => Some(UsableSchema {
                id: path_name(&soml.id),
                declares_id,
                soml,
                api: Arc::new(api),
            }),
            Err(error) => {
                let lines = LineIndex::new(text);
                let problems = error.problems.into_iter();
                notes.extend(problems.map(|problem| problem.locate(&lines)));
                notes.sort_by_key(|note| note.place.map(|place| place.span.start));
                None
            }
        }
    });
    Checked {
        valid: schema.is_some(),
        schema,
        notes,
        suppressed: loaded.suppressed,
    }
}

/// Returns the last segment of an identifier; invents one when there is none.
#[must_use]
pub fn path_name(id: &str) -> String {
    match id.trim_end_matches('/').rsplit('/').next() {
        Some(name) if !name.is_empty() => name.to_owned(),
        _ => Uuid::new_v4().to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_schemas_are_short_and_plain() {
        for id in ["swapi", "a", "7", "A-1_b.c", &"x".repeat(128)] {
            assert_eq!(check_id(id), Ok(()), "{id}");
        }
        for (id, example) in [
            ("", "films"),
            ("..", "films"),
            ("-a", "a"),
            ("a b", "a-b"),
            ("übung?x=1", "bung-x-1"),
            ("a%2Fb", "a-2Fb"),
            ("<script>", "script"),
        ] {
            let help = check_id(id).unwrap_err().help;
            assert_eq!(
                help,
                format!("write an `id` such as `/soml/{example}`"),
                "{id}"
            );
        }
        let long = check_id(&"x".repeat(129)).unwrap_err();
        assert_eq!(long.shown, "x".repeat(40));
    }

    #[test]
    fn the_last_segment_names_the_schema_in_paths() {
        assert_eq!(path_name("/soml/swapi"), "swapi");
        assert_eq!(path_name("http://example.org/soml/films/"), "films");
        assert_eq!(path_name("swapi"), "swapi");
        assert_eq!(path_name("").len(), 36);
    }
}
