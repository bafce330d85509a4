//! Folders whose files are torn, changed or missing: they open to what was there after some commit, or are
//! refused with the name of the file.

use std::collections::BTreeSet;
use std::fs;

use super::*;
use crate::image::ImageError;

/// How many commits the folder has.
const COMMITS: u64 = 12;

/// Writes a folder with an image and a log, and returns its files.
fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let (store, _, _) = create(folder);
    for number in 1..=COMMITS {
        add(&store, number).unwrap();
        if number == COMMITS / 2 {
            store.merge().unwrap();
        }
    }
    drop(store);
    let names = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let names = names.filter(|name| name != "lock");
    let files = names.map(|name| {
        let content = fs::read(folder.join(&name)).unwrap();
        (name, content)
    });
    files.collect()
}

/// Opens a folder with a changed file.
fn check(files: &[(String, Vec<u8>)], changed: &str, content: Option<&[u8]>, what: &str) -> bool {
    let folder = tempfile::tempdir().unwrap();
    for (name, whole) in files {
        match content {
            _ if name != changed => fs::write(folder.path().join(name), whole).unwrap(),
            Some(content) => fs::write(folder.path().join(name), content).unwrap(),
            None => {}
        }
    }
    match ImageStore::open(folder.path(), &FolderOptions::default()) {
        Ok(store) => {
            let held: BTreeSet<String> = store
                .snapshot()
                .iter()
                .map(|quad| quad.to_string())
                .collect();
            let is_whole = (COMMITS / 2..=COMMITS)
                .any(|last| held == (1..=last).map(|number| quad(number).to_string()).collect());
            assert!(is_whole, "{what}: served {held:?}");
            true
        }
        Err(error) => {
            let text = causes(&error);
            assert!(text.contains(changed), "{what}: {text}");
            false
        }
    }
}

#[test]
fn torn_files_are_refused_or_open_to_a_whole_commit() {
    let folder = tempfile::tempdir().unwrap();
    let files = files(folder.path());
    assert_eq!(files.len(), 2, "an image and a log");
    for (name, content) in &files {
        assert!(check(&files, name, Some(content), "as it was"));
        assert!(!check(&files, name, None, "missing"), "{name} is missing");
        let lengths = [
            0,
            1,
            7,
            100,
            4_096,
            content.len() / 3,
            content.len() / 2,
            content.len() - 1,
        ];
        for length in lengths.into_iter().filter(|length| *length < content.len()) {
            check(
                &files,
                name,
                Some(&content[..length]),
                &format!("{length} bytes of {name}"),
            );
        }
    }
}

#[test]
fn flipped_bits_are_refused_or_open_to_a_whole_commit() {
    let folder = tempfile::tempdir().unwrap();
    let files = files(folder.path());
    let wanted: usize = std::env::var("FLIPS")
        .ok()
        .map_or(150, |count| count.parse().expect("a number"));
    for (name, content) in &files {
        // Pages that were never written say nothing: the flips meet what does.
        let used: Vec<usize> = (0..content.len()).filter(|at| content[*at] != 0).collect();
        let mut refused = 0;
        for at in used.iter().step_by((used.len() / wanted).max(1)) {
            let mut changed = content.clone();
            changed[*at] ^= 1 << (at % 8);
            let what = format!("bit {} of byte {at} of {name}", at % 8);
            refused += usize::from(!check(&files, name, Some(&changed), &what));
        }
        assert!(refused > 0, "no flip in {name} is found");
    }
}

#[test]
fn a_log_with_a_gap_is_refused() {
    use redb::{Database, TableDefinition};
    let folder = tempfile::tempdir().unwrap();
    files(folder.path());
    let changes: TableDefinition<'_, u64, &[u8]> = TableDefinition::new("changes");
    let database = Database::open(folder.path().join("changes.redb")).unwrap();
    let transaction = database.begin_write().unwrap();
    transaction
        .open_table(changes)
        .unwrap()
        .remove(COMMITS - 2)
        .unwrap();
    transaction.commit().unwrap();
    drop(database);
    let opened = ImageStore::open(folder.path(), &FolderOptions::default());
    assert!(
        matches!(opened, Err(ImageError::LogDamaged { .. })),
        "{opened:?}"
    );
}

/// The files of a folder, with what is in them.
fn listing(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    let mut found: Vec<_> = entries
        .map(|entry| {
            let name = entry.file_name().into_string().unwrap();
            (name, fs::read(entry.path()).unwrap())
        })
        .collect();
    found.retain(|(name, _)| name != "lock");
    found.sort();
    found
}

fn put(folder: &Path, files: &[(String, Vec<u8>)]) {
    for (name, content) in files {
        fs::write(folder.join(name), content).unwrap();
    }
}

fn image_of(files: &[(String, Vec<u8>)]) -> &(String, Vec<u8>) {
    let mut images = files.iter().filter(|(name, _)| name.contains("image"));
    images.next().unwrap()
}

