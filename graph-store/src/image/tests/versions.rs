//! Logs in a form that a later version of the program has written: refused as such, and not as damaged.

use redb::{Database, TableDefinition};

use super::*;
use crate::image::ImageError;

/// Returns an entry of the log in another version, with its checksum.
fn entry(version: u8, sequence: u64) -> Vec<u8> {
    let mut bytes = vec![version, 1, 2, 3];
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&sequence.to_le_bytes());
    hasher.update(&bytes);
    bytes.extend(hasher.finalize().to_le_bytes());
    bytes
}

/// Puts an entry into a table of a log.
fn put(folder: &Path, table: &str, sequence: u64, entry: &[u8]) {
    let database = Database::open(folder.join("changes.redb")).unwrap();
    let transaction = database.begin_write().unwrap();
    if table == "state" {
        let definition: TableDefinition<'_, &str, &[u8]> = TableDefinition::new(table);
        let mut table = transaction.open_table(definition).unwrap();
        table.insert("now", entry).unwrap();
    } else {
        let definition: TableDefinition<'_, u64, &[u8]> = TableDefinition::new(table);
        let mut table = transaction.open_table(definition).unwrap();
        table.insert(sequence, entry).unwrap();
    }
    transaction.commit().unwrap();
}

/// Opens a folder whose log was changed; returns the error.
fn refused(change: impl Fn(&Path)) -> ImageError {
    let folder = tempfile::tempdir().unwrap();
    let (store, _, options) = create(folder.path());
    add(&store, 1).unwrap();
    drop(store);
    change(folder.path());
    ImageStore::open(folder.path(), &options).unwrap_err()
}

#[test]
fn a_log_of_a_later_version_is_refused_with_what_helps() {
    let of = |version, table: &'static str, sequence: u64| {
        refused(move |folder| put(folder, table, sequence, &entry(version, sequence)))
    };
    for (table, sequence) in [("state", 0), ("changes", 1), ("records", 1)] {
        let error = of(2, table, sequence);
        assert!(
            matches!(error, ImageError::LogVersion { .. }),
            "{table}: {error}"
        );
        let text = error.to_string();
        assert!(
            text.contains("changes.redb") && text.contains("soml dump"),
            "{text}"
        );
        // In the form of now it is damaged.
        for version in [0, 1] {
            let error = of(version, table, sequence);
            assert!(
                matches!(error, ImageError::LogDamaged { .. }),
                "{table}: {error}"
            );
        }
    }
}

#[test]
fn a_later_version_with_another_checksum_is_damaged() {
    let error = refused(|folder| {
        let mut bytes = entry(2, 1);
        bytes[2] ^= 1;
        put(folder, "changes", 1, &bytes);
    });
    assert!(matches!(error, ImageError::LogDamaged { .. }), "{error}");
}
