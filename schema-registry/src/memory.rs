//! Documents in memory, which are gone when the process ends.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;

use crate::state::State;
use crate::store::{
    ApplicationBinding, Binding, BindingState, Expected, LeaseRecord, MigrationRecord, SchemaEntry,
    SchemaStore, SchemaStoreError, ServiceKind, StoredSchema,
};

/// An in-memory store; documents are lost when the process ends.
#[derive(Debug, Default)]
pub struct InMemorySchemaStore {
    state: Arc<Mutex<State>>,
    is_shared: bool,
    application: String,
}

impl InMemorySchemaStore {
    /// Creates a store for several services of one kind in the same process, which follow what is bound.
    #[must_use]
    pub fn shared() -> Self {
        InMemorySchemaStore {
            is_shared: true,
            ..InMemorySchemaStore::default()
        }
    }

    /// Returns the same store as an application of this name sees it, which shares it with others.
    #[must_use]
    pub fn of_application(&self, name: &str) -> Self {
        InMemorySchemaStore {
            state: Arc::clone(&self.state),
            is_shared: true,
            application: name.to_owned(),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // No step below leaves the state half changed, so a panic elsewhere does not spoil it.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
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

    async fn binding(&self, service: ServiceKind) -> Result<Binding, SchemaStoreError> {
        Ok(self.state().binding(&self.application, service).clone())
    }

    async fn set_binding(
        &self,
        service: ServiceKind,
        id: Option<&str>,
    ) -> Result<(), SchemaStoreError> {
        let mut state = self.state();
        if id.is_some_and(|id| !state.schemas.contains_key(id)) {
            return Err(SchemaStoreError::NotFound);
        }
        state.bind(&self.application, service, Binding::of(id));
        Ok(())
    }

    async fn binding_state(&self, service: ServiceKind) -> Result<BindingState, SchemaStoreError> {
        Ok(self.state().binding_state(&self.application, service))
    }

    fn is_shared(&self) -> bool {
        self.is_shared
    }

    async fn lease(&self, name: &str) -> Result<Option<LeaseRecord>, SchemaStoreError> {
        Ok(self.state().leases.get(name).cloned())
    }

    async fn swap_lease(
        &self,
        name: &str,
        expected: Option<&LeaseRecord>,
        lease: &LeaseRecord,
    ) -> Result<bool, SchemaStoreError> {
        Ok(self.state().swap_lease(name, expected, lease))
    }

    fn application(&self) -> &str {
        &self.application
    }

    async fn bindings(&self) -> Result<Vec<ApplicationBinding>, SchemaStoreError> {
        Ok(self.state().bindings())
    }

    async fn swap_binding(
        &self,
        expected: &ApplicationBinding,
        next: &Binding,
    ) -> Result<bool, SchemaStoreError> {
        self.state().swap_binding(expected, next)
    }

    async fn remove_rights(&self, expected: &Expected) -> Result<(), SchemaStoreError> {
        self.state().remove_rights(expected)
    }

    async fn migration(&self) -> Result<Option<MigrationRecord>, SchemaStoreError> {
        Ok(self.state().migration.clone())
    }

    async fn swap_migration(
        &self,
        expected: Option<&MigrationRecord>,
        next: Option<&MigrationRecord>,
    ) -> Result<bool, SchemaStoreError> {
        Ok(self.state().swap_migration(expected, next))
    }

    async fn clear(&self, record: &MigrationRecord) -> Result<bool, SchemaStoreError> {
        Ok(self.state().clear(record))
    }
}
