//! Leases: who of several processes may do something that only one may do at a time.
//!
//! A store holds one record for each lease, and replaces it only if it is still what was read. No clocks are compared:
//! a holder renews the record by counting up, and others take it over once they have seen it unchanged for longer than it
//! lasts. The holder stops relying on it when it lasts no longer, counted from before its last renewal.
//!
//! A process that was stopped for a while may still act on a lease that it has lost. So each lease has a number that
//! grows whenever the lease changes hands, by which what it guards refuses an earlier holder
//! (Kleppmann, "How to do distributed locking": fencing tokens).

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::Mutex;
use uuid::Uuid;

use crate::store::{LeaseRecord, SchemaStore, SchemaStoreError};

/// One process that holds a lease, or waits for it.
pub struct Lease {
    store: Arc<dyn SchemaStore>,
    name: String,
    holder: String,
    lasts: Duration,
    known: Mutex<Known>,
}

/// What a process knows of a lease.
#[derive(Default)]
struct Known {
    /// The record while it is held here, and until when that can be relied on.
    held: Option<(LeaseRecord, Instant)>,
    /// The record of another holder, and since when it has not changed.
    seen: Option<(LeaseRecord, Instant)>,
}

/// A lease that is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeldLease {
    /// The number of the lease, which is larger than that of all earlier holders.
    pub number: u64,
    /// When it ends unless it is renewed.
    pub until: Instant,
}

impl Lease {
    /// Prepares to hold the lease of a name. One that is not renewed ends after the time that it `lasts`. `holder` is
    /// how others name this process, such as its address.
    #[must_use]
    pub fn new(
        store: Arc<dyn SchemaStore>,
        name: impl Into<String>,
        holder: &str,
        lasts: Duration,
    ) -> Self {
        let process = Uuid::new_v4().simple();
        Lease {
            store,
            name: name.into(),
            holder: format!("{holder}#{process}"),
            lasts,
            known: Mutex::default(),
        }
    }

    /// Returns how records name this process.
    pub(crate) fn holder(&self) -> &str {
        &self.holder
    }

    /// Returns how long the lease lasts without being renewed.
    #[must_use]
    pub fn lasts(&self) -> Duration {
        self.lasts
    }

    /// Takes the lease if it is free or its holder has not renewed it, or renews it if it is held here and a third of its
    /// time is over. Returns `None` while someone else holds it.
    ///
    /// Whoever waits for the lease calls this at least twice in the time that it lasts.
    ///
    /// # Errors
    /// When the store fails. If the lease was held before, it still is until the time that was returned.
    pub async fn hold(&self) -> Result<Option<HeldLease>, SchemaStoreError> {
        let mut known = self.known.lock().await;
        let started = Instant::now();
        if let Some((record, until)) = known.held.clone() {
            if until.saturating_duration_since(started) > self.lasts * 2 / 3 {
                return Ok(Some(held(&record, until)));
            }
            return self.renew(&mut known, &record, started).await;
        }
        let stored = self.store.lease(&self.name).await?;
        let next = match &stored {
            None => self.record(1),
            Some(record) if record.holder.is_empty() => self.record(record.number + 1),
            Some(record) => {
                let since = match &known.seen {
                    Some((seen, since)) if seen == record => *since,
                    _ => {
                        // It is as old as the answer at least.
                        known.seen = Some((record.clone(), Instant::now()));
                        return Ok(None);
                    }
                };
                // Clocks do not run at exactly the same speed.
                if since.elapsed() <= self.lasts + self.lasts / 8 {
                    return Ok(None);
                }
                tracing::warn!(
                    lease = self.name,
                    holder = record.holder,
                    "taking over a lease that its holder has not renewed"
                );
                self.record(record.number + 1)
            }
        };
        self.swap(&mut known, stored.as_ref(), next, started).await
    }

    /// Raises the number of the lease, if it is held here, to that `number`, where leases were kept in another store
    /// before. Returns `None` if someone else has taken it.
    ///
    /// # Errors
    /// As [`Lease::hold`].
    pub async fn raise(&self, number: u64) -> Result<Option<HeldLease>, SchemaStoreError> {
        let mut known = self.known.lock().await;
        let started = Instant::now();
        let Some((record, _)) = known.held.clone() else {
            return Ok(None);
        };
        let next = LeaseRecord {
            number: number.max(record.number),
            beat: record.beat + 1,
            ..record.clone()
        };
        self.swap(&mut known, Some(&record), next, started).await
    }

    /// Gives the lease back, if it is held here.
    ///
    /// # Errors
    /// When the store fails; the lease ends by its time then.
    pub async fn release(&self) -> Result<(), SchemaStoreError> {
        let mut known = self.known.lock().await;
        let Some((record, _)) = known.held.take() else {
            return Ok(());
        };
        let free = LeaseRecord {
            holder: String::new(),
            number: record.number,
            beat: record.beat + 1,
        };
        let swapped = self.store.swap_lease(&self.name, Some(&record), &free);
        swapped.await.map(drop)
    }

