//! Where SOML documents are kept.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use uuid::Uuid;

/// A stored document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredSchema {
    /// Name in paths, such as `swapi`.
    pub id: String,
    /// The document as it came in.
    pub text: String,
    /// Changes with every change of the document; never used twice.
    pub revision: String,
}

/// Why a document could not be stored, changed or removed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SchemaStoreError {
    /// The name is taken.
    #[error("a schema with this identifier is stored already")]
    Exists,
    /// The name is unknown.
    #[error("no schema has this identifier")]
    NotFound,
    /// The document has changed since the revision that was asked for.
    #[error("the schema has another revision")]
    RevisionMismatch,
    /// The store cannot do its work.
    #[error("the schema store failed")]
    Failed(#[source] Box<dyn std::error::Error + Send + Sync>),
}

/// A store of SOML documents. Comparing a revision and changing the document is one step.
#[async_trait]
pub trait SchemaStore: Send + Sync + 'static {
    /// Returns all documents, ordered by name.
    async fn list(&self) -> Result<Vec<StoredSchema>, SchemaStoreError>;

    /// Returns the document named `id`.
    async fn get(&self, id: &str) -> Result<Option<StoredSchema>, SchemaStoreError>;

    /// Stores a new document.
    async fn create(&self, id: &str, text: &str) -> Result<StoredSchema, SchemaStoreError>;

    /// Replaces a document, when it has the `expected` revision or none is expected.
    async fn replace(
        &self,
        id: &str,
        text: &str,
        expected: Option<&str>,
    ) -> Result<StoredSchema, SchemaStoreError>;

    /// Removes a document, when it has the `expected` revision or none is expected.
    async fn remove(&self, id: &str, expected: Option<&str>) -> Result<(), SchemaStoreError>;
}

/// A store whose documents are lost with the process.
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
