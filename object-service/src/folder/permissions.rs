//! Takes a folder that is there from everyone but its owner: older versions made folders that all could read.

use std::fs;
use std::io;
use std::path::Path;

use graph_store::image::{LOCK, LOG};
use graph_store::private_files;

use super::{LEFT_ALONE, SCHEMAS, SEARCH};

/// Takes what is in a folder from everyone but its owner, and the folder itself where nothing of someone else
/// is in it. What cannot be changed is a warning.
pub(super) fn narrow(folder: &Path) {
    if let Err(error) = narrow_all(folder) {
        tracing::warn!(%error, folder = %folder.display(), "others may read the data folder or list its files");
    }
}

fn narrow_all(folder: &Path) -> io::Result<()> {
    let is_ours = is_ours(folder)?;
    let schemas = narrow_schemas(&folder.join(SCHEMAS));
    let search = if_there(private_files::narrow(&folder.join(SEARCH)));
    let whole = if is_ours {
        private_files::narrow(folder)
    } else {
        Ok(())
    };
    schemas.and(search).and(whole)
}

/// Returns whether a folder has nothing but what a data folder has.
fn is_ours(folder: &Path) -> io::Result<bool> {
    for entry in fs::read_dir(folder)? {
        let name = entry?.file_name();
        let name = name.to_string_lossy();
        let is_image = name.starts_with("data-") && name.ends_with(".image");
        let is_known = [LOCK, LOG, SCHEMAS, SEARCH].contains(&name.as_ref());
        if !is_image && !is_known && !LEFT_ALONE.contains(&name.as_ref()) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Narrows a folder with all files in it and below.
fn narrow_schemas(folder: &Path) -> io::Result<()> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries?,
    };
    for entry in entries {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            narrow_schemas(&entry.path())?
        } else {
            if_there(private_files::narrow(&entry.path()))?
        }
    }
    private_files::narrow(folder)
}

/// Takes what is not there for done.
fn if_there(narrowed: io::Result<()>) -> io::Result<()> {
    match narrowed {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        narrowed => narrowed,
    }
}
