//! What a search service keeps over a restart, and where: the indexes of the embedded engine, and which schema is bound
//! to it where the store of schemas does not keep that itself.

use std::fs::{File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use graph_store::private_files::{self, is_refused};
use schema_registry::{
    Binding, Expected, FolderSchemaStore, SchemaEntry, SchemaStore, SchemaStoreError, ServiceKind,
    StoredSchema, put,
};
use serde::Deserialize;

/// Where a search service keeps what it needs over a restart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Storage {
    /// In memory, as the data are: nothing is kept.
    Memory,
    /// In a folder of the application.
    Folder(PathBuf),
}

impl Storage {
    /// Returns the folder of the application of a name, in a folder.
    #[must_use]
    pub fn of(location: &Path, name: &str) -> Self {
        Storage::Folder(location.join(file_name(name)))
    }

    /// Returns the folder of the indexes of the embedded engine.
    pub(super) fn indexes(&self) -> Option<PathBuf> {
        self.place("indexes")
    }

    /// Returns whether it was ever kept what is bound, so that there may be something.
    #[must_use]
    pub fn has_kept(&self) -> bool {
        let mut places = ["schemas", "binding.json"].into_iter();
        places.any(|name| self.place(name).is_some_and(|place| place.exists()))
    }

    /// Returns a store of schemas that keeps over a restart what is bound to the search service. Schemas that are
    /// `kept_elsewhere` are there after a restart; of others, the document that is bound is kept too, and put back.
    ///
    /// # Errors
    ///
    /// Fails when another process keeps it there, and when what was kept is damaged, of a later version, or cannot be
    /// read.
    pub async fn keeping(
        &self,
        schemas: Arc<dyn SchemaStore>,
        kept_elsewhere: bool,
    ) -> Result<Arc<dyn SchemaStore>, SchemaStoreError> {
        let Some(folder) = self.place("schemas") else {
            return Ok(schemas);
        };
        let opened = tokio::task::spawn_blocking(move || {
            let lock = lock(&folder)?;
            let kept = match &lock {
                Some(_) => FolderSchemaStore::open_as_allowed(folder)?,
                None => FolderSchemaStore::open_read_only(folder)?,
            };
            Ok::<_, SchemaStoreError>((lock, kept))
        });
        let (lock, kept) = opened
            .await
            .unwrap_or_else(|error| Err(SchemaStoreError::Failed(Box::new(error))))?;
        let keeping = Arc::new(KeptBinding {
            schemas,
            kept,
            _lock: lock,
            copies: !kept_elsewhere,
        });
        self.adopt(keeping.as_ref()).await?;
        keeping.put_back().await?;
        Ok(keeping)
    }

    /// Reads what earlier versions kept of what was bound, and has a store of schemas keep it from now on.
    ///
    /// # Errors
    ///
    /// Fails when the file cannot be read, and when the store cannot keep it.
    pub async fn adopt(&self, schemas: &dyn SchemaStore) -> Result<(), SchemaStoreError> {
        let Some(path) = self.place("binding.json") else {
            return Ok(());
        };
        // An error says that something is bound.
        if !matches!(
            schemas.binding(ServiceKind::Search).await,
            Ok(Binding::Unknown)
        ) {
            return Ok(());
        }
        let Some(earlier) = earlier(&path)? else {
            return Ok(());
        };
        match earlier {
            None => schemas.set_binding(ServiceKind::Search, None).await?,
            Some(Earlier { id, text }) => {
                if matches!(schemas.get(&id).await, Ok(None)) {
                    match schemas.create(&id, text.into()).await {
                        Ok(_) | Err(SchemaStoreError::ReadOnly) => {}
                        Err(error) => return Err(error),
                    }
                }
                schemas.set_binding(ServiceKind::Search, Some(&id)).await?;
            }
        }
        // It is not read any more; in a folder that cannot be written to it stays.
        let _ = std::fs::remove_file(&path);
        Ok(())
    }

    fn place(&self, name: &str) -> Option<PathBuf> {
        match self {
            Storage::Memory => None,
            Storage::Folder(folder) => Some(folder.join(name)),
        }
    }
}

