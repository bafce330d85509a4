//! The documents of the collection: their keys, and what is read from them.

use mongodb::bson::{Bson, DateTime, Document, doc};
use uuid::Uuid;

use super::calls::number;
use super::failure::Foreign;
use crate::store::{
    ApplicationBinding, Binding, Expected, LeaseRecord, MigrationRecord, RIGHTS_ID, Revisions,
    SchemaEntry, SchemaStoreError, ServiceKind, StoredSchema,
};

/// The key of the document that says who may manage schemas.
pub(super) const RIGHTS_KEY: &str = "rights";
/// The key of the record of a migration.
pub(super) const MIGRATION_KEY: &str = "migration";
/// A key that no document has.
pub(super) const PROBE_KEY: &str = "probe";
const SCHEMA: &str = "schema:";
/// What follows on all keys of schemas.
const AFTER_SCHEMAS: &str = "schema;";

pub(super) fn schema_key(id: &str) -> String {
    format!("{SCHEMA}{id}")
}

pub(super) fn lease_key(name: &str) -> String {
    format!("lease:{name}")
}

pub(super) fn binding_key(application: &str, service: ServiceKind) -> String {
    binding_key_of(application, service.name())
}

pub(super) fn binding_key_of(application: &str, service: &str) -> String {
    format!("binding:{service}:{application}")
}

/// Returns a random name of a revision, version or mark.
pub(super) fn unique() -> String {
    Uuid::new_v4().simple().to_string()
}

/// Returns the filter of all schemas.
pub(super) fn all_schemas() -> Document {
    doc! { "_id": { "$gte": SCHEMA, "$lt": AFTER_SCHEMAS }, "@yaml": { "$exists": true } }
}

/// Returns the filter of all bindings.
pub(super) fn all_bindings() -> Document {
    doc! { "_id": { "$gte": "binding:", "$lt": "binding;" } }
}

/// Returns the filter of a schema.
pub(super) fn schema(id: &str) -> Document {
    doc! { "_id": schema_key(id), "@yaml": { "$exists": true } }
}

/// Adds to a filter that a document has an expected revision. Returns `None` if none has.
pub(super) fn with_revision(mut filter: Document, expected: &Expected) -> Option<Document> {
    let mut revision = doc! { "$exists": true };
    if let Some(Revisions::Listed(revisions)) = &expected.one_of {
        revision.insert("$in", revisions);
    }
    match &expected.none_of {
        Some(Revisions::Any) => return None,
        Some(Revisions::Listed(revisions)) => {
            revision.insert("$nin", revisions);
        }
        None => {}
    }
    filter.insert("revision", revision);
    Some(filter)
}

/// Returns a schema as a new document.
pub(super) fn new_schema(stored: &StoredSchema) -> Document {
    let mut document = doc! { "_id": schema_key(&stored.id), "@id": &stored.id };
    document.extend(content("@yaml", stored));
    document.insert("bindings", Bson::Array(Vec::new()));
    document
}

/// Returns the fields that a new text changes; that of the text is named.
pub(super) fn content(text: &str, stored: &StoredSchema) -> Document {
    let bytes = i64::try_from(stored.text.len()).unwrap_or(i64::MAX);
    doc! {
        text: &*stored.text,
        "revision": &stored.revision,
        "bytes": bytes,
        "modified": DateTime::now(),
    }
}

pub(super) fn read_schema(id: &str, document: &Document) -> Result<StoredSchema, SchemaStoreError> {
    read_text(id, "@yaml", document)
}

pub(super) fn read_rights(document: &Document) -> Result<StoredSchema, SchemaStoreError> {
    read_text(RIGHTS_ID, "text", document)
}

fn read_text(id: &str, text: &str, document: &Document) -> Result<StoredSchema, SchemaStoreError> {
    Ok(StoredSchema {
        id: id.to_owned(),
        text: string(document, text)?.into(),
        revision: string(document, "revision")?,
    })
}

pub(super) fn read_entry(document: &Document) -> Result<SchemaEntry, SchemaStoreError> {
    let key = string(document, "_id")?;
    let bytes = number(document, "bytes").and_then(|bytes| usize::try_from(bytes).ok());
    match (key.strip_prefix(SCHEMA), bytes) {
        (Some(id), Some(bytes)) => Ok(SchemaEntry {
            id: id.to_owned(),
            bytes,
        }),
        _ => Err(foreign(document, "`bytes` is not a size")),
    }
}

pub(super) fn string(document: &Document, key: &str) -> Result<String, SchemaStoreError> {
    match document.get_str(key) {
        Ok(text) => Ok(text.to_owned()),
        Err(_) => Err(foreign(document, format!("`{key}` is not a string"))),
    }
}

fn foreign(document: &Document, fault: impl Into<String>) -> SchemaStoreError {
    let key = document.get_str("_id").unwrap_or_default().to_owned();
    let fault = fault.into();
    SchemaStoreError::Failed(Box::new(Foreign { key, fault }))
}

