//! The data files that paths stand for: files, folders, and standard input.

use std::path::{Path, PathBuf};
use std::{fs, io};

use crate::format::DataFormat;
use crate::report::LoadError;
use crate::source::STANDARD_INPUT;

/// What [`data_files`] found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DataFiles {
    /// Files to load, in order.
    pub files: Vec<PathBuf>,
    /// Files and folders inside of folders that are not loaded: no extension tells their syntax, or
    /// they are links to other folders.
    pub skipped: Vec<PathBuf>,
}

/// Replaces folders among `paths` by the files in them and in their folders, ordered by name.
///
/// Of a folder, files count whose extension is that of an RDF syntax, or all with `format`; names that
/// begin with a dot never do. What is named itself is returned as it is, so that loading it says what
/// is wrong with it.
///
/// # Errors
///
/// Fails when a folder cannot be read or has no data file.
pub fn data_files(paths: &[PathBuf], format: Option<DataFormat>) -> Result<DataFiles, LoadError> {
    let mut found = DataFiles::default();
    for path in paths {
        if path.as_os_str() == STANDARD_INPUT || !path.is_dir() {
            found.files.push(path.clone());
            continue;
        }
        let before = found.files.len();
        found
            .collect(path, format)
            .map_err(|(path, source)| LoadError::Read { path, source })?;
        if found.files.len() == before {
            return Err(LoadError::FolderEmpty {
                folder: path.clone(),
            });
        }
    }
    Ok(found)
}

impl DataFiles {
    fn collect(
        &mut self,
        folder: &Path,
        format: Option<DataFormat>,
    ) -> Result<(), (PathBuf, io::Error)> {
        let failed = |error| (folder.to_owned(), error);
        let mut entries: Vec<_> = fs::read_dir(folder)
            .map_err(failed)?
            .collect::<Result<_, _>>()
            .map_err(failed)?;
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries {
            let path = entry.path();
            if entry.file_name().as_encoded_bytes().starts_with(b".") {
                continue;
            }
            let kind = entry.file_type().map_err(failed)?;
            if kind.is_dir() {
                self.collect(&path, format)?;
            } else if path.is_dir() || format.or_else(|| DataFormat::from_path(&path)).is_none() {
                // A link to a folder may lead back to where it is.
                self.skipped.push(path);
            } else {
                self.files.push(path);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_their_files_by_name_and_their_folders() {
        let dir = tempfile::TempDir::new().unwrap();
        let at = |name: &str| dir.path().join(name);
        fs::create_dir_all(at("b/c")).unwrap();
        fs::create_dir_all(at("none")).unwrap();
        for name in ["z.nt", "a.ttl.gz", "b/c/x.trig", "README.md", ".hidden.ttl"] {
            fs::write(at(name), "").unwrap();
        }
        let paths = [PathBuf::from("-"), dir.path().to_owned()];
        let found = data_files(&paths, None).unwrap();
        let expected = [
            PathBuf::from("-"),
            at("a.ttl.gz"),
            at("b/c/x.trig"),
            at("z.nt"),
        ];
        assert_eq!(found.files, expected);
        assert_eq!(found.skipped, [at("README.md")]);
        let all = data_files(&paths, Some(DataFormat::Turtle)).unwrap();
        assert_eq!((all.files.len(), all.skipped.len()), (5, 0));
        let empty = data_files(&[at("none")], None);
        assert!(matches!(empty, Err(LoadError::FolderEmpty { .. })));
    }
}