/// Keeps other processes from a folder, which is made where there is none, as long as the file is open. One that cannot
/// be written to is not locked: it is only read then.
fn lock(folder: &Path) -> Result<Option<File>, SchemaStoreError> {
    let path = folder.join("lock");
    let opened = private_files::create_folder(folder).and_then(|()| {
        let mut options = private_files::options();
        options.write(true).create(true).open(&path)
    });
    let failed = |source| SchemaStoreError::Access {
        path: path.clone(),
        source,
    };
    let file = match opened {
        Ok(file) => file,
        Err(error) if is_refused(&error) => {
            tracing::warn!(
                folder = %folder.display(),
                %error,
                "the folder is not writable: new bindings are lost when the process ends"
            );
            return Ok(None);
        }
        Err(error) => return Err(failed(error)),
    };
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Err(SchemaStoreError::InUse {
            folder: folder.to_owned(),
        }),
        Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => {
            tracing::warn!(
                folder = %folder.display(),
                %error,
                "the folder cannot be locked: no other process may use it at the same time"
            );
            Ok(Some(file))
        }
        Err(TryLockError::Error(error)) => Err(failed(error)),
    }
}

/// What earlier versions kept of a schema that was bound.
#[derive(Debug, Deserialize)]
struct Earlier {
    id: String,
    text: String,
}

/// Reads the file of earlier versions: nothing where there is none, and in it nothing where a schema was unbound.
fn earlier(path: &Path) -> Result<Option<Option<Earlier>>, SchemaStoreError> {
    let read = match std::fs::read(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        read => read,
    };
    let parsed = read.and_then(|bytes| Ok(serde_json::from_slice(&bytes)?));
    parsed.map(Some).map_err(|source| SchemaStoreError::Access {
        path: path.to_owned(),
        source,
    })
}

/// Schemas that are stored elsewhere, or in memory, and a folder that keeps which of them is bound to the search
/// service.
struct KeptBinding {
    schemas: Arc<dyn SchemaStore>,
    kept: FolderSchemaStore,
    /// Keeps other processes from the folder.
    _lock: Option<File>,
    /// The document that is bound is kept too.
    copies: bool,
}

impl KeptBinding {
    /// Puts the document back that is kept as bound, where it is not stored.
    async fn put_back(&self) -> Result<(), SchemaStoreError> {
        let Binding::Schema(id) = self.kept_binding().await? else {
            return Ok(());
        };
        let copy = if self.copies {
            self.kept.get(&id).await?
        } else {
            None
        };
        let Some(copy) = copy else { return Ok(()) };
        if self.schemas.get(&id).await?.is_none() {
            self.schemas.create(&id, copy.text).await?;
        }
        Ok(())
    }

    /// Returns what is bound. A document whose copy was lost may still be stored.
    async fn kept_binding(&self) -> Result<Binding, SchemaStoreError> {
        match self.kept.binding(ServiceKind::Search).await {
            Err(SchemaStoreError::Missing { id, path }) => {
                if matches!(self.schemas.get(&id).await, Ok(None)) {
                    Err(SchemaStoreError::Missing { id, path })
                } else {
                    Ok(Binding::Schema(id))
                }
            }
            binding => binding,
        }
    }

    async fn copy(&self, id: &str) -> Result<(), SchemaStoreError> {
        let stored = self.schemas.get(id).await?;
        let text = stored.ok_or(SchemaStoreError::NotFound)?.text;
        put(&self.kept, id, text).await.map(drop)
    }

    /// Removes copies of documents that are not bound any more.
    async fn remove_others(&self, bound: Option<&str>) {
        for entry in self.kept.list().await.unwrap_or_default() {
            if Some(entry.id.as_str()) != bound {
                // What is left is of no use to anyone, and does no harm.
                let _ = self.kept.remove(&entry.id, &Expected::default()).await;
            }
        }
    }
}

#[async_trait]
impl SchemaStore for KeptBinding {
    async fn list(&self) -> Result<Vec<SchemaEntry>, SchemaStoreError> {
        self.schemas.list().await
    }

    async fn get(&self, id: &str) -> Result<Option<StoredSchema>, SchemaStoreError> {
        self.schemas.get(id).await
    }

    async fn create(&self, id: &str, text: Arc<str>) -> Result<StoredSchema, SchemaStoreError> {
        self.schemas.create(id, text).await
    }

