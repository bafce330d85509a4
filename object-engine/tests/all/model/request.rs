//! Mutations as data, and their documents.

use std::fmt::Write as _;

use soml_core::schema::{ObjectId, Range, Schema};

/// A mutation.
#[derive(Clone, Debug)]
pub(super) struct Request {
    pub(super) fields: Vec<Field>,
}

/// A root field.
#[derive(Clone, Debug)]
pub(super) struct Field {
    pub(super) key: String,
    pub(super) object: ObjectId,
    pub(super) verb: Verb,
    pub(super) dry_run: bool,
}

#[derive(Clone, Debug)]
pub(super) enum Verb {
    Create(Vec<Entry>),
    Update(Vec<Entry>, Option<Where>),
    /// With `allowAll`.
    Delete(Where, bool),
}

/// A filter of root fields.
#[derive(Clone, Debug)]
pub(super) struct Where {
    pub(super) text: String,
    /// What its `ID` lists.
    pub(super) listed: Vec<String>,
    /// It stands for everything.
    pub(super) is_all: bool,
}

/// An object to create or to change.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) id: Option<String>,
    pub(super) members: Vec<(String, Member)>,
}

#[derive(Clone, Debug)]
pub(super) enum Member {
    Null,
    One(Given),
    Many(Vec<Given>),
    Change {
        value: Option<Vec<Given>>,
        patch: Option<Given>,
        replace: bool,
    },
    References(Vec<References>),
}

#[derive(Clone, Debug, Default)]
pub(super) struct References {
    pub(super) ids: Vec<String>,
    /// New objects by the name of their type.
    pub(super) new: Vec<(String, Vec<Entry>)>,
    pub(super) patch: Option<String>,
    pub(super) replace: bool,
}

/// A value as a client gives it.
#[derive(Clone, Debug)]
pub(super) enum Given {
    Text(String),
    /// Numbers, booleans and names of enumerations.
    Bare(String),
    Literal {
        value: String,
        lang: Option<String>,
        datatype: Option<String>,
    },
}

fn quoted(text: &str) -> String {
    serde_json::to_string(text).expect("a text")
}

fn list<T>(items: &[T], each: impl Fn(&T) -> String) -> String {
    let items: Vec<String> = items.iter().map(each).collect();
    format!("[{}]", items.join(", "))
}

impl Given {
    pub(super) fn document(&self) -> String {
        match self {
            Given::Text(text) => quoted(text),
            Given::Bare(text) => text.clone(),
            Given::Literal {
                value,
                lang,
                datatype,
            } => {
                let mut out = format!("{{value: {}", quoted(value));
                for (key, text) in [("lang", lang), ("type", datatype)] {
                    if let Some(text) = text {
                        let _ = write!(out, ", {key}: {}", quoted(text));
                    }
                }
                out + "}"
            }
        }
    }
}

impl Member {
    fn document(&self) -> String {
        match self {
            Member::Null => "null".to_owned(),
            Member::One(value) => value.document(),
            Member::Many(values) => list(values, Given::document),
            Member::Change {
                value,
                patch,
                replace,
            } => {
                let value = value
                    .iter()
                    .map(|value| format!("value: {}", list(value, Given::document)));
                let patch = patch
                    .iter()
                    .map(|patch| format!("patch: {}", patch.document()));
                let replace = replace.then(|| "replace: true".to_owned());
                let parts: Vec<String> = value.chain(patch).chain(replace).collect();
                format!("{{{}}}", parts.join(", "))
            }
            Member::References(items) => list(items, References::document),
        }
    }
}

impl References {
    fn document(&self) -> String {
        let mut parts = Vec::new();
        if !self.ids.is_empty() {
            parts.push(format!("ids: {}", list(&self.ids, |id| quoted(id))));
        }
        for (ty, entries) in &self.new {
            parts.push(format!("{ty}: {}", list(entries, Entry::document)));
        }
        if let Some(patch) = &self.patch {
            parts.push(format!("patch: {}", quoted(patch)));
        }
        if self.replace {
            parts.push("replace: true".to_owned());
        }
        format!("{{{}}}", parts.join(", "))
    }
}

impl Entry {
    fn document(&self) -> String {
        let id = self.id.iter().map(|id| format!("id: {}", quoted(id)));
        let members = self.members.iter();
        let members = members.map(|(name, member)| format!("{name}: {}", member.document()));
        let parts: Vec<String> = id.chain(members).collect();
        format!("{{{}}}", parts.join(", "))
    }
}

impl Request {
    /// Returns whether nothing is to be written.
    pub(super) fn is_dry_run(&self) -> bool {
        self.fields.iter().any(|field| field.dry_run)
    }

    pub(super) fn document(&self, schema: &Schema) -> String {
        let mut out = String::from("mutation {\n");
        for field in &self.fields {
            let ty = &schema[field.object].name.graphql;
            let (verb, mut arguments) = match &field.verb {
                Verb::Create(entries) => (
                    "create",
                    format!("objects: {}", list(entries, Entry::document)),
                ),
                Verb::Update(entries, selected) => {
                    let objects = format!("objects: {}", list(entries, Entry::document));
                    let filter = selected.as_ref().map(|it| format!(", where: {}", it.text));
                    ("update", objects + &filter.unwrap_or_default())
                }
                Verb::Delete(selected, allow_all) => {
                    let all = if *allow_all { ", allowAll: true" } else { "" };
                    ("delete", format!("where: {}{all}", selected.text))
                }
            };
            if field.dry_run {
                arguments.push_str(", dryRun: true");
            }
            let _ = writeln!(
                out,
                "  {}: {verb}_{ty}({arguments}) {{ affected_count {{ kind count }} \
                 affected_objects {{ kind ids }} {} {} }}",
                field.key,
                root(schema, field.object),
                selection(schema, field.object),
            );
        }
        out + "}"
    }
}

/// The root field of an object, which is the field of payloads too.
pub(super) fn root(schema: &Schema, object: ObjectId) -> String {
    let name = &schema[object].name.graphql;
    name[..1].to_lowercase() + &name[1..]
}

/// Everything that objects show of themselves.
pub(super) fn selection(schema: &Schema, object: ObjectId) -> String {
    let mut out = String::from("{ id");
    for property in schema[object].props.iter().map(|id| &schema[*id]) {
        let name = &property.name.graphql;
        let _ = match property.range {
            Range::Object(_) => write!(out, " {name} {{ id }}"),
            Range::Literal(_) => {
                if property.max.is_multiple() {
                    write!(out, " {name}(lang: \"ALL\") {{ value lang type }}")
                } else {
                    write!(out, " {name} {{ value lang type }}")
                }
            }
            _ => write!(out, " {name}"),
        };
    }
    out + " }"
}
