//! Documents in a folder, one file for each.
//!
//! A file is written beside its place, synced and renamed, so at every moment it holds the old or the new
//! document as a whole. Its first line, which is a comment of YAML, has the name and the revision of the document and a
//! checksum. All documents are read and checked when the folder is opened, and answered from memory then.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use arc_swap::ArcSwap;
use async_trait::async_trait;

use super::state::State;
use super::{Expected, SchemaEntry, SchemaStore, SchemaStoreError, StoredSchema};

/// The beginning of the first line of a file, with the version of the form. This form is read for good: what is written
/// in another one gets another version, and both are read from then on.
const FORM: &str = "# soml-store 1 ";

/// What the first line of a file begins with, before the version of its form.
const MARK: &str = "# soml-store ";

/// Of a file that is being written.
const PARTIAL: &str = "partial";

/// A store of documents in a folder.
#[derive(Clone, Debug)]
pub struct FolderSchemaStore(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    folder: PathBuf,
    state: ArcSwap<State>,
    /// Held by whoever changes something.
    writing: Mutex<()>,
}

/// A change of one file.
enum Change {
    Write(PathBuf, StoredSchema),
    Remove(PathBuf),
}

impl FolderSchemaStore {
    /// Opens a folder, which is made where there is none.
    ///
    /// # Errors
    ///
    /// Fails when the folder cannot be read or made, or when a file in it is damaged.
    pub fn open(folder: impl Into<PathBuf>) -> Result<Self, SchemaStoreError> {
        let folder = folder.into();
        let documents = folder.join("documents");
        fs::create_dir_all(&documents).map_err(failed)?;
        let mut state = State::default();
        for entry in fs::read_dir(&documents).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            match path.extension().and_then(OsStr::to_str) {
                // What is left of a change that was never acknowledged.
                Some(PARTIAL) => fs::remove_file(&path).map_err(failed)?,
                Some("yaml") => {
                    let document = read(&path)?;
                    state.schemas.insert(document.id.clone(), document);
                }
                _ => {}
            }
        }
        state.rights = read_if_there(&rights_path(&folder))?;
        state.bound = read_if_there(&bound_path(&folder))?.map(|kept| kept.id);
        Ok(FolderSchemaStore(Arc::new(Inner {
            folder,
            state: ArcSwap::from_pointee(state),
            writing: Mutex::default(),
        })))
    }

    /// Copies all documents to another folder, as they are at one moment.
    ///
    /// # Errors
    ///
    /// Fails when the folder cannot be written.
    pub fn copy_to(&self, folder: &Path) -> Result<(), SchemaStoreError> {
        let state = self.0.state.load_full();
        fs::create_dir_all(folder.join("documents")).map_err(failed)?;
        for document in state.schemas.values() {
            write(&document_path(folder, &document.id), document)?;
        }
        if let Some(rights) = &state.rights {
            write(&rights_path(folder), rights)?;
        }
        if let Some(id) = &state.bound {
            write(&bound_path(folder), &binding(id))?;
        }
        Ok(())
    }

    /// Changes the state and the file that belongs to it, on a thread that may wait for the disk.
    async fn change<T: Send + 'static>(
        &self,
        change: impl FnOnce(&Path, &mut State) -> Result<(T, Change), SchemaStoreError> + Send + 'static,
    ) -> Result<T, SchemaStoreError> {
        let inner = Arc::clone(&self.0);
        let work = move || {
            let _turn = inner.writing.lock().unwrap_or_else(PoisonError::into_inner);
            let mut state = State::clone(&inner.state.load());
            let (result, file) = change(&inner.folder, &mut state)?;
            match file {
                Change::Write(path, document) => write(&path, &document)?,
                Change::Remove(path) => remove(&path)?,
            }
            inner.state.store(Arc::new(state));
            Ok(result)
        };
        let done = tokio::task::spawn_blocking(work).await;
        done.unwrap_or_else(|error| Err(SchemaStoreError::Failed(Box::new(error))))
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
            Ok(((), Change::Remove(document_path(folder, &id))))
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

    async fn bound(&self) -> Result<Option<String>, SchemaStoreError> {
        Ok(self.0.state.load().bound.clone())
    }

    async fn set_bound(&self, id: Option<&str>) -> Result<(), SchemaStoreError> {
        if self.0.state.load().bound.as_deref() == id {
            return Ok(());
        }
        let id = id.map(str::to_owned);
        self.change(move |folder, state| {
            let path = bound_path(folder);
            let change = match &id {
                Some(id) => Change::Write(path, binding(id)),
                None => Change::Remove(path),
            };
            state.bound = id;
            Ok(((), change))
        })
        .await
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
    folder.join("documents").join(match upper {
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

/// The document of a binding, which has a name and nothing else.
fn binding(id: &str) -> StoredSchema {
    StoredSchema {
        id: id.to_owned(),
        text: "".into(),
        revision: "-".to_owned(),
    }
}

/// Writes a document beside its place, and puts it there as a whole.
fn write(path: &Path, document: &StoredSchema) -> Result<(), SchemaStoreError> {
    let beside = path.with_extension(PARTIAL);
    let said = format!("{} {}", document.id, document.revision);
    let checksum = checksum(&said, &document.text);
    let write = || {
        let mut file = File::create(&beside)?;
        write!(file, "{FORM}{checksum:08x} {said}\n{}", document.text)?;
        file.sync_all()?;
        fs::rename(&beside, path)?;
        sync_parent(path)
    };
    write().map_err(|error: io::Error| {
        // What is left of it is of no use to anybody.
        let _ = fs::remove_file(&beside);
        failed(error)
    })
}

fn remove(path: &Path) -> Result<(), SchemaStoreError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(failed(error)),
        _ => sync_parent(path).map_err(failed),
    }
}

/// Makes a new name in a folder survive the end of the machine.
pub(crate) fn sync_parent(path: &Path) -> io::Result<()> {
    let parent = path.parent().filter(|path| !path.as_os_str().is_empty());
    File::open(parent.unwrap_or(Path::new(".")))?.sync_all()
}

fn read_if_there(path: &Path) -> Result<Option<StoredSchema>, SchemaStoreError> {
    match path.try_exists().map_err(failed)? {
        true => read(path).map(Some),
        false => Ok(None),
    }
}

/// Reads a document, and makes sure that it is the one that was written.
fn read(path: &Path) -> Result<StoredSchema, SchemaStoreError> {
    let damaged = |fault| SchemaStoreError::Damaged {
        path: path.to_owned(),
        fault,
    };
    let bytes = fs::read(path).map_err(failed)?;
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
        return Err(damaged("its checksum is that of another content"));
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

fn failed(error: io::Error) -> SchemaStoreError {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
            SchemaStoreError::DiskFull
        }
        _ => SchemaStoreError::Failed(Box::new(error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(folder: &Path) -> FolderSchemaStore {
        FolderSchemaStore::open(folder).unwrap()
    }

    #[tokio::test]
    async fn documents_rights_and_the_binding_are_there_after_a_restart() {
        let folder = tempfile::TempDir::new().unwrap();
        let store = open(folder.path());
        let one = store.create("Films", "id: /soml/Films".into()).await;
        let one = one.unwrap();
        let two = store.create("films", "x: 1\n".into()).await.unwrap();
        let any = Expected::default();
        let two_now = store.replace("films", "x: 2\n".into(), &any).await.unwrap();
        assert_ne!(two.revision, two_now.revision);
        store.create("gone", "".into()).await.unwrap();
        store.remove("gone", &any).await.unwrap();
        let long = "Ab".repeat(64);
        let longest = store.create(&long, "".into()).await.unwrap();
        let rights = store.set_rights("rbac: {}".into(), &any).await.unwrap();
        store.set_bound(Some("Films")).await.unwrap();
        fs::write(folder.path().join("documents/half.partial"), "x").unwrap();

        let again = open(folder.path());
        assert_eq!(again.get("Films").await.unwrap(), Some(one));
        assert_eq!(again.get("films").await.unwrap(), Some(two_now));
        assert_eq!(again.get(&long).await.unwrap(), Some(longest));
        assert_eq!(again.list().await.unwrap().len(), 3);
        assert_eq!(again.rights().await.unwrap(), Some(rights));
        assert_eq!(again.bound().await.unwrap().as_deref(), Some("Films"));
        again.set_bound(None).await.unwrap();
        assert_eq!(open(folder.path()).bound().await.unwrap(), None);
    }

    #[tokio::test]
    async fn a_copy_has_everything() {
        let folder = tempfile::TempDir::new().unwrap();
        let store = open(&folder.path().join("a"));
        let stored = store.create("films", "x: 1\n".into()).await.unwrap();
        store.set_bound(Some("films")).await.unwrap();
        store.copy_to(&folder.path().join("b")).unwrap();
        let copy = open(&folder.path().join("b"));
        assert_eq!(copy.get("films").await.unwrap(), Some(stored));
        assert_eq!(copy.bound().await.unwrap().as_deref(), Some("films"));
    }

    #[tokio::test]
    async fn a_document_of_a_later_version_is_refused_as_such() {
        let folder = tempfile::TempDir::new().unwrap();
        let store = open(folder.path());
        store.create("films", "id: x\n".into()).await.unwrap();
        let path = folder.path().join("documents/films.yaml");
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, text.replacen(FORM, "# soml-store 12 ", 1)).unwrap();
        match FolderSchemaStore::open(folder.path()) {
            Err(SchemaStoreError::Version { path: named }) => assert_eq!(named, path),
            other => panic!("{other:?}"),
        }
    }

    #[tokio::test]
    async fn every_flipped_bit_and_every_cut_is_refused_with_the_name_of_the_file() {
        let folder = tempfile::TempDir::new().unwrap();
        let store = open(folder.path());
        store.create("films", "id: x\n".into()).await.unwrap();
        let path = folder.path().join("documents/films.yaml");
        let whole = fs::read(&path).unwrap();
        let mut broken: Vec<Vec<u8>> = (0..whole.len()).map(|end| whole[..end].to_vec()).collect();
        for (at, bit) in (0..whole.len()).flat_map(|at| (0..8).map(move |bit| (at, bit))) {
            let mut bytes = whole.clone();
            bytes[at] ^= 1 << bit;
            broken.push(bytes);
        }
        for bytes in broken {
            fs::write(&path, &bytes).unwrap();
            match FolderSchemaStore::open(folder.path()) {
                Err(SchemaStoreError::Damaged { path: named, .. }) => assert_eq!(named, path),
                // Another digit as the version.
                Err(SchemaStoreError::Version { path: named })
                    if bytes[..MARK.len()] == whole[..MARK.len()]
                        && bytes[MARK.len()] != whole[MARK.len()] =>
                {
                    assert_eq!(named, path);
                }
                other => panic!("{other:?}: {}", String::from_utf8_lossy(&bytes)),
            }
        }
    }
}
