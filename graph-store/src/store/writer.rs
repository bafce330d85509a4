//! Stores that can be written to.

use std::time::SystemTime;

use async_trait::async_trait;
use call_context::CallContext;
use oxrdf::{Quad, Term};

use super::GraphStore;
use crate::error::StoreError;
use crate::write::{
    ChangePosition, ChangeRecord, ChangesSince, NewRecord, QuadChange, QuadPattern, RecordQuery,
};

/// A store that can be written to, one transaction after the other.
///
/// A transaction is isolated from all others, those of other programs included: it commits only if
/// everything that it has read is still so. Where the store finds out that it is not, the transaction
/// fails with [`StoreError::Conflict`] and nothing is written; the caller repeats it from its first read.
#[async_trait]
pub trait WriteStore: Send + Sync {
    /// Starts a transaction once those before it are done.
    ///
    /// Transactions of one store wait for each other, so whoever holds one must go on.
    ///
    /// # Errors
    /// [`StoreError::NotIsolated`] where two writers could not be told apart, and those of any call.
    async fn begin(&self, context: &CallContext) -> Result<Box<dyn Transaction>, StoreError>;

    /// Returns the records of committed transactions in ascending order of their sequence.
    ///
    /// A record is returned only when no transaction with a lower sequence can still be committed.
    ///
    /// # Errors
    /// Those of any call.
    async fn records(
        &self,
        query: &RecordQuery,
        context: &CallContext,
    ) -> Result<Vec<ChangeRecord>, StoreError>;

    /// Returns a position from which a reader may go on that has seen nothing yet: whatever it reads from now on has
    /// all changes before it.
    ///
    /// # Errors
    /// Those of any call.
    async fn position(&self, context: &CallContext) -> Result<ChangePosition, StoreError>;

    /// Returns the first changes after a position, at most so many. What is read later has them.
    ///
    /// As with [records](WriteStore::records), none is returned while one before it can still be committed.
    ///
    /// # Errors
    /// Those of any call.
    async fn changes_since(
        &self,
        position: &ChangePosition,
        limit: usize,
        context: &CallContext,
    ) -> Result<ChangesSince, StoreError>;

    /// Returns the highest sequence of all transactions that are committed; 0 if there are none.
    ///
    /// # Errors
    /// Those of any call.
    async fn last_sequence(&self, context: &CallContext) -> Result<u64, StoreError>;

    /// Removes the records of transactions before a time; returns how many.
    ///
    /// # Errors
    /// Those of any call.
    async fn forget_records(
        &self,
        before: SystemTime,
        context: &CallContext,
    ) -> Result<u64, StoreError>;

    /// Returns a term as the store returns it once it is written; some keep values instead of texts, so
    /// that `"05"` comes back as `"5"`. Who wraps a store says what the store says.
    fn as_returned(&self, term: Term) -> Term {
        term
    }

    /// Returns whether what is committed survives the end of the process.
    fn is_durable(&self) -> bool;

    /// Finds out whether there is room for changes now, by a little work that may block. A store that does not
    /// know says that there is.
    ///
    /// # Errors
    /// [`StoreError::DiskFull`] while there is none, and those of writing.
    fn check_room(&self) -> Result<(), StoreError> {
        Ok(())
    }
}

/// A transaction. Dropping it rolls it back.
#[async_trait]
pub trait Transaction: Send + Sync {
    /// Returns the store as this transaction sees it, with all that it has applied; `None` for a store
    /// that cannot show what is not committed.
    fn view(&self) -> Option<&dyn GraphStore>;

    /// Returns the quads of some patterns, each once, without those of change records: one round
    /// trip for every 1,000 patterns. What has been applied is seen, also where there is no
    /// [view](Transaction::view).
    ///
    /// # Errors
    /// Those of any call, and [`StoreError::Conflict`].
    async fn quads(
        &mut self,
        patterns: &[QuadPattern],
        context: &CallContext,
    ) -> Result<Vec<Quad>, StoreError>;

    /// Applies a change.
    ///
    /// # Errors
    /// Those of any call, and [`StoreError::Conflict`]. The transaction cannot be used any more then.
    async fn apply(&mut self, change: QuadChange, context: &CallContext) -> Result<(), StoreError>;

    /// Commits what was applied, and a record of it.
    ///
    /// # Errors
    /// [`StoreError::Conflict`] where nothing was written because of someone else's change, and
    /// [`StoreError::OutcomeUnknown`] when it could not be found out whether it was. After any
    /// other error nothing was written.
    async fn commit(
        self: Box<Self>,
        record: NewRecord,
        context: &CallContext,
    ) -> Result<ChangeRecord, StoreError>;

    /// Ends the transaction without writing anything.
    async fn roll_back(self: Box<Self>);
}
