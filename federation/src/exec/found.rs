//! The errors in an answer of a subgraph. Neither their number nor their size is trusted.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, SeqAccess, Visitor};
use serde_json::value::RawValue;

/// Maximum number of errors that are read of one answer, and that are kept for one request.
pub(super) const MAX_ERRORS: usize = 1_000;

/// Maximum length of the path and of the extensions of an error, as text.
const MAX_TEXT: usize = 16 << 10;

/// The errors of an answer: the first ones, and how many others there are.
#[derive(Debug, Default)]
pub(super) struct Errors<'a> {
    pub(super) list: Vec<SubgraphError<'a>>,
    pub(super) omitted: usize,
}

/// An error of a subgraph.
#[derive(Debug, Deserialize)]
pub(super) struct SubgraphError<'a> {
    #[serde(borrow, default)]
    pub(super) message: Cow<'a, str>,
    #[serde(borrow, default)]
    path: Option<&'a RawValue>,
    #[serde(borrow, default)]
    extensions: Option<&'a RawValue>,
}

/// A step of the path of an error.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub(super) enum PathItem {
    Index(usize),
    Key(String),
}

impl SubgraphError<'_> {
    /// Returns the path; empty where there is none that leads anywhere.
    pub(super) fn path(&self) -> Vec<PathItem> {
        let text = self.path.map(RawValue::get);
        let text = text.filter(|text| text.len() <= MAX_TEXT);
        let path = text.and_then(|text| serde_json::from_str(text).ok());
        path.unwrap_or_default()
    }

    /// Returns the extensions; where they are too long, their length.
    pub(super) fn extensions(&self) -> Option<serde_json::Value> {
        let text = self.extensions?.get();
        if text.len() > MAX_TEXT {
            return Some(serde_json::json!({ "omittedBytes": text.len() }));
        }
        let value = serde_json::from_str(text).ok()?;
        match value {
            serde_json::Value::Object(ref members) if !members.is_empty() => Some(value),
            _ => None,
        }
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Errors<'a> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_seq(ErrorsVisitor)
    }
}

struct ErrorsVisitor;

impl<'de> Visitor<'de> for ErrorsVisitor {
    type Value = Errors<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of errors")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Errors<'de>, A::Error> {
        let mut errors = Errors::default();
        while errors.list.len() < MAX_ERRORS {
            match items.next_element()? {
                Some(error) => errors.list.push(error),
                None => return Ok(errors),
            }
        }
        while items.next_element::<IgnoredAny>()?.is_some() {
            errors.omitted += 1;
        }
        Ok(errors)
    }
}

/// What the errors of an answer say of the entities in one of its lists.
pub(super) struct Blamed {
    all: bool,
    indices: HashSet<usize>,
}

impl Blamed {
    /// Looks for the entities under a key that errors are about. An error without a path, or one that is not
    /// listed, may be about any.
    pub(super) fn new(errors: &Errors<'_>, key: &str) -> Self {
        let mut blamed = Blamed {
            all: errors.omitted > 0,
            indices: HashSet::new(),
        };
        for error in &errors.list {
            match error.path().as_slice() {
                [PathItem::Key(first), PathItem::Index(place), ..] if first == key => {
                    blamed.indices.insert(*place);
                }
                [PathItem::Key(first)] if first == key => blamed.all = true,
                [] => blamed.all = true,
                _ => {}
            }
        }
        blamed
    }

    /// Returns whether an error is about the entity at an index.
    pub(super) fn has(&self, index: usize) -> bool {
        self.all || self.indices.contains(&index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_errors_are_counted_and_not_kept() {
        let text = format!("[{}]", ["{}"; 1_500].join(","));
        let errors: Errors<'_> = serde_json::from_str(&text).unwrap();
        assert_eq!((errors.list.len(), errors.omitted), (1_000, 500));
    }

    #[test]
    fn a_path_that_leads_nowhere_is_none() {
        let path = |text: &str| {
            let text = format!("[{{\"message\":\"m\",\"path\":{text}}}]");
            let errors: Errors<'_> = serde_json::from_str(&text).unwrap();
            errors.list[0].path()
        };
        assert_eq!(
            path("[\"a\",1]"),
            [PathItem::Key("a".to_owned()), PathItem::Index(1)]
        );
        assert_eq!(path("null"), []);
        assert_eq!(path("7"), []);
        assert_eq!(path("[1.5]"), []);
        let long = format!("[{}]", vec!["0"; 20_000].join(","));
        assert_eq!(path(&long), []);
    }

    #[test]
    fn long_extensions_are_replaced_by_their_length() {
        let text = format!("[{{\"extensions\":{{\"x\":\"{}\"}}}}]", "y".repeat(20_000));
        let errors: Errors<'_> = serde_json::from_str(&text).unwrap();
        let omitted = errors.list[0].extensions().unwrap();
        assert_eq!(omitted["omittedBytes"], 20_008);
    }

    #[test]
    fn entities_are_blamed_by_the_paths_of_errors() {
        let text = r#"[{"path":["_entities",2,"x"]},{"path":["other"]}]"#;
        let errors: Errors<'_> = serde_json::from_str(text).unwrap();
        let blamed = Blamed::new(&errors, "_entities");
        assert!(blamed.has(2) && !blamed.has(1));
        assert!(Blamed::new(&errors, "other").has(1));
        let nowhere: Errors<'_> = serde_json::from_str("[{}]").unwrap();
        assert!(Blamed::new(&nowhere, "_entities").has(0));
    }
}
