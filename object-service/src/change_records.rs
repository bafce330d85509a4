//! Records of what mutations have changed: pages of them for readers, and the end of old ones.

use std::str::FromStr;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use graph_store::write::{ChangeRecord, ChangedObjects, RecordQuery};
use graph_store::{CallContext, GraphStore, StoreError};
use graphql_service::{SlotError, Slots, Weight};
use oxsdatatypes::DateTime;
use serde::{Deserialize, Serialize};
use tokio::runtime::Handle;

/// Records of a page where the reader does not say.
pub(crate) const DEFAULT_LIMIT: usize = 100;
/// Records of a page at most.
pub const MAX_LIMIT: usize = 1_000;

/// Objects in the records of a page after which it ends, however many records it has.
const MAX_OBJECTS: usize = 20_000;
/// Records that are read first, so that a page of large ones is not read in vain; twice as many follow as
/// long as they are small.
const BATCH: usize = 10;
const SMALL_BATCH: usize = 1_000;

/// Time between two removals of old records, unless the retention is shorter.
const INTERVAL: Duration = Duration::from_secs(60 * 60);
const SHORTEST_INTERVAL: Duration = Duration::from_secs(1);
/// Time that a removal may take.
const REMOVAL_TIME: Duration = Duration::from_secs(10 * 60);

/// A page of change records, as `GET /changes` answers it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ChangePage {
    /// The records, in the order of their sequence.
    pub changes: Vec<Change>,
    /// After which sequence the next page begins.
    pub next: u64,
}

/// What a transaction has changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// Its place in the order of all transactions.
    pub sequence: u64,
    /// When it was executed, in UTC.
    pub time: String,
    /// What happened to which objects.
    pub objects: Vec<Objects>,
}

/// Objects of one type to which the same happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Objects {
    /// `created`, `updated` or `deleted`.
    pub kind: String,
    /// The name of their type in the API.
    #[serde(rename = "type")]
    pub object_type: String,
    /// Their IRIs.
    pub ids: Vec<String>,
}

impl ChangePage {
    fn new(after: u64) -> Self {
        ChangePage {
            changes: Vec::new(),
            next: after,
        }
    }

    fn push(&mut self, record: ChangeRecord) {
        self.next = record.sequence;
        self.changes.push(Change {
            sequence: record.sequence,
            time: timestamp(record.said.time),
            objects: record.said.changes.into_iter().map(Objects::of).collect(),
        });
    }
}

impl Objects {
    fn of(changed: ChangedObjects) -> Self {
        let ids = changed.objects.into_iter();
        Objects {
            kind: changed.kind.name().to_owned(),
            object_type: changed.object_type,
            ids: ids.map(|id| id.into_string()).collect(),
        }
    }
}

/// Returns a time in UTC as `xsd:dateTime`, to the millisecond.
fn timestamp(time: SystemTime) -> String {
    let since = time
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap_or_default();
    let millis = u64::try_from(since.as_millis()).unwrap_or(u64::MAX);
    let since = oxsdatatypes::DayTimeDuration::try_from(Duration::from_millis(millis));
    let epoch = DateTime::from_str("1970-01-01T00:00:00Z").expect("it is a dateTime");
    let time = since
        .ok()
        .and_then(|since| epoch.checked_add_day_time_duration(since));
    time.unwrap_or(epoch).to_string()
}

