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
    let names = fs::read_dir(folder).unwrap();
    let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
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
        Err(ImageError::HoldsNoData { .. }) => {
            assert!(content.is_none() && changed.contains("redb"), "{what}");
            false
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
    let wanted = std::env::var("FLIPS").ok();
    let wanted: usize = wanted.map_or(150, |count| count.parse().expect("a number"));
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

#[test]
fn what_a_crash_left_is_removed() {
    let folder = tempfile::tempdir().unwrap();
    let files = files(folder.path());
    let image = files
        .iter()
        .find(|(name, _)| name.contains("image"))
        .unwrap();
    for left in [
        "data-99.image",
        "data-100.image.partial",
        "changes.redb.partial",
    ] {
        fs::write(folder.path().join(left), &image.1).unwrap();
    }
    let store = ImageStore::open(folder.path(), &FolderOptions::default()).unwrap();
    assert_eq!(store.quads(), COMMITS);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 3);
}
