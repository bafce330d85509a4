//! A set of keys that a server publishes, kept here and fetched again while it is used.
//!
//! Requests go on with the keys that are there while new ones are fetched. A request waits only
//! when its token is signed with a key that is not known yet. While the server cannot be reached,
//! the keys that were fetched last go on being used.

use std::error::Error;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use arc_swap::ArcSwap;
use reqwest::Client;
use tokio::sync::Notify;
use traces::Exchange;

use super::compact::Compact;
use super::fetch::{ClientError, FetchError, client, fetch, traced};
use super::key::{Key, Match, find};
use super::options::KeysAddress;
use super::refusal::Refusal;

/// How often keys are fetched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Times {
    /// Age after which keys are fetched again.
    pub fresh: Duration,
    /// Minimum time between two fetches for the sake of unknown keys.
    pub unknown: Duration,
    /// Delay after a failure.
    pub retry: Duration,
    /// Maximum time of one fetch.
    pub fetch: Duration,
}

impl Default for Times {
    fn default() -> Self {
        Times {
            fresh: Duration::from_secs(300),
            unknown: Duration::from_secs(60),
            retry: Duration::from_secs(5),
            fetch: Duration::from_secs(5),
        }
    }
}

/// The set of keys at an address.
#[derive(Debug)]
pub struct Jwks {
    address: KeysAddress,
    client: Client,
    times: Times,
    keys: ArcSwap<Vec<Key>>,
    state: Mutex<State>,
    /// Wakes waiters when a fetch has ended.
    ended: Notify,
}

#[derive(Debug)]
struct State {
    is_running: bool,
    /// Some fetch has succeeded.
    has_keys: bool,
    /// When the next regular fetch is due.
    due: Instant,
    /// When keys were last fetched for the sake of an unknown one.
    unknown: Option<Instant>,
}

impl Jwks {
    /// Creates an empty set, which is fetched when it is first used.
    ///
    /// # Errors
    ///
    /// Fails when TLS cannot be set up.
    pub fn new(address: &KeysAddress, times: Times) -> Result<Self, ClientError> {
        Ok(Jwks {
            address: address.clone(),
            client: client(address.url(), times.fetch)?,
            times,
            keys: ArcSwap::default(),
            state: Mutex::new(State {
                is_running: false,
                has_keys: false,
                due: Instant::now(),
                unknown: None,
            }),
            ended: Notify::new(),
        })
    }

    /// Starts to fetch the keys if that is due, and does not wait for them.
    pub(super) fn refresh(self: &Arc<Self>) {
        let mut state = self.state();
        if !state.is_running && Instant::now() >= state.due {
            self.start(&mut state);
        }
    }

    /// Looks for the key of a token; waits for new keys when none is known that the token means.
    pub(super) async fn find(self: &Arc<Self>, token: &Compact<'_>) -> Result<Match, Refusal> {
        self.refresh();
        // A fetch that was running may have begun before the key was there.
        for _ in 0..2 {
            let mut ended = pin!(self.ended.notified());
            // From here on the end of a fetch is not missed.
            ended.as_mut().enable();
            let found = find(&self.keys.load(), token);
            let is_known = match found {
                Match::NoKey => false,
                // Without a name of the key it may be any, and also one that is not here yet.
                Match::Wrong => token.key.is_some(),
                Match::Verified => true,
            };
            if is_known {
                return Ok(found);
            }
            if !self.fetches_unknown() {
                break;
            }
            // The fetch has a timeout of its own; this is for a runtime that is ending.
            let _ = tokio::time::timeout(self.times.fetch * 2, ended).await;
        }
        match find(&self.keys.load(), token) {
            Match::NoKey if !self.state().has_keys => Err(Refusal::KeysUnavailable),
            found => Ok(found),
        }
    }

    /// Returns whether keys are being fetched, or can be now for the sake of an unknown one.
    fn fetches_unknown(self: &Arc<Self>) -> bool {
        let mut state = self.state();
        if state.is_running {
            return true;
        }
        let now = Instant::now();
        let can = if state.has_keys {
            let last = state.unknown;
            last.is_none_or(|last| now.duration_since(last) >= self.times.unknown)
        } else {
            // Before the first keys are there, only failures bound how often it is tried.
            now >= state.due
        };
        if can {
            state.unknown = Some(now).filter(|_| state.has_keys);
            self.start(&mut state);
        }
        can
    }

    /// Fetches in a task of its own, so that it does not end with the request that needs it.
    fn start(self: &Arc<Self>, state: &mut State) {
        state.is_running = true;
        let running = Running(Arc::clone(self));
        let traced = traced(self.address.url());
        tokio::spawn(async move {
            let jwks = &running.0;
            match jwks.fetched(traced).await {
                Ok(keys) => jwks.replace(keys),
                Err(error) => {
                    let cause = error.source().map(ToString::to_string);
                    let kept = jwks.keys.load().len();
                    tracing::warn!(%error, cause, kept, "failed to fetch the keys of tokens");
                }
            }
        });
    }

    async fn fetched(&self, traced: Exchange) -> Result<Vec<Key>, FetchError> {
        let body = fetch(&self.client, self.address.url(), traced).await?;
        let read = tokio::task::spawn_blocking(move || Key::from_json(&body));
        let keys = read.await.ok().flatten();
        keys.ok_or(FetchError::NotKeys)
    }

    fn replace(&self, keys: Vec<Key>) {
        let count = keys.len();
        if count == 0 {
            tracing::warn!("the key set has no key to verify tokens with");
        } else if self.keys.load().len() != count {
            tracing::info!(count, "keys of tokens fetched");
        }
        self.keys.store(Arc::new(keys));
        let mut state = self.state();
        state.has_keys = true;
        state.due = Instant::now() + self.times.fresh;
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Nothing that holds it can leave it half changed.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A fetch that is running; it ends when this is dropped, however that comes.
struct Running(Arc<Jwks>);

impl Drop for Running {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.is_running = false;
        // With keys available there is no hurry.
        let factor = if state.has_keys { 6 } else { 1 };
        let retry = Instant::now() + self.0.times.retry * factor;
        state.due = state.due.max(retry);
        drop(state);
        self.0.ended.notify_waiters();
    }
}
