//! Writing to an image and its changes.

use std::time::SystemTime;

use async_trait::async_trait;
use call_context::CallContext;

use super::ImageStore;
use super::transaction::Open;
use crate::error::StoreError;
use crate::store::{Transaction, WriteStore};
use crate::write::{ChangePosition, ChangeRecord, ChangesSince, RecordQuery};

/// Calls wait for their turn and for syncs without blocking; all else they do on the calling thread. A commit
/// waits for its sync even beyond its deadline: its outcome would be unknown otherwise.
#[async_trait]
impl WriteStore for ImageStore {
    async fn begin(&self, context: &CallContext) -> Result<Box<dyn Transaction>, StoreError> {
        self.check_writable()?;
        let turn = self.shared.queue.turn(context).await?;
        Ok(Box::new(Open::new(&self.shared, turn)))
    }

    async fn records(
        &self,
        query: &RecordQuery,
        context: &CallContext,
    ) -> Result<Vec<ChangeRecord>, StoreError> {
        context.count_call();
        context.check()?;
        self.shared.records(query, context)
    }

    async fn position(&self, context: &CallContext) -> Result<ChangePosition, StoreError> {
        context.count_call();
        context.check()?;
        self.shared.position(context)
    }

    async fn changes_since(
        &self,
        position: &ChangePosition,
        limit: usize,
        context: &CallContext,
    ) -> Result<ChangesSince, StoreError> {
        context.count_call();
        context.check()?;
        self.shared.changes_since(position, limit, context)
    }

    async fn last_sequence(&self, context: &CallContext) -> Result<u64, StoreError> {
        context.check()?;
        Ok(self.shared.version().sequence)
    }

    async fn forget_records(
        &self,
        before: SystemTime,
        context: &CallContext,
    ) -> Result<u64, StoreError> {
        context.count_call();
        context.check()?;
        self.check_writable()?;
        self.shared.forget_records(before, context)
    }

    fn is_durable(&self) -> bool {
        self.shared.folder().is_some()
    }

    fn check_room(&self) -> Result<(), StoreError> {
        self.shared.check_room()
    }
}

impl ImageStore {
    fn check_writable(&self) -> Result<(), StoreError> {
        if self.is_read_only() {
            Err(StoreError::Unsupported(
                "the data are opened for reading only".to_owned(),
            ))
        } else {
            Ok(())
        }
    }
}
