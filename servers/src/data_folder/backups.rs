//! Backups that a running service makes.

use std::path::PathBuf;
use std::sync::Arc;

use tokio::sync::Mutex;

use super::{DataFolder, FolderError, UNFINISHED};

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
    /// Nobody has said where.
    #[error("`store.backupDir` names no folder for backups")]
    NotConfigured,
    /// The name is not that of a folder.
    #[error(
        "the name of a backup has 1 to 128 letters, digits, `_`, `-` and `.`, begins with a letter or a digit, and does \
         not end with `.unfinished`"
    )]
    Name,
    /// Another one is being made.
    #[error("another backup is being made")]
    Running,
    /// The process ends before it is made.
    #[error("the process ends before the backup is made")]
    Interrupted,
    /// It failed.
    #[error(transparent)]
    Failed(#[from] FolderError),
}

impl Backups {
    /// Makes backups of `folder` in the folder `target`.
    #[must_use]
    pub fn new(folder: DataFolder, target: Option<PathBuf>) -> Self {
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
            std::fs::create_dir_all(&parent).map_err(FolderError::io(&parent))?;
            Ok(this.folder.backup(&path)?)
        };
        let made = tokio::task::spawn_blocking(work).await;
        made.unwrap_or_else(|error| match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            Err(_) => Err(BackupError::Interrupted),
        })
    }
}

/// Tells whether a text can be the name of a folder on any file system.
fn is_name(name: &str) -> bool {
    let is_fit = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    let begins_well = name.starts_with(|c: char| c.is_ascii_alphanumeric());
    // Another backup would remove it.
    let is_whole = !name.ends_with(UNFINISHED);
    begins_well && is_whole && name.len() <= 128 && name.chars().all(is_fit)
}

#[cfg(test)]
mod tests {
    use super::*;

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
