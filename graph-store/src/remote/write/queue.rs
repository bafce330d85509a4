//! The queue of the transactions of one store in this process.
//!
//! Transactions wait for each other, so those of one process never conflict. The queue knows which
//! sequence comes next and gives it to the transaction whose turn it is. Others may write to the same
//! server, so the sequence is a guess, which every transaction makes sure of as part of what it does: no
//! record may have it. A transaction that is wrong conflicts, and the next one asks the server again.
//! Reading the maximum within transactions would be simpler, and would let each conflict with all others.

use std::sync::Arc;

use futures::lock::{Mutex, OwnedMutexGuard};

use super::log::Log;
use crate::context::CallContext;
use crate::error::StoreError;

/// The queue; knows the next sequence as far as the last transaction found it out.
#[derive(Debug, Default)]
pub(in crate::remote) struct Queue(Arc<Mutex<Option<u64>>>);

/// The turn of a transaction; the next one comes when it is dropped.
#[derive(Debug)]
pub(in crate::remote) struct Turn {
    next: OwnedMutexGuard<Option<u64>>,
}

impl Queue {
    /// Waits for those before.
    pub(in crate::remote) async fn turn(&self, context: &CallContext) -> Result<Turn, StoreError> {
        let next = super::within(context, async {
            Ok(Arc::clone(&self.0).lock_owned().await)
        });
        Ok(Turn { next: next.await? })
    }
}

impl Turn {
    /// Tells whether the next sequence is known from the transaction before.
    pub(in crate::remote) fn is_known(&self) -> bool {
        self.next.is_some()
    }

    /// Returns the sequence that the transaction takes if it is committed.
    pub(in crate::remote) async fn sequence(
        &mut self,
        log: Log<'_>,
        context: &CallContext,
    ) -> Result<u64, StoreError> {
        if let Some(next) = *self.next {
            return Ok(next);
        }
        let next = log.next(context).await?;
        *self.next = Some(next);
        Ok(next)
    }

    /// Forgets which sequence is next, until [`Turn::took`] says it.
    pub(in crate::remote) fn doubt(&mut self) {
        *self.next = None;
    }

    /// Says that the transaction took its sequence.
    pub(in crate::remote) fn took(&mut self, sequence: u64) {
        *self.next = sequence.checked_add(1);
    }
}
