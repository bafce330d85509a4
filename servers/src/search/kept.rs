//! What a search service keeps over a restart: the schema that is bound to it.

use std::io;
use std::path::{Path, PathBuf};

use graph_store::private_files;
use serde::{Deserialize, Serialize};

use crate::config::Settings;
use crate::schema_store::SchemaStoreError;

/// Where a search service keeps what is bound, and the embedded engine its indexes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Storage {
    /// In memory, as the data are: nothing is kept.
    Memory,
    /// In a folder of the application.
    Folder(PathBuf),
}

/// What is bound, as it is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Kept {
    /// Name of the schema in paths.
    pub(super) id: String,
    /// The revision that was bound.
    pub(super) revision: String,
    /// The document, since schemas are kept in memory only.
    pub(super) text: String,
}

/// What a search service finds when it starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// Nothing was ever bound, as far as is known.
    Nothing,
    /// What was bound was unbound.
    Unbound,
    /// This was bound.
    Bound(Kept),
}

impl Storage {
    /// Returns the folder that the settings name.
    #[must_use]
    pub fn of(settings: &Settings) -> Self {
        let folder = Path::new(&settings.search.location);
        Storage::Folder(folder.join(file_name(&settings.name)))
    }

    /// Returns the folder of the indexes of the embedded engine.
    pub(super) fn indexes(&self) -> Option<PathBuf> {
        match self {
            Storage::Memory => None,
            Storage::Folder(folder) => Some(folder.join("indexes")),
        }
    }

    fn binding(&self) -> Option<PathBuf> {
        match self {
            Storage::Memory => None,
            Storage::Folder(folder) => Some(folder.join("binding.json")),
        }
    }

    /// Reads what was bound.
    pub(super) fn read(&self) -> Result<Found, SchemaStoreError> {
        let Some(path) = self.binding() else {
            return Ok(Found::Nothing);
        };
        let read = match std::fs::read(&path) {
            Ok(bytes) => serde_json::from_slice(&bytes).map_err(io::Error::from),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Found::Nothing),
            Err(error) => Err(error),
        };
        match read {
            Ok(kept) => Ok(Option::map_or(kept, Found::Unbound, Found::Bound)),
            Err(source) => Err(SchemaStoreError::Access { path, source }),
        }
    }

    /// Keeps what is bound: at every moment the file holds the old or the new binding as a whole.
    pub(super) fn write(&self, kept: &Kept) -> io::Result<()> {
        self.put(Some(kept))
    }

    /// Keeps that nothing is bound.
    pub(super) fn clear(&self) -> io::Result<()> {
        self.put(None)
    }

    fn put(&self, kept: Option<&Kept>) -> io::Result<()> {
        let Some(path) = self.binding() else {
            return Ok(());
        };
        if let Some(folder) = path.parent() {
            private_files::create_folder(folder)?;
        }
        let new = path.with_extension("json.new");
        let text = serde_json::to_vec_pretty(&kept)?;
        {
            use std::io::Write;
            let mut file = private_files::create(&new)?;
            file.write_all(&text)?;
            file.sync_all()?;
        }
        std::fs::rename(new, path)
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
    use super::*;

    #[test]
    fn what_is_bound_is_kept_and_so_is_that_nothing_is() {
        let folder = tempfile::TempDir::new().unwrap();
        let storage = Storage::Folder(folder.path().join("a"));
        assert_eq!(storage.read().unwrap(), Found::Nothing);
        let mut kept = Kept {
            id: "films".to_owned(),
            revision: "1".to_owned(),
            text: "id: /soml/films".to_owned(),
        };
        for revision in ["1", "2"] {
            kept.revision = revision.to_owned();
            storage.write(&kept).unwrap();
            assert_eq!(storage.read().unwrap(), Found::Bound(kept.clone()));
        }
        storage.clear().unwrap();
        storage.clear().unwrap();
        assert_eq!(storage.read().unwrap(), Found::Unbound);
        std::fs::write(folder.path().join("a/binding.json"), "{").unwrap();
        let error = storage.read().unwrap_err().to_string();
        assert!(error.contains("binding.json"), "{error}");
        Storage::Memory.write(&kept).unwrap();
        assert_eq!(Storage::Memory.read().unwrap(), Found::Nothing);
    }

    #[test]
    fn applications_have_folders_of_their_own() {
        assert_eq!(file_name("search-service"), "search-service");
        assert_eq!(file_name("../A b"), "%2e%2e%2f%41%20b");
    }
}
