//! Documents in a folder, one file for each.
//!
//! A file is written beside its place, synced and renamed, so at every moment it holds the old or the new
//! document as a whole. Its first line, which is a comment of YAML, has the name and the revision of the document and a
//! checksum. All documents are read and checked when the folder is opened, and answered from memory then.
//!
//! The document of the bindings has what is bound to the object service and what is bound to the search service. It also
//! lists what is stored, so that a missing file is noticed. A file is written before it is listed, and taken off the
//! list before it is removed, so after a crash no file counts as missing that was removed or never acknowledged.
//!
//! While schemas are moved to the folder from another store, a file of its own has how far that has come.

use std::ffi::OsStr;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use arc_swap::ArcSwap;
use async_trait::async_trait;
use graph_store::private_files::{self, is_refused, sync_parent};
use serde::{Deserialize, Serialize};

use crate::state::{Listed, State};
use crate::store::{
    ApplicationBinding, Binding, Expected, MigrationRecord, SchemaEntry, SchemaStore,
    SchemaStoreError, ServiceKind, StoredSchema,
};

/// The beginning of the first line of a file, with the version of the form. This form is read for good: what is written
/// in another one gets another version, and both are read from then on.
const FORM: &str = "# soml-store 1 ";

/// What the first line of a file begins with, before the version of its form.
const MARK: &str = "# soml-store ";

/// Of a file that is being written.
const PARTIAL: &str = "partial";

/// The folder of the documents.
const DOCUMENTS: &str = "documents";

/// The application whose bindings a folder has.
const OWN: &str = "";

/// A store of documents in a folder.
#[derive(Clone, Debug)]
pub struct FolderSchemaStore(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    folder: PathBuf,
    state: ArcSwap<State>,
    /// The document of the bindings as its file has it, where that is known. Held by whoever changes something.
    writing: Mutex<Option<StoredSchema>>,
    /// The folder cannot be written to: what is changed is gone when the process ends.
    is_read_only: bool,
}

/// A change of one file.
enum Change {
    Write(PathBuf, StoredSchema),
    Remove(Vec<PathBuf>),
    /// Of the bindings only.
    Bind,
}

/// The text of the document of the bindings.
#[derive(Debug, Default, Serialize, Deserialize)]
struct BoundText {
    #[serde(flatten)]
    listed: Listed,
    /// The name of the schema that is bound to the search service, or empty; left out while no one has said. Earlier
    /// versions wrote no such member.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    search: Option<String>,
}

impl FolderSchemaStore {
    /// Opens a folder, which is made where there is none.
    ///
    /// # Errors
    ///
    /// Fails when the folder cannot be read or made, or when a file in it is damaged.
    pub fn open(folder: impl Into<PathBuf>) -> Result<Self, SchemaStoreError> {
        let folder = folder.into();
        let documents = folder.join(DOCUMENTS);
        private_files::create_folder(&documents).map_err(failed(&documents))?;
        FolderSchemaStore::read(folder, false)
    }

    /// Opens a folder that cannot be written to. Changes are kept in memory.
    ///
    /// # Errors
    ///
    /// Fails when the folder cannot be read, or when a file in it is damaged.
    pub fn open_read_only(folder: impl Into<PathBuf>) -> Result<Self, SchemaStoreError> {
        FolderSchemaStore::read(folder.into(), true)
    }

    /// Opens a folder, for reading only if it is not writable, which is then logged.
    ///
    /// # Errors
    ///
    /// Fails as [`FolderSchemaStore::open`] does.
    pub fn open_as_allowed(folder: impl Into<PathBuf>) -> Result<Self, SchemaStoreError> {
        let folder = folder.into();
        match try_writing(&folder) {
            Err(error) if is_refused(&error) => {
                tracing::warn!(
                    folder = %folder.display(),
                    %error,
                    "the folder is not writable: new bindings are lost when the process ends"
                );
                FolderSchemaStore::open_read_only(folder)
            }
            // Whatever else is wrong is found again.
            _ => FolderSchemaStore::open(folder),
        }
    }

