//! The store of SOML documents.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use uuid::Uuid;

/// A stored document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredSchema {
    /// Name in paths, such as `swapi`.
    pub id: String,
    /// The document as received.
    pub text: String,
    /// Revision of the document: different after every change and never reused.
    pub revision: String,
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
    /// The document has changed since the revision that was asked for.
    #[error("the schema has been changed: it has another revision")]
    RevisionMismatch,
    /// The store cannot do its work.
    #[error("the schema store failed")]
    Failed(#[source] Box<dyn std::error::Error + Send + Sync>),
}

/// A store of SOML documents. Comparing a revision and changing the document is atomic.
#[async_trait]
pub trait SchemaStore: Send + Sync + 'static {
    /// Returns all documents, ordered by name.
    async fn list(&self) -> Result<Vec<StoredSchema>, SchemaStoreError>;

    /// Returns the document named `id`.
    async fn get(&self, id: &str) -> Result<Option<StoredSchema>, SchemaStoreError>;

    /// Stores a new document.
    async fn create(&self, id: &str, text: &str) -> Result<StoredSchema, SchemaStoreError>;

    /// Replaces a document if it has the `expected` revision, or if none is expected.
    async fn replace(
        &self,
        id: &str,
        text: &str,
        expected: Option<&str>,
    ) -> Result<StoredSchema, SchemaStoreError>;

    /// Removes a document if it has the `expected` revision, or if none is expected.
    async fn remove(&self, id: &str, expected: Option<&str>) -> Result<(), SchemaStoreError>;
}

/// An in-memory store; documents are lost when the process ends.
#[derive(Debug, Default)]
pub struct InMemorySchemaStore {
    schemas: Mutex<BTreeMap<String, StoredSchema>>,
}

impl InMemorySchemaStore {
    fn schemas(&self) -> MutexGuard<'_, BTreeMap<String, StoredSchema>> {
        // No step below leaves the map half changed, so a panic elsewhere does not spoil it.
        self.schemas.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl SchemaStore for InMemorySchemaStore {
    async fn list(&self) -> Result<Vec<StoredSchema>, SchemaStoreError> {
        Ok(self.schemas().values().cloned().collect())
    }

    async fn get(&self, id: &str) -> Result<Option<StoredSchema>, SchemaStoreError> {
        Ok(self.schemas().get(id).cloned())
    }

    async fn create(&self, id: &str, text: &str) -> Result<StoredSchema, SchemaStoreError> {
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
        text: &str,
        expected: Option<&str>,
    ) -> Result<StoredSchema, SchemaStoreError> {
        let mut schemas = self.schemas();
        let current = schemas.get_mut(id).ok_or(SchemaStoreError::NotFound)?;
        compare(current, expected)?;
        *current = stored(id, text);
        Ok(current.clone())
    }

    async fn remove(&self, id: &str, expected: Option<&str>) -> Result<(), SchemaStoreError> {
        let mut schemas = self.schemas();
        compare(schemas.get(id).ok_or(SchemaStoreError::NotFound)?, expected)?;
        schemas.remove(id);
        Ok(())
    }
}

fn stored(id: &str, text: &str) -> StoredSchema {
    let revision = Uuid::new_v4().simple().to_string();
    StoredSchema {
        id: id.to_owned(),
        text: text.to_owned(),
        revision,
    }
}

fn compare(current: &StoredSchema, expected: Option<&str>) -> Result<(), SchemaStoreError> {
    match expected {
        Some(revision) if revision != current.revision => Err(SchemaStoreError::RevisionMismatch),
        _ => Ok(()),
    }
}
