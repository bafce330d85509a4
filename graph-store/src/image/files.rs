//! The files of a folder: their names, which of them are there, and which may be removed.
//!
//! A file that holds data is removed only once a newer image is valid, which was read and checked as a whole.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::build::synced_folder;
use super::error::ImageError;
use crate::private_files;

/// The name of the file that is locked by the process that has a folder open.
pub const LOCK: &str = "lock";
/// The name of the log, which says which image is valid; a folder without it holds no data.
pub const LOG: &str = "changes.redb";
/// The name of the file with orders of the objects of the image.
pub(super) const ORDERS: &str = "orders";
/// What the name of a file ends with that is being written.
pub(super) const PARTIAL: &str = ".partial";
/// What the name of a folder ends with that is being written.
pub const UNFINISHED: &str = ".unfinished";
/// A file that only finds out whether there is room.
pub(super) const ROOM: &str = "room.partial";

/// Images of higher numbers are not ours: a folder never comes so far.
const HIGHEST: u64 = 1 << 48;

/// The files of a store that a folder has.
#[derive(Debug, Default)]
pub(super) struct Files {
    has_log: bool,
    has_orders: bool,
    /// The numbers of the images, ascending.
    pub(super) images: Vec<u64>,
    /// The names of files that were never finished.
    unfinished: Vec<String>,
}

impl Files {
    /// Looks what a folder has; one that is not there has nothing.
    pub(super) fn of(folder: &Path) -> io::Result<Self> {
        let mut files = Files::default();
        let entries = match fs::read_dir(folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(files),
            entries => entries?,
        };
        for entry in entries {
            let name = entry?.file_name();
            let Some(name) = name.to_str() else { continue };
            let whole = name.trim_end_matches(PARTIAL);
            match (number(whole), whole == name) {
                (Some(number), true) => files.images.push(number),
                (None, true) if name == LOG => files.has_log = true,
                (None, true) if name == ORDERS => files.has_orders = true,
                (Some(_), false) => files.unfinished.push(name.to_owned()),
                (None, false) if whole == LOG || whole == ORDERS || name == ROOM => {
                    files.unfinished.push(name.to_owned());
                }
                _ => {}
            }
        }
        files.images.sort_unstable();
        Ok(files)
    }

    /// Returns whether a folder has data; fails where they cannot be read without what is missing.
    pub(super) fn hold_data(&self, folder: &Path) -> Result<bool, ImageError> {
        match self.images.last() {
            _ if self.has_log => Ok(true),
            None => Ok(false),
            Some(newest) => Err(ImageError::LogMissing {
                folder: folder.to_owned(),
                image: image_name(*newest),
            }),
        }
    }

    /// Removes files that were never finished. No one was told that their content is there.
    pub(super) fn remove_unfinished(&self, folder: &Path) -> io::Result<()> {
        let mut names = self.unfinished.iter();
        names.try_for_each(|name| fs::remove_file(folder.join(name)))
    }

    /// Removes the images that a valid one has replaced.
    pub(super) fn remove_replaced(&self, folder: &Path, valid: u64) -> io::Result<()> {
        let mut replaced = self.images.iter().filter(|number| **number < valid);
        replaced.try_for_each(|number| fs::remove_file(image_path(folder, *number)))
    }

    /// Takes all of them from everyone but their owner.
    pub(super) fn narrow(&self, folder: &Path) -> io::Result<()> {
        let images = self.images.iter().map(|number| image_name(*number));
        let orders = self.has_orders.then(|| ORDERS.to_owned());
        let names = images.chain([LOCK, LOG].map(str::to_owned)).chain(orders);
        let narrowed = names.map(|name| private_files::narrow(&folder.join(name)));
        // The last ones too, where the first ones cannot be changed.
        narrowed.fold(Ok(()), Result::and)
    }
}

/// Returns the name of an image.
fn image_name(number: u64) -> String {
    format!("data-{number}.image")
}

/// Returns the place of an image.
pub(super) fn image_path(folder: &Path, number: u64) -> PathBuf {
    folder.join(image_name(number))
}

/// Returns the place of an image while its folder is made.
pub(super) fn partial_image(folder: &Path, number: u64) -> PathBuf {
    folder.join(image_name(number) + PARTIAL)
}

/// Returns the number of an image by its name.
fn number(name: &str) -> Option<u64> {
    let digits = name.strip_prefix("data-")?.strip_suffix(".image")?;
    let number = digits.parse().ok().filter(|number| *number < HIGHEST)?;
    (image_name(number) == name).then_some(number)
}

/// Puts the image in its place that a log names, where the folder was not finished when its log was.
pub(super) fn finish_image(folder: &Path, number: u64) -> Result<PathBuf, ImageError> {
    let path = image_path(folder, number);
    if fs::exists(&path).map_err(ImageError::io(&path))? {
        return Ok(path);
    }
    let partial = partial_image(folder, number);
    match fs::rename(partial, &path) {
        Ok(()) => synced_folder(&path).map_err(ImageError::io(&path))?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(ImageError::ImageMissing { path });
        }
        Err(error) => return Err(ImageError::io(&path)(error)),
    }
    Ok(path)
}

/// Checks the name of a folder: one that ends with `.unfinished` is that of a folder which is being written, and
/// which the next attempt removes.
///
/// # Errors
/// [`ImageError::ReservedName`].
pub fn check_folder_name(folder: &Path) -> Result<(), ImageError> {
    let name = folder.file_name().unwrap_or_default();
    if name.to_string_lossy().ends_with(UNFINISHED) {
        Err(ImageError::ReservedName {
            folder: folder.to_owned(),
        })
    } else {
        Ok(())
    }
}
