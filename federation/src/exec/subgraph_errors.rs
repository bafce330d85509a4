//! The errors in an answer of a subgraph. Neither their number nor their size is trusted.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, SeqAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

/// Maximum number of errors that are read of one answer, and that are kept for one request.
pub(super) const MAX_ERRORS: usize = 1_000;

/// Maximum length of the path and of the extensions of an error, as text.
const MAX_TEXT: usize = 16 << 10;

/// Maximum length of extensions from which traces are taken out, as text.
const MAX_TRACED: usize = 256 << 10;

/// Why `errors` of an answer cannot be read.
const NO_LIST: &str = "`errors` is not a list";

/// The errors of an answer: the first ones, and how many others there are.
#[derive(Debug, Default)]
pub(super) struct SubgraphErrors<'a> {
    pub(super) list: Vec<SubgraphError<'a>>,
    pub(super) omitted: usize,
}

/// An error of a subgraph.
#[derive(Debug, Default)]
pub(super) struct SubgraphError<'a> {
    /// Its message; empty where it has none.
    pub(super) message: Cow<'a, str>,
    path: Option<&'a RawValue>,
    extensions: Option<&'a RawValue>,
    /// Why it is not an [error of GraphQL](https://spec.graphql.org/September2025/#sec-Errors.Error-Result-Format).
    pub(super) fault: Option<&'static str>,
}

/// The members of an error, of whatever type.
#[derive(Deserialize)]
struct RawError<'a> {
    #[serde(borrow, default)]
    message: Option<&'a RawValue>,
    #[serde(borrow, default)]
    path: Option<&'a RawValue>,
    #[serde(borrow, default)]
    locations: Option<&'a RawValue>,
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

impl<'a> SubgraphError<'a> {
    /// Reads one entry of the errors of an answer. A member that is null counts as missing.
    fn read(entry: &'a RawValue) -> Self {
        let text = entry.get();
        // A list would be read as the members of an object in their order.
        if !text.starts_with('{') {
            return SubgraphError::malformed("it is not an object");
        }
        let Ok(members) = serde_json::from_str(text) else {
            return SubgraphError::malformed("a member of it is given twice or has no valid name");
        };
        let RawError {
            message,
            path,
            locations,
            extensions,
        } = members;
        let begins = |member: Option<&RawValue>, with: char| {
            member.is_none_or(|member| member.get().starts_with(with))
        };
        let text = message.map(|message| serde_json::from_str::<String>(message.get()));
        let mut error = SubgraphError {
            path: path.filter(|path| is_path(path)),
            extensions: extensions.filter(|_| begins(extensions, '{')),
            ..SubgraphError::default()
        };
        error.fault = match text {
            Some(Ok(text)) => {
                error.message = text.into();
                None
            }
            // It has a surrogate without its other half, for instance.
            Some(Err(_)) if begins(message, '"') => Some("its `message` cannot be read"),
            Some(Err(_)) => Some("its `message` is not a string"),
            None => Some("it has no `message`"),
        };
        let faults = [
            (
                error.path.is_none() && path.is_some(),
                "its `path` is not a list of names and numbers",
            ),
            (!begins(locations, '['), "its `locations` are not a list"),
            (
                !begins(extensions, '{'),
                "its `extensions` are not an object",
            ),
        ];
        let others = faults.into_iter().filter(|(is_wrong, _)| *is_wrong);
        error.fault = error.fault.or(others.map(|(_, fault)| fault).next());
        error
    }

    fn malformed(fault: &'static str) -> Self {
        SubgraphError {
            fault: Some(fault),
            ..SubgraphError::default()
        }
    }

    /// Returns the path; empty where there is none that leads anywhere.
    pub(super) fn path(&self) -> Vec<PathItem> {
        let text = self.path.map(RawValue::get);
        let text = text.filter(|text| text.len() <= MAX_TEXT);
        let path = text.and_then(|text| serde_json::from_str(text).ok());
        path.unwrap_or_default()
    }

