//! What a store of documents is asked, and what it answers.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
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

impl StoredSchema {
    /// Gives a document a revision that no other has.
    pub(crate) fn revised(id: &str, text: Arc<str>) -> Self {
        StoredSchema {
            id: id.to_owned(),
            text,
            revision: Uuid::new_v4().simple().to_string(),
        }
    }
}

/// What the document is called that says who may manage schemas.
pub(crate) const RIGHTS_ID: &str = "soml-rbac";

/// An entry in a listing of stored documents: everything but the text.
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
    /// Expects a document of this revision.
    #[must_use]
    pub fn revision(revision: impl Into<String>) -> Self {
        Expected {
            one_of: Some(Revisions::Listed(vec![revision.into()])),
            none_of: None,
        }
    }

    /// Expects that there is no document.
    #[must_use]
    pub fn nothing() -> Self {
        Expected {
            one_of: None,
            none_of: Some(Revisions::Any),
        }
    }

    /// Fails when a document of this revision is not what is expected.
    ///
    /// # Errors
    ///
    /// [`SchemaStoreError::RevisionMismatch`].
    pub fn compare(&self, revision: &str) -> Result<(), SchemaStoreError> {
        let is_wanted = self.one_of.as_ref().is_none_or(|r| r.contain(revision));
        let is_unwanted = self.none_of.as_ref().is_some_and(|r| r.contain(revision));
        if is_wanted && !is_unwanted {
            Ok(())
        } else {
            Err(SchemaStoreError::RevisionMismatch)
        }
    }
}

impl Expected {
    /// Fails when there is no document, and some revision is expected.
    pub(crate) fn compare_none(&self) -> Result<(), SchemaStoreError> {
        match self.one_of {
            None => Ok(()),
            Some(_) => Err(SchemaStoreError::RevisionMismatch),
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
    #[error("the schema has been changed: it has a different revision")]
    RevisionMismatch,
    /// A service has the document bound.
    #[error("the schema is bound to {service}; unbind it first", service = service.title())]
    Bound {
        /// The service.
        service: ServiceKind,
    },
    /// Another service stores the schemas.
    #[error("schemas are read from an object service and can only be changed there")]
    ReadOnly,
    /// A file of the store was written by a later version of the program.
    #[error(
        "{} was written by a later version of the program: open the folder with the version that wrote it, or a later \
         one",
        path.display()
    )]
    Version {
        /// The file.
        path: PathBuf,
    },
    /// A file of the store is not what was written to it.
    #[error(
        "{} is damaged: {fault}; restore the folder from a backup, or remove the file and send the document again",
        path.display()
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        fault: &'static str,
    },
    /// The document that was bound is not there any more.
    #[error(
        "{} is missing, the document of the schema `{id}`, which was bound: put it back, restore the folder from a \
         backup, or name the document with --schema",
        path.display()
    )]
    Missing {
        /// The file.
        path: PathBuf,
        /// The name of the schema.
        id: String,
    },
    /// Another process uses the folder of the store.
    #[error("another process is using the folder {}; only one process can at a time", folder.display())]
    InUse {
        /// The folder.
        folder: PathBuf,
    },
    /// A file of the store cannot be read or written.
    #[error("failed to access {}", path.display())]
    Access {
        /// The file or folder.
        path: PathBuf,
        /// What the system says.
        #[source]
        source: std::io::Error,
    },
    /// There is no room on the disk.
    #[error("there is no disk space for the document; nothing was changed")]
    DiskFull,
    /// The server of the store does not answer, or not in time. What was asked for was not done.
    #[error("the schema store is unavailable")]
    Unavailable(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The server of the store refuses the credentials, or they give no right to do this.
    #[error("the schema store denies access")]
    AccessDenied(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The answer to a change was lost, and no one knows whether it was made.
    #[error("it is unknown whether the schema store made the change")]
    OutcomeUnknown(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The store cannot do its work.
    #[error("the schema store failed")]
    Failed(#[source] Box<dyn std::error::Error + Send + Sync>),
}

impl SchemaStoreError {
    /// Returns whether the same may succeed later, without anyone changing anything.
    #[must_use]
    pub fn is_transient(&self) -> bool {
        matches!(
            self,
            SchemaStoreError::Unavailable(_) | SchemaStoreError::OutcomeUnknown(_)
        )
    }
}

/// A kind of service that a schema is bound to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ServiceKind {
    /// The object service.
    Objects,
    /// The search service.
    Search,
}

impl ServiceKind {
    /// All of them.
    pub const ALL: [ServiceKind; 2] = [ServiceKind::Objects, ServiceKind::Search];

    /// Returns the name in paths, as in `/soml/films/objects`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            ServiceKind::Objects => "objects",
            ServiceKind::Search => "search",
        }
    }

    /// Returns the service of a [name](ServiceKind::name).
    #[must_use]
    pub fn of_name(name: &str) -> Option<Self> {
        let mut kinds = ServiceKind::ALL.into_iter();
        kinds.find(|kind| kind.name() == name)
    }

    /// Returns what the service is called in messages.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            ServiceKind::Objects => "the object service",
            ServiceKind::Search => "the search service",
        }
    }
}

