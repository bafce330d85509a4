//! The memory that all requests of a process may hold together.
//!
//! A [`MemoryBudget`] is shared by everything that grows with what clients send and ask for:
//! request bodies, results of stores, and responses that are not sent yet. Each request has a
//! [`MemoryAccount`], which gives back what is left of it when it is dropped. The count covers what
//! grows; it is not the size of the process.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::context::ResultMemory;

/// Bytes that each account holds without asking, so that small requests are served while large
/// ones hold the whole budget.
const FREE: usize = 32 << 10;

/// The bytes that all requests together may hold.
///
/// Cheap to clone; clones share everything.
#[derive(Clone, Debug)]
pub struct MemoryBudget {
    inner: Arc<Budget>,
}

#[derive(Debug)]
struct Budget {
    limit: usize,
    held: AtomicUsize,
    /// A part of another budget, which counts what this one counts too.
    whole: Option<MemoryBudget>,
}

/// The budget is exhausted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the requests being served hold all memory that they may")]
pub struct OutOfMemory;

impl MemoryBudget {
    /// Creates a budget of `limit` bytes.
    #[must_use]
    pub fn new(limit: usize) -> Self {
        MemoryBudget::with(limit, None)
    }

    /// Creates a budget without a limit.
    #[must_use]
    pub fn unlimited() -> Self {
        MemoryBudget::new(usize::MAX)
    }

    /// Creates a budget for a part of this one: what it holds, this one holds too.
    #[must_use]
    pub fn part(&self, limit: usize) -> Self {
        MemoryBudget::with(limit.min(self.limit()), Some(self.clone()))
    }

    fn with(limit: usize, whole: Option<MemoryBudget>) -> Self {
        MemoryBudget {
            inner: Arc::new(Budget {
                limit,
                held: AtomicUsize::new(0),
                whole,
            }),
        }
    }

    /// Returns the limit, in bytes.
    #[must_use]
    pub fn limit(&self) -> usize {
        self.inner.limit
    }

    /// Returns the bytes that are held now.
    #[must_use]
    pub fn held(&self) -> usize {
        self.inner.held.load(Ordering::Relaxed)
    }

    /// Opens the account of one request.
    #[must_use]
    pub fn account(&self) -> MemoryAccount {
        MemoryAccount {
            budget: self.clone(),
            held: AtomicUsize::new(0),
        }
    }

    fn take(&self, bytes: usize) -> Result<(), OutOfMemory> {
        let held = &self.inner.held;
        let taken = held.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |held| {
            held.checked_add(bytes)
                .filter(|sum| *sum <= self.inner.limit)
        });
        taken.map_err(|_| OutOfMemory)?;
        if let Some(whole) = &self.inner.whole
            && whole.take(bytes).is_err()
        {
            held.fetch_sub(bytes, Ordering::Relaxed);
            return Err(OutOfMemory);
        }
        Ok(())
    }

    fn give_back(&self, bytes: usize) {
        if bytes == 0 {
            return;
        }
        self.inner.held.fetch_sub(bytes, Ordering::Relaxed);
        if let Some(whole) = &self.inner.whole {
            whole.give_back(bytes);
        }
    }
}

impl Default for MemoryBudget {
    fn default() -> Self {
        MemoryBudget::unlimited()
    }
}

/// The share of a [`MemoryBudget`] that one request uses; released on drop.
#[derive(Debug)]
pub struct MemoryAccount {
    budget: MemoryBudget,
    held: AtomicUsize,
}

impl MemoryAccount {
    /// Opens another account of the same budget, for a part of the request that gives back what it holds on its
    /// own.
    #[must_use]
    pub fn another(&self) -> MemoryAccount {
        self.budget.account()
    }

    /// Returns the number of bytes that the request uses.
    #[must_use]
    pub fn held(&self) -> usize {
        self.held.load(Ordering::Relaxed)
    }

    /// Holds `bytes` more.
    ///
    /// # Errors
    /// When the budget has no room for them; then nothing changes.
    pub fn grow(&self, bytes: usize) -> Result<(), OutOfMemory> {
        let before = self.held.fetch_add(bytes, Ordering::Relaxed);
        let counted = charged(before.saturating_add(bytes)) - charged(before);
        if counted == 0 {
            return Ok(());
        }
        self.budget.take(counted).inspect_err(|_| {
            self.held.fetch_sub(bytes, Ordering::Relaxed);
        })
    }

    /// Holds `bytes` more, waiting for others to give some back for up to `patience`.
    ///
    /// # Errors
    /// When the budget has no room for them until then.
    pub async fn grow_within(&self, bytes: usize, patience: Duration) -> Result<(), OutOfMemory> {
        let mut left = patience;
        loop {
            match self.grow(bytes) {
                Ok(()) => return Ok(()),
                Err(error) if left.is_zero() => return Err(error),
                Err(_) => tokio::time::sleep(RETRY.min(left)).await,
            }
            left = left.saturating_sub(RETRY);
        }
    }

    /// Like [`MemoryAccount::grow_within`], for a thread that may block.
    ///
    /// # Errors
    /// When the budget has no room for them until then.
    pub fn grow_blocking(&self, bytes: usize, patience: Duration) -> Result<(), OutOfMemory> {
        let mut left = patience;
        loop {
            match self.grow(bytes) {
                Ok(()) => return Ok(()),
                Err(error) if left.is_zero() => return Err(error),
                Err(_) => std::thread::sleep(RETRY.min(left)),
            }
            left = left.saturating_sub(RETRY);
        }
    }

