//! What a run did.

use std::time::Duration;

use crate::engine::{Built, PhysicalName};

/// What a run did.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Report {
    /// The objects, in the order of the schema.
    pub objects: Vec<ObjectReport>,
    /// Indexes that no alias leads to any more, which
    /// [`Indexer::remove_superseded`](super::Indexer::remove_superseded) deletes.
    pub superseded: Vec<PhysicalName>,
}

/// What a run did for an object.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ObjectReport {
    /// The GraphQL name of the object.
    pub object: String,
    /// The index that its alias leads to.
    pub index: PhysicalName,
    /// The outcome.
    pub outcome: Outcome,
    /// The index stayed, and the store does not say whether its data have changed since it was built.
    pub may_be_older: bool,
}

/// The outcome for an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Nothing: its index is of the same definition and the same data, as far as is known.
    Unchanged,
    /// Its index was built.
    Built {
        /// Number of documents.
        documents: u64,
        /// Number of values that are in no document.
        malformed: u64,
        /// Number of documents that the engine did not take because of a value.
        rejected: u64,
        /// How long it took.
        time: Duration,
    },
}

impl Outcome {
    /// Sets what an index contains after changes were applied to it.
    pub(super) fn set(&mut self, built: &Built) {
        if let Outcome::Built {
            documents,
            malformed,
            rejected,
            ..
        } = self
        {
            (*documents, *malformed, *rejected) =
                (built.documents, built.malformed, built.rejected);
        }
    }
}

impl Report {
    /// Returns whether nothing had to be built.
    #[must_use]
    pub fn is_unchanged(&self) -> bool {
        let mut objects = self.objects.iter();
        objects.all(|object| object.outcome == Outcome::Unchanged)
    }
}
