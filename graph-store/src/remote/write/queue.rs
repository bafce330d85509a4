//! The queue of the transactions of one store in this process.
//!
//! Transactions wait for each other, so those of one process never conflict. The queue knows which
//! sequence comes next and gives it to the transaction whose turn it is. Others may write to the same
//! server, so the sequence is a guess, which every transaction makes sure of as part of what it does: no
//! record may have it. A transaction that is wrong conflicts, and the next one asks the server again.
//! Reading the maximum within transactions would be simpler, and would let each conflict with all others.
//!
//! A transaction whose end no one saw may still be committed, such as one of a service that was killed. On
//! servers that keep transactions apart with exceptions, it is made to conflict before the next one begins.

use std::sync::Arc;

use call_context::CallContext;
use futures::lock::{Mutex, OwnedMutexGuard};

use super::log::Log;
use crate::error::StoreError;

/// The queue; knows the next sequence as far as the last transaction found it out.
#[derive(Debug, Default)]
pub(in crate::remote) struct Queue(Arc<Mutex<Next>>);

/// What is known about the next sequence.
#[derive(Clone, Copy, Debug, Default)]
enum Next {
    /// The transaction before took the one before.
    Known(u64),
    /// The server knows it: someone else may have taken what was thought to be next.
    Moved,
    /// A transaction whose end no one saw may take it: one of a process before, or one whose answer is
    /// lost.
    #[default]
    Open,
}

/// The turn of a transaction; the next one comes when it is dropped.
#[derive(Debug)]
pub(in crate::remote) struct Turn {
    next: OwnedMutexGuard<Next>,
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
    /// Returns the sequence that the transaction takes if it is committed.
    pub(in crate::remote) async fn sequence(
        &mut self,
        log: Log<'_>,
        context: &CallContext,
    ) -> Result<u64, StoreError> {
        if let Next::Known(next) = *self.next {
            return Ok(next);
        }
        let next = log.next(context).await?;
        *self.next = Next::Known(next);
        Ok(next)
    }

    /// Returns whether a transaction whose end no one saw may still be committed.
    pub(in crate::remote) fn is_open(&self) -> bool {
        matches!(*self.next, Next::Open)
    }

    /// Forgets which sequence is next, until it is known how the transaction ends.
    pub(in crate::remote) fn doubt(&mut self) {
        *self.next = Next::Open;
    }

    /// Notes that the transaction conflicted: another writer may have taken its sequence.
    pub(in crate::remote) fn conflicted(&mut self) {
        *self.next = Next::Moved;
    }

    /// Notes that the sequence is taken.
    pub(in crate::remote) fn took(&mut self, sequence: u64) {
        *self.next = sequence.checked_add(1).map_or(Next::Moved, Next::Known);
    }
}
