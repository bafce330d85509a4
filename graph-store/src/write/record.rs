//! Records of what was changed, written in the transaction of the change.

use std::collections::{BTreeMap, BTreeSet};
use std::time::SystemTime;

use oxrdf::NamedNode;

/// What happened to an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ChangeKind {
    /// It was created.
    Created,
    /// Some of its values changed.
    Updated,
    /// It was deleted.
    Deleted,
}

impl ChangeKind {
    /// All kinds.
    pub const ALL: [ChangeKind; 3] = [
        ChangeKind::Created,
        ChangeKind::Updated,
        ChangeKind::Deleted,
    ];

    /// Returns the name of the kind in records and in output.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            ChangeKind::Created => "created",
            ChangeKind::Updated => "updated",
            ChangeKind::Deleted => "deleted",
        }
    }
}

/// Objects of one type to which the same happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedObjects {
    /// What happened to them.
    pub kind: ChangeKind,
    /// The name of their concrete type in the schema, as GraphQL shows it.
    pub object_type: String,
    /// The objects, sorted, each once.
    pub objects: Vec<NamedNode>,
}

/// What the writer of a transaction says about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewRecord {
    /// Identifier of this attempt, unique: what a lost answer to a commit is looked up by.
    pub request: String,
    /// The key by which the client repeats the request, if it gave one.
    pub idempotency_key: Option<String>,
    /// A digest of the request, which a repetition must have too; empty without a key.
    pub digest: String,
    /// When the request was executed.
    pub time: SystemTime,
    /// What happened to which objects, grouped.
    pub changes: Vec<ChangedObjects>,
}

impl NewRecord {
    /// Returns the record with one group per kind and type, none of them empty, sorted by both: the
    /// form in which every store returns it.
    #[must_use]
    pub fn grouped(self) -> Self {
        let mut groups: BTreeMap<(ChangeKind, String), BTreeSet<NamedNode>> = BTreeMap::new();
        for change in self.changes {
            let group = groups.entry((change.kind, change.object_type));
            group.or_default().extend(change.objects);
        }
        groups.retain(|_, objects| !objects.is_empty());
        let changes = groups
            .into_iter()
            .map(|((kind, object_type), objects)| ChangedObjects {
                kind,
                object_type,
                objects: objects.into_iter().collect(),
            });
        NewRecord {
            changes: changes.collect(),
            ..self
        }
    }
}

/// The record of a committed transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangeRecord {
    /// Position in the order of all transactions of the store, from 1 without gaps, except for those of
    /// transactions that were abandoned.
    pub sequence: u64,
    /// What its writer said, [grouped](NewRecord::grouped).
    pub said: NewRecord,
}

/// Which records to return.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RecordQuery {
    /// Those after a sequence, at most so many.
    After {
        /// The sequence; 0 for all.
        sequence: u64,
        /// The maximum number of records.
        limit: usize,
    },
    /// Those of an attempt, whether older transactions are still open or not.
    Request(String),
    /// Those under a key, whether older transactions are still open or not.
    IdempotencyKey(String),
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use oxrdf::NamedNode;

    use super::{ChangeKind, ChangedObjects, NewRecord};

    #[test]
    fn groups_are_sorted_and_each_object_is_in_one_of_a_kind_and_type_once() {
        let of = |kind, object_type: &str, names: &[&str]| ChangedObjects {
            kind,
            object_type: object_type.to_owned(),
            objects: names
                .iter()
                .map(|name| NamedNode::new_unchecked(*name))
                .collect(),
        };
        let said = NewRecord {
            request: "r".to_owned(),
            idempotency_key: None,
            digest: String::new(),
            time: SystemTime::UNIX_EPOCH,
            changes: vec![
                of(ChangeKind::Updated, "B", &["urn:c", "urn:a"]),
                of(ChangeKind::Created, "B", &["urn:d"]),
                of(ChangeKind::Deleted, "A", &[]),
                of(ChangeKind::Updated, "A", &["urn:a"]),
                of(ChangeKind::Updated, "B", &["urn:a", "urn:b"]),
            ],
        };
        let expected = vec![
            of(ChangeKind::Created, "B", &["urn:d"]),
            of(ChangeKind::Updated, "A", &["urn:a"]),
            of(ChangeKind::Updated, "B", &["urn:a", "urn:b", "urn:c"]),
        ];
        assert_eq!(said.grouped().changes, expected);
    }
}
