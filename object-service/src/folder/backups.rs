//! Backups that a running service makes.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fs, io};

use graph_store::image::{ImageError, LOG, UNFINISHED, remove_unfinished};
use graph_store::private_files;
use tokio::sync::Mutex;

use super::{DataFolder, FolderError};

/// Where a running service makes backups of its folder.
pub struct Backups {
    folder: DataFolder,
    /// The folder of the backups; without one there are none.
    target: Option<PathBuf>,
    /// Held while one is made.
    turn: Mutex<()>,
}

/// Why a running service makes no backup.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BackupError {
    /// No one has said where.
    #[error("`store.backupDir` names no folder for backups")]
    NotConfigured,
    /// The name is not that of a folder.
    #[error(
        "the name of a backup has 1 to 128 letters, digits, `_`, `-` and `.`, begins with a letter or a digit, and does \
         not end with `.unfinished`"
    )]
    Name,
    /// Another one is being made.
    #[error("another backup is already running")]
    Running,
    /// The process ends before it is made.
    #[error("the process is ending before the backup is complete")]
    Interrupted,
    /// It failed.
    #[error(transparent)]
    Failed(#[from] FolderError),
}

impl Backups {
    /// Makes backups of `folder` in the folder `target`. What backups have left there that were killed is
    /// removed. Finished ones that others can read, as earlier versions made them, are narrowed to their owner.
    #[must_use]
    pub fn new(folder: DataFolder, target: Option<PathBuf>) -> Self {
        if let Some(target) = &target {
            remove_left(target);
            narrow_finished(target);
        }
        Backups {
            folder,
            target,
            turn: Mutex::default(),
        }
    }

    /// Makes a backup under a name, on a thread that may wait for the disk. Whoever stops waiting for it does not
    /// stop it.
    ///
    /// # Errors
    ///
    /// Fails if there is no folder for backups, if there is one with that name, while another is being made, and
    /// if it cannot be written.
    pub async fn make(self: &Arc<Self>, name: &str) -> Result<(), BackupError> {
        let target = self.target.as_ref().ok_or(BackupError::NotConfigured)?;
        if !is_name(name) {
            return Err(BackupError::Name);
        }
        let (path, parent) = (target.join(name), target.clone());
        let this = Arc::clone(self);
        let work = move || {
            let _turn = this.turn.try_lock().map_err(|_| BackupError::Running)?;
            private_files::create_folder(&parent).map_err(FolderError::io(&parent))?;
            match this.folder.backup(&path) {
                // By another service with the same folder for backups.
                Err(FolderError::Image(ImageError::InUse { .. })) => Err(BackupError::Running),
                made => Ok(made?),
            }
        };
        let made = tokio::task::spawn_blocking(work).await;
        made.unwrap_or_else(|error| match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            Err(_) => Err(BackupError::Interrupted),
        })
    }
}

/// Removes what backups have left in a folder that were killed. Those that another service makes there now stay.
fn remove_left(folder: &Path) {
    let warn = |error: &(dyn std::error::Error + 'static), path: &Path| {
        tracing::warn!(error, folder = %path.display(), "an unfinished backup cannot be removed");
    };
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return,
        Err(error) => return warn(&error, folder),
        Ok(entries) => entries,
    };
    let paths = entries.filter_map(|entry| entry.ok().map(|entry| entry.path()));
    for path in paths.filter(|path| is_left(path)) {
        match remove_unfinished(&path) {
            Ok(()) => tracing::info!(
                folder = %path.display(),
                "removed an unfinished backup"
            ),
            Err(ImageError::InUse { .. }) => {}
            Err(error) => warn(&error, &path),
        }
    }
}

/// Takes the backups in a folder from everyone but their owner: earlier versions made them for all to read.
fn narrow_finished(folder: &Path) {
    // A folder that cannot be read is reported already.
    let entries = fs::read_dir(folder).into_iter().flatten();
    let paths = entries.filter_map(|entry| entry.ok().map(|entry| entry.path()));
    for path in paths.filter(|path| is_finished(path)) {
        if let Err(error) = private_files::narrow(&path) {
            tracing::warn!(%error, folder = %path.display(), "others may read a backup");
        }
    }
}

/// Returns whether a folder is a backup that is complete.
fn is_finished(path: &Path) -> bool {
    let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
    let is_folder = fs::symlink_metadata(path).is_ok_and(|found| found.is_dir());
    is_name(name) && is_folder && path.join(LOG).is_file()
}

/// Returns whether a folder has a name that backups have only while they are written.
fn is_left(path: &Path) -> bool {
    let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
    let whole = name.strip_suffix(UNFINISHED);
    // Earlier versions wrote the data of a backup beside it once more.
    let whole = whole.map(|whole| whole.strip_suffix(UNFINISHED).unwrap_or(whole));
    whole.is_some_and(is_name) && fs::symlink_metadata(path).is_ok_and(|found| found.is_dir())
}

/// Returns whether a text can be the name of a folder on any file system.
fn is_name(name: &str) -> bool {
    let is_fit = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    let begins_well = name.starts_with(|c: char| c.is_ascii_alphanumeric());
    // The next backup of this name would remove it.
    let is_whole = !name.ends_with(UNFINISHED);
    begins_well && is_whole && name.len() <= 128 && name.chars().all(is_fit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_backups_have_left_is_removed() {
        let folder = tempfile::TempDir::new().unwrap();
        let at = |name: &str| folder.path().join(name);
        for name in [
            "monday",
            "monday.unfinished",
            "tuesday.unfinished.unfinished",
            "-other.unfinished",
            "notes.unfinished.txt",
        ] {
            fs::create_dir_all(at(name).join("schemas")).unwrap();
        }
        fs::write(at("file.unfinished"), "").unwrap();
        let running = at("wednesday.unfinished");
        fs::create_dir(&running).unwrap();
        let lock = graph_store::image::FolderLock::for_reading(&running).unwrap();
        remove_left(folder.path());
        assert!(!at("monday.unfinished").exists());
        assert!(!at("tuesday.unfinished.unfinished").exists());
        for name in [
            "monday",
            "-other.unfinished",
            "notes.unfinished.txt",
            "file.unfinished",
        ] {
            assert!(at(name).exists(), "{name}");
        }
        assert!(running.exists(), "another service makes it");
        drop(lock);
        remove_left(folder.path());
        assert!(!running.exists());
        remove_left(&at("none"));
    }

    #[cfg(unix)]
    #[test]
    fn finished_backups_of_earlier_versions_are_taken_from_others() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::TempDir::new().unwrap();
        let at = |name: &str| folder.path().join(name);
        for name in ["monday", "notes"] {
            fs::create_dir(at(name)).unwrap();
            fs::set_permissions(at(name), PermissionsExt::from_mode(0o755)).unwrap();
        }
        fs::write(at("monday/changes.redb"), "").unwrap();
        fs::write(at("changes.redb"), "").unwrap();
        narrow_finished(folder.path());
        let mode = |name: &str| fs::metadata(at(name)).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode("monday"), mode("notes")), (0o700, 0o755));
        narrow_finished(&at("none"));
    }

    #[test]
    fn names_lead_nowhere_else() {
        for name in ["monday", "2026-11-25", "A_b.c"] {
            assert!(is_name(name), "{name}");
        }
        for name in [
            "",
            ".",
            "..",
            "../a",
            "a/b",
            "-a",
            ".a",
            "a b",
            "monday.unfinished",
            "ä",
            &"a".repeat(129),
        ] {
            assert!(!is_name(name), "{name}");
        }
    }
}
