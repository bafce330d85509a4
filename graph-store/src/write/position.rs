//! Where a reader of the changes of a store goes on.

use super::record::ChangeRecord;

/// A place in the order of all changes of a store, from which a reader goes on.
///
/// It names the change before it by what no other change has, so that a reader notices when it comes back to other
/// data: those of a backup that was restored, or what someone has loaded in their place.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct ChangePosition {
    /// What the changes were made to, where the store knows it; else empty.
    pub origin: String,
    /// The sequence of the last change before it; 0 if there is none.
    pub sequence: u64,
    /// The [attempt](super::NewRecord::request) of that change; absent if there is none or its record was forgotten.
    pub request: Option<String>,
}

/// What has changed after a position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChangesSince {
    /// The first changes after it, in ascending order of their sequence; none if nothing has changed.
    Known(Vec<ChangeRecord>),
    /// The data are others, or records after it were forgotten.
    Unknown,
}

impl ChangePosition {
    /// Returns the position after a change that a reader has come to.
    #[must_use]
    pub fn after(&self, record: &ChangeRecord) -> Self {
        ChangePosition {
            origin: self.origin.clone(),
            sequence: record.sequence,
            request: Some(record.said.request.clone()),
        }
    }

    /// Returns after which sequence a store reads records to go on from here: that of the position is among them, by which
    /// it is recognised.
    #[must_use]
    pub fn reads_after(&self) -> u64 {
        self.sequence.saturating_sub(1)
    }

    /// Returns what has changed, as a store answers [`changes_since`](crate::WriteStore::changes_since): from the records
    /// that it has [read](ChangePosition::reads_after), one more than are to be returned at most, and the highest sequence
    /// that was forgotten.
    #[must_use]
    pub fn changes(
        &self,
        mut records: Vec<ChangeRecord>,
        forgotten: u64,
        limit: usize,
    ) -> ChangesSince {
        let is_here = |record: &&ChangeRecord| record.sequence == self.sequence;
        if let Some(here) = records.first().filter(is_here) {
            if self.request.as_ref() != Some(&here.said.request) {
                return ChangesSince::Unknown;
            }
            records.remove(0);
        } else if forgotten != self.sequence {
            // Without its record, the position is known only where those begin that are kept.
            return ChangesSince::Unknown;
        }
        records.truncate(limit);
        ChangesSince::Known(records)
    }
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::*;
    use crate::write::NewRecord;

    fn record(sequence: u64, request: &str) -> ChangeRecord {
        let said = NewRecord {
            request: request.to_owned(),
            idempotency_key: None,
            digest: String::new(),
            time: SystemTime::UNIX_EPOCH,
            changes: Vec::new(),
        };
        ChangeRecord { sequence, said }
    }

    #[test]
    fn changes_are_known_only_after_the_same_change_or_where_records_begin() {
        let at = |sequence, request: Option<&str>| ChangePosition {
            origin: String::new(),
            sequence,
            request: request.map(str::to_owned),
        };
        let records = |sequences: &[u64]| -> Vec<_> {
            let records = sequences.iter();
            records.map(|n| record(*n, &format!("r{n}"))).collect()
        };
        let known = |sequences: &[u64]| ChangesSince::Known(records(sequences));
        for (position, read, forgotten, expected) in [
            (at(0, None), &[][..], 0, known(&[])),
            (at(0, None), &[1, 2], 0, known(&[1, 2])),
            (at(0, None), &[3], 2, ChangesSince::Unknown),
            (at(2, Some("r2")), &[2, 3], 0, known(&[3])),
            (at(2, Some("r2")), &[2], 1, known(&[])),
            (at(2, Some("other")), &[2, 3], 0, ChangesSince::Unknown),
            // The store has fewer changes than the reader knows.
            (at(2, Some("r2")), &[], 0, ChangesSince::Unknown),
            (at(2, Some("r2")), &[3], 2, known(&[3])),
            (at(2, Some("r2")), &[], 2, known(&[])),
            (at(2, Some("r2")), &[4], 3, ChangesSince::Unknown),
            (at(2, None), &[3], 2, known(&[3])),
            (at(2, None), &[3], 1, ChangesSince::Unknown),
            // Its record would have been forgotten before.
            (at(2, None), &[2, 3], 1, ChangesSince::Unknown),
        ] {
            let found = position.changes(records(read), forgotten, 10);
            assert_eq!(found, expected, "{position:?} {read:?} {forgotten}");
        }
    }
}
