//! The store.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use mongodb::bson::{Document, doc};

use super::bindings::{self, Bindings};
use super::calls::{Calls, Proof};
use super::document::{
    self, MIGRATION_KEY, PROBE_KEY, RIGHTS_KEY, content, lease_key, new_schema, read_entry,
    read_lease, read_migration, read_rights, read_schema, schema_key, string, with_revision,
};
use super::options::{MongoOptionsError, MongoSchemaOptions};
use crate::store::{
    ApplicationBinding, Binding, BindingState, Expected, LeaseRecord, MigrationRecord, RIGHTS_ID,
    SchemaEntry, SchemaStore, SchemaStoreError, ServiceKind, StoredSchema,
};

/// A store of documents in a collection of MongoDB, deprecated in favour of other stores.
///
/// ```no_run
/// use schema_registry::{MongoSchemaOptions, MongoSchemaStore, SchemaStore};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut options = MongoSchemaOptions::new("film-portal");
/// options.endpoint = "mongodb://db1.example.org,db2.example.org/?replicaSet=rs0".to_owned();
/// options.write_concern = "w=2, wtimeout=1000".parse()?;
/// let schemas = MongoSchemaStore::open(&options).await?;
/// schemas.probe().await?;
/// # Ok(())
/// # }
/// ```
pub struct MongoSchemaStore {
    calls: Calls,
    application: String,
}

impl MongoSchemaStore {
    /// Opens a store, and warns in the log that it is deprecated. No server is asked: use
    /// [`probe`](SchemaStore::probe) to do so.
    ///
    /// It belongs to the runtime that it is opened in. Its connections and tasks end when it is dropped, or with the
    /// runtime.
    ///
    /// # Errors
    ///
    /// [`MongoOptionsError`], when an option cannot be used.
    pub async fn open(options: &MongoSchemaOptions) -> Result<Self, MongoOptionsError> {
        let calls = Calls::new(options).await?;
        tracing::warn!(
            "the store of schemas in MongoDB is deprecated and will be removed: move the schemas to another store"
        );
        Ok(MongoSchemaStore {
            calls,
            application: options.application.clone(),
        })
    }

    fn bindings(&self) -> Bindings<'_> {
        self.bindings_of(&self.application)
    }

    fn bindings_of<'a>(&'a self, application: &'a str) -> Bindings<'a> {
        Bindings {
            calls: &self.calls,
            application,
        }
    }

    /// Removes rights of a revision. Returns whether there were any.
    async fn delete_rights(&self, revision: &str) -> Result<bool, SchemaStoreError> {
        let same = doc! { "_id": RIGHTS_KEY, "revision": revision };
        self.calls.delete(same.clone(), Proof::Absent(same)).await
    }

    /// Returns the record of a migration as the next write will find it.
    async fn latest_migration(&self) -> Result<Option<MigrationRecord>, SchemaStoreError> {
        let filter = doc! { "_id": MIGRATION_KEY };
        let found = self.calls.find_latest(filter, doc! {}).await?;
        found.as_ref().map(read_migration).transpose()
    }

    /// Removes a document with the key `@yaml`, unless it is a schema that has been changed since.
    async fn clear_schema(&self, found: &Document) -> Result<(), SchemaStoreError> {
        let readable =
            read_entry(found).and_then(|entry| Ok((entry.id, string(found, "revision")?)));
        let Ok((id, revision)) = readable else {
            // It is not one of ours.
            let same = doc! { "_id": found.get("_id") };
            let deleted = self.calls.delete(same.clone(), Proof::Absent(same));
            return deleted.await.map(drop);
        };
        let expected = Expected::revision(revision);
        match bindings::remove(&self.calls, &id, &expected).await {
            Err(SchemaStoreError::NotFound | SchemaStoreError::RevisionMismatch) => Ok(()),
            removed => removed,
        }
    }

    /// Returns why a change of a schema matched nothing.
    async fn refusal(
        &self,
        id: &str,
        expected: &Expected,
    ) -> Result<SchemaStoreError, SchemaStoreError> {
        let fields = doc! { "revision": 1 };
        let found = self.calls.find_latest(document::schema(id), fields).await?;
        if let Some(found) = found {
            expected.compare(&string(&found, "revision")?)?;
        }
        // There was none then, if there is one now.
        Ok(SchemaStoreError::NotFound)
    }

    /// Replaces the rights. Returns whether there were any of an expected revision.
    async fn replace_rights(
        &self,
        stored: &StoredSchema,
        expected: &Expected,
    ) -> Result<bool, SchemaStoreError> {
        let Some(filter) = with_revision(doc! { "_id": RIGHTS_KEY }, expected) else {
            return Ok(false);
        };
        let update = doc! { "$set": content("text", stored) };
        let proof = Proof::Present(doc! { "_id": RIGHTS_KEY, "revision": &stored.revision });
        self.calls.update(filter, update, proof).await
    }
}

