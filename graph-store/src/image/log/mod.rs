//! The log of a folder: what was committed since its image was built, and the records of changes.
//!
//! It is a database of [`redb`], whose commits are there as a whole or not at all. What it holds has
//! checksums of ours, since a database trusts its file.

mod entry;
mod file;

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};
use std::time::SystemTime;

#[doc(hidden)]
pub use entry::check_log_entry;
use entry::is_newer;
pub(super) use entry::{Origin, State, history_after, write_change, write_record};
pub(super) use entry::{read_change, read_record};
pub(super) use file::Disk;
use file::LogFile;
use redb::backends::{FileBackend, InMemoryBackend};
use redb::{
    Database, MultimapTableDefinition, ReadableDatabase, ReadableTable, StorageBackend,
    TableDefinition, WriteTransaction,
};

use super::error::ImageError;
use super::lock::{Access, Locked};
use crate::private_files;
use crate::write::{ChangeRecord, QuadChange, RecordQuery};

/// Changes by sequence.
const CHANGES: TableDefinition<'_, u64, &[u8]> = TableDefinition::new("changes");
/// Records by sequence.
const RECORDS: TableDefinition<'_, u64, &[u8]> = TableDefinition::new("records");
/// Sequences by request.
const REQUESTS: TableDefinition<'_, &str, u64> = TableDefinition::new("requests");
/// Sequences by key of idempotency.
const KEYS: MultimapTableDefinition<'_, &str, u64> = MultimapTableDefinition::new("keys");
/// The [`State`] and the [`Origin`], each under one name.
const STATE: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("state");
/// The name of the state.
const NOW: &str = "now";
/// The name of the origin; absent where no merge has made the image.
const ORIGIN: &str = "origin";

/// Bytes of the file that are kept in memory.
const CACHE: usize = 16 << 20;
/// Records that are forgotten in one transaction.
const FORGOTTEN_AT_ONCE: usize = 1_000;

/// A commit, as it is written.
pub(super) struct Entry<'e> {
    pub(super) record: &'e ChangeRecord,
    /// The change, by [`write_change`].
    pub(super) change: &'e [u8],
    /// The record, by [`write_record`].
    pub(super) said: &'e [u8],
}

/// What could not be written.
pub(super) enum Unwritten {
    /// Nothing was written.
    Nothing(ImageError),
    /// It could not be found out whether something was written.
    Unknown(ImageError),
}

/// An open log.
pub(super) struct Log {
    path: PathBuf,
    /// The file, which stays locked whenever the database is opened again: what is opened is what is locked.
    file: Locked,
    disk: Arc<Disk>,
    /// `None` after a failure, until the file can be opened again; and once it is closed.
    database: RwLock<Option<Database>>,
}

/// What a log holds when it is opened.
pub(super) struct Opened {
    pub(super) log: Log,
    pub(super) state: State,
    /// The origin of the data; `None` if that is the image.
    pub(super) origin: Option<Origin>,
    /// What was committed since the image was built, in order, with sequences.
    pub(super) changes: Vec<(u64, QuadChange)>,
    /// What tells these changes, and those since the origin, from others, by [`history_after`]; 0 if there are none.
    pub(super) history: u64,
}

/// What a log says of the data.
struct Content {
    state: State,
    origin: Option<Origin>,
    changes: Vec<(u64, QuadChange)>,
    history: u64,
}

type Failed = Box<dyn std::error::Error + Send + Sync>;

impl Log {
    /// Creates the file of a log, with some records and perhaps a change.
    pub(super) fn create(
        path: &Path,
        state: State,
        change: Option<(u64, &QuadChange)>,
        records: &[ChangeRecord],
    ) -> Result<(), ImageError> {
        let failed = |source: Failed| ImageError::Log {
            path: path.to_owned(),
            source,
        };
        let written = || -> Result<(), Failed> {
            let mut options = private_files::options();
            let file = options.write(true).create_new(true).open(path)?;
            let file = LogFile {
                file: FileBackend::new(file)?,
                disk: Arc::default(),
            };
            let database = builder().create_with_backend(file)?;
            let transaction = database.begin_write()?;
            create_tables(&transaction)?;
            put_state(&transaction, state)?;
            if let Some((sequence, change)) = change {
                let bytes = write_change(sequence, change);
                transaction
                    .open_table(CHANGES)?
                    .insert(sequence, bytes.as_slice())?;
            }
            for record in records {
                put_record(&transaction, record, &write_record(record))?;
            }
            transaction.commit()?;
            drop(database);
            Ok(File::open(path)?.sync_all()?)
        };
        written().map_err(failed)
    }