/// What is bound to a service, as it is stored.
#[derive(Debug)]
pub(super) struct BindingRecord {
    pub(super) binding: Binding,
    /// The mark of the schema that is bound.
    pub(super) mark: Option<String>,
    /// Different after every change.
    pub(super) version: String,
}

pub(super) fn read_binding(document: &Document) -> Result<BindingRecord, SchemaStoreError> {
    let binding = match document.get("schema") {
        None => Binding::Unknown,
        Some(Bson::Null) => Binding::Nothing,
        Some(_) => Binding::Schema(string(document, "schema")?),
    };
    Ok(BindingRecord {
        binding,
        mark: document.get_str("mark").ok().map(str::to_owned),
        version: string(document, "version")?,
    })
}

/// Returns what a binding is of.
pub(super) fn read_application_binding(
    document: &Document,
) -> Result<ApplicationBinding, SchemaStoreError> {
    let service = ServiceKind::of_name(&string(document, "service")?);
    Ok(ApplicationBinding {
        application: string(document, "application")?,
        service: service.ok_or_else(|| foreign(document, "`service` is not a kind of service"))?,
        binding: read_binding(document)?.binding,
    })
}

/// Returns the filter of a record of a migration, and its fields.
pub(super) fn migration(record: &MigrationRecord) -> Document {
    doc! { "_id": MIGRATION_KEY, "record": record.to_text() }
}

pub(super) fn read_migration(document: &Document) -> Result<MigrationRecord, SchemaStoreError> {
    let record = MigrationRecord::of_text(&string(document, "record")?);
    record.ok_or_else(|| foreign(document, "`record` is not a record of a migration"))
}

/// The mark that a schema has for a binding that names it, or did, or is about to.
#[derive(Debug)]
pub(super) struct Mark {
    pub(super) application: String,
    pub(super) service: String,
    pub(super) mark: String,
}

impl Mark {
    pub(super) fn to_document(&self) -> Document {
        doc! { "application": &self.application, "service": &self.service, "mark": &self.mark }
    }

    /// Returns the kind of service; `None` if a later version of the program knows it.
    pub(super) fn service(&self) -> Option<ServiceKind> {
        ServiceKind::of_name(&self.service)
    }
}

/// Reads the marks of a schema.
pub(super) fn read_marks(document: &Document) -> Result<Vec<Mark>, SchemaStoreError> {
    let Ok(marks) = document.get_array("bindings") else {
        return Err(foreign(document, "`bindings` is not an array"));
    };
    let marks = marks.iter().map(|mark| {
        let mark = mark
            .as_document()
            .ok_or_else(|| foreign(document, "`bindings` has no documents"))?;
        Ok(Mark {
            application: string(mark, "application")?,
            service: string(mark, "service")?,
            mark: string(mark, "mark")?,
        })
    });
    marks.collect()
}

/// Returns the filter of a lease that is as a record says, and its fields.
pub(super) fn lease(name: &str, record: &LeaseRecord) -> Result<Document, SchemaStoreError> {
    let number = |number: u64| {
        i64::try_from(number).map_err(|error| SchemaStoreError::Failed(Box::new(error)))
    };
    Ok(doc! {
        "_id": lease_key(name),
        "holder": &record.holder,
        "number": number(record.number)?,
        "beat": number(record.beat)?,
    })
}

pub(super) fn read_lease(document: &Document) -> Result<LeaseRecord, SchemaStoreError> {
    let count = |key: &str| {
        let count = number(document, key).and_then(|number| u64::try_from(number).ok());
        count.ok_or_else(|| foreign(document, format!("`{key}` is not a count")))
    };
    Ok(LeaseRecord {
        holder: string(document, "holder")?,
        number: count("number")?,
        beat: count("beat")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_different_things_are_different() {
        let keys = [
            schema_key("rights"),
            schema_key("films"),
            lease_key("films"),
            binding_key("films", ServiceKind::Objects),
            binding_key("objects:films", ServiceKind::Search),
            RIGHTS_KEY.to_owned(),
            MIGRATION_KEY.to_owned(),
            PROBE_KEY.to_owned(),
        ];
        let different: std::collections::HashSet<_> = keys.iter().collect();
        assert_eq!(different.len(), keys.len());
        for key in keys {
            let is_schema = (SCHEMA..AFTER_SCHEMAS).contains(&key.as_str());
            assert_eq!(is_schema, key.starts_with("schema:"), "{key}");
        }
    }

    #[test]
    fn a_document_of_somebody_else_is_refused_by_its_key() {
        let document = doc! { "_id": "schema:films", "@yaml": "x: 1", "revision": 7 };
        let error = read_schema("films", &document).unwrap_err();
        let source = std::error::Error::source(&error).unwrap().to_string();
        assert!(
            source.contains("`schema:films`") && source.contains("`revision`"),
            "{source}"
        );
    }
}