    async fn replace(
        &self,
        id: &str,
        text: Arc<str>,
        expected: &Expected,
    ) -> Result<StoredSchema, SchemaStoreError> {
        self.schemas.replace(id, text, expected).await
    }

    async fn remove(&self, id: &str, expected: &Expected) -> Result<(), SchemaStoreError> {
        self.schemas.remove(id, expected).await
    }

    async fn rights(&self) -> Result<Option<StoredSchema>, SchemaStoreError> {
        self.schemas.rights().await
    }

    async fn set_rights(
        &self,
        text: Arc<str>,
        expected: &Expected,
    ) -> Result<StoredSchema, SchemaStoreError> {
        self.schemas.set_rights(text, expected).await
    }

    async fn binding(&self, service: ServiceKind) -> Result<Binding, SchemaStoreError> {
        match service {
            ServiceKind::Objects => self.schemas.binding(service).await,
            ServiceKind::Search => self.kept_binding().await,
        }
    }

    async fn set_binding(
        &self,
        service: ServiceKind,
        id: Option<&str>,
    ) -> Result<(), SchemaStoreError> {
        if service == ServiceKind::Objects {
            return self.schemas.set_binding(service, id).await;
        }
        if let Some(id) = id.filter(|_| self.copies) {
            self.copy(id).await?;
        }
        self.kept.set_binding(service, id).await?;
        if self.copies {
            self.remove_others(id).await;
        }
        Ok(())
    }

    async fn probe(&self) -> Result<Vec<String>, SchemaStoreError> {
        self.schemas.probe().await
    }

    async fn missing(&self) -> Result<Vec<String>, SchemaStoreError> {
        self.schemas.missing().await
    }
}