    fn read(folder: PathBuf, is_read_only: bool) -> Result<Self, SchemaStoreError> {
        let documents = folder.join(DOCUMENTS);
        let mut state = State::default();
        for path in entries(&documents)? {
            match path.extension().and_then(OsStr::to_str) {
                // What is left of a change that was never acknowledged.
                Some(PARTIAL) if !is_read_only => fs::remove_file(&path).map_err(failed(&path))?,
                Some("yaml") => {
                    let document = read(&path)?;
                    state.schemas.insert(document.id.clone(), document);
                }
                _ => {}
            }
        }
        state.rights = read_if_there(&rights_path(&folder))?;
        let bound = read_if_there(&bound_path(&folder))?;
        if let Some(kept) = &bound {
            let text = bound_text(&folder, &kept.text)?;
            state.bind(OWN, ServiceKind::Objects, Binding::of_name(&kept.id));
            let search = text
                .search
                .as_deref()
                .map_or(Binding::Unknown, Binding::of_name);
            state.bind(OWN, ServiceKind::Search, search);
            state.listed = text.listed;
        }
        if let Some(kept) = read_if_there(&migration_path(&folder))? {
            let record = MigrationRecord::of_text(&kept.text);
            state.migration = Some(record.ok_or_else(|| SchemaStoreError::Damaged {
                path: migration_path(&folder),
                fault: "its text is not the record of a migration",
            })?);
        }
        let objects = state.binding(OWN, ServiceKind::Objects);
        if *objects == Binding::Unknown && !state.schemas.is_empty() {
            tracing::warn!(
                file = %bound_path(&folder).display(),
                "the file that records which stored schema is bound is missing, so nothing is \
                 bound: bind one with `PUT /soml/ID/objects` and `PUT /soml/ID/search`, or name its \
                 document with --schema"
            );
        }
        warn_of_lost(&folder, &state.lost());
        Ok(FolderSchemaStore(Arc::new(Inner {
            folder,
            state: ArcSwap::from_pointee(state),
            writing: Mutex::new(bound),
            is_read_only,
        })))
    }

    /// Returns whether changes are kept in memory only, since the folder cannot be written to.
    #[must_use]
    pub fn is_read_only(&self) -> bool {
        self.0.is_read_only
    }

    /// Copies all documents to another folder, as they are at one moment.
    ///
    /// # Errors
    ///
    /// Fails when the folder cannot be written.
    pub fn copy_to(&self, folder: &Path) -> Result<(), SchemaStoreError> {
        let state = self.0.state.load_full();
        let documents = folder.join(DOCUMENTS);
        private_files::create_folder(&documents).map_err(failed(&documents))?;
        for document in state.schemas.values() {
            write(&document_path(folder, &document.id), document)?;
        }
        if let Some(rights) = &state.rights {
            write(&rights_path(folder), rights)?;
        }
        if let Some(record) = &state.migration {
            write(&migration_path(folder), &migration_document(record))?;
        }
        if state.bindings().is_empty() {
            Ok(())
        } else {
            write(&bound_path(folder), &bound_document(&state))
        }
    }

    /// Changes the state and the files that belong to it, on a thread that may wait for the disk.
    async fn change<T: Send + 'static>(
        &self,
        change: impl FnOnce(&Path, &mut State) -> Result<(T, Change), SchemaStoreError> + Send + 'static,
    ) -> Result<T, SchemaStoreError> {
        let inner = Arc::clone(&self.0);
        let work = move || {
            let mut bound = inner.writing.lock().unwrap_or_else(PoisonError::into_inner);
            let mut state = State::clone(&inner.state.load());
            let (result, file) = change(&inner.folder, &mut state)?;
            if inner.is_read_only {
                tracing::warn!(
                    "the data folder is not writable: changes to schemas and bindings are lost when \
                     the process ends"
                )
            } else {
                inner.keep(&mut state, &mut bound, file)?
            }
            inner.state.store(Arc::new(state));
            Ok(result)
        };
        let done = tokio::task::spawn_blocking(work).await;
        done.unwrap_or_else(|error| Err(SchemaStoreError::Failed(Box::new(error))))
    }
}

impl Inner {
    /// Changes a file, and the list of those that are stored. That nothing is bound yet is kept from the first change
    /// on, so that it is noticed when the file is lost that says what is bound.
    fn keep(
        &self,
        state: &mut State,
        bound: &mut Option<StoredSchema>,
        file: Change,
    ) -> Result<(), SchemaStoreError> {
        if *state.binding(OWN, ServiceKind::Objects) == Binding::Unknown {
            state.bind(OWN, ServiceKind::Objects, Binding::Nothing);
        }
        match file {
            Change::Write(path, document) if !path.try_exists().map_err(failed(&path))? => {
                write(&path, &document)?;
                self.keep_bound(state, bound).inspect_err(|_| {
                    // It is not acknowledged.
                    let _ = remove(&path);
                })
            }
            Change::Write(path, document) => {
                self.keep_bound(state, bound)?;
                write(&path, &document)
            }
            Change::Remove(paths) => {
                self.keep_bound(state, bound)?;
                paths.iter().try_for_each(|path| remove(path))
            }
            Change::Bind => self.keep_bound(state, bound),
        }
    }

