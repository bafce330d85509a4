//! Which indexes there are, whose they are, and which aliases lead to them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use graph_store::private_files;
use serde::{Deserialize, Serialize};

use super::error::{failed, problem};
use super::index::OpenIndex;
use crate::engine::{Built, EngineError, IndexState, Mark, PhysicalName, Switch};

/// The form of the file.
const FORMAT: u32 = 1;

/// The name of the file.
pub(super) const FILE: &str = "catalog.json";

/// All indexes.
#[derive(Default)]
pub(super) struct Catalog {
    /// Number of the next folder.
    next: u64,
    entries: BTreeMap<String, Entry>,
}

/// An index.
#[derive(Clone)]
pub(super) struct Entry {
    folder: u64,
    mark: Mark,
    aliases: BTreeSet<String>,
    /// Why it cannot be used, where it cannot.
    index: Result<Arc<OpenIndex>, String>,
}

/// A catalog as its file has it.
#[derive(Serialize, Deserialize)]
struct Written {
    format: u32,
    next: u64,
    indexes: Vec<WrittenEntry>,
}

#[derive(Serialize, Deserialize)]
struct WrittenEntry {
    name: String,
    folder: u64,
    application: String,
    schema: String,
    object: String,
    fingerprint: String,
    aliases: BTreeSet<String>,
    /// Absent in catalogs of earlier versions.
    #[serde(
        default,
        deserialize_with = "crate::engine::lenient",
        skip_serializing_if = "Option::is_none"
    )]
    built: Option<Built>,
}

impl Catalog {
    /// Reads the catalog of a folder, opens its indexes, and deletes what belongs to none of them.
    pub(super) fn open(place: &Path) -> Result<Catalog, EngineError> {
        let written = match fs::read(place.join(FILE)) {
            Ok(bytes) => serde_json::from_slice::<Written>(&bytes).map_err(failed)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Catalog::default()),
            Err(error) => return Err(failed(error)),
        };
        if written.format != FORMAT {
            return Err(problem(format!(
                "the catalog of {} has format {}, but this version reads {FORMAT}",
                place.display(),
                written.format
            )));
        }
        let entries = written.indexes.into_iter().map(|entry| entry.open(place));
        let catalog = Catalog {
            next: written.next,
            entries: entries.collect(),
        };
        catalog.sweep(place)?;
        Ok(catalog)
    }

    /// Deletes folders of indexes that are no more.
    fn sweep(&self, place: &Path) -> Result<(), EngineError> {
        let kept: BTreeSet<String> = self
            .entries
            .values()
            .map(|entry| entry.folder.to_string())
            .collect();
        for folder in fs::read_dir(place).map_err(failed)? {
            let folder = folder.map_err(failed)?;
            let name = folder.file_name();
            let name = name.to_string_lossy();
            let is_ours = name.parse::<u64>().is_ok();
            if is_ours && !kept.contains(name.as_ref()) {
                fs::remove_dir_all(folder.path()).map_err(failed)?;
            }
        }
        Ok(())
    }

    /// Writes the catalog, all of it or nothing.
    pub(super) fn write(&self, place: &Path) -> Result<(), EngineError> {
        let written = Written {
            format: FORMAT,
            next: self.next,
            indexes: self
                .entries
                .iter()
                .map(|(name, entry)| WrittenEntry::of(name, entry))
                .collect(),
        };
        let bytes = serde_json::to_vec(&written).map_err(failed)?;
        replace(&place.join(FILE), &bytes).map_err(failed)
    }

    /// Finds an index.
    pub(super) fn get(&self, name: &str) -> Result<Arc<OpenIndex>, EngineError> {
        let entry = self.entries.get(name).ok_or_else(|| not_found(name))?;
        entry.index.clone().map_err(problem)
    }

    pub(super) fn contains(&self, name: &str) -> bool {
        self.entries.contains_key(name)
    }

    /// Returns whether an alias of this name leads anywhere.
    pub(super) fn has_alias(&self, alias: &str) -> bool {
        self.entries
            .values()
            .any(|entry| entry.aliases.contains(alias))
    }

    /// Returns the number of a folder that no index has had.
    pub(super) fn take_folder(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    pub(super) fn insert(&mut self, name: &str, folder: u64, index: OpenIndex) {
        let entry = Entry {
            folder,
            mark: index.mark.clone(),
            aliases: BTreeSet::new(),
            index: Ok(Arc::new(index)),
        };
        self.entries.insert(name.to_owned(), entry);
    }

    /// Takes an index out; returns its folder.
    pub(super) fn remove(&mut self, name: &str) -> Option<u64> {
        self.entries.remove(name).map(|entry| entry.folder)
    }

    /// Returns a copy in which aliases are moved, and the folders of indexes that are gone in it.
    pub(super) fn switched(&self, switches: &[Switch]) -> Result<(Catalog, Vec<u64>), EngineError> {
        let mut new = Catalog {
            next: self.next,
            entries: self.entries.clone(),
        };
        let mut gone = Vec::new();
        for switch in switches {
            if new.entries.contains_key(&switch.alias) {
                if !switch.replaces_index {
                    return Err(EngineError::NotOurs {
                        name: switch.alias.clone(),
                    });
                }
                gone.extend(new.remove(&switch.alias));
            }
            for (name, entry) in &mut new.entries {
                if entry.aliases.remove(&switch.alias) {
                    switch.check_lease(&PhysicalName::from_engine(name))?;
                }
            }
            if let Some(to) = &switch.to {
                let entry = new
                    .entries
                    .get_mut(to.as_str())
                    .ok_or_else(|| not_found(to.as_str()))?;
                entry.aliases.insert(switch.alias.clone());
            }
        }
        Ok((new, gone))
    }

    /// Describes all indexes.
    pub(super) fn states(&self) -> Vec<IndexState> {
        let state = |(name, entry): (&String, &Entry)| IndexState {
            name: PhysicalName::from_engine(name),
            aliases: entry.aliases.iter().cloned().collect(),
            mark: Some(entry.mark_now()),
        };
        self.entries.iter().map(state).collect()
    }

    /// Sets what is noted of an index; returns what was noted before.
    pub(super) fn set_built(
        &mut self,
        name: &str,
        built: Option<Built>,
    ) -> Result<Option<Built>, EngineError> {
        let entry = self.entries.get_mut(name).ok_or_else(|| not_found(name))?;
        Ok(std::mem::replace(&mut entry.mark.built, built))
    }
}