impl fmt::Debug for MongoSchemaStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MongoSchemaStore")
            .field("application", &self.application)
            .finish_non_exhaustive()
    }
}

#[async_trait]
impl SchemaStore for MongoSchemaStore {
    async fn list(&self) -> Result<Vec<SchemaEntry>, SchemaStoreError> {
        let fields = doc! { "bytes": 1 };
        let found = self.calls.find_all(document::all_schemas(), fields).await?;
        let mut entries = found
            .iter()
            .map(read_entry)
            .collect::<Result<Vec<_>, _>>()?;
        // A collection may have a collation of its own.
        entries.sort_unstable_by(|a, b| a.id.cmp(&b.id));
        Ok(entries)
    }

    async fn get(&self, id: &str) -> Result<Option<StoredSchema>, SchemaStoreError> {
        let fields = doc! { "@yaml": 1, "revision": 1 };
        let found = self.calls.find(document::schema(id), fields).await?;
        found.map(|found| read_schema(id, &found)).transpose()
    }

    async fn create(&self, id: &str, text: Arc<str>) -> Result<StoredSchema, SchemaStoreError> {
        let stored = StoredSchema::revised(id, text);
        let proof = Proof::Present(doc! { "_id": schema_key(id), "revision": &stored.revision });
        if self.calls.insert(new_schema(&stored), proof).await? {
            Ok(stored)
        } else {
            Err(SchemaStoreError::Exists)
        }
    }

    async fn replace(
        &self,
        id: &str,
        text: Arc<str>,
        expected: &Expected,
    ) -> Result<StoredSchema, SchemaStoreError> {
        let stored = StoredSchema::revised(id, text);
        if let Some(filter) = with_revision(document::schema(id), expected) {
            let update = doc! { "$set": content("@yaml", &stored) };
            let changed = doc! { "_id": schema_key(id), "revision": &stored.revision };
            let proof = Proof::Present(changed);
            if self.calls.update(filter, update, proof).await? {
                return Ok(stored);
            }
        }
        Err(self.refusal(id, expected).await?)
    }

    async fn remove(&self, id: &str, expected: &Expected) -> Result<(), SchemaStoreError> {
        bindings::remove(&self.calls, id, expected).await
    }

    async fn rights(&self) -> Result<Option<StoredSchema>, SchemaStoreError> {
        let fields = doc! { "text": 1, "revision": 1 };
        let found = self.calls.find(doc! { "_id": RIGHTS_KEY }, fields).await?;
        found.as_ref().map(read_rights).transpose()
    }

    async fn set_rights(
        &self,
        text: Arc<str>,
        expected: &Expected,
    ) -> Result<StoredSchema, SchemaStoreError> {
        let stored = StoredSchema::revised(RIGHTS_ID, text);
        if self.replace_rights(&stored, expected).await? {
            return Ok(stored);
        }
        expected.compare_none()?;
        let mut new = doc! { "_id": RIGHTS_KEY };
        new.extend(content("text", &stored));
        let proof = Proof::Present(doc! { "_id": RIGHTS_KEY, "revision": &stored.revision });
        // If there are some now, they may be of an expected revision, too.
        let is_stored =
            self.calls.insert(new, proof).await? || self.replace_rights(&stored, expected).await?;
        if is_stored {
            Ok(stored)
        } else {
            Err(SchemaStoreError::RevisionMismatch)
        }
    }

    async fn binding(&self, service: ServiceKind) -> Result<Binding, SchemaStoreError> {
        self.bindings().get(service).await
    }

    async fn set_binding(
        &self,
        service: ServiceKind,
        id: Option<&str>,
    ) -> Result<(), SchemaStoreError> {
        self.bindings().set(service, id).await
    }

    async fn unbind(&self, service: ServiceKind, id: &str) -> Result<bool, SchemaStoreError> {
        self.bindings().unset(service, id).await
    }

    async fn binding_state(&self, service: ServiceKind) -> Result<BindingState, SchemaStoreError> {
        self.bindings().state(service).await
    }

    fn is_shared(&self) -> bool {
        true
    }

