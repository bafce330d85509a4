//! What a schema asks of IRIs and texts: prefixes, regular expressions, patterns, closed lists.

use graph_store::query;
use regex::Regex;
use soml_core::schema::{Object, Property, Schema};

/// Greatest length of a regular expression of a schema.
const MAX_REGEX: usize = 10_000;

/// A test of a text, with the words of the schema for it.
pub(super) struct Constraint {
    /// As the schema writes it, such as ``regex: `^Q[0-9]+$` ``.
    pub(super) text: String,
    test: Test,
}

enum Test {
    Prefix(String),
    Matches(Regex),
}

impl Constraint {
    pub(super) fn holds(&self, text: &str) -> bool {
        match &self.test {
            Test::Prefix(prefix) => text.starts_with(prefix),
            Test::Matches(regex) => regex.is_match(text),
        }
    }

    /// Returns what a schema asks of the IRIs of instances; what cannot be tested goes to `refused`.
    pub(super) fn of_ids(schema: &Schema, object: &Object, refused: &mut Vec<String>) -> Vec<Self> {
        let parts = Parts {
            prefix: object.id_prefix.as_deref(),
            regex: object.id_regex.as_deref(),
            pattern: object.id_pattern.as_deref(),
        };
        parts.constraints(schema, &object.name.written, refused)
    }

    /// Returns what a schema asks of the values of a property; what cannot be tested goes to `refused`.
    pub(super) fn of_values(
        schema: &Schema,
        property: &Property,
        refused: &mut Vec<String>,
    ) -> Vec<Self> {
        let parts = Parts {
            prefix: property.prefix.as_deref(),
            regex: property.regex.as_deref(),
            pattern: property.pattern.as_deref(),
        };
        let owner = &schema[property.declared_by].name.written;
        let element = format!("{owner}.{}", property.name.written);
        parts.constraints(schema, &element, refused)
    }
}

struct Parts<'a> {
    prefix: Option<&'a str>,
    regex: Option<&'a str>,
    pattern: Option<&'a str>,
}

impl Parts<'_> {
    fn constraints(
        &self,
        schema: &Schema,
        element: &str,
        refused: &mut Vec<String>,
    ) -> Vec<Constraint> {
        let mut constraints = Vec::new();
        if let Some(prefix) = self.prefix {
            constraints.push(Constraint {
                text: format!("prefix: {prefix}"),
                test: Test::Prefix(prefix.to_owned()),
            });
        }
        let pattern = self.pattern.map(|text| match template(schema, text) {
            Some(regex) => Regex::new(&regex).map_err(|error| error.to_string()),
            None => compiled(text),
        });
        let regexes = [
            ("regex", self.regex, self.regex.map(compiled)),
            ("pattern", self.pattern, pattern),
        ];
        for (key, text, regex) in regexes {
            let (Some(text), Some(regex)) = (text, regex) else {
                continue;
            };
            match regex {
                Ok(regex) => constraints.push(Constraint {
                    text: format!("{key}: {text}"),
                    test: Test::Matches(regex),
                }),
                Err(error) => refused.push(format!("`{key}: {text}` of {element}: {error}")),
            }
        }
        constraints
    }
}

/// Compiles a regular expression of the subset that all stores share.
fn compiled(text: &str) -> Result<Regex, String> {
    let checked = query::Regex::new(text, false, MAX_REGEX).map_err(|error| error.to_string())?;
    Regex::new(&checked.pattern).map_err(|error| error.to_string())
}

/// Returns a regular expression for a pattern with references to properties, such as `$a/${b}?`.
///
/// Any text may stand for a reference, since its value is encoded; what is left over must be
/// there, behind the base IRI of the schema or from the beginning.
fn template(schema: &Schema, text: &str) -> Option<String> {
    let mut regex = format!("^(?:{})?", regex::escape(&schema.prefixes.base_iri));
    let mut rest = text;
    let mut references = 0;
    while let Some((before, after)) = rest.split_once('$') {
        let (name, after) = match after.strip_prefix('{') {
            Some(braced) => braced.split_once('}')?,
            None => {
                let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | ':');
                after.split_at(after.find(|c| !is_name(c)).unwrap_or(after.len()))
            }
        };
        // A dollar that names nothing ends a line: the pattern is a regular expression.
        if name.is_empty() {
            return None;
        }
        references += 1;
        let (any, after) = match after.strip_prefix('?') {
            Some(after) => (".*", after),
            None => (".+", after),
        };
        regex.push_str(&regex::escape(before));
        regex.push_str(any);
        rest = after;
    }
    regex.push_str(&regex::escape(rest));
    regex.push('$');
    (references > 0).then_some(regex)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_are_told_from_regular_expressions() {
        let text = "{id: /soml/a, specialPrefixes: {base_iri: 'http://b/'}, objects: {}}";
        let schema = soml_core::load(text).schema.expect("a schema");
        let holds = |pattern: &str, iri: &str| {
            let regex = template(&schema, pattern);
            regex.map(|regex| Regex::new(&regex).expect("a regex").is_match(iri))
        };
        assert_eq!(holds("t/$a/$date?", "http://b/t/1/"), Some(true));
        assert_eq!(holds("t/$a/$date?", "http://b/t/1"), Some(false));
        assert_eq!(holds("x/${sys_id}.html", "http://b/x/7.html"), Some(true));
        assert_eq!(holds("x/${sys_id}.html", "http://b/x/7xhtml"), Some(false));
        assert_eq!(holds("agent/[0-9]+$", "http://b/agent/1"), None);
    }
}