#[test]
fn what_was_never_finished_is_removed_and_so_are_images_that_were_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let files = files(folder.path());
    let image = image_of(&files);
    for left in [
        "data-0.image",
        "data-100.image.partial",
        "data-100.image.partial.partial",
        "changes.redb.partial",
        "orders.partial",
        "room.partial",
    ] {
        fs::write(folder.path().join(left), &image.1).unwrap();
    }
    let store = ImageStore::open(folder.path(), &FolderOptions::default()).unwrap();
    assert_eq!(store.quads(), COMMITS);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 3);
}

#[test]
fn a_folder_with_an_image_and_without_its_log_is_refused_and_left_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let files = files(folder.path());
    let image = image_of(&files);
    fs::remove_file(folder.path().join("changes.redb")).unwrap();
    let kept = listing(folder.path());
    assert_eq!(kept, std::slice::from_ref(image));
    let options = FolderOptions::default();
    let source = ImageStore::new(ImageBuilder::new().build().unwrap());
    let refused = [
        ImageStore::open(folder.path(), &options).map(drop),
        ImageStore::create(folder.path(), ImageBuilder::new(), &options).map(drop),
        ImageStore::exists(folder.path()).map(drop),
        source.backup(folder.path()),
        source.backup_into(folder.path()),
    ];
    for refused in refused {
        let error = refused.unwrap_err();
        assert!(matches!(error, ImageError::LogMissing { .. }), "{error}");
        let text = error.to_string();
        assert!(
            text.contains(&image.0) && text.contains("changes.redb"),
            "{text}"
        );
    }
    assert_eq!(listing(folder.path()), kept);
    // Its log makes data of it again.
    put(folder.path(), &files);
    let store = ImageStore::open(folder.path(), &options).unwrap();
    assert_eq!(store.quads(), COMMITS);
}

#[test]
fn a_log_without_its_image_is_refused_and_the_other_images_stay() {
    let folder = tempfile::tempdir().unwrap();
    let files = files(folder.path());
    let (name, content) = image_of(&files);
    fs::remove_file(folder.path().join(name)).unwrap();
    for other in ["data-1.image", "data-7.image"] {
        fs::write(folder.path().join(other), content).unwrap();
    }
    let names = || -> Vec<String> {
        let listed = listing(folder.path()).into_iter();
        listed.map(|(name, _)| name).collect()
    };
    let before = names();
    let error = ImageStore::open(folder.path(), &FolderOptions::default()).unwrap_err();
    assert!(matches!(error, ImageError::ImageMissing { .. }), "{error}");
    assert!(error.to_string().contains(name.as_str()), "{error}");
    assert_eq!(names(), before);
}

#[test]
fn an_image_above_the_valid_one_stays_until_a_later_one_is_valid() {
    let folder = tempfile::tempdir().unwrap();
    let files = files(folder.path());
    let later = folder.path().join("data-41.image");
    fs::write(&later, &image_of(&files).1).unwrap();
    let options = FolderOptions::default();
    for _ in 0..2 {
        let store = ImageStore::open(folder.path(), &options).unwrap();
        assert_eq!(store.quads(), COMMITS);
        assert!(later.exists());
    }
    let store = ImageStore::open(folder.path(), &options).unwrap();
    add(&store, 99).unwrap();
    store.merge().unwrap();
    drop(store);
    let listed = listing(folder.path());
    let names: Vec<&str> = listed.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["changes.redb", "data-42.image"]);
    let store = ImageStore::open(folder.path(), &options).unwrap();
    assert_eq!(store.quads(), COMMITS + 1);
}

#[test]
fn a_folder_whose_creation_was_killed_is_created_again() {
    let folder = tempfile::tempdir().unwrap();
    let files = files(folder.path());
    let half = tempfile::tempdir().unwrap();
    fs::write(
        half.path().join("data-1.image.partial"),
        &image_of(&files).1,
    )
    .unwrap();
    fs::write(half.path().join("changes.redb.partial"), "half").unwrap();
    let options = FolderOptions::default();
    let none = ImageStore::open(half.path(), &options).unwrap_err();
    assert!(matches!(none, ImageError::HoldsNoData { .. }), "{none}");
    let store = ImageStore::create(half.path(), ImageBuilder::new(), &options).unwrap();
    assert!(store.is_empty());
}

#[test]
fn a_creation_that_was_killed_once_its_log_was_there_is_finished() {
    let folder = tempfile::tempdir().unwrap();
    let (store, _, options) = create(folder.path());
    add(&store, 1).unwrap();
    drop(store);
    let image = folder.path().join("data-1.image");
    fs::rename(&image, folder.path().join("data-1.image.partial")).unwrap();
    let store = ImageStore::open(folder.path(), &options).unwrap();
    assert_eq!(store.quads(), 1);
    assert!(image.exists());
}

#[test]
fn no_store_is_created_where_an_unfinished_one_would_be_removed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data.unfinished");
    let options = FolderOptions::default();
    let error = ImageStore::create(&path, ImageBuilder::new(), &options).unwrap_err();
    assert!(matches!(error, ImageError::ReservedName { .. }), "{error}");
    assert!(!path.exists());
    let store = ImageStore::new(ImageBuilder::new().build().unwrap());
    let error = store.backup(&path).unwrap_err();
    assert!(matches!(error, ImageError::ReservedName { .. }), "{error}");
}
