//! Folders that someone else uses, that only their owner may read, and that cannot be written to.

use std::fs;
use std::sync::atomic::Ordering::SeqCst;

use super::*;
use crate::image::{FolderLock, ImageError, UnfinishedFolder, remove_unfinished, unfinished};
use crate::store::GraphStore;

fn is_in_use(folder: &Path) -> bool {
    let options = FolderOptions::default();
    match ImageStore::open(folder, &options) {
        Err(ImageError::InUse { .. }) => true,
        Ok(_) => false,
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn a_folder_whose_lock_is_removed_or_replaced_is_still_in_use() {
    let folder = tempfile::tempdir().unwrap();
    let lock = folder.path().join("lock");
    let (store, _, options) = create(folder.path());
    add(&store, 1).unwrap();
    fs::remove_file(&lock).unwrap();
    assert!(is_in_use(folder.path()), "without its lock");
    fs::remove_file(&lock).unwrap();
    fs::write(&lock, "another").unwrap();
    assert!(is_in_use(folder.path()), "with another lock");
    let again = ImageStore::create(folder.path(), ImageBuilder::new(), &options);
    assert!(again.is_err());
    add(&store, 2).unwrap();
    drop(store);
    let store = ImageStore::open(folder.path(), &options).unwrap();
    assert_eq!((store.quads(), records(&store)), (2, vec![1, 2]));
}

#[test]
fn a_log_that_is_opened_again_after_a_failure_stays_locked() {
    let folder = tempfile::tempdir().unwrap();
    let (store, disk, _) = create(folder.path());
    disk.is_full.store(true, SeqCst);
    assert!(add(&store, 1).is_err());
    fs::remove_file(folder.path().join("lock")).unwrap();
    assert!(is_in_use(folder.path()), "while the log is closed");
    disk.is_full.store(false, SeqCst);
    add(&store, 2).unwrap();
    fs::remove_file(folder.path().join("lock")).unwrap();
    assert!(is_in_use(folder.path()), "after it was opened again");
    store.merge().unwrap();
    fs::remove_file(folder.path().join("lock")).unwrap();
    assert!(is_in_use(folder.path()), "over another image");
}

#[test]
fn a_folder_that_is_copied_can_be_read_and_not_be_opened_for_writing() {
    let folder = tempfile::tempdir().unwrap();
    let (store, _, _) = create(folder.path());
    assert!(matches!(
        FolderLock::for_reading(folder.path()),
        Err(ImageError::InUse { .. })
    ));
    drop(store);
    let one = FolderLock::for_reading(folder.path()).unwrap();
    let other = FolderLock::for_reading(folder.path()).unwrap();
    assert!(is_in_use(folder.path()));
    drop((one, other));
    let _alone = FolderLock::for_writing(folder.path()).unwrap();
    assert!(FolderLock::for_reading(folder.path()).is_err());
}

#[test]
fn a_backup_that_is_being_written_is_not_removed() {
    let folder = tempfile::tempdir().unwrap();
    let target = unfinished(&folder.path().join("monday"));
    fs::create_dir(&target).unwrap();
    let writing = FolderLock::for_reading(&target).unwrap();
    assert!(matches!(
        remove_unfinished(&target),
        Err(ImageError::InUse { .. })
    ));
    let (store, _, _) = create(&folder.path().join("data"));
    let refused = store.backup(folder.path().join("monday"));
    assert!(matches!(refused, Err(ImageError::InUse { .. })));
    assert!(target.exists());
    drop(writing);
    store.backup(folder.path().join("monday")).unwrap();
    assert!(!target.exists());
}

#[test]
fn a_folder_is_written_by_one_at_a_time_and_left_alone_by_others() {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("monday");
    let one = UnfinishedFolder::begin(&target).unwrap();
    fs::write(one.path().join("file"), "of one").unwrap();
    let other = UnfinishedFolder::begin(&target);
    assert!(matches!(other, Err(ImageError::InUse { .. })));
    assert!(FolderLock::for_reading(one.path()).is_err());
    assert!(one.path().join("file").exists());
    one.finish().unwrap();
    assert!(target.join("file").exists() && !unfinished(&target).exists());
    let late = UnfinishedFolder::begin(&target).unwrap();
    fs::write(late.path().join("other"), "").unwrap();
    assert!(late.finish().is_err(), "something is there");
    assert!(!target.join("other").exists() && !unfinished(&target).exists());
    drop(UnfinishedFolder::begin(&folder.path().join("tuesday")).unwrap());
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn a_folder_that_cannot_be_written_to_is_read_and_backed_up() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let (store, _, _) = create(&data);
    for number in 1..=3 {
        add(&store, number).unwrap();
    }
    drop(store);
    fs::write(data.join("data-0.image.partial"), "left").unwrap();
    let files = |folder: &Path| {
        let entries = fs::read_dir(folder).unwrap().map(Result::unwrap);
        let mut files: Vec<_> = entries
            .map(|entry| (entry.file_name(), fs::read(entry.path()).unwrap()))
            .collect();
        files.sort();
        files
    };
    let before = files(&data);
    let options = FolderOptions::default();
    options.disk.is_read_only.store(true, SeqCst);
    let store = ImageStore::open(&data, &options).unwrap();
    let other = ImageStore::open(&data, &options).unwrap();
    assert!(store.is_read_only() && GraphStore::writer(&store).is_none());
    assert_eq!((store.quads(), other.quads()), (3, 3));
    assert_eq!(records(&store), [1, 2, 3]);
    let refused = add(&store, 4);
    assert!(
        matches!(refused, Err(StoreError::Unsupported(_))),
        "{refused:?}"
    );
    for refused in [store.merge(), store.replace_data(ImageBuilder::new())] {
        assert!(matches!(refused, Err(ImageError::ReadOnly { .. })));
    }
    assert!(is_in_use(&data), "nobody writes to what is read");
    let copy = folder.path().join("copy");
    store.backup(&copy).unwrap();
    drop((store, other));
    assert_eq!(files(&data), before);
    let copy = ImageStore::open(copy, &FolderOptions::default()).unwrap();
    assert_eq!((copy.quads(), records(&copy)), (3, vec![1, 2, 3]));
    let store = ImageStore::open(&data, &FolderOptions::default()).unwrap();
    assert!(!store.is_read_only());
}

#[test]
fn a_folder_of_a_killed_process_is_read_where_it_cannot_be_repaired() {
    let folder = tempfile::tempdir().unwrap();
    let (killed, data) = (folder.path().join("killed"), folder.path().join("data"));
    let (store, _, _) = create(&data);
    add(&store, 1).unwrap();
    fs::create_dir(&killed).unwrap();
    for name in ["data-1.image", "changes.redb"] {
        fs::copy(data.join(name), killed.join(name)).unwrap();
    }
    let options = FolderOptions::default();
    options.disk.is_read_only.store(true, SeqCst);
    let copy = ImageStore::open(&killed, &options).unwrap();
    assert_eq!((copy.quads(), records(&copy)), (1, vec![1]));
    assert_eq!(
        fs::read_dir(&killed).unwrap().count(),
        2,
        "nothing is made there"
    );
}

#[test]
fn whether_there_is_room_is_looked_at_and_not_remembered() {
    let folder = tempfile::tempdir().unwrap();
    let (store, disk, _) = create(folder.path());
    assert!(store.check_room().is_ok());
    disk.is_full.store(true, SeqCst);
    for _ in 0..2 {
        let checked = store.check_room();
        assert!(
            matches!(checked, Err(StoreError::DiskFull(_))),
            "{checked:?}"
        );
        assert!(add(&store, 1).is_err());
    }
    disk.is_full.store(false, SeqCst);
    assert!(store.check_room().is_ok());
    assert!(store.check_room().is_ok());
    assert_eq!(add(&store, 2).unwrap().sequence, 1);
    assert!(!folder.path().join("room.partial").exists());
    let memory = ImageStore::new(ImageBuilder::new().build().unwrap());
    assert!(memory.check_room().is_ok());
}

#[cfg(unix)]
#[test]
fn data_and_backups_are_readable_by_their_owner_only() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let (data, copy) = (folder.path().join("data"), folder.path().join("copy"));
    let check = |folder: &Path, what: &str| {
        for path in fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().path())
        {
            let mode = fs::metadata(&path).unwrap().permissions().mode() & 0o777;
            assert_eq!(mode, 0o600, "{what}: {}", path.display());
        }
    };
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let (store, _, options) = create(&data);
    add(&store, 1).unwrap();
    store.merge().unwrap();
    store.backup(&copy).unwrap();
    check(&data, "data");
    check(&copy, "a backup");
    assert_eq!((mode(&data), mode(&copy)), (0o700, 0o700));
    drop(store);
    for path in fs::read_dir(&data)
        .unwrap()
        .map(|entry| entry.unwrap().path())
    {
        fs::set_permissions(path, PermissionsExt::from_mode(0o644)).unwrap();
    }
    drop(ImageStore::open(&data, &options).unwrap());
    check(&data, "a folder of an older version");
}
