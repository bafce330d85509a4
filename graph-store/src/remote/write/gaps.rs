//! Sequences that are missing among later ones, and for how long.
//!
//! A transaction that has taken a sequence may be committed after one that has taken a later one. No transaction takes
//! a sequence below one that can be seen, so a sequence that was missing for longer than a transaction may last stays so.
//! That is measured by the clock of this process alone: the times in records are those of other machines, whose clocks may be
//! wrong or set again.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

/// By how much clocks of machines differ at most: a gap before a record that is older is passed at once, so that the
/// gaps of long ago hold up no one.
const CLOCK_SKEW: Duration = Duration::from_secs(24 * 60 * 60);

/// Most gaps that are kept in mind.
const MOST: usize = 10_000;

/// The gaps that a store has seen.
#[derive(Debug)]
pub(in crate::remote) struct Gaps {
    /// For how long a transaction may last.
    transaction_timeout: Duration,
    /// Since when a sequence is missing, the first one of a gap.
    since: Mutex<BTreeMap<u64, Instant>>,
}

impl Gaps {
    pub(in crate::remote) fn new(transaction_timeout: Duration) -> Self {
        Gaps {
            transaction_timeout,
            since: Mutex::default(),
        }
    }

    /// Returns whether no transaction can fill a gap any more, which begins with a sequence, and lies before a record of a
    /// time.
    pub(super) fn is_settled(&self, missing: u64, after: SystemTime) -> bool {
        let is_ancient = SystemTime::now()
            .duration_since(after)
            .is_ok_and(|age| age > self.transaction_timeout + CLOCK_SKEW);
        if is_ancient {
            return true;
        }
        let mut since = self.since.lock().unwrap_or_else(PoisonError::into_inner);
        if since.len() >= MOST && !since.contains_key(&missing) {
            // Readers have passed the lowest, or wait a little longer for them.
            since.pop_first();
        }
        match since.entry(missing) {
            Entry::Occupied(seen) => seen.get().elapsed() > self.transaction_timeout,
            Entry::Vacant(new) => {
                new.insert(Instant::now());
                false
            }
        }
    }

    /// Returns whether transactions that began before a record of one time may be open at that of a later one.
    pub(super) fn may_overlap(&self, earlier: SystemTime, later: SystemTime) -> bool {
        later
            .duration_since(earlier)
            .is_ok_and(|apart| apart <= self.transaction_timeout)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gap_is_settled_once_it_was_seen_for_long_enough_whatever_the_clock_says() {
        let now = SystemTime::now();
        let hour = Duration::from_secs(3_600);
        for time in [now, now - hour, now + hour] {
            let gaps = Gaps::new(Duration::from_millis(20));
            assert!(!gaps.is_settled(2, time));
            std::thread::sleep(Duration::from_millis(30));
            assert!(gaps.is_settled(2, time));
            assert!(!gaps.is_settled(4, time), "another one");
        }
        let gaps = Gaps::new(Duration::from_secs(60));
        assert!(gaps.is_settled(2, now - 2 * CLOCK_SKEW));
    }

    #[test]
    fn more_gaps_than_are_kept_in_mind_are_forgotten_from_the_first_on() {
        let gaps = Gaps::new(Duration::from_secs(60));
        let now = SystemTime::now();
        for missing in 0..=MOST as u64 {
            assert!(!gaps.is_settled(missing, now));
        }
        assert_eq!(gaps.since.lock().unwrap().len(), MOST);
    }
}
