//! What a store of documents holds, and how it changes.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::store::{
    ApplicationBinding, Binding, BindingState, Expected, LeaseRecord, MigrationRecord, RIGHTS_ID,
    SchemaEntry, SchemaStoreError, ServiceKind, StoredSchema,
};

/// All documents, and which of them are bound.
#[derive(Clone, Debug, Default)]
pub(super) struct State {
    pub(super) schemas: BTreeMap<String, StoredSchema>,
    pub(super) rights: Option<StoredSchema>,
    /// What is bound to services, by their application: that of a folder has no name.
    bindings: BTreeMap<(String, ServiceKind), Binding>,
    /// Leases by their names.
    pub(super) leases: BTreeMap<String, LeaseRecord>,
    /// How far a migration into the store has come.
    pub(super) migration: Option<MigrationRecord>,
    /// What was stored when the store was opened, without what was removed since, as far as that is known. It has
    /// documents too whose files are lost.
    pub(super) listed: Listed,
}

/// Which documents are stored.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Listed {
    /// Names of schemas.
    pub(super) schemas: BTreeSet<String>,
    /// Whether the rights on them are.
    pub(super) rights: bool,
}

impl State {
    pub(super) fn list(&self) -> Vec<SchemaEntry> {
        let entries = self.schemas.values().map(|stored| SchemaEntry {
            id: stored.id.clone(),
            bytes: stored.text.len(),
        });
        entries.collect()
    }

    pub(super) fn create(
        &mut self,
        id: &str,
        text: Arc<str>,
    ) -> Result<StoredSchema, SchemaStoreError> {
        if self.schemas.contains_key(id) {
            return Err(SchemaStoreError::Exists);
        }
        let stored = StoredSchema::revised(id, text);
        self.schemas.insert(id.to_owned(), stored.clone());
        Ok(stored)
    }

    pub(super) fn replace(
        &mut self,
        id: &str,
        text: Arc<str>,
        expected: &Expected,
    ) -> Result<StoredSchema, SchemaStoreError> {
        let current = self.schemas.get_mut(id).ok_or(SchemaStoreError::NotFound)?;
        expected.compare(&current.revision)?;
        *current = StoredSchema::revised(id, text);
        Ok(current.clone())
    }

    pub(super) fn remove(&mut self, id: &str, expected: &Expected) -> Result<(), SchemaStoreError> {
        match self.schemas.get(id) {
            Some(current) => {
                let mut bindings = self.bindings.iter();
                if let Some(((_, service), _)) = bindings.find(|(_, bound)| bound.id() == Some(id))
                {
                    return Err(SchemaStoreError::Bound { service: *service });
                }
                expected.compare(&current.revision)?;
            }
            // It is lost, and so is its revision.
            None if self.listed.schemas.contains(id) && expected.one_of.is_none() => {}
            None => return Err(SchemaStoreError::NotFound),
        }
        self.schemas.remove(id);
        self.listed.schemas.remove(id);
        Ok(())
    }

    pub(super) fn binding(&self, application: &str, service: ServiceKind) -> &Binding {
        let key = (application.to_owned(), service);
        self.bindings.get(&key).unwrap_or(&Binding::Unknown)
    }

    pub(super) fn bind(&mut self, application: &str, service: ServiceKind, binding: Binding) {
        let key = (application.to_owned(), service);
        match binding {
            Binding::Unknown => self.bindings.remove(&key),
            binding => self.bindings.insert(key, binding),
        };
    }

    pub(super) fn binding_state(&self, application: &str, service: ServiceKind) -> BindingState {
        let binding = self.binding(application, service).clone();
        let stored = binding.id().and_then(|id| self.schemas.get(id));
        BindingState {
            revision: stored.map(|stored| stored.revision.clone()),
            binding,
        }
    }

    pub(super) fn bindings(&self) -> Vec<ApplicationBinding> {
        let bindings = self
            .bindings
            .iter()
            .map(|((application, service), binding)| ApplicationBinding {
                application: application.clone(),
                service: *service,
                binding: binding.clone(),
            });
        bindings.collect()
    }

    pub(super) fn swap_binding(
        &mut self,
        expected: &ApplicationBinding,
        next: &Binding,
    ) -> Result<bool, SchemaStoreError> {
        let (application, service) = (&expected.application, expected.service);
        if *self.binding(application, service) != expected.binding {
            return Ok(false);
        }
        if next.id().is_some_and(|id| !self.schemas.contains_key(id)) {
            return Err(SchemaStoreError::NotFound);
        }
        self.bind(application, service, next.clone());
        Ok(true)
    }

    pub(super) fn swap_migration(
        &mut self,
        expected: Option<&MigrationRecord>,
        next: Option<&MigrationRecord>,
    ) -> bool {
        let is_expected = self.migration.as_ref() == expected;
        if is_expected {
            self.migration = next.cloned();
        }
        is_expected
    }

    /// Removes everything but leases and the record of a migration, if that is this one.
    pub(super) fn clear(&mut self, record: &MigrationRecord) -> bool {
        let is_expected = self.migration.as_ref() == Some(record);
        if is_expected {
            *self = State {
                leases: std::mem::take(&mut self.leases),
                migration: self.migration.take(),
                ..State::default()
            };
        }
        is_expected
    }

    pub(super) fn remove_rights(&mut self, expected: &Expected) -> Result<(), SchemaStoreError> {
        let current = self.rights.as_ref().ok_or(SchemaStoreError::NotFound)?;
        expected.compare(&current.revision)?;
        self.rights = None;
        self.listed.rights = false;
        Ok(())
    }

    pub(super) fn swap_lease(
        &mut self,
        name: &str,
        expected: Option<&LeaseRecord>,
        lease: &LeaseRecord,
    ) -> bool {
        let is_expected = self.leases.get(name) == expected;
        if is_expected {
            self.leases.insert(name.to_owned(), lease.clone());
        }
        is_expected
    }

    /// Returns which documents are stored, with those that are lost.
    pub(super) fn all_listed(&self) -> Listed {
        let mut listed = self.listed.clone();
        listed.schemas.extend(self.schemas.keys().cloned());
        listed.rights |= self.rights.is_some();
        listed
    }

    /// Returns which documents were stored and are lost.
    pub(super) fn lost(&self) -> Listed {
        let mut lost = self.listed.clone();
        lost.schemas.retain(|id| !self.schemas.contains_key(id));
        lost.rights &= self.rights.is_none();
        lost
    }

    pub(super) fn set_rights(
        &mut self,
        text: Arc<str>,
        expected: &Expected,
    ) -> Result<StoredSchema, SchemaStoreError> {
        match &self.rights {
            Some(current) => expected.compare(&current.revision)?,
            None => expected.compare_none()?,
        }
        Ok(self
            .rights
            .insert(StoredSchema::revised(RIGHTS_ID, text))
            .clone())
    }
}
