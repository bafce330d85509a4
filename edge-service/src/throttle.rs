//! Rates of requests, by address, by caller and by route.
//!
//! They are counted in this process: with several instances of the edge, each allows as much as is configured.

use std::fmt::Write;
use std::hash::{BuildHasher, Hash, RandomState};
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::http::{HeaderMap, HeaderName, HeaderValue};
use governor::clock::{Clock, DefaultClock};
use governor::middleware::{StateInformationMiddleware, StateSnapshot};
use governor::state::keyed::DashMapStateStore;
use governor::{NotUntil, RateLimiter};

use super::rate::Rate;

/// What is left of each policy: `RateLimit` of the IETF draft draft-ietf-httpapi-ratelimit-headers-10.
const RATE_LIMIT: HeaderName = HeaderName::from_static("ratelimit");

/// What the policies are: `RateLimit-Policy` of the same draft.
const RATE_LIMIT_POLICY: HeaderName = HeaderName::from_static("ratelimit-policy");

/// Number of keys that are counted one by one. Beyond it new ones share the counters of [`Shared`], so that whoever
/// comes under ever new addresses takes no more memory.
const MAX_KEYS: usize = 100_000;

type Limiter<K, C> = RateLimiter<K, DashMapStateStore<K>, C, StateInformationMiddleware>;

/// One of 65,536 counters that several keys share.
type Shared = u16;

/// A rate that is counted by keys.
pub(crate) struct Throttle<C: Clock = DefaultClock> {
    /// The name of the policy in headers.
    name: &'static str,
    rate: Rate,
    single: Limiter<u64, C>,
    shared: Limiter<Shared, C>,
    is_full: AtomicBool,
    hasher: RandomState,
    clock: C,
}

/// Where a caller stands with a policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Standing {
    name: &'static str,
    rate: Rate,
    /// Requests that are allowed now.
    remaining: u32,
    /// Until all requests of a window are allowed again; of a refused request, until one is.
    reset: Duration,
    /// The request is more than is allowed.
    pub(crate) is_refused: bool,
}

impl Throttle {
    pub(crate) fn new(name: &'static str, rate: Rate) -> Self {
        Throttle::with_clock(name, rate, DefaultClock::default())
    }
}

impl<C: Clock + Clone> Throttle<C> {
    fn with_clock(name: &'static str, rate: Rate, clock: C) -> Self {
        fn limiter<K: Hash + Eq + Clone, C: Clock>(rate: Rate, clock: C) -> Limiter<K, C> {
            RateLimiter::new(rate.quota(), DashMapStateStore::default(), clock)
        }
        Throttle {
            name,
            rate,
            single: limiter(rate, clock.clone()),
            shared: limiter(rate, clock.clone()),
            is_full: AtomicBool::new(false),
            hasher: RandomState::new(),
            clock,
        }
    }

    /// Counts a request.
    pub(crate) fn count(&self, key: impl Hash) -> Standing {
        let key = self.hasher.hash_one(key);
        if self.is_full.load(Ordering::Relaxed) {
            self.standing(self.shared.check_key(&(key as Shared)))
        } else {
            self.standing(self.single.check_key(&key))
        }
    }

    fn standing(&self, checked: Result<StateSnapshot, NotUntil<C::Instant>>) -> Standing {
        let (remaining, reset) = match &checked {
            Ok(snapshot) => {
                let remaining = snapshot.remaining_burst_capacity();
                let used = self.rate.requests().saturating_sub(remaining);
                (remaining, self.rate.interval().saturating_mul(used))
            }
            Err(refused) => (0, refused.wait_time_from(self.clock.now())),
        };
        Standing {
            name: self.name,
            rate: self.rate,
            remaining,
            reset,
            is_refused: checked.is_err(),
        }
    }

    /// Forgets keys that have all of their requests again. Takes milliseconds where there are many.
    pub(crate) fn forget_idle(&self) {
        self.single.retain_recent();
        self.shared.retain_recent();
        self.is_full
            .store(self.single.len() >= MAX_KEYS, Ordering::Relaxed);
    }
}

impl Standing {
    /// Returns the name of the policy.
    pub(crate) fn name(&self) -> &'static str {
        self.name
    }

    /// Returns the whole seconds until what was refused is allowed.
    pub(crate) fn retry_after(&self) -> u64 {
        whole_seconds(self.reset).max(1)
    }
}