    /// Writes what is bound and what is stored, unless the file has that already.
    fn keep_bound(
        &self,
        state: &State,
        bound: &mut Option<StoredSchema>,
    ) -> Result<(), SchemaStoreError> {
        let wanted = bound_document(state);
        // Where writing fails, the file may have the old document or the new one.
        if bound.take().as_ref() != Some(&wanted) {
            write(&bound_path(&self.folder), &wanted)?;
        }
        *bound = Some(wanted);
        Ok(())
    }

    /// Returns the files that are not there any more.
    fn missing(&self) -> Result<Vec<String>, SchemaStoreError> {
        let _turn = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let state = self.state.load();
        let mut paths = paths(&self.folder, &state.all_listed());
        if *state.binding(OWN, ServiceKind::Objects) != Binding::Unknown {
            paths.push(bound_path(&self.folder));
        }
        let mut missing = Vec::new();
        for path in paths {
            if !path.try_exists().map_err(failed(&path))? {
                let name = path.strip_prefix(&self.folder).unwrap_or(&path);
                missing.push(name.display().to_string());
            }
        }
        Ok(missing)
    }
}

#[async_trait]
impl SchemaStore for FolderSchemaStore {
    async fn list(&self) -> Result<Vec<SchemaEntry>, SchemaStoreError> {
        Ok(self.0.state.load().list())
    }

    async fn get(&self, id: &str) -> Result<Option<StoredSchema>, SchemaStoreError> {
        Ok(self.0.state.load().schemas.get(id).cloned())
    }

    async fn create(&self, id: &str, text: Arc<str>) -> Result<StoredSchema, SchemaStoreError> {
        let id = id.to_owned();
        self.change(move |folder, state| {
            let stored = state.create(&id, text)?;
            let change = Change::Write(document_path(folder, &id), stored.clone());
            Ok((stored, change))
        })
        .await
    }

    async fn replace(
        &self,
        id: &str,
        text: Arc<str>,
        expected: &Expected,
    ) -> Result<StoredSchema, SchemaStoreError> {
        let (id, expected) = (id.to_owned(), expected.clone());
        self.change(move |folder, state| {
            let stored = state.replace(&id, text, &expected)?;
            let change = Change::Write(document_path(folder, &id), stored.clone());
            Ok((stored, change))
        })
        .await
    }

    async fn remove(&self, id: &str, expected: &Expected) -> Result<(), SchemaStoreError> {
        let (id, expected) = (id.to_owned(), expected.clone());
        self.change(move |folder, state| {
            state.remove(&id, &expected)?;
            Ok(((), Change::Remove(vec![document_path(folder, &id)])))
        })
        .await
    }

    async fn rights(&self) -> Result<Option<StoredSchema>, SchemaStoreError> {
        Ok(self.0.state.load().rights.clone())
    }

    async fn set_rights(
        &self,
        text: Arc<str>,
        expected: &Expected,
    ) -> Result<StoredSchema, SchemaStoreError> {
        let expected = expected.clone();
        self.change(move |folder, state| {
            let stored = state.set_rights(text, &expected)?;
            Ok((stored.clone(), Change::Write(rights_path(folder), stored)))
        })
        .await
    }

    async fn binding(&self, service: ServiceKind) -> Result<Binding, SchemaStoreError> {
        let state = self.0.state.load();
        let binding = state.binding(OWN, service);
        let is_missing = |id: &str| match service {
            ServiceKind::Objects => !state.schemas.contains_key(id),
            // Earlier versions let one be removed that was bound; it is not listed any more.
            ServiceKind::Search => state.lost().schemas.contains(id),
        };
        match binding.id() {
            Some(id) if is_missing(id) => Err(SchemaStoreError::Missing {
                path: document_path(&self.0.folder, id),
                id: id.to_owned(),
            }),
            _ => Ok(binding.clone()),
        }
    }

    async fn set_binding(
        &self,
        service: ServiceKind,
        id: Option<&str>,
    ) -> Result<(), SchemaStoreError> {
        let wanted = Binding::of(id);
        if *self.0.state.load().binding(OWN, service) == wanted {
            return Ok(());
        }
        self.change(move |_, state| {
            state.bind(OWN, service, wanted);
            Ok(((), Change::Bind))
        })
        .await
    }

    async fn bindings(&self) -> Result<Vec<ApplicationBinding>, SchemaStoreError> {
        Ok(self.0.state.load().bindings())
    }

