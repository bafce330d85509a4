//! Looks for the next request for a moment before a thread sleeps.
//!
//! A core without work is halted, and comes back slowly and cold: in a virtual machine the code of a short request takes
//! two to three times as long after it. Between two requests of a client that sends one after the other lie some tens
//! of microseconds, so a thread that looks for events that long, in place of sleeping until one comes, keeps its core.
//! It offers the core to other threads each time.

use std::cell::Cell;
use std::num::NonZero;
use std::ptr;
use std::thread;
use std::time::{Duration, Instant};

use crate::config::Settings;

/// How long a thread looks for events before it sleeps. After lulls of more than twice the time it sleeps at once, so that
/// what a service does costs no more where requests are rare.
#[derive(Clone, Copy, Debug)]
pub(super) struct BusyPoll {
    longest: Duration,
}

/// A time in which no connection has anything to do on this thread.
#[derive(Clone, Copy)]
struct Lull {
    since: Instant,
    /// The connection that had something to do last. Its address is only compared.
    after: *const (),
}

thread_local! {
    static LULL: Cell<Option<Lull>> = const { Cell::new(None) };
    static WAS_BRIEF: Cell<bool> = const { Cell::new(false) };
}

impl BusyPoll {
    /// Sleeps at once, and leaves alone what other services do on the same thread.
    pub(super) const NEVER: BusyPoll = BusyPoll::for_up_to(Duration::ZERO);

    pub(super) const fn for_up_to(longest: Duration) -> Self {
        BusyPoll { longest }
    }

    /// Takes the time from the settings. On a single core there is never anything to gain.
    pub(super) fn of(settings: &Settings) -> Self {
        match thread::available_parallelism().map_or(1, NonZero::get) {
            1 => BusyPoll::NEVER,
            _ => BusyPoll::for_up_to(Duration::from_micros(settings.busy_poll)),
        }
    }

    /// Says that a connection has nothing more to do; returns whether to look for events.
    pub(super) fn begin<C>(self, after: &C) -> bool {
        if self.longest.is_zero() {
            return false;
        }
        let (since, after) = (Instant::now(), ptr::from_ref(after).cast());
        LULL.set(Some(Lull { since, after }));
        WAS_BRIEF.get()
    }

    /// Returns whether to go on looking for events after a look that found nothing for the connection.
    pub(super) fn goes_on<C>(self, after: &C) -> bool {
        let goes_on = LULL.get().is_some_and(|lull| {
            ptr::addr_eq(lull.after, after) && lull.since.elapsed() < self.longest
        });
        if goes_on {
            thread::yield_now();
        }
        goes_on
    }

    /// Says that a connection has something to do.
    pub(super) fn end(self) {
        if self.longest.is_zero() {
            return;
        }
        if let Some(lull) = LULL.take() {
            WAS_BRIEF.set(lull.since.elapsed() < 2 * self.longest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: BusyPoll = BusyPoll::for_up_to(Duration::from_secs(3600));

    /// Every test has a thread of its own, so a state of its own.
    fn lull(poll: BusyPoll) -> bool {
        let looks = poll.begin(&1);
        poll.end();
        looks
    }

    #[test]
    fn events_are_looked_for_after_a_brief_lull() {
        assert!(!lull(LONG));
        assert!(lull(LONG));
        assert!(lull(LONG));
    }

    #[test]
    fn nothing_is_looked_for_after_a_long_lull() {
        let short = BusyPoll::for_up_to(Duration::from_nanos(1));
        for _ in 0..3 {
            assert!(!short.begin(&1));
            thread::sleep(Duration::from_millis(1));
            short.end();
        }
    }

    #[test]
    fn nothing_is_looked_for_where_it_is_switched_off() {
        for _ in 0..3 {
            assert!(!lull(BusyPoll::NEVER));
        }
    }

    #[test]
    fn the_last_connection_looks_until_one_has_something_to_do() {
        let (first, second) = ([1], [2]);
        lull(LONG);
        assert!(LONG.begin(&first));
        assert!(LONG.goes_on(&first));
        assert!(!LONG.goes_on(&second));
        assert!(LONG.begin(&second));
        assert!(LONG.goes_on(&second));
        assert!(!LONG.goes_on(&first));
        LONG.end();
        assert!(!LONG.goes_on(&second));
    }

    #[test]
    fn who_never_looks_does_not_end_the_lulls_of_others() {
        lull(LONG);
        assert!(LONG.begin(&1));
        lull(BusyPoll::NEVER);
        LONG.end();
        assert!(LONG.begin(&1));
    }

    #[test]
    fn looking_ends_after_the_time() {
        let short = BusyPoll::for_up_to(Duration::from_nanos(1));
        lull(LONG);
        assert!(short.begin(&1));
        thread::sleep(Duration::from_millis(1));
        assert!(!short.goes_on(&1));
    }
}
