//! How often someone may try to log in.
//!
//! Attempts are counted in buckets: by a keyed hash of the name as it was given, and of the address. So
//! their memory is bounded whatever names are sent, and names that no one has are counted exactly as
//! those of users are, which gives away none of them.

use std::hash::{BuildHasher, Hash, RandomState};
use std::net::IpAddr;
use std::num::NonZeroU32;
use std::time::Duration;

use governor::clock::{Clock, DefaultClock};
use governor::middleware::NoOpMiddleware;
use governor::state::keyed::DashMapStateStore;
use governor::{Quota, RateLimiter};

use super::LoginError;
use super::account::compared;
use super::options::ProviderOptions;

/// One of 65,536, so that a map of them takes at most a few megabytes.
type Bucket = u16;

type Limiter<C> =
    RateLimiter<Bucket, DashMapStateStore<Bucket>, C, NoOpMiddleware<<C as Clock>::Instant>>;

/// Bounds on log-ins by name and by address.
pub(super) struct Rates<C: Clock = DefaultClock> {
    names: Option<Limiter<C>>,
    addresses: Option<Limiter<C>>,
    hasher: RandomState,
    clock: C,
}

impl Rates {
    pub(super) fn new(options: &ProviderOptions) -> Self {
        Rates::with_clock(options, DefaultClock::default())
    }
}

impl<C: Clock + Clone> Rates<C> {
    fn with_clock(options: &ProviderOptions, clock: C) -> Self {
        let limiter = |per_minute| {
            let quota = Quota::per_minute(NonZeroU32::new(per_minute)?);
            let state = DashMapStateStore::default();
            Some(RateLimiter::new(quota, state, clock.clone()))
        };
        Rates {
            names: limiter(options.logins_per_user),
            addresses: limiter(options.logins_per_address),
            hasher: RandomState::new(),
            clock,
        }
    }

    /// Counts an attempt, or refuses it.
    pub(super) fn check(&self, name: &str, address: IpAddr) -> Result<(), LoginError> {
        self.count(self.addresses.as_ref(), network(address))?;
        self.count(self.names.as_ref(), compared(name))
    }

    fn count(&self, limiter: Option<&Limiter<C>>, key: impl Hash) -> Result<(), LoginError> {
        let Some(limiter) = limiter else {
            return Ok(());
        };
        let bucket = self.hasher.hash_one(key) as Bucket;
        limiter.check_key(&bucket).map_err(|refused| {
            let wait = refused.wait_time_from(self.clock.now());
            // Whole seconds are all that `Retry-After` can say.
            let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
            LoginError::RateLimited {
                retry_after: Duration::from_secs(seconds.max(1)),
            }
        })
    }
}

/// Returns the part of an address that one client has for itself: of IPv6, the first 64 bits.
fn network(address: IpAddr) -> u128 {
    match address.to_canonical() {
        IpAddr::V4(address) => u128::from(address.to_bits()),
        IpAddr::V6(address) => address.to_bits() & (u128::MAX << 64) | (1 << 63),
    }
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, Ipv6Addr};

    use governor::clock::FakeRelativeClock;

    use super::*;

    const HERE: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

    fn rates(per_user: u32, per_address: u32) -> (Rates<FakeRelativeClock>, FakeRelativeClock) {
        let clock = FakeRelativeClock::default();
        let options = ProviderOptions {
            logins_per_user: per_user,
            logins_per_address: per_address,
            ..ProviderOptions::default()
        };
        (Rates::with_clock(&options, clock.clone()), clock)
    }

    #[test]
    fn a_name_has_its_attempts_whatever_its_case_and_gets_new_ones_with_time() {
        let (rates, clock) = rates(2, 0);
        for name in ["anna", "ANNA "] {
            assert_eq!(rates.check(name, HERE), Ok(()));
        }
        let retry_after = Duration::from_secs(30);
        let refused = Err(LoginError::RateLimited { retry_after });
        assert_eq!(rates.check("Anna", HERE), refused);
        assert_eq!(rates.check("bert", HERE), Ok(()));
        clock.advance(retry_after);
        assert_eq!(rates.check("anna", HERE), Ok(()));
        assert_eq!(rates.check("anna", HERE), refused);
    }

    #[test]
    fn an_address_has_its_attempts_whatever_the_names() {
        let (rates, _) = rates(0, 3);
        for name in ["a", "b", "c"] {
            assert_eq!(rates.check(name, HERE), Ok(()));
        }
        assert!(rates.check("d", HERE).is_err());
        let other = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1));
        assert_eq!(rates.check("d", other), Ok(()));
    }

    #[test]
    fn a_network_of_ipv6_is_one_address() {
        let (rates, _) = rates(0, 1);
        let at = |host| IpAddr::V6(Ipv6Addr::new(0x2001, 0xdb8, 0, 1, 0, 0, 0, host));
        assert_eq!(rates.check("a", at(1)), Ok(()));
        assert!(rates.check("a", at(2)).is_err());
        let mapped = IpAddr::V6(Ipv4Addr::new(10, 0, 0, 1).to_ipv6_mapped());
        assert_eq!(
            network(mapped),
            network(IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1)))
        );
    }

    #[test]
    fn names_and_addresses_without_end_take_bounded_memory() {
        let (rates, _) = rates(1, 1);
        for number in 0..200_000_u32 {
            let address = IpAddr::V4(Ipv4Addr::from_bits(number));
            let _ = rates.check(&format!("user-{number}"), address);
        }
        let buckets = usize::from(Bucket::MAX) + 1;
        for limiter in [&rates.names, &rates.addresses] {
            let held = limiter.as_ref().unwrap().len();
            assert!((buckets / 4..=buckets).contains(&held), "{held}");
        }
    }

    #[test]
    fn zero_is_no_bound() {
        let (rates, _) = rates(0, 0);
        assert!((0..1_000).all(|_| rates.check("anna", HERE).is_ok()));
    }
}