    async fn swap_binding(
        &self,
        expected: &ApplicationBinding,
        next: &Binding,
    ) -> Result<bool, SchemaStoreError> {
        let (expected, next) = (expected.clone(), next.clone());
        self.change(move |_, state| Ok((state.swap_binding(&expected, &next)?, Change::Bind)))
            .await
    }

    async fn remove_rights(&self, expected: &Expected) -> Result<(), SchemaStoreError> {
        let expected = expected.clone();
        self.change(move |folder, state| {
            state.remove_rights(&expected)?;
            Ok(((), Change::Remove(vec![rights_path(folder)])))
        })
        .await
    }

    async fn migration(&self) -> Result<Option<MigrationRecord>, SchemaStoreError> {
        Ok(self.0.state.load().migration.clone())
    }

    /// Keeps the record in a file of its own, and never in memory only.
    async fn swap_migration(
        &self,
        expected: Option<&MigrationRecord>,
        next: Option<&MigrationRecord>,
    ) -> Result<bool, SchemaStoreError> {
        if self.0.is_read_only {
            return Err(SchemaStoreError::Access {
                path: self.0.folder.clone(),
                source: io::ErrorKind::ReadOnlyFilesystem.into(),
            });
        }
        let (expected, next) = (expected.cloned(), next.cloned());
        self.change(move |folder, state| {
            let path = migration_path(folder);
            let change = match &next {
                _ if state.migration != expected => Change::Bind,
                Some(record) => Change::Write(path, migration_document(record)),
                None => Change::Remove(vec![path]),
            };
            let is_expected = state.swap_migration(expected.as_ref(), next.as_ref());
            Ok((is_expected, change))
        })
        .await
    }

    async fn clear(&self, record: &MigrationRecord) -> Result<bool, SchemaStoreError> {
        let record = record.clone();
        self.change(move |folder, state| {
            let paths = paths(folder, &state.all_listed());
            let change = if state.clear(&record) {
                Change::Remove(paths)
            } else {
                Change::Bind
            };
            Ok((state.migration.as_ref() == Some(&record), change))
        })
        .await
    }

    async fn missing(&self) -> Result<Vec<String>, SchemaStoreError> {
        if self.0.is_read_only {
            return Ok(Vec::new());
        }
        let inner = Arc::clone(&self.0);
        let looked = tokio::task::spawn_blocking(move || inner.missing()).await;
        looked.unwrap_or_else(|error| Err(SchemaStoreError::Failed(Box::new(error))))
    }
}

/// Returns the place of a document: its name in lower case, since some file systems ignore case, and behind it
/// which letters are upper case, as the bits of a number.
fn document_path(folder: &Path, id: &str) -> PathBuf {
    let upper = id
        .bytes()
        .enumerate()
        .filter(|(_, byte)| byte.is_ascii_uppercase());
    // Names have at most 128 bytes.
    let upper = upper.fold(0_u128, |bits, (at, _)| bits | 1 << (at % 128));
    let name = id.to_ascii_lowercase();
    folder.join(DOCUMENTS).join(match upper {
        0 => format!("{name}.yaml"),
        upper => format!("{name}%{upper:x}.yaml"),
    })
}

fn rights_path(folder: &Path) -> PathBuf {
    folder.join("rights.yaml")
}

fn bound_path(folder: &Path) -> PathBuf {
    folder.join("bound.yaml")
}

fn migration_path(folder: &Path) -> PathBuf {
    folder.join("migration.yaml")
}

/// Returns the document that says how far a migration has come.
fn migration_document(record: &MigrationRecord) -> StoredSchema {
    StoredSchema {
        id: "migration".to_owned(),
        text: format!("{}\n", record.to_text()).into(),
        revision: "-".to_owned(),
    }
}

/// Returns the places of documents.
fn paths(folder: &Path, listed: &Listed) -> Vec<PathBuf> {
    let schemas = listed.schemas.iter().map(|id| document_path(folder, id));
    let rights = listed.rights.then(|| rights_path(folder));
    schemas.chain(rights).collect()
}

/// Returns the document of the bindings: its name is that of the schema that is bound to the object service, or empty,
/// and its text has what is bound to the search service, and lists what is stored.
fn bound_document(state: &State) -> StoredSchema {
    let [objects, search] = ServiceKind::ALL.map(|service| state.binding(OWN, service));
    let text = serde_json::to_string(&BoundText {
        listed: state.all_listed(),
        search: search.name().map(str::to_owned),
    });
    let text = text.expect("names and a flag are JSON");
    StoredSchema {
        id: objects.id().unwrap_or_default().to_owned(),
        text: format!("{text}\n").into(),
        revision: "-".to_owned(),
    }
}

