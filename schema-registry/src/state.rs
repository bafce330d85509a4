//! What a store of documents holds, and how it changes.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::store::{
    Binding, BindingState, Expected, LeaseRecord, RIGHTS_ID, SchemaEntry, SchemaStoreError,
    ServiceKind, StoredSchema,
};

/// All documents, and which of them are bound.
#[derive(Clone, Debug, Default)]
pub(super) struct State {
    pub(super) schemas: BTreeMap<String, StoredSchema>,
    pub(super) rights: Option<StoredSchema>,
    /// What is bound to the object service.
    pub(super) binding: Binding,
    /// What is bound to the search service.
    pub(super) search: Binding,
    /// Leases by their names.
    pub(super) leases: BTreeMap<String, LeaseRecord>,
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
                let mut services = ServiceKind::ALL.into_iter();
                let binds = |service: &ServiceKind| self.binding(*service).id() == Some(id);
                if let Some(service) = services.find(binds) {
                    return Err(SchemaStoreError::Bound { service });
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

    pub(super) fn binding(&self, service: ServiceKind) -> &Binding {
        match service {
            ServiceKind::Objects => &self.binding,
            ServiceKind::Search => &self.search,
        }
    }

    pub(super) fn binding_mut(&mut self, service: ServiceKind) -> &mut Binding {
        match service {
            ServiceKind::Objects => &mut self.binding,
            ServiceKind::Search => &mut self.search,
        }
    }

    pub(super) fn binding_state(&self, service: ServiceKind) -> BindingState {
        let binding = self.binding(service).clone();
        let stored = binding.id().and_then(|id| self.schemas.get(id));
        BindingState {
            revision: stored.map(|stored| stored.revision.clone()),
            binding,
        }
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
