//! For how long the answer to a request may be kept.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// For how long the answer to a request may be kept, as the upstream services say that it was made from.
///
/// A service that asks others notes what each of them says. The transport reads the outcome once the answer is
/// there.
///
/// ```
/// use std::time::Duration;
///
/// use graphql_service::RequestContext;
///
/// let context = RequestContext::new();
/// assert_eq!(context.freshness.kept_for(Duration::from_secs(5)), None);
/// context.freshness.note(Some(Duration::from_secs(60)));
/// context.freshness.note(None);
/// assert_eq!(context.freshness.kept_for(Duration::from_secs(5)), Some(Duration::from_secs(5)));
/// ```
#[derive(Debug, Default)]
pub struct Freshness(Mutex<Noted>);

#[derive(Clone, Copy, Debug, Default)]
struct Noted {
    /// The shortest time that an upstream service names.
    shortest: Option<Duration>,
    /// Some upstream service names none.
    is_unsaid: bool,
    is_private: bool,
    is_forbidden: bool,
}

impl Freshness {
    /// Notes a response of an upstream service, and how long it may be cached, if known.
    pub fn note(&self, time: Option<Duration>) {
        self.change(|noted| match time {
            Some(time) => {
                noted.shortest = Some(noted.shortest.map_or(time, |shortest| shortest.min(time)));
            }
            None => noted.is_unsaid = true,
        });
    }

    /// Notes all that was noted for another answer, of which this one has a part.
    pub fn merge(&self, other: &Freshness) {
        // One lock after the other: the two may be merged in both directions at a time.
        let other = *other.0.lock().unwrap_or_else(PoisonError::into_inner);
        self.change(|noted| {
            let shortest = noted.shortest.into_iter().chain(other.shortest);
            noted.shortest = shortest.min();
            noted.is_unsaid |= other.is_unsaid;
            noted.is_private |= other.is_private;
            noted.is_forbidden |= other.is_forbidden;
        });
    }

    /// Marks the response as private to its receiver.
    pub fn make_private(&self) {
        self.change(|noted| noted.is_private = true);
    }

    /// Marks the response as not cacheable.
    pub fn forbid(&self) {
        self.change(|noted| noted.is_forbidden = true);
    }

    /// Returns for how long the answer may be kept; `unsaid` stands in for services that name no time. `None` if
    /// it must not be kept, or no upstream service was asked.
    #[must_use]
    pub fn kept_for(&self, unsaid: Duration) -> Option<Duration> {
        let noted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let unsaid = noted.is_unsaid.then_some(unsaid);
        let shortest = noted.shortest.into_iter().chain(unsaid).min();
        shortest.filter(|time| !noted.is_forbidden && !time.is_zero())
    }

    /// Returns whether the response is private to its receiver.
    #[must_use]
    pub fn is_private(&self) -> bool {
        let noted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        noted.is_private
    }

    fn change(&self, change: impl FnOnce(&mut Noted)) {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shortest_time_counts_and_what_is_forbidden_is_not_kept() {
        let seconds = Duration::from_secs;
        let freshness = Freshness::default();
        freshness.note(Some(seconds(60)));
        freshness.note(Some(seconds(30)));
        assert_eq!(freshness.kept_for(seconds(5)), Some(seconds(30)));
        freshness.note(None);
        assert_eq!(freshness.kept_for(seconds(5)), Some(seconds(5)));
        assert_eq!(freshness.kept_for(Duration::ZERO), None);
        assert!(!freshness.is_private());
        freshness.make_private();
        assert!(freshness.is_private());
        freshness.forbid();
        assert_eq!(freshness.kept_for(seconds(5)), None);
    }

    #[test]
    fn an_answer_is_kept_no_longer_than_its_parts() {
        let seconds = Duration::from_secs;
        let part = |note: fn(&Freshness)| {
            let (whole, part) = (Freshness::default(), Freshness::default());
            whole.note(Some(seconds(60)));
            note(&part);
            whole.merge(&part);
            (whole.kept_for(seconds(5)), whole.is_private())
        };
        assert_eq!(part(|_| {}), (Some(seconds(60)), false));
        let shorter = |part: &Freshness| part.note(Some(Duration::from_secs(30)));
        assert_eq!(part(shorter), (Some(seconds(30)), false));
        assert_eq!(part(|part| part.note(None)), (Some(seconds(5)), false));
        assert_eq!(part(Freshness::make_private), (Some(seconds(60)), true));
        assert_eq!(part(Freshness::forbid), (None, false));
    }
}
