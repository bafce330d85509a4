//! Argon2 in slots of its own: it takes tens of milliseconds and 19 MiB each, on purpose.
//!
//! However many log-ins arrive, they take at most two cores, and leave one to others.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::available_parallelism;
use std::time::{Duration, Instant};

use argon2::Argon2;
use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{PasswordHasher, PasswordVerifier};
use call_context::{SlotError, Slots, Weight};
use outbound::Secret;

use super::ProviderError;
use crate::provisioning::Password;

/// Maximum number of hashes at once.
const MAX_PARALLEL: usize = 2;
/// Maximum number of log-ins that wait for a slot, and how long they wait.
const MAX_WAITING: usize = 64;
const PATIENCE: Duration = Duration::from_secs(10);

/// Where passwords are compared with hashes.
pub(super) struct Hashing {
    slots: Arc<Slots>,
    load: Arc<Load>,
}

/// How many hashes are computed now, and how many were at most.
#[derive(Default)]
struct Load {
    running: AtomicUsize,
    peak: AtomicUsize,
}

/// Counts one hash as long as it lives.
struct Running(Arc<Load>);

impl Hashing {
    pub(super) fn new(slots: Option<Arc<Slots>>) -> Self {
        Hashing {
            slots: slots.unwrap_or_else(|| Arc::new(password_slots())),
            load: Arc::default(),
        }
    }

    /// Returns whether a password is the one of a hash.
    pub(super) async fn verify(&self, password: Secret, hash: Secret) -> Result<bool, SlotError> {
        let load = Arc::clone(&self.load);
        let deadline = Instant::now() + PATIENCE;
        let job = move |_| {
            let _running = Running::begin(load);
            is_password_of(&password, &hash)
        };
        self.slots.run(Weight::Medium, Some(deadline), job).await
    }

    /// Returns how many hashes may be computed at once, and how many were at most.
    pub(super) fn parallel(&self) -> (usize, usize) {
        let allowed = self.slots.of_weight(Weight::Medium);
        (allowed, self.load.peak.load(Ordering::Relaxed))
    }
}

/// Returns slots for hashing passwords, on the threads of the calling runtime: at most two on this machine, so that
/// one core is left to others.
#[must_use]
pub fn password_slots() -> Slots {
    let cores = available_parallelism().map_or(1, usize::from);
    Slots::new(Some(slots_on(cores)), MAX_WAITING)
}

/// Returns the hash of a password as a PHC string.
///
/// Argon2id with 19 MiB and two passes, the first choice of OWASP's Password Storage Cheat Sheet.
pub(super) fn hashed(password: &Password) -> Result<Secret, ProviderError> {
    let plain = match password {
        Password::Hash(hash) => return Ok(hash.clone()),
        Password::Plain(plain) => plain.reveal(),
    };
    let hash = Argon2::default()
        .hash_password(plain.as_bytes())
        .map_err(|_| ProviderError::Cryptography)?;
    Ok(Secret::new(hash.to_string()))
}

/// All cores but one, at least one and at most [`MAX_PARALLEL`].
fn slots_on(cores: usize) -> usize {
    cores.saturating_sub(1).clamp(1, MAX_PARALLEL)
}

fn is_password_of(password: &Secret, hash: &Secret) -> bool {
    let hash = PasswordHash::new(hash.reveal());
    hash.is_ok_and(|hash| {
        let password = password.reveal().as_bytes();
        Argon2::default().verify_password(password, &hash).is_ok()
    })
}

impl Running {
    fn begin(load: Arc<Load>) -> Self {
        let now = load.running.fetch_add(1, Ordering::Relaxed) + 1;
        load.peak.fetch_max(now, Ordering::Relaxed);
        Running(load)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.0.running.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_core_is_left_to_others_and_at_most_two_are_taken() {
        let slots = [0, 1, 2, 3, 4, 64].map(slots_on);
        assert_eq!(slots, [1, 1, 1, 2, 2, 2]);
    }
}