    /// Opens a log and checks all that it holds.
    pub(super) fn open(path: &Path, file: Locked, disk: Arc<Disk>) -> Result<Opened, ImageError> {
        let log = Log {
            path: path.to_owned(),
            file,
            disk,
            database: RwLock::new(None),
        };
        let database = log.database()?;
        let content = read_all(&database).map_err(|error| log.unreadable(error))?;
        *log.database.write().unwrap_or_else(PoisonError::into_inner) = Some(database);
        Ok(Opened {
            log,
            state: content.state,
            origin: content.origin,
            changes: content.changes,
            history: content.history,
        })
    }

    /// Returns what may be done with the log.
    pub(super) fn access(&self) -> Access {
        self.file.access
    }

    /// Opens the database, and checks its checksums.
    fn database(&self) -> Result<Database, ImageError> {
        let opened = || -> Result<Database, Failed> {
            let file = &self.file.file;
            if file.metadata()?.len() == 0 {
                return Err(Box::new(Damage("it is empty".to_owned())));
            }
            match self.file.access {
                Access::ReadWrite => checked(LogFile {
                    file: FileBackend::new(file.try_clone()?)?,
                    disk: Arc::clone(&self.disk),
                }),
                // The check, and the repair after a crash, write to what they read.
                Access::ReadOnly => checked(copied(file)?),
            }
        };
        opened().map_err(|error| self.unreadable(error))
    }

    /// Returns an error of reading or writing, and whether it is one of the content.
    fn unreadable(&self, error: Failed) -> ImageError {
        let path = self.path.clone();
        if error.is::<Newer>()
            || matches!(
                error.downcast_ref(),
                Some(redb::DatabaseError::UpgradeRequired(_))
            )
        {
            return ImageError::LogVersion { path };
        }
        if let Some(Damage(what)) = error.downcast_ref() {
            let what = what.clone();
            return ImageError::LogDamaged { path, what };
        }
        let is_content =
            matches!(
                error.downcast_ref(),
                Some(redb::DatabaseError::Storage(redb::StorageError::Corrupted(
                    _
                )))
            ) || matches!(error.downcast_ref(), Some(redb::StorageError::Corrupted(_)))
                || matches!(
                    error.downcast_ref(),
                    Some(redb::DatabaseError::Storage(redb::StorageError::Io(io)))
                        if io.kind() == std::io::ErrorKind::InvalidData
                );
        if is_content {
            ImageError::LogDamaged {
                path,
                what: error.to_string(),
            }
        } else {
            ImageError::Log {
                path,
                source: error,
            }
        }
    }

    fn held(&self) -> RwLockReadGuard<'_, Option<Database>> {
        self.database.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does something with the database.
    fn with<R>(&self, work: impl FnOnce(&Database) -> Result<R, Failed>) -> Result<R, ImageError> {
        let held = self.held();
        let database = held.as_ref().ok_or("the log is closed after a failure");
        let done = database.map_err(Failed::from).and_then(|database| {
            let done = catch_unwind(AssertUnwindSafe(|| work(database)));
            done.unwrap_or_else(|_| Err(Box::new(contradiction())))
        });
        done.map_err(|error| self.unreadable(error))
    }

