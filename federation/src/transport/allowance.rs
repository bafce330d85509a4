//! What the answers of subgraphs may hold: each, all of one request together, and all requests of a process.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use graphql_service::MemoryAccount;

use super::TransportError;

/// What one answer of a subgraph may hold; given back when it is dropped.
///
/// A transport takes bytes of it as they arrive, after decompression, and stops reading where it is refused.
#[derive(Debug)]
pub struct Allowance {
    limit: usize,
    /// Bytes of the answer.
    taken: AtomicUsize,
    /// Bytes that are counted in the account.
    held: AtomicUsize,
    together: Arc<Together>,
}

/// What all answers for one request may hold.
#[derive(Debug)]
pub(crate) struct Together {
    limit: usize,
    taken: AtomicUsize,
    memory: Arc<MemoryAccount>,
}

impl Together {
    /// Allows `limit` bytes, which are counted in the account of the request.
    pub(crate) fn new(limit: usize, memory: Arc<MemoryAccount>) -> Arc<Self> {
        Arc::new(Together {
            limit,
            taken: AtomicUsize::new(0),
            memory,
        })
    }

    /// Allows one answer of at most `limit` bytes.
    pub(crate) fn answer(self: &Arc<Self>, limit: usize) -> Allowance {
        Allowance {
            limit,
            taken: AtomicUsize::new(0),
            held: AtomicUsize::new(0),
            together: Arc::clone(self),
        }
    }
}

impl Allowance {
    /// Allows one answer of at most `limit` bytes that belongs to no request, for tests of transports.
    #[must_use]
    pub fn alone(limit: usize) -> Self {
        Together::new(usize::MAX, Arc::default()).answer(limit)
    }

    /// Returns the maximum length of the answer, in bytes.
    #[must_use]
    pub fn limit(&self) -> usize {
        self.limit
    }

    /// Returns the bytes of the answer that were taken.
    #[must_use]
    pub fn taken(&self) -> usize {
        self.taken.load(Ordering::Relaxed)
    }

    /// Takes bytes of the answer that have arrived.
    ///
    /// # Errors
    /// When the answer is too long, when all answers for the request are, or when all requests of the process
    /// hold what they may.
    pub fn take(&self, bytes: usize) -> Result<(), TransportError> {
        let fits = |taken: &AtomicUsize, limit| {
            let sum = taken.fetch_add(bytes, Ordering::Relaxed);
            sum.saturating_add(bytes) <= limit
        };
        if !fits(&self.taken, self.limit) {
            return Err(TransportError::TooLarge { limit: self.limit });
        }
        if !fits(&self.together.taken, self.together.limit) {
            let limit = self.together.limit;
            return Err(TransportError::TooLargeTogether { limit });
        }
        self.hold(bytes)
    }

    /// Counts memory that is needed beside the bytes of the answer.
    ///
    /// # Errors
    /// When all requests of the process hold what they may.
    pub(crate) fn hold(&self, bytes: usize) -> Result<(), TransportError> {
        let grown = self.together.memory.grow(bytes);
        grown.map_err(|_| TransportError::OutOfMemory)?;
        self.held.fetch_add(bytes, Ordering::Relaxed);
        Ok(())
    }

    /// Gives back memory that was held beside the bytes of the answer.
    pub(crate) fn release(&self, bytes: usize) {
        self.held.fetch_sub(bytes, Ordering::Relaxed);
        self.together.memory.shrink(bytes);
    }

    /// Takes the bytes of an answer that the transport has not taken.
    pub(crate) fn settle(&self, length: usize) -> Result<(), TransportError> {
        match length.saturating_sub(self.taken()) {
            0 => Ok(()),
            left => self.take(left),
        }
    }
}

impl Drop for Allowance {
    fn drop(&mut self) {
        self.together.memory.shrink(*self.held.get_mut());
    }
}

#[cfg(test)]
mod tests {
    use graphql_service::MemoryBudget;

    use super::*;

    #[test]
    fn each_bound_refuses_on_its_own_and_memory_is_given_back() {
        let budget = MemoryBudget::new(100_000);
        let together = Together::new(250_000, Arc::new(budget.account()));
        let (first, second) = (together.answer(120_000), together.answer(200_000));
        first.take(100_000).unwrap();
        assert!(matches!(
            first.take(20_001),
            Err(TransportError::TooLarge { limit: 120_000 })
        ));
        assert!(matches!(
            second.take(100_000),
            Err(TransportError::OutOfMemory)
        ));
        drop(first);
        second.take(50_000).unwrap();
        assert!(matches!(
            together.answer(usize::MAX).take(1),
            Err(TransportError::TooLargeTogether { limit: 250_000 })
        ));
        drop(second);
        assert_eq!(budget.held(), 0);
    }

    #[test]
    fn what_a_transport_has_not_counted_is_counted_once() {
        let allowance = Allowance::alone(100);
        allowance.take(40).unwrap();
        allowance.settle(60).unwrap();
        assert_eq!(allowance.taken(), 60);
        assert!(allowance.settle(101).is_err());
    }
}