    /// Returns the extensions, with or without traces of the stack; where they are too long, their length.
    pub(super) fn extensions(&self, with_traces: bool) -> Option<Value> {
        let text = self.extensions?.get();
        let omitted = || Some(serde_json::json!({ "omittedBytes": text.len() }));
        let most = if with_traces { MAX_TEXT } else { MAX_TRACED };
        if text.len() > most {
            return omitted();
        }
        let Ok(Value::Object(mut members)) = serde_json::from_str(text) else {
            return None;
        };
        if !with_traces {
            members.retain(|name, _| !is_called(name, "exception"));
            members.values_mut().for_each(drop_traces);
            members.retain(|name, _| !is_called(name, "stacktrace"));
        }
        if members.is_empty() {
            return None;
        }
        let value = Value::Object(members);
        if text.len() > MAX_TEXT && value.to_string().len() > MAX_TEXT {
            return omitted();
        }
        Some(value)
    }
}

/// Returns whether a text is the path of an error, or too long to be looked at.
fn is_path(path: &RawValue) -> bool {
    let text = path.get();
    text.starts_with('[')
        && (text.len() > MAX_TEXT || serde_json::from_str::<Vec<PathItem>>(text).is_ok())
}

/// Returns whether a member has a name, whatever the case of its letters and however its words are joined.
fn is_called(name: &str, expected: &str) -> bool {
    let letters = name.bytes().filter(|byte| !matches!(byte, b'_' | b'-'));
    letters
        .map(|byte| byte.to_ascii_lowercase())
        .eq(expected.bytes())
}

/// Drops traces of the stack from a value, wherever they are in it.
fn drop_traces(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(drop_traces),
        Value::Object(members) => {
            members.retain(|name, _| !is_called(name, "stacktrace"));
            members.values_mut().for_each(drop_traces);
        }
        _ => {}
    }
}

impl<'a> SubgraphErrors<'a> {
    /// Reads what stands under `errors` in an answer. What is no list is one malformed error.
    pub(super) fn read(text: &'a RawValue) -> Self {
        let errors = serde_json::from_str(text.get());
        errors.unwrap_or_else(|_| SubgraphErrors {
            list: vec![SubgraphError::malformed(NO_LIST)],
            omitted: 0,
        })
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for SubgraphErrors<'a> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_seq(SubgraphErrorsVisitor)
    }
}

struct SubgraphErrorsVisitor;

impl<'de> Visitor<'de> for SubgraphErrorsVisitor {
    type Value = SubgraphErrors<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of errors")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<SubgraphErrors<'de>, A::Error> {
        let mut errors = SubgraphErrors::default();
        while errors.list.len() < MAX_ERRORS {
            match items.next_element::<&RawValue>()? {
                Some(entry) => errors.list.push(SubgraphError::read(entry)),
                None => return Ok(errors),
            }
        }
        while items.next_element::<&RawValue>()?.is_some() {
            errors.omitted += 1;
        }
        Ok(errors)
    }
}

/// What the errors of an answer say of the entities in one of its lists.
pub(super) struct FailedEntities {
    all: bool,
    indices: HashSet<usize>,
}

impl FailedEntities {
    /// Looks for the entities under a key that errors are about. An error without a path, or one that is not
    /// listed, may be about any.
    pub(super) fn new(errors: &SubgraphErrors<'_>, key: &str) -> Self {
        let mut failed = FailedEntities {
            all: errors.omitted > 0,
            indices: HashSet::new(),
        };
        for error in &errors.list {
            match error.path().as_slice() {
                [PathItem::Key(first), PathItem::Index(place), ..] if first == key => {
                    failed.indices.insert(*place);
                }
                [PathItem::Key(first)] if first == key => failed.all = true,
                [] => failed.all = true,
                _ => {}
            }
        }
        failed
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
        let errors: SubgraphErrors<'_> = serde_json::from_str(&text).unwrap();
        assert_eq!((errors.list.len(), errors.omitted), (1_000, 500));
    }