/// Returns a name for a folder that no other application has.
fn file_name(application: &str) -> String {
    let mut name = String::new();
    for byte in application.bytes() {
        match byte {
            b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' => name.push(char::from(byte)),
            // Upper case too: some file systems ignore it.
            _ => name.push_str(&format!("%{byte:02x}")),
        }
    }
    name
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use schema_registry::InMemorySchemaStore;

    async fn opened(folder: &Path, kept_elsewhere: bool) -> Arc<dyn SchemaStore> {
        let schemas = Arc::new(InMemorySchemaStore::default());
        let storage = Storage::Folder(folder.to_owned());
        storage.keeping(schemas, kept_elsewhere).await.unwrap()
    }

    async fn text(schemas: &Arc<dyn SchemaStore>, id: &str) -> Option<Arc<str>> {
        schemas.get(id).await.unwrap().map(|stored| stored.text)
    }

    fn schema(id: &str) -> Binding {
        Binding::Schema(id.to_owned())
    }

    #[tokio::test]
    async fn what_is_bound_is_kept_with_its_document_and_so_is_that_nothing_is() {
        let folder = tempfile::TempDir::new().unwrap();
        let storage = Storage::Folder(folder.path().to_owned());
        assert!(!storage.has_kept());
        let store = opened(folder.path(), false).await;
        assert!(storage.has_kept());
        assert_eq!(
            store.binding(ServiceKind::Search).await.unwrap(),
            Binding::Unknown
        );
        for id in ["films", "books"] {
            store.create(id, "x: 1\n".into()).await.unwrap();
            store
                .set_binding(ServiceKind::Search, Some(id))
                .await
                .unwrap();
        }
        let any = Expected::default();
        store.replace("books", "x: 2\n".into(), &any).await.unwrap();
        drop(store);
        let again = opened(folder.path(), false).await;
        assert_eq!(
            again.binding(ServiceKind::Search).await.unwrap(),
            schema("books")
        );
        assert_eq!(text(&again, "books").await.as_deref(), Some("x: 1\n"));
        assert_eq!(text(&again, "films").await, None);
        again.replace("books", "x: 2\n".into(), &any).await.unwrap();
        again
            .set_binding(ServiceKind::Search, Some("books"))
            .await
            .unwrap();
        drop(again);
        let again = opened(folder.path(), false).await;
        assert_eq!(text(&again, "books").await.as_deref(), Some("x: 2\n"));
        again.set_binding(ServiceKind::Search, None).await.unwrap();
        drop(again);
        let again = opened(folder.path(), false).await;
        assert_eq!(
            again.binding(ServiceKind::Search).await.unwrap(),
            Binding::Nothing
        );
        assert!(again.list().await.unwrap().is_empty());
    }

    #[tokio::test]
    async fn of_schemas_that_are_kept_elsewhere_only_the_name_is_kept() {
        let folder = tempfile::TempDir::new().unwrap();
        let store = opened(folder.path(), true).await;
        store
            .set_binding(ServiceKind::Search, Some("films"))
            .await
            .unwrap();
        drop(store);
        let again = opened(folder.path(), true).await;
        assert_eq!(
            again.binding(ServiceKind::Search).await.unwrap(),
            schema("films")
        );
        assert_eq!(text(&again, "films").await, None);
    }

    #[tokio::test]
    async fn what_earlier_versions_kept_is_taken_over_once() {
        for (written, kept, document) in [
            ("null", Binding::Nothing, None),
            (
                r#"{"id": "films", "revision": "1", "text": "x: 1\n"}"#,
                schema("films"),
                Some("x: 1\n"),
            ),
        ] {
            let folder = tempfile::TempDir::new().unwrap();
            let file = folder.path().join("binding.json");
            fs::write(&file, written).unwrap();
            for _ in 0..2 {
                let store = opened(folder.path(), false).await;
                assert_eq!(store.binding(ServiceKind::Search).await.unwrap(), kept);
                assert_eq!(text(&store, "films").await.as_deref(), document);
                assert!(!file.exists());
            }
            // What is known counts.
            fs::write(&file, r#"{"id": "other", "text": ""}"#).unwrap();
            let store = opened(folder.path(), false).await;
            assert_eq!(store.binding(ServiceKind::Search).await.unwrap(), kept);
        }
    }

    #[tokio::test]
    async fn what_is_damaged_is_refused_by_name() {
        for (name, written) in [
            ("binding.json", "{"),
            ("schemas/bound.yaml", "# soml-store 1 "),
            ("schemas/bound.yaml", "# soml-store 2 0 a b\n"),
        ] {
            let folder = tempfile::TempDir::new().unwrap();
            fs::create_dir(folder.path().join("schemas")).unwrap();
            fs::write(folder.path().join(name), written).unwrap();
            let schemas = Arc::new(InMemorySchemaStore::default());
            let storage = Storage::Folder(folder.path().to_owned());
            let Err(error) = storage.keeping(schemas, false).await else {
                panic!("{written}");
            };
            let said = error.to_string();
            assert!(said.contains(name.rsplit('/').next().unwrap()), "{said}");
        }
    }

    #[tokio::test]
    async fn one_store_uses_a_folder_at_a_time_and_changes_nothing_before_it_has_it() {
        let folder = tempfile::TempDir::new().unwrap();
        let storage = Storage::Folder(folder.path().to_owned());
        let store = opened(folder.path(), false).await;
        let partial = folder.path().join("schemas/documents/films.partial");
        fs::write(&partial, "x").unwrap();
        let other = Arc::new(InMemorySchemaStore::default());
        let refused = storage.keeping(other, false).await.err();
        assert!(
            matches!(&refused, Some(SchemaStoreError::InUse { folder }) if folder.ends_with("schemas")),
            "{refused:?}"
        );
        assert!(partial.exists(), "it is being written by the first one");
        store.create("films", "x: 1\n".into()).await.unwrap();
        store
            .set_binding(ServiceKind::Search, Some("films"))
            .await
            .unwrap();
        drop(store);
        let again = opened(folder.path(), false).await;
        assert_eq!(
            again.binding(ServiceKind::Search).await.unwrap(),
            schema("films")
        );
    }

    #[tokio::test]
    async fn in_memory_only_the_store_of_schemas_knows_what_is_bound() {
        let schemas = Arc::new(InMemorySchemaStore::default());
        let store = Storage::Memory.keeping(schemas, false).await.unwrap();
        store.create("films", "x: 1\n".into()).await.unwrap();
        store
            .set_binding(ServiceKind::Search, Some("films"))
            .await
            .unwrap();
        assert_eq!(
            store.binding(ServiceKind::Search).await.unwrap(),
            schema("films")
        );
    }

    #[test]
    fn applications_have_folders_of_their_own() {
        assert_eq!(file_name("search-service"), "search-service");
        assert_eq!(file_name("../A b"), "%2e%2e%2f%41%20b");
    }
}
