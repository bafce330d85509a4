//! Records of changes in memory, for stores that keep them beside their quads.

use std::collections::{HashMap, VecDeque};
use std::time::SystemTime;

use call_context::CallContext;
use oxrdf::NamedNode;

use crate::error::StoreError;
use crate::write::{ChangeRecord, RecordQuery};

/// Records in memory.
#[derive(Default)]
pub(crate) struct RecordList {
    /// In ascending order of their sequence.
    records: VecDeque<ChangeRecord>,
    requests: HashMap<String, u64>,
    /// Their sequences, ascending.
    keys: HashMap<String, Vec<u64>>,
}

impl RecordList {
    /// Returns all records.
    #[cfg(feature = "image")]
    pub(crate) fn iter(&self) -> impl Iterator<Item = &ChangeRecord> {
        self.records.iter()
    }

    /// Adds the record of a transaction that is committed.
    pub(crate) fn push(&mut self, record: ChangeRecord) {
        self.requests
            .insert(record.said.request.clone(), record.sequence);
        if let Some(key) = &record.said.idempotency_key {
            self.keys
                .entry(key.clone())
                .or_default()
                .push(record.sequence);
        }
        self.records.push_back(record);
    }

    /// Returns the records that are asked for.
    pub(crate) fn find(
        &self,
        query: &RecordQuery,
        context: &CallContext,
    ) -> Result<Vec<ChangeRecord>, StoreError> {
        let found: Vec<&ChangeRecord> = match query {
            RecordQuery::After { sequence, limit } => {
                let from = self.place(sequence.saturating_add(1));
                self.records.range(from..).take(*limit).collect()
            }
            RecordQuery::Request(request) => {
                let sequence = self.requests.get(request);
                sequence
                    .and_then(|&sequence| self.get(sequence))
                    .into_iter()
                    .collect()
            }
            RecordQuery::IdempotencyKey(key) => {
                let sequences = self.keys.get(key).map_or(&[][..], Vec::as_slice);
                sequences
                    .iter()
                    .filter_map(|&sequence| self.get(sequence))
                    .collect()
            }
        };
        context.hold(found.iter().map(|record| footprint(record)).sum())?;
        Ok(found.into_iter().cloned().collect())
    }

    /// Removes the records before a time; returns how many.
    pub(crate) fn forget(&mut self, before: SystemTime) -> u64 {
        let count = self.records.len();
        let (requests, keys) = (&mut self.requests, &mut self.keys);
        self.records.retain(|record| {
            let is_kept = record.said.time >= before;
            if !is_kept {
                requests.remove(&record.said.request);
                if let Some(key) = &record.said.idempotency_key
                    && let Some(sequences) = keys.get_mut(key)
                {
                    sequences.retain(|&sequence| sequence != record.sequence);
                    if sequences.is_empty() {
                        keys.remove(key);
                    }
                }
            }
            is_kept
        });
        self.records.shrink_to(2 * self.records.len());
        (count - self.records.len()) as u64
    }

    fn place(&self, sequence: u64) -> usize {
        self.records
            .partition_point(|record| record.sequence < sequence)
    }

    fn get(&self, sequence: u64) -> Option<&ChangeRecord> {
        let record = self.records.get(self.place(sequence))?;
        (record.sequence == sequence).then_some(record)
    }
}

/// About how many bytes a record takes.
pub(crate) fn footprint(record: &ChangeRecord) -> usize {
    let objects = record
        .said
        .changes
        .iter()
        .flat_map(|change| &change.objects);
    let objects = objects.map(|object| size_of::<NamedNode>() + object.as_str().len());
    size_of::<ChangeRecord>() + objects.sum::<usize>()
}
