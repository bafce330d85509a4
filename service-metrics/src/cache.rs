//! Hits and misses of caches.

use metrics::Counter;

use crate::reading::{Watch, watch};
use crate::table::{CACHE_ENTRIES, CACHE_REQUESTS};

/// Counts the look-ups in a cache.
#[derive(Clone)]
pub struct CacheMetrics {
    hits: Counter,
    misses: Counter,
}

impl CacheMetrics {
    /// Counts for the cache of a name.
    #[must_use]
    pub fn new(cache: &'static str) -> Self {
        let of = |outcome: &'static str| CACHE_REQUESTS.counter([cache.into(), outcome.into()]);
        CacheMetrics {
            hits: of("hit"),
            misses: of("miss"),
        }
    }

    /// Counts a look-up by what it has found, which it returns.
    pub fn found<T>(&self, found: Option<T>) -> Option<T> {
        self.count(found.is_some());
        found
    }

    /// Has the entries of a cache of this name read whenever metrics are, until the result is dropped.
    pub fn watch_entries(
        cache: &'static str,
        entries: impl Fn() -> u64 + Send + Sync + 'static,
    ) -> Watch {
        watch(move |readings| {
            readings.add(&CACHE_ENTRIES, [cache.into()], entries() as f64);
        })
    }

    /// Counts a look-up by whether it has found something.
    pub fn count(&self, is_hit: bool) {
        let counter = if is_hit { &self.hits } else { &self.misses };
        counter.increment(1);
    }
}

impl std::fmt::Debug for CacheMetrics {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CacheMetrics").finish_non_exhaustive()
    }
}
