//! Transactions of a server of RDF4J's protocol for what keeps no records of its changes.

use std::sync::Arc;
use std::time::Duration;

use call_context::CallContext;
use futures::future::BoxFuture;
use spargebra::{Query as Select, Update};
use tokio::runtime::Handle;
use tokio::task::JoinHandle;

use super::endpoint::{HttpEndpoint, within};
use super::exchange::Query;
use super::failover::Purpose;
use super::results::projection;
use super::values::{ResultFormat, ServerKind};
use super::wire::{Failure, Wire};
use crate::error::StoreError;
use crate::query::Dataset;
use crate::remote::Rows;

/// How long the end of a transaction is waited for when it is rolled back.
const ROLL_BACK: Duration = Duration::from_secs(2);

/// An open transaction on one server of RDF4J's protocol, with the isolation level `SERIALIZABLE`: of two transactions,
/// one of which reads what the other changes, one is refused with [`StoreError::Conflict`].
///
/// Unlike a transaction of a [`WriteStore`](crate::store::WriteStore), it writes no record, and does not wait for others
/// of the process. After any failure it must not be used further. It is rolled back when it is dropped uncommitted: a
/// transaction that has conflicted and stays open blocks its repository.
pub struct ServerTransaction {
    wire: Arc<Wire>,
    /// The server has ended it.
    is_over: bool,
    runtime: Handle,
    /// How long a server keeps it without a request.
    lasts: Duration,
}

impl HttpEndpoint {
    /// Begins a transaction on one of the servers.
    ///
    /// # Errors
    /// When the servers do not speak RDF4J's protocol, or no transaction could be begun.
    pub async fn begin(
        self: &Arc<Self>,
        context: &CallContext,
    ) -> Result<ServerTransaction, StoreError> {
        let kind = self.server_kind(context).await?;
        if !matches!(kind, ServerKind::Rdf4j | ServerKind::GraphDb) {
            return Err(StoreError::Unsupported(
                "the store has no transactions: its server does not speak RDF4J's protocol"
                    .to_owned(),
            ));
        }
        let wire = within(context, Wire::begin(self, context)).await?;
        Ok(ServerTransaction {
            wire: Arc::new(wire),
            is_over: false,
            runtime: Handle::current(),
            lasts: self.options().transaction_timeout,
        })
    }
}

impl ServerTransaction {
    /// Runs a SELECT query within the transaction. Inferred statements are not read.
    ///
    /// # Errors
    /// When it fails, or another transaction has changed what this one has read.
    pub async fn select(&self, query: &Select, context: &CallContext) -> Result<Rows, StoreError> {
        let dataset = stated();
        let selected = self.wire.query(query, &dataset, context);
        self.wire.run(context, selected).await
    }

    /// Runs an update within the transaction.
    ///
    /// # Errors
    /// When it fails, or another transaction has changed what this one has read.
    pub async fn update(&self, update: &Update, context: &CallContext) -> Result<(), StoreError> {
        let updated = self.wire.update(update, context);
        self.wire.run(context, updated).await
    }

    /// Commits the transaction.
    ///
    /// # Errors
    /// [`StoreError::Conflict`] and others if it certainly was not committed, and [`StoreError::OutcomeUnknown`] if it may
    /// have been: then [`settle`](Self::settle) finds out.
    pub async fn commit(&mut self, context: &CallContext) -> Result<(), StoreError> {
        let mut failure = None;
        let committed = within(context, async {
            let committed = self.wire.commit(context).await;
            failure = committed.as_ref().err().map(Failure::of);
            committed
        });
        let error = match (committed.await, failure) {
            (Ok(()), _) => {
                self.is_over = true;
                return Ok(());
            }
            (Err(_), Some(Failure::Conflict)) => return Err(StoreError::Conflict),
            (Err(error), Some(Failure::Refused)) => return Err(error),
            (Err(error), _) => error,
        };
        Err(StoreError::OutcomeUnknown(match error {
            StoreError::Unavailable(source) | StoreError::Failed(source) => source,
            error => Box::new(error),
        }))
    }

    /// Finds out whether the transaction was committed although no answer said so: whether the server, once it has ended
    /// the transaction, has a solution of a query for what only this transaction leaves behind.
    ///
    /// Another server that has one proves it too, if `is_written`: if it is there because something was written. What is so because
    /// something was removed may be so at a server that does not know yet what was there.
    ///
    /// # Errors
    /// When that is not known by the deadline.
    pub async fn settle(
        &mut self,
        left: &Select,
        is_written: bool,
        context: &CallContext,
    ) -> Result<bool, StoreError> {
        let wanted = &projection(left)?;
        let (text, dataset) = (left.to_string(), stated());
        let query = Query {
            text: &text,
            dataset: &dataset,
            format: ResultFormat::Json,
        };
        let wire = &self.wire;
        let is_there = |server: Option<usize>| -> BoxFuture<'_, _> {
            if server.is_none() && !is_written {
                return Box::pin(async { Ok(false) });
            }
            Box::pin(within(context, async move {
                let endpoint = wire.endpoint();
                let select = |exchange| -> BoxFuture<'_, _> {
                    Box::pin(endpoint.select_by(exchange, query, wanted))
                };
                let read = endpoint.repeat_on(server, Purpose::Write, context, &select);
                Ok(!read.await?.1.terms.is_empty())
            }))
        };
        let settled = Box::pin(wire.settle(&is_there, context)).await;
        self.is_over = settled.is_ok();
        settled
    }

    /// Rolls the transaction back. Waits for the server, though not for long.
    pub async fn roll_back(mut self) {
        if let Some(task) = self.end() {
            // The task goes on by itself.
            let _ = tokio::time::timeout(ROLL_BACK, task).await;
        }
    }

    /// Ends the transaction of the server in a task of its own, unless it has ended.
    fn end(&mut self) -> Option<JoinHandle<()>> {
        if std::mem::replace(&mut self.is_over, true) {
            return None;
        }
        let (wire, lasts) = (Arc::clone(&self.wire), self.lasts);
        Some(
            self.runtime
                .spawn(async move { wire.end_in_time(lasts, ()).await }),
        )
    }
}

impl Drop for ServerTransaction {
    fn drop(&mut self) {
        self.end();
    }
}

/// Returns all that is stated, and nothing that is inferred.
fn stated() -> Dataset {
    Dataset {
        include_inferred: false,
        expand_same_as: false,
        ..Dataset::default()
    }
}
