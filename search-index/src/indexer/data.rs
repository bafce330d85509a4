//! What a store says of the data that an index is made of.

use std::sync::Arc;

use call_context::CallError;
use futures::future::BoxFuture;
use graph_store::write::{ChangePosition, ChangesSince};
use graph_store::{CallContext, GraphStore, StoreError, WriteStore};
use tokio::runtime::Handle;

use crate::engine::{Age, DataPosition};

/// The data of a store.
#[derive(Clone)]
pub struct StoreData {
    store: Arc<dyn GraphStore>,
}

impl StoreData {
    /// Describes the data of a store.
    #[must_use]
    pub fn of(store: &Arc<dyn GraphStore>) -> Self {
        let store = Arc::clone(store);
        StoreData { store }
    }

    /// Returns whether others may change the data without the notice of the store.
    #[must_use]
    pub fn are_changed_by_others(&self) -> bool {
        self.store.version().is_none()
    }

    /// Returns the position of the data as they are: whatever is read from now on is at least as new. `None` if the
    /// store does not say.
    ///
    /// # Errors
    /// When the store cannot be reached.
    pub async fn position(
        &self,
        context: &CallContext,
    ) -> Result<Option<DataPosition>, StoreError> {
        let version = self.store.version().map(|version| DataPosition {
            origin: version.source,
            sequence: version.sequence,
            request: None,
        });
        let asked = self.ask(context, |writer, context| writer.position(context));
        Ok(asked.await?.map(DataPosition::from).or(version))
    }

    /// Returns how old an index is that has the data before a position.
    ///
    /// # Errors
    /// When the store cannot be reached.
    pub async fn age(
        &self,
        position: Option<&DataPosition>,
        context: &CallContext,
    ) -> Result<Age, StoreError> {
        let version = self.store.version();
        let Some(position) = position else {
            return Ok(match version {
                Some(_) => Age::Older,
                None => Age::Unknown,
            });
        };
        Ok(match self.changes_since(position, 1, context).await? {
            Some(ChangesSince::Unknown) => Age::Older,
            Some(ChangesSince::Known(records)) => match records.first() {
                Some(first) => Age::Behind(first.said.time),
                // No one has ever changed them by a mutation.
                None if version.is_none() && position.sequence == 0 => Age::Unknown,
                None => Age::Current,
            },
            None => match version {
                None => Age::Unknown,
                Some(version)
                    if (&version.source, version.sequence)
                        == (&position.origin, position.sequence) =>
                {
                    Age::Current
                }
                Some(_) => Age::Older,
            },
        })
    }

    /// Returns the first changes after a position; `None` if the store has no records of changes.
    ///
    /// # Errors
    /// When the store cannot be reached.
    pub async fn changes_since(
        &self,
        position: &DataPosition,
        limit: usize,
        context: &CallContext,
    ) -> Result<Option<ChangesSince>, StoreError> {
        let position = ChangePosition::from(position);
        self.ask(context, move |writer, context| {
            Box::pin(async move { writer.changes_since(&position, limit, context).await })
        })
        .await
    }

    /// Returns the highest sequence of all changes; `None` if the store has no records of changes.
    ///
    /// # Errors
    /// When the store cannot be reached.
    pub async fn last_sequence(&self, context: &CallContext) -> Result<Option<u64>, StoreError> {
        self.ask(context, |writer, context| writer.last_sequence(context))
            .await
    }

    /// Asks a store that has records of changes; elsewhere if it does its work on the thread that asks.
    async fn ask<T: Send + 'static>(
        &self,
        context: &CallContext,
        ask: impl for<'a> FnOnce(
            &'a dyn WriteStore,
            &'a CallContext,
        ) -> BoxFuture<'a, Result<T, StoreError>>
        + Send
        + 'static,
    ) -> Result<Option<T>, StoreError> {
        let Some(writer) = self.store.writer() else {
            return Ok(None);
        };
        let asked = if self.store.local().is_none() {
            ask(writer, context).await
        } else {
            let (store, context) = (Arc::clone(&self.store), context.clone());
            let work = move || {
                let writer = store.writer().expect("it was there");
                Handle::current().block_on(ask(writer, &context))
            };
            let panicked = StoreError::Call(CallError::Panicked);
            tokio::task::spawn_blocking(work)
                .await
                .unwrap_or(Err(panicked))
        };
        match asked {
            Err(StoreError::Unsupported(_)) => Ok(None),
            asked => asked.map(Some),
        }
    }
}
