//! The store.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use mongodb::bson::doc;

use super::bindings::{self, Bindings};
use super::calls::{Calls, Proof};
use super::document::{
    self, PROBE_KEY, RIGHTS_KEY, content, lease_key, new_schema, read_entry, read_lease,
    read_rights, read_schema, schema_key, string, with_revision,
};
use super::options::{MongoOptionsError, MongoSchemaOptions};
use crate::store::{
    Binding, BindingState, Expected, LeaseRecord, RIGHTS_ID, SchemaEntry, SchemaStore,
    SchemaStoreError, ServiceKind, StoredSchema,
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
        Bindings {
            calls: &self.calls,
            application: &self.application,
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
        let entries = found.iter().map(read_entry);
        let mut entries = entries.collect::<Result<Vec<_>, _>>()?;
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

    async fn probe(&self) -> Result<Vec<String>, SchemaStoreError> {
        let nothing = doc! { "_id": PROBE_KEY };
        self.calls.find(nothing.clone(), doc! { "_id": 1 }).await?;
        self.calls.try_delete(nothing).await?;
        Ok(Vec::new())
    }
}
