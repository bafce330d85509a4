//! The store of SOML documents.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use uuid::Uuid;

/// A stored document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredSchema {
    /// Name in paths, such as `swapi`.
    pub id: String,
    /// The document as received.
    pub text: Arc<str>,
    /// Revision of the document: different after every change and never reused.
    pub revision: String,
}

/// What a listing says of a stored document: everything but its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaEntry {
    /// Name in paths.
    pub id: String,
    /// Size of the document, in bytes.
    pub bytes: usize,
}

/// Which revision a document must have for a change to happen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Expected {
    /// It must be one of these, if anything is said.
    pub one_of: Option<Revisions>,
    /// It must be none of these, if anything is said.
    pub none_of: Option<Revisions>,
}

/// Some revisions of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Revisions {
    /// Whatever revision a document has.
    Any,
    /// These.
    Listed(Vec<String>),
}

impl Revisions {
    fn contain(&self, revision: &str) -> bool {
        match self {
            Revisions::Any => true,
            Revisions::Listed(revisions) => revisions.iter().any(|known| known == revision),
        }
    }
}

impl Expected {
    /// Fails when a document of this revision is not what is expected.
    ///
    /// # Errors
    ///
    /// [`SchemaStoreError::RevisionMismatch`].
    pub fn compare(&self, revision: &str) -> Result<(), SchemaStoreError> {
        let is_wanted = self.one_of.as_ref().is_none_or(|r| r.contain(revision));
        let is_unwanted = self.none_of.as_ref().is_some_and(|r| r.contain(revision));
        match is_wanted && !is_unwanted {
            true => Ok(()),
            false => Err(SchemaStoreError::RevisionMismatch),
        }
    }
}

/// Why a document could not be stored, changed or removed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SchemaStoreError {
    /// The name is taken.
    #[error("a schema with this identifier already exists")]
    Exists,
    /// The name is unknown.
    #[error("there is no schema with this identifier")]
    NotFound,
    /// The document has another revision than those that were asked for.
    #[error("the schema has been changed: it has another revision")]
    RevisionMismatch,
    /// Another service stores the schemas.
    #[error("schemas are read from an object service, and changed there only")]
    ReadOnly,
    /// The store cannot do its work.
    #[error("the schema store failed")]
    Failed(#[source] Box<dyn std::error::Error + Send + Sync>),
}

/// A store of SOML documents. Comparing a revision and changing the document is atomic.
#[async_trait]
pub trait SchemaStore: Send + Sync + 'static {
    /// Returns what is stored, ordered by name, without reading the documents.
    async fn list(&self) -> Result<Vec<SchemaEntry>, SchemaStoreError>;

    /// Returns the document named `id`.
    async fn get(&self, id: &str) -> Result<Option<StoredSchema>, SchemaStoreError>;

    /// Stores a new document.
    async fn create(&self, id: &str, text: Arc<str>) -> Result<StoredSchema, SchemaStoreError>;

    /// Replaces a document if it has an `expected` revision.
    async fn replace(
        &self,
        id: &str,
        text: Arc<str>,
        expected: &Expected,
    ) -> Result<StoredSchema, SchemaStoreError>;

    /// Removes a document if it has an `expected` revision.
    async fn remove(&self, id: &str, expected: &Expected) -> Result<(), SchemaStoreError>;

    /// Returns the document that says who may manage schemas.
    async fn rights(&self) -> Result<Option<StoredSchema>, SchemaStoreError>;

    /// Stores or replaces that document if it has an `expected` revision; one that is not there has
    /// none.
    async fn set_rights(
        &self,
        text: Arc<str>,
        expected: &Expected,
    ) -> Result<StoredSchema, SchemaStoreError>;
}

/// An in-memory store; documents are lost when the process ends.
#[derive(Debug, Default)]
pub struct InMemorySchemaStore {
    schemas: Mutex<BTreeMap<String, StoredSchema>>,
    rights: Mutex<Option<StoredSchema>>,
}

impl InMemorySchemaStore {
    fn schemas(&self) -> MutexGuard<'_, BTreeMap<String, StoredSchema>> {
        // No step below leaves the map half changed, so a panic elsewhere does not spoil it.
        self.schemas.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn stored_rights(&self) -> MutexGuard<'_, Option<StoredSchema>> {
        self.rights.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl SchemaStore for InMemorySchemaStore {
    async fn list(&self) -> Result<Vec<SchemaEntry>, SchemaStoreError> {
        let schemas = self.schemas();
        let entries = schemas.values().map(|stored| SchemaEntry {
            id: stored.id.clone(),
            bytes: stored.text.len(),
        });
        Ok(entries.collect())
    }

    async fn get(&self, id: &str) -> Result<Option<StoredSchema>, SchemaStoreError> {
        Ok(self.schemas().get(id).cloned())
    }

    async fn create(&self, id: &str, text: Arc<str>) -> Result<StoredSchema, SchemaStoreError> {
        let mut schemas = self.schemas();
        if schemas.contains_key(id) {
            return Err(SchemaStoreError::Exists);
        }
        let stored = stored(id, text);
        schemas.insert(id.to_owned(), stored.clone());
        Ok(stored)
    }

    async fn replace(
        &self,
        id: &str,
        text: Arc<str>,
        expected: &Expected,
    ) -> Result<StoredSchema, SchemaStoreError> {
        let mut schemas = self.schemas();
        let current = schemas.get_mut(id).ok_or(SchemaStoreError::NotFound)?;
        expected.compare(&current.revision)?;
        *current = stored(id, text);
        Ok(current.clone())
    }

    async fn remove(&self, id: &str, expected: &Expected) -> Result<(), SchemaStoreError> {
        let mut schemas = self.schemas();
        let current = schemas.get(id).ok_or(SchemaStoreError::NotFound)?;
        expected.compare(&current.revision)?;
        schemas.remove(id);
        Ok(())
    }

    async fn rights(&self) -> Result<Option<StoredSchema>, SchemaStoreError> {
        Ok(self.stored_rights().clone())
    }

    async fn set_rights(
        &self,
        text: Arc<str>,
        expected: &Expected,
    ) -> Result<StoredSchema, SchemaStoreError> {
        let mut rights = self.stored_rights();
        match rights.as_ref() {
            Some(current) => expected.compare(&current.revision)?,
            None if expected.one_of.is_some() => return Err(SchemaStoreError::RevisionMismatch),
            None => {}
        }
        Ok(rights.insert(stored("soml-rbac", text)).clone())
    }
}

fn stored(id: &str, text: Arc<str>) -> StoredSchema {
    let revision = Uuid::new_v4().simple().to_string();
    StoredSchema {
        id: id.to_owned(),
        text,
        revision,
    }
}