impl Entry {
    /// Returns the mark, with the data that the index has by now.
    fn mark_now(&self) -> Mark {
        let mut mark = self.mark.clone();
        let Ok(index) = &self.index else { return mark };
        if let (Some(built), Some(committed)) = (&mut mark.built, index.data())
            && built
                .data
                .as_ref()
                .is_none_or(|noted| noted.sequence < committed.sequence)
            // Else the index cannot be read, and health says so.
            && let Ok(documents) = index.snapshot().roots()
        {
            // It was noted before the last commit.
            built.documents = documents;
            built.data = Some(committed);
        }
        mark
    }
}

impl WrittenEntry {
    fn of(name: &str, entry: &Entry) -> Self {
        WrittenEntry {
            name: name.to_owned(),
            folder: entry.folder,
            application: entry.mark.application.clone(),
            schema: entry.mark.schema.clone(),
            object: entry.mark.object.clone(),
            fingerprint: entry.mark.fingerprint.clone(),
            built: entry.mark.built.clone(),
            aliases: entry.aliases.clone(),
        }
    }

    /// Opens the index. One that cannot be opened is kept, so that it is reported and can be deleted.
    fn open(self, place: &Path) -> (String, Entry) {
        let mark = Mark {
            application: self.application,
            schema: self.schema,
            object: self.object,
            fingerprint: self.fingerprint,
            built: self.built,
        };
        let index = OpenIndex::open(&folder(place, self.folder), mark.clone()).map_err(|error| {
            match std::error::Error::source(&error) {
                Some(source) => source.to_string(),
                None => error.to_string(),
            }
        });
        let entry = Entry {
            folder: self.folder,
            mark,
            aliases: self.aliases,
            index: index.map(Arc::new),
        };
        (self.name, entry)
    }
}

/// Returns the folder of an index.
pub(super) fn folder(place: &Path, number: u64) -> PathBuf {
    place.join(number.to_string())
}

pub(super) fn not_found(name: &str) -> EngineError {
    EngineError::NotFound {
        name: name.to_owned(),
    }
}

/// Writes a file so that after a crash it is the old one or the new one.
fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let new = path.with_extension("new");
    let mut file = private_files::create(&new)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    fs::rename(&new, path)?;
    #[cfg(unix)]
    if let Some(folder) = path.parent() {
        File::open(folder)?.sync_all()?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_note_in_another_form_is_none_and_the_index_stays() {
        let read = |built: serde_json::Value| {
            let entry = json!({
                "name": "svc-planet-1", "folder": 1, "application": "svc", "schema": "/soml/sky",
                "object": "Planet", "fingerprint": "f", "aliases": ["svc-planet"], "built": built,
            });
            serde_json::from_value::<WrittenEntry>(entry)
                .expect("an entry")
                .built
        };
        let built = Built {
            documents: 7,
            ..Built::default()
        };
        assert_eq!(read(json!(built)), Some(built));
        for other in [json!(null), json!("yes"), json!({"documents": "many"})] {
            assert_eq!(read(other.clone()), None, "{other}");
        }
    }
}