/// Why records cannot be read or removed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RecordError {
    #[error("the store cannot be written to, so it has no change records")]
    ReadOnly,
    #[error(transparent)]
    Busy(#[from] SlotError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The records of a store.
#[derive(Clone)]
pub(crate) struct Records {
    store: Arc<dyn GraphStore>,
    slots: Arc<Slots>,
}

impl Records {
    pub(crate) fn of(store: &Arc<dyn GraphStore>, slots: &Arc<Slots>) -> Self {
        Records {
            store: Arc::clone(store),
            slots: Arc::clone(slots),
        }
    }

    /// Reads the first records after a sequence, at most `limit`; fewer where they are large.
    pub(crate) async fn page(
        &self,
        after: u64,
        limit: usize,
        context: &CallContext,
    ) -> Result<ChangePage, RecordError> {
        let mut page = ChangePage::new(after);
        let (mut objects, mut batch) = (0, BATCH);
        while page.changes.len() < limit && objects < MAX_OBJECTS {
            let (wanted, before) = (batch.min(limit - page.changes.len()), objects);
            let query = RecordQuery::After {
                sequence: page.next,
                limit: wanted,
            };
            let records = self.read(query, context).await?;
            let is_last = records.len() < wanted;
            for record in records {
                let size: usize = record.said.changes.iter().map(|of| of.objects.len()).sum();
                objects += size;
                if objects > MAX_OBJECTS && !page.changes.is_empty() {
                    return Ok(page);
                }
                page.push(record);
            }
            if is_last {
                break;
            }
            if objects - before <= SMALL_BATCH {
                batch *= 2;
            }
        }
        Ok(page)
    }

    async fn read(
        &self,
        query: RecordQuery,
        context: &CallContext,
    ) -> Result<Vec<ChangeRecord>, RecordError> {
        let writer = self.store.writer().ok_or(RecordError::ReadOnly)?;
        if self.store.local().is_none() {
            return Ok(writer.records(&query, context).await?);
        }
        let (store, own) = (Arc::clone(&self.store), context.clone());
        let read = move |handle: Handle| {
            let writer = store.writer().ok_or(RecordError::ReadOnly)?;
            Ok(handle.block_on(writer.records(&query, &own))?)
        };
        self.in_slot(Weight::Medium, context.deadline, read).await
    }

    /// Removes the records from before a time; returns how many.
    async fn forget(&self, before: SystemTime) -> Result<u64, RecordError> {
        let context = CallContext::new().with_timeout(REMOVAL_TIME);
        let writer = self.store.writer().ok_or(RecordError::ReadOnly)?;
        if self.store.local().is_none() {
            return Ok(writer.forget_records(before, &context).await?);
        }
        let store = Arc::clone(&self.store);
        let forget = move |handle: Handle| {
            let writer = store.writer().ok_or(RecordError::ReadOnly)?;
            Ok(handle.block_on(writer.forget_records(before, &context))?)
        };
        self.in_slot(Weight::Background, None, forget).await
    }

    /// Does what an embedded store does on the thread of its caller where it keeps no one waiting.
    async fn in_slot<T: Send + 'static>(
        &self,
        weight: Weight,
        deadline: Option<Instant>,
        work: impl FnOnce(Handle) -> Result<T, RecordError> + Send + 'static,
    ) -> Result<T, RecordError> {
        let handle = Handle::current();
        let done = self.slots.run(weight, deadline, move |_| work(handle));
        done.await?
    }

    /// Removes records that are older than `retention`, now and from time to time, for as long as
    /// the store can be written to. `is_ready` says whether the store may be used.
    pub(crate) async fn keep_recent(self, retention: Duration, is_ready: impl Fn() -> bool) {
        if self.store.writer().is_none() {
            return;
        }
        let mut has_failed = false;
        loop {
            while !is_ready() {
                tokio::time::sleep(SHORTEST_INTERVAL).await;
            }
            match SystemTime::now().checked_sub(retention) {
                None => {}
                Some(before) => match self.forget(before).await {
                    Ok(0) => has_failed = false,
                    Ok(count) => {
                        has_failed = false;
                        tracing::info!(count, "old change records were removed");
                    }
                    Err(error) if !has_failed => {
                        has_failed = true;
                        let error = &error as &dyn std::error::Error;
                        tracing::warn!(error, "old change records cannot be removed");
                    }
                    Err(_) => {}
                },
            }
            tokio::time::sleep(retention.clamp(SHORTEST_INTERVAL, INTERVAL)).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_in_utc_to_the_millisecond() {
        let at = |millis| timestamp(SystemTime::UNIX_EPOCH + Duration::from_micros(millis));
        assert_eq!(at(0), "1970-01-01T00:00:00Z");
        assert_eq!(at(1_772_366_400_250_999), "2026-03-01T12:00:00.25Z");
    }
}
