//! A file that a command writes: there as a whole or not at all.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use graph_store::image::unfinished;
use graph_store::private_files::{self, sync_parent};

use super::CliError;

/// Who may read a file.
enum Readers {
    /// No one but its owner.
    Owner,
    /// Those who could read the one before.
    AsBefore(fs::Permissions),
    /// Those who can read new files.
    Usual,
}

/// A file that is being written, beside the place where it will be.
pub(super) struct OutputFile {
    file: File,
    path: PathBuf,
    /// Where it is now; absent for what is no file, such as a pipe, which is written as it is.
    beside: Option<PathBuf>,
}

impl OutputFile {
    /// Begins a file, which no one but its owner can read. What is left of an attempt that was killed is overwritten;
    /// a file that is there only if `replaces` says so.
    pub(super) fn create(path: &Path, replaces: bool) -> Result<Self, CliError> {
        let is_there = fs::metadata(path).is_ok_and(|known| known.is_file());
        if is_there && !replaces {
            let message = format!("{} exists; --force overwrites it", path.display());
            return Err(CliError::Usage(message));
        }
        OutputFile::begin(path, |_| Readers::Owner)
    }

    /// Begins a file without secrets, in place of one that is there: who may read it is as it was, or as is usual for
    /// new files.
    pub(super) fn create_shared(path: &Path) -> Result<Self, CliError> {
        OutputFile::begin(path, |before| {
            before.map_or(Readers::Usual, |known| {
                Readers::AsBefore(known.permissions())
            })
        })
    }

    /// Begins a file; `readers` says who may read it, given the one that is there.
    fn begin(
        path: &Path,
        readers: impl FnOnce(Option<&fs::Metadata>) -> Readers,
    ) -> Result<Self, CliError> {
        let file = match fs::metadata(path) {
            // A link stays one.
            Ok(known) if known.is_file() => path
                .canonicalize()
                .and_then(|path| OutputFile::beside(path, readers(Some(&known)))),
            Ok(_) => OutputFile::open(path),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                OutputFile::beside(path.to_owned(), readers(None))
            }
            Err(error) => Err(error),
        };
        file.map_err(unwritten(path))
    }

    /// Opens what is no file, such as a pipe.
    fn open(path: &Path) -> io::Result<Self> {
        let file = OpenOptions::new().write(true).open(path)?;
        Ok(OutputFile {
            file,
            path: path.to_owned(),
            beside: None,
        })
    }

    fn beside(path: PathBuf, readers: Readers) -> io::Result<Self> {
        let beside = unfinished(&path);
        let mut options = match &readers {
            Readers::Owner => private_files::options(),
            Readers::AsBefore(_) | Readers::Usual => OpenOptions::new(),
        };
        options.write(true).create(true).truncate(false);
        loop {
            let file = options.open(&beside)?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => {
                    let message = format!("another process is writing {}", beside.display());
                    return Err(io::Error::new(io::ErrorKind::ResourceBusy, message));
                }
                Err(TryLockError::Error(error)) => return Err(error),
            }
            // Another process may have put it in its place meanwhile.
            if is_still_at(&file, &beside)? {
                file.set_len(0)?;
                match &readers {
                    Readers::Owner => private_files::narrow(&beside)?,
                    Readers::AsBefore(permissions) => {
                        fs::set_permissions(&beside, permissions.clone())?;
                    }
                    Readers::Usual => {}
                }
                return Ok(OutputFile {
                    file,
                    path,
                    beside: Some(beside),
                });
            }
        }
    }

    /// Puts the file in its place.
    pub(super) fn finish(mut self) -> Result<(), CliError> {
        let Some(beside) = &self.beside else {
            return Ok(());
        };
        let finish = || {
            self.file.sync_all()?;
            fs::rename(beside, &self.path)?;
            sync_parent(&self.path)
        };
        finish().map_err(unwritten(&self.path))?;
        self.beside = None;
        Ok(())
    }
}

/// Returns the error of a file that cannot be written.
pub(super) fn unwritten(path: &Path) -> impl FnOnce(io::Error) -> CliError + use<> {
    let name = path.display().to_string();
    move |source| CliError::WriteFile { name, source }
}

/// Returns whether a path leads to an open file.
#[cfg(unix)]
fn is_still_at(file: &File, path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    let (open, there) = (file.metadata()?, fs::metadata(path));
    Ok(there.is_ok_and(|there| (there.dev(), there.ino()) == (open.dev(), open.ino())))
}

/// An open file cannot be renamed by others.
#[cfg(not(unix))]
fn is_still_at(_: &File, _: &Path) -> io::Result<bool> {
    Ok(true)
}

impl Write for OutputFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for OutputFile {
    fn drop(&mut self) {
        if let Some(beside) = &self.beside {
            // What is left of it is of no use to anyone.
            let _ = fs::remove_file(beside);
        }
    }
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;

    #[test]
    fn a_file_is_there_as_a_whole_or_not_at_all() {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("a.nq");
        let names = || fs::read_dir(folder.path()).unwrap().count();
        let mut file = OutputFile::create(&path, false).unwrap();
        file.write_all(b"half").unwrap();
        assert!(
            OutputFile::create(&path, false).is_err(),
            "it is being written"
        );
        drop(file);
        assert_eq!(names(), 0);
        // What a process has left that was killed.
        fs::write(
            folder.path().join("a.nq.unfinished"),
            "a text that is longer",
        )
        .unwrap();
        let mut file = OutputFile::create(&path, false).unwrap();
        file.write_all(b"whole").unwrap();
        file.finish().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"whole");
        assert_eq!(names(), 1);
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt;
            assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
        }
    }

    #[cfg(unix)]
    #[test]
    fn who_could_read_a_shared_file_still_can_when_it_is_replaced() {
        use std::os::unix::fs::PermissionsExt;
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("a.graphql");
        let replace = |text: &[u8]| {
            let mut file = OutputFile::create_shared(&path).unwrap();
            file.write_all(text).unwrap();
            file.finish().unwrap();
            assert_eq!(fs::read(&path).unwrap(), text);
            fs::metadata(&path).unwrap().permissions().mode() & 0o777
        };
        // As for any other new file.
        let other = folder.path().join("other");
        fs::write(&other, "").unwrap();
        let usual = fs::metadata(&other).unwrap().permissions().mode() & 0o777;
        assert_eq!(replace(b"one"), usual);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        assert_eq!(replace(b"two"), 0o640);
    }

    #[test]
    fn a_file_that_is_there_is_overwritten_on_demand_only() {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("a.nq");
        fs::write(&path, "old").unwrap();
        assert!(matches!(
            OutputFile::create(&path, false),
            Err(CliError::Usage(_))
        ));
        let mut file = OutputFile::create(&path, true).unwrap();
        file.write_all(b"new").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"old");
        file.finish().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
    }
}
