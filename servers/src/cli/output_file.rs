//! A file that a command writes: there as a whole or not at all.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use graph_store::image::unfinished;
use graph_store::private_files;

use super::CliError;
use crate::schema_store::sync_parent;

/// A file that is being written, beside the place where it will be.
pub(super) struct OutputFile {
    file: File,
    path: PathBuf,
    /// Where it is now; absent for what is no file, such as a pipe, which is written as it is.
    beside: Option<PathBuf>,
}

impl OutputFile {
    /// Begins a file, which nobody but its owner can read. What is left of an attempt that was killed is overwritten;
    /// a file that is there only if `replaces` says so.
    pub(super) fn create(path: &Path, replaces: bool) -> Result<Self, CliError> {
        let failed = unwritten(path);
        let file = match fs::metadata(path) {
            Ok(known) if known.is_file() && !replaces => {
                let message = format!("{} exists; --force overwrites it", path.display());
                return Err(CliError::Usage(message));
            }
            // A link stays one.
            Ok(known) if known.is_file() => path.canonicalize().and_then(OutputFile::beside),
            Ok(_) => OpenOptions::new()
                .write(true)
                .open(path)
                .map(|file| OutputFile {
                    file,
                    path: path.to_owned(),
                    beside: None,
                }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                OutputFile::beside(path.to_owned())
            }
            Err(error) => Err(error),
        };
        file.map_err(failed)
    }

    fn beside(path: PathBuf) -> io::Result<Self> {
        let beside = unfinished(&path);
        let mut options = private_files::options();
        options.write(true).create(true).truncate(false);
        loop {
            let file = options.open(&beside)?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => {
                    let message = format!("another process writes {}", beside.display());
                    return Err(io::Error::new(io::ErrorKind::ResourceBusy, message));
                }
                Err(TryLockError::Error(error)) => return Err(error),
            }
            // Another process may have put it in its place meanwhile.
            if is_still_at(&file, &beside)? {
                file.set_len(0)?;
                private_files::narrow(&beside)?;
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
            // What is left of it is of no use to anybody.
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
