//! Brings a backup to the place of a data folder.

use std::fs::{self, File};
use std::io;
use std::path::Path;

use graph_store::image::{FolderLock, LOCK, LOG, check_folder_name, remove_unfinished, unfinished};
use graph_store::private_files::{self, sync_parent};

use super::{DataFolder, DataFolderOptions, FolderError, has_data};

/// The copy, while it is checked.
const STAGE: &str = "restore.partial";

/// What an empty folder may have: a disk of its own, and an attempt that was killed.
pub(super) const LEFT_ALONE: &[&str] = &["lost+found", STAGE];

/// Copies a backup to a folder that is empty or not there. The copy is opened and checked before it is put
/// in its place, so the folder has all of it or nothing.
///
/// # Errors
///
/// Fails if the backup has no data, is damaged or of another version, or is a folder that someone writes to, if
/// the folder to restore to has files already, or if files cannot be read or written.
pub fn restore(
    backup: &Path,
    folder: &Path,
    options: &DataFolderOptions,
) -> Result<DataFolder, FolderError> {
    if !has_data(backup)? {
        return Err(FolderError::NoData {
            path: backup.to_owned(),
        });
    }
    check_folder_name(folder)?;
    let is_there = folder.try_exists().map_err(FolderError::io(folder))?;
    if is_there && !is_empty(folder)? {
        return Err(FolderError::NotEmpty {
            path: folder.to_owned(),
        });
    }
    // Inside of a folder that is there: it may be on a disk of its own.
    let stage = if is_there {
        folder.join(STAGE)
    } else {
        unfinished(folder)
    };
    remove_unfinished(&stage)?;
    let restored = copy_locked(backup, &stage)
        // Which checks all of it; the lock ends before the names change.
        .and_then(|()| DataFolder::open(&stage, options).map(drop))
        .and_then(|()| {
            if is_there {
                move_up(&stage, folder)
            } else {
                fs::rename(&stage, folder).and_then(|()| sync_parent(folder))
            }
            .map_err(FolderError::io(folder))
        });
    if restored.is_err() {
        // It is a copy of the backup, which stays. Another restore may have begun there meanwhile.
        let _ = remove_unfinished(&stage);
    }
    restored?;
    DataFolder::open(folder, options)
}

/// Moves what is in the stage to the folder around it: last of all the file that makes data of it.
fn move_up(stage: &Path, folder: &Path) -> io::Result<()> {
    let entries = fs::read_dir(stage)?.map(|entry| Ok(entry?.file_name()));
    let mut names = entries.collect::<io::Result<Vec<_>>>()?;
    names.sort_by_key(|name| name == LOG);
    for name in names {
        fs::rename(stage.join(&name), folder.join(&name))?;
    }
    fs::remove_dir(stage)?;
    File::open(folder)?.sync_all()
}

fn is_empty(folder: &Path) -> Result<bool, FolderError> {
    for entry in fs::read_dir(folder).map_err(FolderError::io(folder))? {
        let name = entry.map_err(FolderError::io(folder))?.file_name();
        if !LEFT_ALONE.iter().any(|known| name == *known) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Copies a folder that no one writes to meanwhile.
fn copy_locked(from: &Path, to: &Path) -> Result<(), FolderError> {
    let _source = FolderLock::for_reading(from)?;
    private_files::create_folder(to).map_err(FolderError::io(to))?;
    let _target = FolderLock::for_writing(to)?;
    copy(from, to)
}

/// Copies a folder with everything in it, and syncs it.
fn copy(from: &Path, to: &Path) -> Result<(), FolderError> {
    private_files::create_folder(to).map_err(FolderError::io(to))?;
    for entry in fs::read_dir(from).map_err(FolderError::io(from))? {
        let entry = entry.map_err(FolderError::io(from))?;
        let (path, copied) = (entry.path(), to.join(entry.file_name()));
        match entry.file_type().map_err(FolderError::io(&path))?.is_dir() {
            true => copy(&path, &copied)?,
            // The copy is locked by its own.
            false if entry.file_name() == LOCK => {}
            false => copy_file(&path, &copied)?,
        }
    }
    let sync = || File::open(to)?.sync_all();
    sync().map_err(FolderError::io(to))
}

fn copy_file(from: &Path, to: &Path) -> Result<(), FolderError> {
    let mut source = File::open(from).map_err(FolderError::io(from))?;
    let write = |source: &mut File| {
        let mut file = private_files::create(to)?;
        io::copy(source, &mut file)?;
        file.sync_all()
    };
    write(&mut source).map_err(FolderError::io(to))
}