/// Adds the headers that say where a caller stands.
pub(crate) fn add_headers(standings: &[Standing], headers: &mut HeaderMap) {
    if standings.is_empty() {
        return;
    }
    let (mut limits, mut policies) = (String::new(), String::new());
    for (index, standing) in standings.iter().enumerate() {
        let comma = if index == 0 { "" } else { ", " };
        let Standing {
            name,
            rate,
            remaining,
            reset,
            ..
        } = standing;
        let reset = whole_seconds(*reset);
        let _ = write!(limits, "{comma}\"{name}\";r={remaining};t={reset}");
        let (quota, window) = (rate.requests(), rate.window_seconds());
        let _ = write!(policies, "{comma}\"{name}\";q={quota};w={window}");
    }
    for (name, value) in [(RATE_LIMIT, limits), (RATE_LIMIT_POLICY, policies)] {
        let value = HeaderValue::try_from(value).expect("names and numbers are ASCII");
        headers.insert(name, value);
    }
}

/// Returns the address by which requests are counted: for IPv6 its network of 64 bits, within which anyone has as many
/// addresses as they like.
pub(crate) fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => {
            let bits = address.to_bits() & (u128::MAX << 64);
            IpAddr::V6(bits.into())
        }
        address => address,
    }
}

fn whole_seconds(duration: Duration) -> u64 {
    duration.as_secs() + u64::from(duration.subsec_nanos() > 0)
}

#[cfg(test)]
mod tests {
    use governor::clock::FakeRelativeClock;

    use super::*;

    fn throttle(rate: &str) -> (Throttle<FakeRelativeClock>, FakeRelativeClock) {
        let clock = FakeRelativeClock::default();
        let throttle = Throttle::with_clock("caller", rate.parse().unwrap(), clock.clone());
        (throttle, clock)
    }

    #[test]
    fn each_key_has_its_requests_and_gets_them_back_with_time() {
        let (throttle, clock) = throttle("2/min");
        for remaining in [1, 0] {
            let standing = throttle.count("anna");
            assert_eq!(
                (standing.is_refused, standing.remaining),
                (false, remaining)
            );
        }
        let refused = throttle.count("anna");
        assert_eq!((refused.is_refused, refused.retry_after()), (true, 30));
        assert!(!throttle.count("bert").is_refused);
        clock.advance(Duration::from_secs(30));
        assert!(!throttle.count("anna").is_refused);
        assert!(throttle.count("anna").is_refused);
    }

    #[test]
    fn headers_say_what_is_left_of_each_policy_and_what_they_are() {
        let (throttle, _) = throttle("10/min");
        let caller = throttle.count("anna");
        let address = Standing {
            name: "address",
            ..throttle.count("other")
        };
        let mut headers = HeaderMap::new();
        add_headers(&[address, caller], &mut headers);
        assert_eq!(
            headers[RATE_LIMIT],
            "\"address\";r=9;t=6, \"caller\";r=9;t=6"
        );
        assert_eq!(
            headers[RATE_LIMIT_POLICY],
            "\"address\";q=10;w=60, \"caller\";q=10;w=60"
        );
        let mut none = HeaderMap::new();
        add_headers(&[], &mut none);
        assert!(none.is_empty());
    }

    #[test]
    fn keys_without_end_take_bounded_memory_and_are_still_counted() {
        let (throttle, clock) = throttle("2/h");
        for key in 0..MAX_KEYS {
            throttle.count(key);
        }
        throttle.forget_idle();
        for key in 0..2 * MAX_KEYS {
            throttle.count((key, "new"));
        }
        let (single, shared) = (throttle.single.len(), throttle.shared.len());
        assert_eq!(single, MAX_KEYS);
        assert!(shared <= usize::from(Shared::MAX) + 1, "{shared}");
        throttle.count("anna");
        assert!((0..2).any(|_| throttle.count("anna").is_refused));
        clock.advance(Duration::from_secs(7_200));
        throttle.forget_idle();
        assert_eq!((throttle.single.len(), throttle.shared.len()), (0, 0));
        throttle.count("anna");
        assert_eq!(throttle.single.len(), 1);
    }

    #[test]
    fn a_network_of_ipv6_counts_as_one_address() {
        let of = |text: &str| network(text.parse().unwrap());
        assert_eq!(of("2001:db8:0:1::1"), of("2001:db8:0:1:ffff::2"));
        assert_ne!(of("2001:db8:0:1::1"), of("2001:db8:0:2::1"));
        assert_eq!(of("::ffff:192.0.2.7"), of("192.0.2.7"));
        assert_ne!(of("192.0.2.7"), of("192.0.2.8"));
    }
}