/// The binding of a service, and the revision in which it is stored.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct BindingState {
    /// What is bound.
    pub binding: Binding,
    /// The revision of the document; `None` if nothing is bound or the document is not stored.
    pub revision: Option<String>,
}

/// A lease as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeaseRecord {
    /// Who holds it; empty if it was given back.
    pub holder: String,
    /// Grows whenever the lease changes hands.
    pub number: u64,
    /// Grows with every renewal.
    pub beat: u64,
}

/// What an application has bound to one of its services.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApplicationBinding {
    /// The application, as [`SchemaStore::application`] names it.
    pub application: String,
    /// The service.
    pub service: ServiceKind,
    /// What is bound to it.
    pub binding: Binding,
}

/// How far a [migration](crate::Migration) into a store has come. The store keeps it until the migration is complete.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MigrationRecord {
    /// Random name of the attempt: an earlier attempt, which may still run, has a different one.
    pub attempt: String,
    /// The kind of store that the schemas come from, such as `rdf4j`.
    pub source: String,
    /// What is being done.
    pub phase: MigrationPhase,
}

/// What a migration is doing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MigrationPhase {
    /// The destination is emptied. The origin is whole.
    Cleaning,
    /// Everything is copied. The origin is whole.
    Copying,
    /// The destination has everything, and the origin is emptied.
    Emptying {
        /// The names of the schemas that are removed from the origin.
        schemas: Vec<String>,
    },
}

impl MigrationRecord {
    /// Returns the record as stores keep it.
    pub(crate) fn to_text(&self) -> String {
        serde_json::to_string(self).expect("names are JSON")
    }

    /// Reads a record; `None` if it is not one that this version of the program knows.
    pub(crate) fn of_text(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }
}

impl BindingState {
    /// Returns whether this is what a service serves: a schema, by its name and revision, or nothing.
    #[must_use]
    pub fn is_of(&self, served: Option<(&str, &str)>) -> bool {
        match served {
            None => self.binding.id().is_none(),
            Some((id, revision)) => {
                self.binding.id() == Some(id) && self.revision.as_deref() == Some(revision)
            }
        }
    }
}