    #[test]
    fn a_path_that_leads_nowhere_is_none() {
        let path = |text: &str| {
            let text = format!("[{{\"message\":\"m\",\"path\":{text}}}]");
            let errors: SubgraphErrors<'_> = serde_json::from_str(&text).unwrap();
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
        let errors: SubgraphErrors<'_> = serde_json::from_str(&text).unwrap();
        for with_traces in [false, true] {
            let omitted = errors.list[0].extensions(with_traces).unwrap();
            assert_eq!(omitted["omittedBytes"], 20_008);
        }
    }

    #[test]
    fn traces_of_the_stack_are_dropped_however_they_are_written() {
        let extensions = |text: &str, with_traces: bool| {
            let text = format!("[{{\"message\":\"m\",\"extensions\":{text}}}]");
            let errors: SubgraphErrors<'_> = serde_json::from_str(&text).unwrap();
            assert_eq!(errors.list[0].fault, None);
            errors.list[0].extensions(with_traces)
        };
        let long = format!("\"at {}\"", "x".repeat(100_000));
        for traced in [
            r#"{"code":"LOST","stacktrace":["at f"],"exception":{"stacktrace":["at f"],"x":1}}"#,
            r#"{"StackTrace":"at f","code":"LOST","EXCEPTION":"f"}"#,
            r#"{"stack_trace":[],"Exception":{},"code":"LOST"}"#,
            &format!(r#"{{"code":"LOST","stacktrace":[{long}]}}"#),
        ] {
            let kept = extensions(traced, false).unwrap();
            assert_eq!(kept, serde_json::json!({ "code": "LOST" }), "{traced}");
            let all = extensions(traced, true).unwrap();
            assert_ne!(all, kept);
        }
        let nested = r#"{"details":[{"cause":{"stackTrace":"at f","exception":"kept"}}]}"#;
        assert_eq!(
            extensions(nested, false).unwrap(),
            serde_json::json!({ "details": [{ "cause": { "exception": "kept" } }] })
        );
        assert_eq!(extensions(r#"{"stacktrace":[]}"#, false), None);
        assert_eq!(extensions("{}", true), None);
    }

    #[test]
    fn each_fault_of_an_entry_is_said_and_the_rest_of_it_is_read() {
        for (entry, fault) in [
            (r#"{"message":"m"}"#, None),
            (
                r#"{"message":"m","path":null,"locations":null,"extensions":null}"#,
                None,
            ),
            (
                r#"{"message":"m","path":["a",0],"locations":[],"extensions":{},"other":1}"#,
                None,
            ),
            ("7", Some("it is not an object")),
            ("null", Some("it is not an object")),
            (r#"["m"]"#, Some("it is not an object")),
            (
                r#"{"message":"m","message":"n"}"#,
                Some("a member of it is given twice or has no valid name"),
            ),
            (
                r#"{"message":"m","\ud800":1}"#,
                Some("a member of it is given twice or has no valid name"),
            ),
            (r#"{"path":["a"]}"#, Some("it has no `message`")),
            (r#"{"message":null}"#, Some("it has no `message`")),
            (r#"{"message":7}"#, Some("its `message` is not a string")),
            (
                r#"{"message":"\ud800"}"#,
                Some("its `message` cannot be read"),
            ),
            (
                r#"{"message":"m","path":"a"}"#,
                Some("its `path` is not a list of names and numbers"),
            ),
            (
                r#"{"message":"m","path":[1.5]}"#,
                Some("its `path` is not a list of names and numbers"),
            ),
            (
                r#"{"message":"m","locations":{}}"#,
                Some("its `locations` are not a list"),
            ),
            (
                r#"{"message":"m","extensions":[]}"#,
                Some("its `extensions` are not an object"),
            ),
        ] {
            let text = format!("[{entry}]");
            let errors: SubgraphErrors<'_> = serde_json::from_str(&text).unwrap();
            let error = &errors.list[0];
            assert_eq!(error.fault, fault, "{entry}");
            if entry.starts_with(r#"{"message":"m","p"#) || entry.contains(r#""locations":{}"#) {
                assert_eq!(error.message, "m");
            }
        }
    }

    #[test]
    fn entities_are_blamed_by_the_paths_of_errors() {
        let text = r#"[{"path":["_entities",2,"x"]},{"path":["other"]}]"#;
        let errors: SubgraphErrors<'_> = serde_json::from_str(text).unwrap();
        let failed = FailedEntities::new(&errors, "_entities");
        assert!(failed.has(2) && !failed.has(1));
        assert!(FailedEntities::new(&errors, "other").has(1));
        let nowhere: SubgraphErrors<'_> = serde_json::from_str("[{}]").unwrap();
        assert!(FailedEntities::new(&nowhere, "_entities").has(0));
    }
}
