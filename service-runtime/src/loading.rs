//! How far a load is that clients of the service wait for.

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use rdf_load::thousands;

/// The progress of a load, written by the load and read by requests.
#[derive(Debug, Default)]
pub struct LoadProgress {
    running: AtomicBool,
    files: AtomicUsize,
    files_read: AtomicUsize,
    bytes: AtomicU64,
    statements: AtomicU64,
}

/// The progress at one time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LoadState {
    /// Files to read.
    pub files: usize,
    /// Files that have been read.
    pub files_read: usize,
    /// Bytes read, over all files.
    pub bytes: u64,
    /// Statements read, over all files.
    pub statements: u64,
}

impl LoadProgress {
    /// Begins a load of `files` files.
    pub fn begin(&self, files: usize) {
        self.files.store(files, Ordering::Relaxed);
        self.running.store(true, Ordering::Release);
    }

    /// Ends the load.
    pub fn end(&self) {
        self.running.store(false, Ordering::Release);
    }

    /// Notes how many files have been read.
    pub fn set_files_read(&self, files: usize) {
        self.files_read.store(files, Ordering::Relaxed);
    }

    /// Notes how much has been read.
    pub fn set_read(&self, bytes: u64, statements: u64) {
        self.bytes.store(bytes, Ordering::Relaxed);
        self.statements.store(statements, Ordering::Relaxed);
    }

    /// Returns the progress, while a load runs.
    #[must_use]
    pub fn state(&self) -> Option<LoadState> {
        self.running.load(Ordering::Acquire).then(|| LoadState {
            files: self.files.load(Ordering::Relaxed),
            files_read: self.files_read.load(Ordering::Relaxed),
            bytes: self.bytes.load(Ordering::Relaxed),
            statements: self.statements.load(Ordering::Relaxed),
        })
    }
}

impl fmt::Display for LoadState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the data are being loaded: {} of {} files read, {} statements so far",
            self.files_read,
            self.files,
            thousands(self.statements)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_a_state_while_a_load_runs() {
        let progress = LoadProgress::default();
        assert_eq!(progress.state(), None);
        progress.begin(3);
        progress.set_files_read(1);
        progress.set_read(9, 1_234);
        let state = progress.state().unwrap();
        let text = "the data are being loaded: 1 of 3 files read, 1,234 statements so far";
        assert_eq!(state.to_string(), text);
        progress.end();
        assert_eq!(progress.state(), None);
    }
}
