//! Ids of new objects: given, made from a template, or made up.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use soml_core::schema::{Object, ObjectId, PropertyId, Schema};
use uuid::Uuid;

use crate::plan::{Change, Entry, NewValue, SchemaRegexes, text_of};
use crate::template::{Part, Template};

/// All but the unreserved characters of IRIs.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// Returns the id of a new object.
///
/// # Errors
/// Why the id that was given is not allowed, or why none can be made.
pub(super) fn new_id(
    schema: &Schema,
    entry: &Entry,
    regexes: &SchemaRegexes,
) -> Result<String, String> {
    let object = &schema[entry.object];
    let pattern = object.id_pattern.as_deref();
    let template = pattern.and_then(|text| Template::parse(schema, entry.object, text));
    let made = match &template {
        Some(template) => Some(fill(schema, entry, template)?),
        None => None,
    };
    let id = match (&entry.id, made) {
        (Some(given), Some(made)) if given.as_str() != made => {
            return Err(format!(
                "the id must be `{made}`, according to the object's pattern"
            ));
        }
        (Some(given), _) => given.as_str().to_owned(),
        (None, Some(made)) => made,
        (None, None) => made_up(schema, object),
    };
    check(object, pattern.filter(|_| template.is_none()), &id, regexes)?;
    Ok(id)
}

fn made_up(schema: &Schema, object: &Object) -> String {
    let uuid = Uuid::new_v4();
    let base = schema.prefixes.base_iri.as_str();
    match object.id_prefix.as_deref().unwrap_or(base) {
        "" => format!("urn:uuid:{uuid}"),
        prefix => format!("{prefix}{uuid}"),
    }
}

/// Checks an id against what the schema says of the object's ids.
fn check(
    object: &Object,
    pattern: Option<&str>,
    id: &str,
    regexes: &SchemaRegexes,
) -> Result<(), String> {
    if let Some(prefix) = &object.id_prefix
        && !id.starts_with(prefix.as_str())
    {
        return Err(format!("`{id}` does not start with `{prefix}`"));
    }
    for regex in object.id_regex.as_deref().into_iter().chain(pattern) {
        if !regexes
            .matches(regex, id)
            .map_err(|refused| refused.message)?
        {
            return Err(format!("`{id}` does not match `{regex}`"));
        }
    }
    Ok(())
}

/// Returns the id that a template makes of an object's values, which are percent-encoded.
fn fill(schema: &Schema, entry: &Entry, template: &Template) -> Result<String, String> {
    let mut id = String::new();
    for part in &template.parts {
        match part {
            Part::Text(text) => id.push_str(text),
            Part::Type => id.push_str(&escaped(type_name(schema, entry.object))),
            Part::Value(property) => {
                let Some(text) = value_of(entry, *property) else {
                    let name = &schema[*property].name.graphql;
                    return Err(format!(
                        "the id is derived from `{name}`, which needs exactly one value"
                    ));
                };
                id.push_str(&escaped(text));
            }
        }
    }
    if id.contains(':') {
        return Ok(id);
    }
    let object = &schema[entry.object];
    let base = schema.prefixes.base_iri.as_str();
    let prefix = object.id_prefix.as_deref().unwrap_or(base);
    Ok(format!("{prefix}{id}"))
}

fn escaped(text: &str) -> String {
    utf8_percent_encode(text, ESCAPED).to_string()
}

/// Returns the local name of an object's type.
fn type_name(schema: &Schema, object: ObjectId) -> &str {
    let ty = schema[object].types.first().map_or("", String::as_str);
    ty.rsplit(['#', '/']).next().unwrap_or(ty)
}

/// Returns the only value that is given for a property.
fn value_of(entry: &Entry, property: PropertyId) -> Option<&str> {
    let change = entry
        .changes
        .iter()
        .find(|change| change.property == property)?;
    match &change.change {
        Change::Set(values) => match values.as_slice() {
            [NewValue::Term(term)] => Some(text_of(term)),
            [NewValue::Reference(node, _)] => Some(node.as_str()),
            _ => None,
        },
        _ => None,
    }
}