    async fn renew(
        &self,
        known: &mut Known,
        record: &LeaseRecord,
        started: Instant,
    ) -> Result<Option<HeldLease>, SchemaStoreError> {
        let next = LeaseRecord {
            beat: record.beat + 1,
            ..record.clone()
        };
        if let Some(held) = self.swap(known, Some(record), next, started).await? {
            return Ok(Some(held));
        }
        // An earlier renewal may have come through although its answer was lost.
        let stored = self.store.lease(&self.name).await?;
        let own =
            stored.filter(|stored| stored.holder == self.holder && stored.number == record.number);
        match own {
            Some(stored) => {
                let next = LeaseRecord {
                    beat: stored.beat + 1,
                    ..stored.clone()
                };
                self.swap(known, Some(&stored), next, started).await
            }
            None => {
                tracing::warn!(lease = self.name, "a lease was lost to another process");
                Ok(None)
            }
        }
    }

    async fn swap(
        &self,
        known: &mut Known,
        expected: Option<&LeaseRecord>,
        next: LeaseRecord,
        started: Instant,
    ) -> Result<Option<HeldLease>, SchemaStoreError> {
        let is_swapped = self.store.swap_lease(&self.name, expected, &next).await?;
        known.seen = None;
        known.held = is_swapped.then(|| (next, started + self.lasts));
        Ok(known
            .held
            .as_ref()
            .map(|(record, until)| held(record, *until)))
    }

    fn record(&self, number: u64) -> LeaseRecord {
        LeaseRecord {
            holder: self.holder.clone(),
            number,
            beat: 0,
        }
    }
}

fn held(record: &LeaseRecord, until: Instant) -> HeldLease {
    HeldLease {
        number: record.number,
        until,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::InMemorySchemaStore;

    const LONG: Duration = Duration::from_secs(3_600);

    fn lease(store: &Arc<InMemorySchemaStore>, lasts: Duration) -> Lease {
        let store: Arc<dyn SchemaStore> = Arc::clone(store) as _;
        Lease::new(store, "indexes", "here", lasts)
    }

    async fn number(lease: &Lease) -> Option<u64> {
        lease.hold().await.unwrap().map(|held| held.number)
    }

    #[tokio::test]
    async fn one_of_two_holds_a_lease_until_it_gives_it_back() {
        let store = Arc::new(InMemorySchemaStore::default());
        let (one, two) = (lease(&store, LONG), lease(&store, LONG));
        assert_eq!(number(&one).await, Some(1));
        assert_eq!(number(&two).await, None);
        assert_eq!(number(&one).await, Some(1));
        one.release().await.unwrap();
        assert_eq!(number(&two).await, Some(2));
        assert_eq!(number(&one).await, None);
        one.release().await.unwrap();
        assert_eq!(number(&two).await, Some(2));
    }

    #[tokio::test]
    async fn a_holder_that_does_not_renew_is_replaced_and_learns_of_it() {
        let store = Arc::new(InMemorySchemaStore::default());
        let (one, two) = (lease(&store, Duration::ZERO), lease(&store, Duration::ZERO));
        assert_eq!(number(&one).await, Some(1));
        assert_eq!(number(&two).await, None, "it is seen for the first time");
        assert_eq!(number(&one).await, Some(1), "it is renewed");
        assert_eq!(number(&two).await, None, "it has changed");
        assert_eq!(number(&two).await, Some(2));
        assert_eq!(number(&one).await, None, "it was taken over");
        assert_eq!(number(&one).await, None, "it is seen for the first time");
        assert_eq!(number(&one).await, Some(3));
    }

    #[tokio::test]
    async fn only_a_holder_raises_the_number_of_a_lease() {
        let store = Arc::new(InMemorySchemaStore::default());
        let (one, two) = (lease(&store, LONG), lease(&store, LONG));
        assert_eq!(number(&one).await, Some(1));
        assert_eq!(two.raise(9).await.unwrap(), None);
        for (wanted, number) in [(7, 7), (3, 7)] {
            let raised = one.raise(wanted).await.unwrap();
            assert_eq!(raised.map(|held| held.number), Some(number));
        }
        one.release().await.unwrap();
        assert_eq!(number(&two).await, Some(8));
    }

    #[tokio::test]
    async fn a_renewal_whose_answer_was_lost_is_found_again() {
        let store = Arc::new(InMemorySchemaStore::default());
        let one = lease(&store, Duration::ZERO);
        assert_eq!(number(&one).await, Some(1));
        let stored = store.lease("indexes").await.unwrap().unwrap();
        let lost = LeaseRecord {
            beat: stored.beat + 1,
            ..stored.clone()
        };
        assert!(
            store
                .swap_lease("indexes", Some(&stored), &lost)
                .await
                .unwrap()
        );
        assert_eq!(number(&one).await, Some(1));
    }
}