/// Reads the text of the document of the bindings. Earlier versions wrote an empty one, which lists nothing.
fn bound_text(folder: &Path, text: &str) -> Result<BoundText, SchemaStoreError> {
    if text.is_empty() {
        return Ok(BoundText::default());
    }
    serde_json::from_str(text).map_err(|_| SchemaStoreError::Damaged {
        path: bound_path(folder),
        fault: "its text is not a list of documents",
    })
}

fn warn_of_lost(folder: &Path, lost: &Listed) {
    for path in paths(folder, lost) {
        tracing::warn!(
            file = %path.display(),
            "the file of a stored document is missing, so the document is unavailable until the \
             file is restored and the folder is opened again; to continue without the file, store \
             the document again with `/soml` or `/soml-rbac`, or remove the schema with `DELETE \
             /soml/ID`"
        );
    }
}

/// Makes a folder where there is none, and a file in it, which is removed again.
fn try_writing(folder: &Path) -> io::Result<()> {
    private_files::create_folder(folder)?;
    let probe = folder.join("probe").with_extension(PARTIAL);
    private_files::create(&probe)?;
    fs::remove_file(probe)
}

/// Returns what a folder has; one that is not there has nothing.
fn entries(folder: &Path) -> Result<Vec<PathBuf>, SchemaStoreError> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(failed(folder))?,
    };
    let paths = entries.map(|entry| Ok(entry.map_err(failed(folder))?.path()));
    paths.collect()
}

/// Writes a document beside its place, and puts it there as a whole.
fn write(path: &Path, document: &StoredSchema) -> Result<(), SchemaStoreError> {
    let beside = path.with_extension(PARTIAL);
    let said = format!("{} {}", document.id, document.revision);
    let checksum = checksum(&said, &document.text);
    let write = || {
        let mut file = private_files::create(&beside)?;
        write!(file, "{FORM}{checksum:08x} {said}\n{}", document.text)?;
        file.sync_all()?;
        fs::rename(&beside, path)?;
        sync_parent(path)
    };
    write().map_err(|error| {
        // What is left of it is of no use to anyone.
        let _ = fs::remove_file(&beside);
        failed(path)(error)
    })
}

fn remove(path: &Path) -> Result<(), SchemaStoreError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(failed(path)(error)),
        _ => sync_parent(path).map_err(failed(path)),
    }
}

fn read_if_there(path: &Path) -> Result<Option<StoredSchema>, SchemaStoreError> {
    if path.try_exists().map_err(failed(path))? {
        read(path).map(Some)
    } else {
        Ok(None)
    }
}

/// Reads a document, and makes sure that it is the one that was written.
fn read(path: &Path) -> Result<StoredSchema, SchemaStoreError> {
    let damaged = |fault| SchemaStoreError::Damaged {
        path: path.to_owned(),
        fault,
    };
    let bytes = fs::read(path).map_err(failed(path))?;
    let text = String::from_utf8(bytes).map_err(|_| damaged("it is not UTF-8"))?;
    let (first, text) = text
        .split_once('\n')
        .ok_or_else(|| damaged("it has no first line"))?;
    if is_newer(first) {
        return Err(SchemaStoreError::Version {
            path: path.to_owned(),
        });
    }
    let said = first
        .strip_prefix(FORM)
        .ok_or_else(|| damaged("its first line is not that of a stored document"))?;
    let (sum, said) = said
        .split_once(' ')
        .ok_or_else(|| damaged("its first line is cut off"))?;
    let (id, revision) = said
        .split_once(' ')
        .ok_or_else(|| damaged("its first line is cut off"))?;
    if format!("{:08x}", checksum(said, text)) != sum {
        return Err(damaged("its checksum does not match its content"));
    }
    Ok(StoredSchema {
        id: id.to_owned(),
        text: text.into(),
        revision: revision.to_owned(),
    })
}

/// Returns whether a first line has the version of a form that only later versions of the program read.
fn is_newer(first: &str) -> bool {
    let version = first
        .strip_prefix(MARK)
        .and_then(|rest| rest.split(' ').next());
    version.is_some_and(|version| version.parse::<u32>().is_ok_and(|version| version > 1))
}

fn checksum(said: &str, text: &str) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(said.as_bytes());
    hasher.update(b"\n");
    hasher.update(text.as_bytes());
    hasher.finalize()
}

fn failed(path: &Path) -> impl FnOnce(io::Error) -> SchemaStoreError + '_ {
    move |source| match source.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
            SchemaStoreError::DiskFull
        }
        _ => SchemaStoreError::Access {
            path: path.to_owned(),
            source,
        },
    }
}

#[cfg(test)]
mod tests;
