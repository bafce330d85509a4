//! One of several servers: its connections, and for how long it is left out.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use reqwest::Url;
use tokio::sync::{Semaphore, SemaphorePermit};

/// A server that requests are sent to.
///
/// Whoever sends them records how each one ended, and asks before the next one which servers are left out.
#[derive(Debug)]
pub struct Server {
    base: Url,
    connections: Semaphore,
    state: Mutex<State>,
}

/// What is known of a server since it last answered.
#[derive(Debug, Default)]
struct State {
    failures: u32,
    aside_until: Option<Instant>,
    /// When the server wants to be asked again.
    not_before: Option<Instant>,
}

impl Server {
    /// Creates a server that has not failed, and to which at most `connections` are open at the same time.
    #[must_use]
    pub fn new(base: Url, connections: usize) -> Self {
        Server {
            base,
            connections: Semaphore::new(connections.min(Semaphore::MAX_PERMITS)),
            state: Mutex::default(),
        }
    }

    /// Returns its address.
    #[must_use]
    pub fn base(&self) -> &Url {
        &self.base
    }

    /// Waits for a free connection; returns none when that takes longer than `timeout`.
    pub async fn connection(&self, timeout: Option<Duration>) -> Option<SemaphorePermit<'_>> {
        let permit = self.connections.acquire();
        let permit = match timeout {
            None => permit.await,
            Some(timeout) => tokio::time::timeout(timeout, permit).await.ok()?,
        };
        Some(permit.expect("the semaphore is never closed"))
    }

    /// Leaves the server out for `time`, twice as long after each further failure, but at most for `longest`. Returns
    /// whether it is the first failure since the server last answered.
    pub fn set_aside(&self, time: Duration, longest: Duration) -> bool {
        let mut state = self.state();
        let time = time.saturating_mul(2_u32.saturating_pow(state.failures.min(16)));
        state.aside_until = Instant::now().checked_add(time.min(longest));
        state.failures = state.failures.saturating_add(1);
        state.failures == 1
    }

    /// Records that the server asks for no further requests before `time` has passed.
    pub fn put_off(&self, time: Duration) {
        self.state().not_before = Instant::now().checked_add(time);
    }

    /// Returns for how long the server asks for no further requests.
    #[must_use]
    pub fn put_off_for(&self) -> Duration {
        let until = self.state().not_before;
        until.map_or(Duration::ZERO, |until| {
            until.saturating_duration_since(Instant::now())
        })
    }

    /// Records that the server answered. Returns whether it had failed before.
    pub fn set_back(&self) -> bool {
        std::mem::take(&mut *self.state()).failures > 0
    }

    /// Returns whether the server has failed since it last answered.
    #[must_use]
    pub fn has_failed(&self) -> bool {
        self.state().failures > 0
    }

    /// Returns until when the server is left out, if it is.
    #[must_use]
    pub fn aside_until(&self) -> Option<Instant> {
        let state = self.state();
        let until = state.aside_until.max(state.not_before);
        until.filter(|until| *until > Instant::now())
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(3_600);

    fn server() -> Server {
        Server::new(Url::parse("http://a").unwrap(), 1)
    }

    #[test]
    fn a_server_that_fails_again_is_left_out_for_longer_up_to_a_bound() {
        let server = server();
        assert_eq!(server.aside_until(), None);
        assert!(!server.has_failed());
        assert!(server.set_aside(LONG, 3 * LONG) && server.has_failed());
        let once = server.aside_until().unwrap();
        assert!(!server.set_aside(LONG, 3 * LONG));
        let twice = server.aside_until().unwrap();
        assert!(twice >= once + LONG);
        server.set_aside(LONG, 3 * LONG);
        assert!(server.aside_until().unwrap() <= Instant::now() + 3 * LONG);
        assert!(server.set_back() && !server.set_back() && !server.has_failed());
        assert_eq!(server.aside_until(), None);
    }

    #[test]
    fn a_server_that_wants_to_be_left_alone_is_left_out() {
        let server = server();
        assert_eq!(server.put_off_for(), Duration::ZERO);
        server.put_off(LONG);
        assert!(server.put_off_for() > LONG / 2 && server.aside_until().is_some());
        assert!(!server.set_back(), "it did not fail");
    }

    #[tokio::test]
    async fn whoever_waits_too_long_for_a_connection_gets_none() {
        let server = server();
        let first = server.connection(None).await;
        assert!(first.is_some());
        let soon = Some(Duration::from_millis(1));
        assert!(server.connection(soon).await.is_none());
        drop(first);
        assert!(server.connection(None).await.is_some());
    }
}
