//! Look-ups that everyone who asks at the same time shares, so that no one has more than one of them to answer,
//! however many clients ask for the health of a service.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::sync::Mutex;
use tokio::time::Instant;

/// Time between two look-ups.
const PAUSE: Duration = Duration::from_millis(50);

/// The last look-up, and those who wait for the next.
pub struct SharedLook<T> {
    /// How many look-ups were begun.
    begun: AtomicU64,
    /// Held while a look-up goes on.
    last: Mutex<Last<T>>,
}

struct Last<T> {
    number: u64,
    found: Option<T>,
    /// When the last look-up began, or ended if it did.
    looked: Option<Instant>,
}

impl<T> Default for SharedLook<T> {
    fn default() -> Self {
        SharedLook {
            begun: AtomicU64::new(0),
            last: Mutex::new(Last {
                number: 0,
                found: None,
                looked: None,
            }),
        }
    }
}

impl<T: Clone> SharedLook<T> {
    /// Returns what a look-up finds that begins after this call. Those who call while another goes on share the next.
    pub async fn get<F: Future<Output = T>>(&self, look: impl FnOnce() -> F) -> T {
        let begun_before = self.begun.load(Ordering::SeqCst);
        let mut last = self.last.lock().await;
        if last.number > begun_before
            && let Some(found) = &last.found
        {
            return found.clone();
        }
        if let Some(looked) = last.looked {
            tokio::time::sleep_until(looked + PAUSE).await;
        }
        // A caller that goes away while it looks leaves the turn to the next, after the pause.
        last.looked = Some(Instant::now());
        let number = self.begun.fetch_add(1, Ordering::SeqCst) + 1;
        let found = look().await;
        *last = Last {
            number,
            found: Some(found.clone()),
            looked: Some(Instant::now()),
        };
        found
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::AtomicUsize;

    use futures::future::join_all;
    use tokio::sync::Notify;

    use super::*;

    #[tokio::test]
    async fn many_who_ask_at_once_make_two_look_ups_at_most() {
        let (shared, looks) = (SharedLook::default(), AtomicUsize::new(0));
        let ask = || {
            shared.get(|| async {
                tokio::task::yield_now().await;
                looks.fetch_add(1, Ordering::SeqCst)
            })
        };
        let found = join_all((0..1_000).map(|_| ask())).await;
        // Some have asked before the first look-up began, and the others share one that began later.
        assert!(looks.load(Ordering::SeqCst) <= 2, "{found:?}");
    }

    #[tokio::test]
    async fn nobody_gets_what_was_found_by_a_look_up_that_began_before_they_asked() {
        let shared = Arc::new(SharedLook::default());
        let state = Arc::new(AtomicUsize::new(1));
        let (has_looked, goes_on) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
        let first = {
            let (shared, state) = (Arc::clone(&shared), Arc::clone(&state));
            let (has_looked, goes_on) = (Arc::clone(&has_looked), Arc::clone(&goes_on));
            tokio::spawn(async move {
                let look = || async {
                    let found = state.load(Ordering::SeqCst);
                    has_looked.notify_one();
                    goes_on.notified().await;
                    found
                };
                shared.get(look).await
            })
        };
        has_looked.notified().await;
        state.store(2, Ordering::SeqCst);
        let second = shared.get(|| async { state.load(Ordering::SeqCst) });
        let release = async {
            tokio::task::yield_now().await;
            goes_on.notify_one();
        };
        let (second, ()) = tokio::join!(second, release);
        assert_eq!((first.await.unwrap(), second), (1, 2));
    }

    #[tokio::test]
    async fn a_caller_that_goes_away_leaves_the_look_up_to_the_next() {
        let shared = SharedLook::default();
        let never = shared.get(std::future::pending::<usize>);
        tokio::select! {
            biased;
            _ = never => unreachable!("nothing is found"),
            () = tokio::task::yield_now() => {}
        }
        assert_eq!(shared.get(|| async { 7 }).await, 7);
    }

    #[tokio::test(start_paused = true)]
    async fn callers_that_go_away_make_no_more_look_ups_than_those_that_stay() {
        let (shared, looks) = (SharedLook::default(), AtomicUsize::new(0));
        for _ in 0..1_000 {
            let look = shared.get(|| {
                looks.fetch_add(1, Ordering::SeqCst);
                std::future::pending::<usize>()
            });
            tokio::select! {
                biased;
                _ = look => unreachable!("nothing is found"),
                () = tokio::task::yield_now() => {}
            }
        }
        assert_eq!(looks.load(Ordering::SeqCst), 1, "the pause has not passed");
        assert_eq!(shared.get(|| async { 7 }).await, 7);
    }
}
