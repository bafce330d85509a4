//! Documents in memory, which are gone when the process ends.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;

use crate::state::State;
use crate::store::{Expected, SchemaEntry, SchemaStore, SchemaStoreError, StoredSchema};

/// An in-memory store; documents are lost when the process ends.
#[derive(Debug, Default)]
pub struct InMemorySchemaStore(Mutex<State>);

impl InMemorySchemaStore {
    fn state(&self) -> MutexGuard<'_, State> {
        // No step below leaves the state half changed, so a panic elsewhere does not spoil it.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl SchemaStore for InMemorySchemaStore {
    async fn list(&self) -> Result<Vec<SchemaEntry>, SchemaStoreError> {
        Ok(self.state().list())
    }

    async fn get(&self, id: &str) -> Result<Option<StoredSchema>, SchemaStoreError> {
        Ok(self.state().schemas.get(id).cloned())
    }

    async fn create(&self, id: &str, text: Arc<str>) -> Result<StoredSchema, SchemaStoreError> {
        self.state().create(id, text)
    }

    async fn replace(
        &self,
        id: &str,
        text: Arc<str>,
        expected: &Expected,
    ) -> Result<StoredSchema, SchemaStoreError> {
        self.state().replace(id, text, expected)
    }

    async fn remove(&self, id: &str, expected: &Expected) -> Result<(), SchemaStoreError> {
        self.state().remove(id, expected)
    }

    async fn rights(&self) -> Result<Option<StoredSchema>, SchemaStoreError> {
        Ok(self.state().rights.clone())
    }

    async fn set_rights(
        &self,
        text: Arc<str>,
        expected: &Expected,
    ) -> Result<StoredSchema, SchemaStoreError> {
        self.state().set_rights(text, expected)
    }
}