    /// Gives back `bytes`, at most all that is held.
    pub fn shrink(&self, bytes: usize) {
        let before = self
            .held
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |held| {
                Some(held.saturating_sub(bytes))
            })
            .unwrap_or_else(|held| held);
        let after = before.saturating_sub(bytes);
        self.budget.give_back(charged(before) - charged(after));
    }
}

impl Default for MemoryAccount {
    /// Opens an account of a budget without a limit.
    fn default() -> Self {
        MemoryBudget::unlimited().account()
    }
}

impl Drop for MemoryAccount {
    fn drop(&mut self) {
        self.budget.give_back(charged(self.held()));
    }
}

/// Longest time that a request whose thread may block waits for memory.
pub const PATIENCE: Duration = Duration::from_millis(250);

/// The results of calls, as a part of what a request holds.
#[derive(Debug)]
pub struct RequestMemory {
    account: Arc<MemoryAccount>,
    held: AtomicUsize,
    /// The thread may block.
    may_wait: bool,
}

impl RequestMemory {
    /// Counts results in the account of a request. Where the thread may block, it waits for memory for
    /// up to [`PATIENCE`].
    #[must_use]
    pub fn new(account: Arc<MemoryAccount>, may_wait: bool) -> Self {
        RequestMemory {
            account,
            held: AtomicUsize::new(0),
            may_wait,
        }
    }
}

impl ResultMemory for RequestMemory {
    fn hold(&self, bytes: usize) -> bool {
        let grown = if self.may_wait {
            self.account.grow_blocking(bytes, PATIENCE)
        } else {
            self.account.grow(bytes)
        };
        if grown.is_ok() {
            self.held.fetch_add(bytes, Ordering::Relaxed);
        }
        grown.is_ok()
    }

    fn held(&self) -> usize {
        self.held.load(Ordering::Relaxed)
    }

    fn release_to(&self, bytes: usize) {
        let held = self.held.swap(bytes, Ordering::Relaxed);
        self.account.shrink(held.saturating_sub(bytes));
    }
}

impl Drop for RequestMemory {
    fn drop(&mut self) {
        self.release_to(0);
    }
}

/// Longest wait between two tries.
const RETRY: Duration = Duration::from_millis(10);

/// Returns what an allocator takes for as many bytes: multiples of 16, and a few bytes of its own.
#[must_use]
pub fn allocated(bytes: usize) -> usize {
    match bytes {
        0 => 0,
        bytes => (bytes + size_of::<usize>()).next_multiple_of(16).max(32),
    }
}

/// What a budget counts of an account that holds `bytes`.
fn charged(bytes: usize) -> usize {
    bytes.saturating_sub(FREE)
}

#[cfg(test)]
mod tests {
    use std::pin::pin;

    use futures::poll;

    use super::*;

    const KB: usize = 1 << 10;

    #[test]
    fn a_budget_refuses_what_does_not_fit_and_counts_nothing_of_it() {
        let budget = MemoryBudget::new(100 * KB);
        let account = budget.account();
        account.grow(FREE + 60 * KB).unwrap();
        assert_eq!(account.grow(41 * KB), Err(OutOfMemory));
        assert_eq!(budget.held(), 60 * KB);
        account.grow(40 * KB).unwrap();
        account.shrink(10 * KB);
        assert_eq!(budget.held(), 90 * KB);
        drop(account);
        assert_eq!(budget.held(), 0);
    }

    #[test]
    fn small_requests_fit_into_a_full_budget() {
        let budget = MemoryBudget::new(100 * KB);
        let large = budget.account();
        large.grow(FREE + 100 * KB).unwrap();
        assert_eq!(budget.account().grow(FREE), Ok(()));
        assert_eq!(budget.account().grow(FREE + 1), Err(OutOfMemory));
    }

    #[test]
    fn a_part_is_bounded_by_itself_and_by_the_whole() {
        let whole = MemoryBudget::new(100 * KB);
        let part = whole.part(40 * KB);
        let (first, second) = (part.account(), whole.account());
        assert_eq!(first.grow(FREE + 41 * KB), Err(OutOfMemory));
        second.grow(FREE + 80 * KB).unwrap();
        assert_eq!(first.grow(FREE + 21 * KB), Err(OutOfMemory));
        assert_eq!((whole.held(), part.held()), (80 * KB, 0));
        first.grow(FREE + 20 * KB).unwrap();
        assert_eq!((whole.held(), part.held()), (100 * KB, 20 * KB));
    }

    #[tokio::test]
    async fn a_request_waits_shortly_for_room() {
        let budget = MemoryBudget::new(100 * KB);
        let first = budget.account();
        first.grow(FREE + 100 * KB).unwrap();
        let second = budget.account();
        let soon = Duration::from_millis(20);
        assert_eq!(second.grow_within(64 * KB, soon).await, Err(OutOfMemory));
        let mut waiting = pin!(second.grow_within(64 * KB, Duration::from_secs(60)));
        assert!(poll!(&mut waiting).is_pending());
        drop(first);
        assert_eq!(waiting.await, Ok(()));
    }

    #[test]
    fn giving_back_more_than_is_held_gives_back_all() {
        let budget = MemoryBudget::new(100 * KB);
        let account = budget.account();
        account.grow(FREE + 10 * KB).unwrap();
        account.shrink(usize::MAX);
        assert_eq!((account.held(), budget.held()), (0, 0));
    }
}
