//! The file of the log, and what tests do to it.

use std::fmt::{self, Debug};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use redb::StorageBackend;
use redb::backends::FileBackend;

/// What a store does to its files, counted, and what goes wrong there in tests.
#[derive(Debug, Default)]
pub(in crate::image) struct Disk {
    /// Syncs of the log.
    pub(in crate::image) syncs: AtomicU64,
    /// Writes to the part of the log that says which of its states is valid.
    pub(in crate::image) heads: AtomicU64,
    /// Milliseconds that each sync takes longer.
    pub(in crate::image) delay: AtomicU64,
    /// Syncs wait as long as this is so.
    pub(in crate::image) is_held: AtomicBool,
    /// The disk is full.
    pub(in crate::image) is_full: AtomicBool,
    /// Syncs fail.
    pub(in crate::image) fails_to_sync: AtomicBool,
    /// Nothing can be written.
    pub(in crate::image) is_read_only: AtomicBool,
}

/// Bytes of a log that say which of its states is valid.
const HEAD: u64 = 4_096;

impl Disk {
    /// Fails if something may not be written.
    pub(in crate::image) fn check_room(&self) -> io::Result<()> {
        if self.is_full.load(Ordering::SeqCst) {
            Err(io::ErrorKind::StorageFull.into())
        } else {
            Ok(())
        }
    }

    /// Fails if nothing can be written.
    pub(in crate::image) fn check_writable(&self) -> io::Result<()> {
        if self.is_read_only.load(Ordering::SeqCst) {
            Err(io::ErrorKind::ReadOnlyFilesystem.into())
        } else {
            Ok(())
        }
    }

    fn sync(&self) -> io::Result<()> {
        self.syncs.fetch_add(1, Ordering::SeqCst);
        let delay = self.delay.load(Ordering::SeqCst);
        if delay > 0 {
            std::thread::sleep(Duration::from_millis(delay));
        }
        while self.is_held.load(Ordering::SeqCst) {
            std::thread::sleep(Duration::from_millis(1));
        }
        if self.fails_to_sync.load(Ordering::SeqCst) {
            Err(io::Error::other("the sync fails"))
        } else {
            Ok(())
        }
    }
}

/// A file, through a [`Disk`]. It locks nothing: who opens it has locked it.
pub(super) struct LogFile {
    pub(super) file: FileBackend,
    pub(super) disk: Arc<Disk>,
}

impl Debug for LogFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LogFile")
    }
}

impl StorageBackend for LogFile {
    fn len(&self) -> io::Result<u64> {
        self.file.len()
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.file.read(offset, out)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        if len > self.file.len()? {
            self.disk.check_room()?;
        }
        self.file.set_len(len)
    }

    fn sync_data(&self) -> io::Result<()> {
        self.disk.sync()?;
        self.file.sync_data()
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.disk.check_room()?;
        if offset < HEAD {
            self.disk.heads.fetch_add(1, Ordering::SeqCst);
        }
        self.file.write(offset, data)
    }

    fn close(&self) -> io::Result<()> {
        self.file.close()
    }
}
