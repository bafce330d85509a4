//! Settings of an indexer.

use std::time::Duration;

use crate::mapping::Owner;

/// The settings of an [`Indexer`](super::Indexer).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct IndexerOptions {
    /// Whose indexes these are.
    pub owner: Owner,
    /// Values that cannot be indexed are left out and counted (`indexer.ignoreMalformed`, default
    /// true). If not, they are looked for before anything is written, and end the run.
    pub ignore_malformed: bool,
    /// Builds every index again, and replaces whatever index has the name of an alias unless it is another
    /// application's (`indexer.removePrevious`, default false).
    pub remove_previous: bool,
    /// How long indexes stay that were replaced (`indexer.dropDelay`, default 60 s).
    pub drop_delay: Duration,
    /// GraphQL names of the objects to index; all of the schema if absent. Only if absent are the indexes
    /// of objects removed that the schema no longer has.
    pub only: Option<Vec<String>>,
    /// Bytes of documents that may be read and not written yet, about.
    pub max_bytes: usize,
    /// Bytes of documents that are written at once, about; pages adapt to it.
    pub bulk_bytes: usize,
    /// Maximum number of pages that are read or written at the same time.
    pub pages: usize,
    /// Maximum number of objects of a page.
    pub max_page: usize,
    /// Maximum number of malformed values that an error lists.
    pub max_findings: usize,
    /// Builds an index again where the store does not say whether its data have changed since.
    pub rebuild_unknown: bool,
    /// Maximum number of times that one thing is tried again which the engine or the store leaves undone
    /// (`task.default.retry.maxRetries`). Nothing else tries again what a run does.
    pub max_retries: u32,
    /// Delay before the first of these; it doubles with each.
    pub retry_interval: Duration,
    /// Longest delay (`task.default.retry.delay`).
    pub retry_delay: Duration,
    /// How long a store behind a network may be silent before it is asked whether it is there.
    pub silence: Duration,
    /// How long it may take to answer that.
    pub probe_timeout: Duration,
    /// Maximum number of times that an index is built again of which the engine lost a part.
    pub max_rebuilds: u32,
    /// The number of the lease under which indexes are built, where one of several instances does so at a time; 0 without
    /// one. It is part of their names, and a run does not touch what was built under a later lease.
    pub lease: u64,
    /// How long cleaning up may take after a run that failed or was cancelled.
    pub cleanup_timeout: Duration,
}

impl IndexerOptions {
    /// Creates the default options of an application.
    #[must_use]
    pub fn new(owner: Owner) -> Self {
        IndexerOptions {
            owner,
            ignore_malformed: true,
            remove_previous: false,
            drop_delay: Duration::from_secs(60),
            only: None,
            max_bytes: 64 << 20,
            bulk_bytes: 5 << 20,
            pages: 4,
            max_page: 10_000,
            max_findings: 100,
            rebuild_unknown: false,
            max_retries: 60,
            retry_interval: Duration::from_millis(200),
            retry_delay: Duration::from_secs(10),
            silence: Duration::from_secs(10),
            probe_timeout: Duration::from_secs(3),
            max_rebuilds: 3,
            lease: 0,
            cleanup_timeout: Duration::from_secs(10),
        }
    }

    /// Returns how long to wait before the `number`-th repetition, from 0.
    pub(super) fn delay(&self, number: u32) -> Duration {
        let delay = self
            .retry_interval
            .saturating_mul(2_u32.saturating_pow(number));
        delay.min(self.retry_delay)
    }
}
