//! The objects of some changes, each once.

use std::collections::BTreeMap;

use graph_store::write::{ChangeKind, ChangeRecord};
use oxrdf::NamedNode;

/// The objects of some changes, each once, by what happened to it last.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Changed {
    /// Those that are new, or were deleted and created again.
    pub(super) created: Vec<NamedNode>,
    pub(super) updated: Vec<NamedNode>,
    pub(super) deleted: Vec<NamedNode>,
}

impl Changed {
    pub(super) fn of(records: &[ChangeRecord]) -> Self {
        let mut kinds: BTreeMap<&NamedNode, ChangeKind> = BTreeMap::new();
        for change in records.iter().flat_map(|record| &record.said.changes) {
            for object in &change.objects {
                let kind = kinds.entry(object).or_insert(change.kind);
                // What was created is new to who follows, whatever has become of its values since.
                if (*kind, change.kind) != (ChangeKind::Created, ChangeKind::Updated) {
                    *kind = change.kind;
                }
            }
        }
        let mut changed = Changed::default();
        for (object, kind) in kinds {
            let list = match kind {
                ChangeKind::Created => &mut changed.created,
                ChangeKind::Updated => &mut changed.updated,
                ChangeKind::Deleted => &mut changed.deleted,
            };
            list.push(object.clone());
        }
        changed
    }

    /// Returns all of them.
    pub(super) fn all(&self) -> impl Iterator<Item = &NamedNode> {
        let lists = [&self.created, &self.updated, &self.deleted];
        lists.into_iter().flatten()
    }

    /// Returns the number of objects in some records, those that are there several times counted as often.
    pub(super) fn size(records: &[ChangeRecord]) -> usize {
        let changes = records.iter().flat_map(|record| &record.said.changes);
        changes.map(|change| change.objects.len()).sum()
    }
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use graph_store::write::{ChangedObjects, NewRecord};

    use super::*;

    fn record(sequence: u64, changes: &[(ChangeKind, &[&str])]) -> ChangeRecord {
        let changes = changes.iter().map(|(kind, objects)| ChangedObjects {
            kind: *kind,
            object_type: "T".to_owned(),
            objects: nodes(objects),
        });
        let said = NewRecord {
            request: sequence.to_string(),
            idempotency_key: None,
            digest: String::new(),
            time: SystemTime::UNIX_EPOCH,
            changes: changes.collect(),
        };
        ChangeRecord { sequence, said }
    }

    fn nodes(names: &[&str]) -> Vec<NamedNode> {
        let names = names.iter();
        names
            .map(|name| NamedNode::new_unchecked(format!("urn:{name}")))
            .collect()
    }

    #[test]
    fn an_object_is_there_once_and_new_if_it_was_created_meanwhile() {
        use ChangeKind::{Created, Deleted, Updated};
        let records = [
            record(
                1,
                &[(Created, &["new", "gone", "back"]), (Updated, &["old"])],
            ),
            record(
                2,
                &[
                    (Updated, &["new", "old", "both"]),
                    (Deleted, &["gone", "back", "other"]),
                ],
            ),
            record(3, &[(Created, &["back"]), (Deleted, &["both"])]),
            record(4, &[(Updated, &["back"])]),
        ];
        let expected = Changed {
            created: nodes(&["back", "new"]),
            updated: nodes(&["old"]),
            deleted: nodes(&["both", "gone", "other"]),
        };
        assert_eq!(Changed::of(&records), expected);
        assert_eq!(Changed::of(&records).all().count(), 6);
        assert_eq!(Changed::size(&records), 13);
    }
}