/// A store of SOML documents. Comparing a revision and changing the document is atomic.
///
/// Bindings are those of one application: each of its services has one bound schema, also if several processes serve it.
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
    ///
    /// # Errors
    ///
    /// [`SchemaStoreError::Bound`] while it is bound to a service, of any application that shares the store.
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

    /// Returns what is bound to a service, as far as the store keeps it.
    ///
    /// # Errors
    ///
    /// [`SchemaStoreError::Missing`] when the document is not there any more.
    async fn binding(&self, _service: ServiceKind) -> Result<Binding, SchemaStoreError> {
        Ok(Binding::Unknown)
    }

    /// Keeps which document is bound to a service, or that nothing is.
    ///
    /// # Errors
    ///
    /// [`SchemaStoreError::NotFound`] when there is no such document, where the store looks.
    async fn set_binding(
        &self,
        _service: ServiceKind,
        _id: Option<&str>,
    ) -> Result<(), SchemaStoreError> {
        Ok(())
    }

    /// Keeps that nothing is bound to a service, if a document of this name is. Returns whether it was.
    async fn unbind(&self, service: ServiceKind, id: &str) -> Result<bool, SchemaStoreError> {
        let is_bound = match self.binding(service).await {
            Err(SchemaStoreError::Missing { id: lost, .. }) => lost == id,
            binding => binding?.id() == Some(id),
        };
        if is_bound {
            self.set_binding(service, None).await?;
        }
        Ok(is_bound)
    }

    /// Returns what is bound to a service, and the revision of its document. Services of a
    /// [shared](SchemaStore::is_shared) store call this every few seconds.
    ///
    /// # Errors
    ///
    /// As [`SchemaStore::binding`].
    async fn binding_state(&self, service: ServiceKind) -> Result<BindingState, SchemaStoreError> {
        let binding = self.binding(service).await?;
        let stored = match binding.id() {
            Some(id) => self.get(id).await?,
            None => None,
        };
        Ok(BindingState {
            binding,
            revision: stored.map(|stored| stored.revision),
        })
    }

    /// Returns whether other processes can change what is stored and bound.
    fn is_shared(&self) -> bool {
        false
    }

    /// Returns the lease of a name, whoever holds it; `None` if no one ever did.
    async fn lease(&self, _name: &str) -> Result<Option<LeaseRecord>, SchemaStoreError> {
        Ok(None)
    }

    /// Stores a lease if the stored one is what is `expected`. Returns whether it is stored.
    async fn swap_lease(
        &self,
        _name: &str,
        _expected: Option<&LeaseRecord>,
        _lease: &LeaseRecord,
    ) -> Result<bool, SchemaStoreError> {
        Err(SchemaStoreError::Failed("the store keeps no leases".into()))
    }

    /// Returns the application whose bindings [`binding`](SchemaStore::binding) returns; empty if the store keeps those of one
    /// process only.
    fn application(&self) -> &str {
        ""
    }

    /// Returns what is bound to the services of all applications, as far as someone has said it.
    async fn bindings(&self) -> Result<Vec<ApplicationBinding>, SchemaStoreError> {
        Err(not_migrated())
    }

    /// Binds something else to a service of any application, if what is bound to it is as `expected`. [`Binding::Unknown`]
    /// forgets what is bound, of which a store may leave that nothing is. Returns whether it was as expected.
    ///
    /// # Errors
    ///
    /// [`SchemaStoreError::NotFound`] when there is no such document.
    async fn swap_binding(
        &self,
        _expected: &ApplicationBinding,
        _next: &Binding,
    ) -> Result<bool, SchemaStoreError> {
        Err(not_migrated())
    }

    /// Removes the document that says who may manage schemas if it has an `expected` revision.
    ///
    /// # Errors
    ///
    /// [`SchemaStoreError::NotFound`] when there is none.
    async fn remove_rights(&self, _expected: &Expected) -> Result<(), SchemaStoreError> {
        Err(not_migrated())
    }

    /// Returns how far a migration into this store has come; `None` if none was interrupted and none runs.
    async fn migration(&self) -> Result<Option<MigrationRecord>, SchemaStoreError> {
        Err(not_migrated())
    }

    /// Replaces the record of a migration if the stored one is as `expected`. Returns whether it was.
    async fn swap_migration(
        &self,
        _expected: Option<&MigrationRecord>,
        _next: Option<&MigrationRecord>,
    ) -> Result<bool, SchemaStoreError> {
        Err(not_migrated())
    }

    /// Removes all schemas, the rights and all bindings, if the stored record of a migration is this one. Leases and the record
    /// stay. Nothing is removed that was stored after another record had taken its place. Returns whether it was the record.
    ///
    /// A store that cannot do this at once removes the bindings first and the rights last.
    async fn clear(&self, _record: &MigrationRecord) -> Result<bool, SchemaStoreError> {
        Err(not_migrated())
    }

    /// Checks that the store can be read and written to, by asking it. Returns what is wrong with servers of it that others
    /// stand in for, without their addresses.
    async fn probe(&self) -> Result<Vec<String>, SchemaStoreError> {
        Ok(Vec::new())
    }

    /// Returns the names of files that the store has written and that are not there any more, without which a
    /// restart would not serve what is served.
    async fn missing(&self) -> Result<Vec<String>, SchemaStoreError> {
        Ok(Vec::new())
    }
}

