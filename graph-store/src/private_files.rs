//! Files and folders that only their owner can read: data, backups and whatever lies beside them.
//!
//! They have these permissions from the first byte. Elsewhere than on Unix, the folder around them decides
//! who can read them. A file system without permissions is no error.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::Path;

/// Returns options that open a file for reading, and make it for its owner only where it is made.
#[must_use]
pub fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Makes a file to write to, or empties the one that is there, for its owner only.
///
/// # Errors
/// Those of opening the file.
pub fn create(path: &Path) -> io::Result<File> {
    let file = options()
        .write(true)
        .create(true)
        .truncate(true)
        .open(path)?;
    // One that was there has the permissions of then. It is empty now, and where its permissions cannot be
    // changed, the folder is all that keeps others out.
    let _ = narrow(path);
    Ok(file)
}

/// Makes a folder for its owner only, and those around it that are not there. One that is there stays as
/// it is.
///
/// # Errors
/// Those of making a folder.
pub fn create_folder(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// Takes a file or folder from everyone but its owner.
///
/// # Errors
/// When others can read it or write to it, and that cannot be changed.
#[cfg(unix)]
pub fn narrow(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    const OTHERS: u32 = 0o077;
    let mut permissions = fs::metadata(path)?.permissions();
    if permissions.mode() & OTHERS == 0 {
        return Ok(());
    }
    permissions.set_mode(permissions.mode() & 0o7777 & !OTHERS);
    fs::set_permissions(path, permissions)
}

/// Does nothing: there are no permissions to change.
///
/// # Errors
/// None.
#[cfg(not(unix))]
pub fn narrow(_path: &Path) -> io::Result<()> {
    Ok(())
}

/// Returns whether an error says that something can only be read.
#[must_use]
pub fn is_refused(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem
    )
}

/// Makes a new name in a folder survive the end of the machine.
///
/// # Errors
/// When the folder cannot be opened or written.
pub fn sync_parent(path: &Path) -> io::Result<()> {
    let parent = path.parent().filter(|path| !path.as_os_str().is_empty());
    File::open(parent.unwrap_or(Path::new(".")))?.sync_all()
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn new_and_emptied_files_and_new_folders_are_for_their_owner_only() {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("a/b");
        create_folder(&inner).unwrap();
        assert_eq!(
            (mode(&inner), mode(&folder.path().join("a"))),
            (0o700, 0o700)
        );
        let file = inner.join("file");
        create(&file).unwrap();
        assert_eq!(mode(&file), 0o600);
        fs::set_permissions(&file, PermissionsExt::from_mode(0o644)).unwrap();
        create(&file).unwrap();
        assert_eq!(mode(&file), 0o600);
        fs::set_permissions(&inner, PermissionsExt::from_mode(0o755)).unwrap();
        create_folder(&inner).unwrap();
        assert_eq!(mode(&inner), 0o755, "what is there stays as it is");
        narrow(&inner).unwrap();
        assert_eq!(mode(&inner), 0o700);
    }
}
