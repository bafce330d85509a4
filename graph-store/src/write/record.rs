//! Records of what was changed, written in the transaction of the change.

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

/// The record of a committed transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangeRecord {
    /// Position in the order of all transactions of the store, from 1 without gaps, except for those of
    /// transactions that were abandoned.
    pub sequence: u64,
    /// What its writer said.
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