fn not_migrated() -> SchemaStoreError {
    SchemaStoreError::Failed("the store takes no part in migrations".into())
}

/// Waits for a call of a store, for at most this time.
///
/// # Errors
/// Those of the store, and [`SchemaStoreError::Unavailable`] when it does not answer in time.
pub async fn within<T>(
    time: Duration,
    asked: impl Future<Output = Result<T, SchemaStoreError>>,
) -> Result<T, SchemaStoreError> {
    let answered = tokio::time::timeout(time, asked).await;
    answered.unwrap_or_else(|_| {
        Err(SchemaStoreError::Unavailable(
            "it does not answer in time".into(),
        ))
    })
}

/// Stores a document in place of the one with its name, also if another process stores one meanwhile; one with the same
/// text stays as it is.
///
/// # Errors
/// Those of the store.
pub async fn put(
    schemas: &dyn SchemaStore,
    id: &str,
    text: Arc<str>,
) -> Result<StoredSchema, SchemaStoreError> {
    loop {
        let put = match schemas.get(id).await? {
            None => schemas.create(id, Arc::clone(&text)).await,
            Some(stored) if stored.text == text => return Ok(stored),
            Some(_) => {
                let any = Expected::default();
                schemas.replace(id, Arc::clone(&text), &any).await
            }
        };
        match put {
            // Another process was faster.
            Err(SchemaStoreError::Exists | SchemaStoreError::NotFound) => {}
            put => return put,
        }
    }
}

/// The binding of a service.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Binding {
    /// No one has said so far.
    #[default]
    Unknown,
    /// Nothing, on purpose.
    Nothing,
    /// The document of this name.
    Schema(String),
}

impl Binding {
    pub(crate) fn of(id: Option<&str>) -> Self {
        id.map_or(Binding::Nothing, |id| Binding::Schema(id.to_owned()))
    }

    /// Reads a name as files have it: that of the document that is bound, or empty.
    pub(crate) fn of_name(name: &str) -> Self {
        Binding::of(Some(name).filter(|name| !name.is_empty()))
    }

    /// Returns the name of the document that is bound, or an empty one, as files have it.
    pub(crate) fn name(&self) -> Option<&str> {
        match self {
            Binding::Unknown => None,
            Binding::Nothing => Some(""),
            Binding::Schema(id) => Some(id),
        }
    }

    /// Returns the name of the document that is bound.
    #[must_use]
    pub fn id(&self) -> Option<&str> {
        match self {
            Binding::Unknown | Binding::Nothing => None,
            Binding::Schema(id) => Some(id),
        }
    }

    /// Returns the name of the document that is bound, by itself.
    #[must_use]
    pub fn into_id(self) -> Option<String> {
        match self {
            Binding::Unknown | Binding::Nothing => None,
            Binding::Schema(id) => Some(id),
        }
    }
}