    /// Writes commits and syncs them; `last` is the sequence of the last one that was written before.
    pub(super) fn append(&self, last: u64, entries: &[Entry<'_>]) -> Result<(), Unwritten> {
        self.reopen(last).map_err(Unwritten::Nothing)?;
        let heads = || self.disk.heads.load(Ordering::SeqCst);
        let before = heads();
        let written = self.with(|database| {
            let transaction = database.begin_write()?;
            {
                let mut changes = transaction.open_table(CHANGES)?;
                for entry in entries {
                    changes.insert(entry.record.sequence, entry.change)?;
                }
            }
            for entry in entries {
                put_record(&transaction, entry.record, entry.said)?;
            }
            Ok(transaction.commit()?)
        });
        let Err(error) = written else {
            return Ok(());
        };
        // A database that has failed once fails from then on, and does not say what became of its file.
        self.close();
        let is_nothing = self.reopen(last).is_ok() || heads() == before;
        Err(if is_nothing {
            Unwritten::Nothing(error)
        } else {
            Unwritten::Unknown(error)
        })
    }

    /// Opens the file again after a failure, and removes what no one was told of.
    fn reopen(&self, last: u64) -> Result<(), ImageError> {
        if self.held().is_some() {
            return Ok(());
        }
        let database = self.database()?;
        let removed = remove_after(&database, last);
        removed.map_err(|error| self.unreadable(error))?;
        *self
            .database
            .write()
            .unwrap_or_else(PoisonError::into_inner) = Some(database);
        Ok(())
    }

    /// Closes the database. The file stays locked.
    pub(super) fn close(&self) {
        *self
            .database
            .write()
            .unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Closes the database, and lets others open the file.
    pub(super) fn end(&self) -> std::io::Result<()> {
        self.close();
        self.file.file.unlock()
    }

    /// Finds out whether something can be written now; `last` is the sequence of the last commit.
    pub(super) fn check_room(&self, last: u64) -> Result<(), ImageError> {
        self.reopen(last)?;
        let written = self.with(|database| {
            let state = read_state(database)?;
            let transaction = database.begin_write()?;
            put_state(&transaction, state)?;
            Ok(transaction.commit()?)
        });
        if written.is_err() {
            // The next commit opens it again.
            self.close();
        }
        written
    }

    /// Records that the folder is read from a different image from now on, and removes the changes contained in it;
    /// `last` is the sequence of the last commit. With an error comes whether nothing was written for certain.
    pub(super) fn set_state(
        &self,
        last: u64,
        state: State,
        origin: Option<&Origin>,
    ) -> Result<(), (ImageError, bool)> {
        self.reopen(last).map_err(|error| (error, true))?;
        let set = self.with(|database| {
            let transaction = database.begin_write()?;
            transaction
                .open_table(CHANGES)?
                .retain_in(..=state.base, |_, _| false)?;
            put_state(&transaction, state)?;
            put_origin(&transaction, state.generation, origin)?;
            Ok(transaction.commit()?)
        });
        let Err(error) = set else {
            return Ok(());
        };
        self.close();
        let read = self.reopen(last).and_then(|()| self.with(read_state));
        match read {
            Ok(known) if known == state => Ok(()),
            Ok(_) => Err((error, true)),
            Err(_) => Err((error, false)),
        }
    }

    /// Returns the records that are asked for.
    pub(super) fn records(&self, query: &RecordQuery) -> Result<Vec<ChangeRecord>, ImageError> {
        self.with(|database| {
            let transaction = database.begin_read()?;
            let records = transaction.open_table(RECORDS)?;
            let mut sequences = Vec::new();
            match query {
                RecordQuery::After { sequence, limit } => {
                    let Some(first) = sequence.checked_add(1) else {
                        return Ok(Vec::new());
                    };
                    return records
                        .range(first..)?
                        .take(*limit)
                        .map(|found| {
                            let (sequence, said) = found?;
                            whole_record(sequence.value(), said.value())
                        })
                        .collect();
                }
                RecordQuery::Request(request) => {
                    let requests = transaction.open_table(REQUESTS)?;
                    let found = requests.get(request.as_str())?;
                    sequences.extend(found.map(|sequence| sequence.value()));
                }
                RecordQuery::IdempotencyKey(key) => {
                    let keys = transaction.open_multimap_table(KEYS)?;
                    for sequence in keys.get(key.as_str())? {
                        sequences.push(sequence?.value());
                    }
                }
            }
            let mut found = Vec::with_capacity(sequences.len());
            for sequence in sequences {
                let said = records.get(sequence)?.ok_or_else(|| damaged(sequence))?;
                found.push(whole_record(sequence, said.value())?);
            }
            Ok(found)
        })
    }

    /// Removes some records before a time; returns how many, 0 when none are left.
    pub(super) fn forget_some(&self, before: SystemTime) -> Result<u64, ImageError> {
        let forgotten = self.with(|database| {
            let mut old = Vec::new();
            for found in database.begin_read()?.open_table(RECORDS)?.iter()? {
                let (sequence, said) = found?;
                let record = whole_record(sequence.value(), said.value())?;
                if record.said.time < before {
                    old.push(record);
                }
                if old.len() == FORGOTTEN_AT_ONCE {
                    break;
                }
            }
            if old.is_empty() {
                return Ok(0);
            }
            let transaction = database.begin_write()?;
            for record in &old {
                remove_record(&transaction, record)?;
            }
            transaction.commit()?;
            Ok(old.len() as u64)
        });
        if forgotten.is_err() {
            // The next commit opens it again.
            self.close();
        }
        forgotten
    }
}

/// Opens a database, and checks its checksums.
fn checked(backend: impl StorageBackend) -> Result<Database, Failed> {
    // A file that others have changed may make the database panic.
    let opened = catch_unwind(AssertUnwindSafe(|| builder().create_with_backend(backend)));
    match opened {
        Ok(opened) => Ok(opened?),
        Err(_) => Err(Box::new(contradiction())),
    }
}

/// Copies a file to memory.
fn copied(mut file: &File) -> Result<InMemoryBackend, Failed> {
    let mut content = Vec::new();
    file.seek(SeekFrom::Start(0))?;
    file.read_to_end(&mut content)?;
    let copy = InMemoryBackend::new();
    copy.set_len(content.len() as u64)?;
    copy.write(0, &content)?;
    Ok(copy)
}

fn builder() -> redb::Builder {
    let mut builder = Database::builder();
    builder.set_cache_size(CACHE);
    // Otherwise pages that someone has changed are trusted.
    builder.set_check_integrity_on_open(true);
    builder
}

/// What a log holds is not what was written.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct Damage(String);

/// What a log holds was written by a later version of the program.
#[derive(Debug, thiserror::Error)]
#[error("it was written by a later version of the program")]
struct Newer;

/// Returns why something cannot be read that was written under a sequence.
fn unread(sequence: u64, bytes: &[u8], damage: impl FnOnce() -> Damage) -> Failed {
    if is_newer(sequence, bytes) {
        Box::new(Newer)
    } else {
        Box::new(damage())
    }
}

/// What makes the database panic, which trusts a file that was checked when it was opened.
fn contradiction() -> Damage {
    Damage("its pages contradict each other".to_owned())
}

fn damaged(sequence: u64) -> Damage {
    Damage(format!(
        "transaction {sequence} differs from what was written"
    ))
}

fn whole_record(sequence: u64, said: &[u8]) -> Result<ChangeRecord, Failed> {
    read_record(sequence, said).ok_or_else(|| unread(sequence, said, || damaged(sequence)))
}

fn create_tables(transaction: &WriteTransaction) -> Result<(), Failed> {
    transaction.open_table(CHANGES)?;
    transaction.open_table(RECORDS)?;
    transaction.open_table(REQUESTS)?;
    transaction.open_multimap_table(KEYS)?;
    Ok(())
}

fn put_state(transaction: &WriteTransaction, state: State) -> Result<(), Failed> {
    let bytes = state.write();
    transaction
        .open_table(STATE)?
        .insert(NOW, bytes.as_slice())?;
    Ok(())
}

fn put_origin(
    transaction: &WriteTransaction,
    generation: u64,
    origin: Option<&Origin>,
) -> Result<(), Failed> {
    let mut table = transaction.open_table(STATE)?;
    match origin {
        Some(origin) => {
            table.insert(ORIGIN, origin.write(generation).as_slice())?;
        }
        None => {
            table.remove(ORIGIN)?;
        }
    }
    Ok(())
}

fn put_record(
    transaction: &WriteTransaction,
    record: &ChangeRecord,
    said: &[u8],
) -> Result<(), Failed> {
    transaction
        .open_table(RECORDS)?
        .insert(record.sequence, said)?;
    let request = record.said.request.as_str();
    transaction
        .open_table(REQUESTS)?
        .insert(request, record.sequence)?;
    if let Some(key) = &record.said.idempotency_key {
        transaction
            .open_multimap_table(KEYS)?
            .insert(key.as_str(), record.sequence)?;
    }
    Ok(())
}

fn remove_record(transaction: &WriteTransaction, record: &ChangeRecord) -> Result<(), Failed> {
    let sequence = record.sequence;
    transaction.open_table(RECORDS)?.remove(sequence)?;
    let mut requests = transaction.open_table(REQUESTS)?;
    let request = record.said.request.as_str();
    let is_last = requests
        .get(request)?
        .is_some_and(|known| known.value() == sequence);
    if is_last {
        requests.remove(request)?;
    }
    if let Some(key) = &record.said.idempotency_key {
        transaction
            .open_multimap_table(KEYS)?
            .remove(key.as_str(), sequence)?;
    }
    Ok(())
}

/// Removes all commits after a sequence, and syncs that.
fn remove_after(database: &Database, last: u64) -> Result<(), Failed> {
    let Some(first) = last.checked_add(1) else {
        return Ok(());
    };
    let mut unknown = Vec::new();
    for found in database.begin_read()?.open_table(RECORDS)?.range(first..)? {
        let (sequence, said) = found?;
        unknown.push(whole_record(sequence.value(), said.value())?);
    }
    // Without any, opening the file has synced it.
    if unknown.is_empty() {
        return Ok(());
    }
    let transaction = database.begin_write()?;
    transaction
        .open_table(CHANGES)?
        .retain_in(first.., |_, _| false)?;
    for record in &unknown {
        remove_record(&transaction, record)?;
    }
    Ok(transaction.commit()?)
}

fn read_state(database: &Database) -> Result<State, Failed> {
    let table = database.begin_read()?.open_table(STATE)?;
    let damage = || Damage("its state differs from what was written".to_owned());
    let bytes = table.get(NOW)?.ok_or_else(damage)?;
    State::read(bytes.value()).ok_or_else(|| unread(0, bytes.value(), damage))
}

/// Returns the origin of the image of a number; `None` if there is none, or not one of this version.
fn read_origin(database: &Database, generation: u64) -> Result<Option<Origin>, Failed> {
    let table = database.begin_read()?.open_table(STATE)?;
    let bytes = table.get(ORIGIN)?;
    Ok(bytes.and_then(|bytes| Origin::read(generation, bytes.value())))
}

/// Returns the state of a log and all changes since; checks that none is missing.
fn read_all(database: &Database) -> Result<Content, Failed> {
    let state = read_state(database)?;
    let origin = read_origin(database, state.generation)?;
    let mut history = origin.as_ref().map_or(0, |origin| origin.history);
    let transaction = database.begin_read()?;
    let mut changes = Vec::new();
    let mut next = state.base;
    for found in transaction.open_table(CHANGES)?.iter()? {
        let (sequence, bytes) = found?;
        let sequence = sequence.value();
        next = next.checked_add(1).ok_or_else(|| damaged(sequence))?;
        let bytes = bytes.value();
        history = history_after(history, bytes);
        let change = read_change(sequence, bytes).filter(|_| sequence == next);
        let damage = || damaged(sequence);
        changes.push((
            sequence,
            change.ok_or_else(|| unread(sequence, bytes, damage))?,
        ));
    }
    for found in transaction.open_table(RECORDS)?.iter()? {
        let (sequence, said) = found?;
        whole_record(sequence.value(), said.value())?;
    }
    Ok(Content {
        state,
        origin,
        changes,
        history,
    })
}
