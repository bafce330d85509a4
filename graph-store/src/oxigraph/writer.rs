//! Writing to the embedded store.

use std::time::SystemTime;

use async_trait::async_trait;
use call_context::CallContext;
use oxrdf::Term;

use super::OxigraphStore;
use super::normal::normal_term;
use super::shared::ON_DISK;
use super::transaction::Open;
use crate::error::StoreError;
use crate::store::{Transaction, WriteStore};
use crate::write::{ChangeRecord, RecordQuery};

/// Calls wait for their turn without blocking; all else they do on the calling thread.
#[async_trait]
impl WriteStore for OxigraphStore {
    async fn begin(&self, context: &CallContext) -> Result<Box<dyn Transaction>, StoreError> {
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
        let shared = &self.shared;
        shared.records.find(&shared.store(), query, context)
    }

    async fn forget_records(
        &self,
        before: SystemTime,
        context: &CallContext,
    ) -> Result<u64, StoreError> {
        context.count_call();
        context.check()?;
        if let Some(count) = self.shared.records.forget(before) {
            return Ok(count);
        }
        let mut count = 0;
        loop {
            // Others write between the parts of a long list.
            let _turn = self.shared.queue.turn(context).await?;
            let forgotten = self.shared.forget_some(before)?;
            count += forgotten as u64;
            if forgotten == 0 {
                return Ok(count);
            }
        }
    }

    fn as_returned(&self, term: Term) -> Term {
        normal_term(term)
    }

    fn is_durable(&self) -> bool {
        self.shared.provider == ON_DISK
    }
}