    async fn lease(&self, name: &str) -> Result<Option<LeaseRecord>, SchemaStoreError> {
        let filter = doc! { "_id": lease_key(name) };
        let found = self.calls.find(filter, doc! {}).await?;
        found.as_ref().map(read_lease).transpose()
    }

    async fn swap_lease(
        &self,
        name: &str,
        expected: Option<&LeaseRecord>,
        lease: &LeaseRecord,
    ) -> Result<bool, SchemaStoreError> {
        let next = document::lease(name, lease)?;
        let proof = Proof::Present(next.clone());
        match expected {
            None => self.calls.insert(next, proof).await,
            Some(expected) => {
                let same = document::lease(name, expected)?;
                let mut changes = next;
                changes.remove("_id");
                let update = doc! { "$set": changes };
                self.calls.update(same, update, proof).await
            }
        }
    }

    fn application(&self) -> &str {
        &self.application
    }

    async fn bindings(&self) -> Result<Vec<ApplicationBinding>, SchemaStoreError> {
        let all = bindings::all(&self.calls).await?;
        Ok(all.into_iter().map(|(bound, _)| bound).collect())
    }

    async fn swap_binding(
        &self,
        expected: &ApplicationBinding,
        next: &Binding,
    ) -> Result<bool, SchemaStoreError> {
        let bindings = self.bindings_of(&expected.application);
        let swapped = bindings.swap(expected.service, &expected.binding, next);
        swapped.await
    }

    async fn remove_rights(&self, expected: &Expected) -> Result<(), SchemaStoreError> {
        let fields = doc! { "text": 1, "revision": 1 };
        let filter = doc! { "_id": RIGHTS_KEY };
        let found = self
            .calls
            .find_latest(filter, fields)
            .await?
            .as_ref()
            .map(read_rights)
            .transpose()?;
        let revision = found.ok_or(SchemaStoreError::NotFound)?.revision;
        expected.compare(&revision)?;
        if self.delete_rights(&revision).await? {
            Ok(())
        } else {
            Err(SchemaStoreError::RevisionMismatch)
        }
    }

    async fn migration(&self) -> Result<Option<MigrationRecord>, SchemaStoreError> {
        let filter = doc! { "_id": MIGRATION_KEY };
        let found = self.calls.find(filter, doc! {}).await?;
        found.as_ref().map(read_migration).transpose()
    }

    async fn swap_migration(
        &self,
        expected: Option<&MigrationRecord>,
        next: Option<&MigrationRecord>,
    ) -> Result<bool, SchemaStoreError> {
        let Some(expected) = expected else {
            let Some(next) = next.map(document::migration) else {
                return Ok(self.latest_migration().await?.is_none());
            };
            let proof = Proof::Present(next.clone());
            return self.calls.insert(next, proof).await;
        };
        let same = document::migration(expected);
        if let Some(next) = next.map(document::migration) {
            let update = doc! { "$set": { "record": next.get("record") } };
            return self.calls.update(same, update, Proof::Present(next)).await;
        }
        // That there is none afterwards does not show that there was one.
        let is_there = self.latest_migration().await?.as_ref() == Some(expected);
        Ok(is_there && self.calls.delete(same.clone(), Proof::Absent(same)).await?)
    }

    async fn clear(&self, record: &MigrationRecord) -> Result<bool, SchemaStoreError> {
        let bound = bindings::all(&self.calls).await?;
        let schemas = doc! { "@yaml": { "$exists": true } };
        let fields = doc! { "revision": 1, "bytes": 1 };
        let schemas = self.calls.find_all(schemas, fields).await?;
        let rights = self.rights().await?;
        // What is stored after another record has taken the place of this one has other revisions and versions than those that
        // were read before.
        if self.latest_migration().await?.as_ref() != Some(record) {
            return Ok(false);
        }
        for (bound, found) in &bound {
            let bindings = self.bindings_of(&bound.application);
            // If it has changed, the removal of its schema fails.
            let change = bindings.change(bound.service, Some(found), &Binding::Unknown);
            change.await?;
        }
        for found in &schemas {
            self.clear_schema(found).await?;
        }
        if let Some(rights) = rights {
            self.delete_rights(&rights.revision).await?;
        }
        Ok(true)
    }

    async fn probe(&self) -> Result<Vec<String>, SchemaStoreError> {
        let nothing = doc! { "_id": PROBE_KEY };
        self.calls.find(nothing.clone(), doc! { "_id": 1 }).await?;
        self.calls.try_delete(nothing).await?;
        Ok(Vec::new())
    }
}
