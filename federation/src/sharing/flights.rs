//! Work in flight, by what it is for, so that equal requests can join it.
//!
//! The request that begins a flight is its leader, and those that find it are its joiners. All of them poll it, so it needs no
//! task: when the leader goes away, the joiners go on. No request depends on another one being polled either, such as an
//! operation on a WebSocket whose client stalls. A flight has a context of its own, without the leader's deadline, which is
//! cancelled when the last request leaves.

use std::collections::HashMap;
use std::hash::Hash;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Instant;

use foldhash::quality::RandomState;
use futures::FutureExt;
use futures::future::{BoxFuture, Shared};
use graphql_service::{DataSequences, RequestContext};
use tracing::{Instrument, Span};

/// How many flights a request joins before it sends for itself.
///
/// A flight may fail because of its leader, or by bad luck, so joiners try again. With more rounds, the last of many
/// joiners would wait for one failure after another.
pub(crate) const ROUNDS: usize = 2;

/// What a joiner makes of an outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It is as good as one of its own.
    Valid,
    /// It is a failure, which a second try may not have. The second one counts.
    Failed,
    /// It is a failure because of the leader's limits, such as its deadline, or for lack of memory.
    OfLeader,
}

impl Verdict {
    /// Returns whether a joiner takes an outcome in this round; else it joins again, or goes on by itself.
    pub(crate) fn is_final(self, round: usize) -> bool {
        match self {
            Verdict::Valid => true,
            Verdict::Failed => round >= ROUNDS,
            Verdict::OfLeader => false,
        }
    }
}

/// All work in flight, by keys, which are compared as a whole.
///
/// There are at most as many entries as requests that are being answered: an entry is removed before the outcome is
/// published, or when the last request leaves.
pub(crate) struct Flights<K, T> {
    open: Mutex<FlightMap<K, T>>,
    hasher: RandomState,
}

type FlightMap<K, T> = HashMap<Arc<K>, Weak<Flight<T>>, RandomState>;

/// Work in flight. Its outcome is released with the last request that waits for it.
pub(crate) struct Flight<T> {
    context: Arc<RequestContext>,
    /// Ends without an outcome if it panics.
    work: Shared<BoxFuture<'static, Option<T>>>,
}

/// What a request is in a flight.
pub(crate) enum FlightRole<T> {
    Leader(Arc<Flight<T>>),
    Joiner(Arc<Flight<T>>),
}

impl<K, T> Default for Flights<K, T> {
    fn default() -> Self {
        Flights {
            open: Mutex::default(),
            hasher: RandomState::default(),
        }
    }
}

/// Returns whether a request may share at all. A service that waits for changes of data gives up shortly before the
/// deadline of the request, and a flight has none that suits all of its requests.
pub(crate) fn is_shareable(context: &RequestContext) -> bool {
    context.sequences.awaited().is_empty() && !context.call.is_exclusive()
}

impl<K, T> Flights<K, T> {
    /// Returns what hashes keys.
    pub(crate) fn hasher(&self) -> &RandomState {
        &self.hasher
    }

    /// Lets no request join the flights of now. Requests that wait for them still get their outcomes.
    pub(crate) fn close(&self) {
        let closed = std::mem::take(&mut *self.lock());
        drop(closed);
    }

    /// Returns how many flights can be joined.
    #[cfg(test)]
    pub(crate) fn open(&self) -> usize {
        self.lock().len()
    }

    fn lock(&self) -> MutexGuard<'_, FlightMap<K, T>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K, T> Flights<K, T>
where
    K: Eq + Hash + Send + Sync + 'static,
    T: Clone + Send + Sync + 'static,
{
    /// Joins the flight of a key, or begins one.
    ///
    /// A request that may wait longer than the flight lasts begins a new one, which takes its place. So a flight that hangs
    /// is joined no longer than its leader would wait.
    pub(crate) fn board<F>(
        self: &Arc<Self>,
        key: &Arc<K>,
        context: &RequestContext,
        begin: impl FnOnce(Arc<RequestContext>) -> F,
    ) -> FlightRole<T>
    where
        F: Future<Output = T> + Send + 'static,
    {
        let mut open = self.lock();
        let known = open.get(key).and_then(Weak::upgrade);
        let (boarded, left) = match known {
            Some(flight) if flight.lasts_until(context.call.deadline) => {
                (FlightRole::Joiner(flight), None)
            }
            known => {
                let flight = self.begin(key, context, begin);
                open.insert(Arc::clone(key), Arc::downgrade(&flight));
                (FlightRole::Leader(flight), known)
            }
        };
        drop(open);
        // Dropping a flight takes the lock, to remove its entry.
        drop(left);
        boarded
    }

    fn begin<F>(
        self: &Arc<Self>,
        key: &Arc<K>,
        context: &RequestContext,
        begin: impl FnOnce(Arc<RequestContext>) -> F,
    ) -> Arc<Flight<T>>
    where
        F: Future<Output = T> + Send + 'static,
    {
        let context = Arc::new(of_flight(context));
        Arc::new_cyclic(|flight| {
            let entry = FlightEntry {
                flights: Arc::clone(self),
                key: Arc::clone(key),
                flight: Weak::clone(flight),
            };
            let cancel = context.call.cancellation.clone().drop_guard();
            let work = begin(Arc::clone(&context));
            let work = async move {
                let _until_dropped = cancel;
                // A panic must not get to `Shared`, which would not wake the others.
                let outcome = AssertUnwindSafe(work).catch_unwind().await;
                drop(entry);
                outcome.ok()
            };
            let work = work.instrument(Span::current()).boxed().shared();
            Flight { context, work }
        })
    }
}

/// Returns the context of a flight: that of its leader, except for what concerns the leader only. The leader's account
/// counts what the flight holds, also after the leader has gone.
fn of_flight(of: &RequestContext) -> RequestContext {
    let mut context = of.clone();
    let call = &mut context.call;
    call.cancellation = Default::default();
    call.deadline = call.deadline.and_then(|deadline| {
        // Beyond the deadline of any request that joins before the leader's deadline and has as much time.
        deadline.checked_add(deadline.saturating_duration_since(Instant::now()))
    });
    context.overdue = Arc::default();
    context.freshness = Arc::default();
    context.sequences = Arc::new(DataSequences::awaiting(of.sequences.awaited().clone()));
    context
}

impl<T: Clone> Flight<T> {
    /// Returns the identifier of the request that has begun it.
    pub(crate) fn leader(&self) -> &str {
        &self.context.call.request_id
    }

    /// Waits for the outcome, and notes in the context of the request what upstream services have said about it. There is
    /// none if the work has panicked.
    pub(crate) async fn outcome(&self, context: &RequestContext) -> Option<T> {
        let outcome = self.work.clone().await;
        context.freshness.merge(&self.context.freshness);
        let written = self.context.sequences.written();
        context.sequences.note(written.iter());
        outcome
    }

    fn lasts_until(&self, deadline: Option<Instant>) -> bool {
        let end = self.context.call.deadline;
        end.is_none_or(|end| deadline.is_some_and(|deadline| deadline <= end))
    }
}

/// The entry of a flight, which is removed with this.
struct FlightEntry<K: Eq + Hash, T> {
    flights: Arc<Flights<K, T>>,
    key: Arc<K>,
    flight: Weak<Flight<T>>,
}

impl<K: Eq + Hash, T> Drop for FlightEntry<K, T> {
    fn drop(&mut self) {
        let mut open = self.flights.lock();
        // A new flight may have taken its place.
        if open
            .get(&self.key)
            .is_some_and(|known| known.ptr_eq(&self.flight))
        {
            open.remove(&self.key);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use futures::channel::oneshot;
    use futures::executor::block_on;
    use graphql_service::CallContext;

    use super::*;

    type Numbers = Arc<Flights<&'static str, u8>>;

    /// Boards a flight, and returns what ends it where it is a new one.
    fn board(
        flights: &Numbers,
        key: &'static str,
        context: &RequestContext,
    ) -> (Arc<Flight<u8>>, Option<oneshot::Sender<u8>>) {
        let (end, ended) = oneshot::channel();
        let begin = |_| async move { ended.await.expect("it is ended") };
        match flights.board(&Arc::new(key), context, begin) {
            FlightRole::Leader(flight) => (flight, Some(end)),
            FlightRole::Joiner(flight) => (flight, None),
        }
    }

    #[test]
    fn an_entry_is_gone_before_its_outcome_is_known_and_with_the_last_request() {
        let (flights, context) = (Numbers::default(), RequestContext::new());
        let (first, end) = board(&flights, "a", &context);
        let (second, none) = board(&flights, "a", &context);
        assert!(none.is_none() && Arc::ptr_eq(&first, &second));
        let (other, _end) = board(&flights, "b", &context);
        assert_eq!(flights.open(), 2);
        end.unwrap().send(7).unwrap();
        assert_eq!(block_on(first.outcome(&context)), Some(7));
        assert_eq!(flights.open(), 1);
        assert_eq!(block_on(second.outcome(&context)), Some(7));
        drop(other);
        assert_eq!(flights.open(), 0);
    }

    #[test]
    fn an_outcome_is_released_with_the_last_request() {
        let flights: Arc<Flights<&str, Arc<u8>>> = Arc::default();
        let context = RequestContext::new();
        let known = Arc::new(7);
        let outcome = Arc::clone(&known);
        let begin = |_| async move { outcome };
        let FlightRole::Leader(leader) = flights.board(&Arc::new("a"), &context, begin) else {
            panic!("there is nothing to join");
        };
        let joiner = Arc::clone(&leader);
        drop(block_on(leader.outcome(&context)));
        drop(leader);
        assert_eq!(Arc::strong_count(&known), 2);
        drop(joiner);
        assert_eq!(Arc::strong_count(&known), 1);
    }

    #[test]
    fn what_is_closed_is_not_joined_and_does_not_end_what_took_its_place() {
        let (flights, context) = (Numbers::default(), RequestContext::new());
        let (first, end) = board(&flights, "a", &context);
        flights.close();
        let (second, other_end) = board(&flights, "a", &context);
        assert!(other_end.is_some());
        end.unwrap().send(1).unwrap();
        assert_eq!(block_on(first.outcome(&context)), Some(1));
        let (third, none) = board(&flights, "a", &context);
        assert!(none.is_none() && Arc::ptr_eq(&second, &third));
    }

    #[test]
    fn a_request_with_more_time_than_a_flight_begins_a_new_one() {
        let flights = Numbers::default();
        let with = |seconds| {
            let call = CallContext::new().with_timeout(Duration::from_secs(seconds));
            RequestContext::from(call)
        };
        let (first, _end) = board(&flights, "a", &with(1_000));
        for seconds in [1, 1_000, 1_900] {
            assert!(board(&flights, "a", &with(seconds)).1.is_none());
        }
        let (second, end) = board(&flights, "a", &with(3_000));
        assert!(end.is_some());
        drop(first);
        assert!(board(&flights, "a", &with(3_000)).1.is_none());
        let (_third, end) = board(&flights, "a", &RequestContext::new());
        assert!(end.is_some());
        drop(second);
        assert!(board(&flights, "a", &RequestContext::new()).1.is_none());
    }

    #[test]
    fn a_flight_is_independent_of_its_leader() {
        let (flights, mut context) = (Numbers::default(), RequestContext::new());
        context.call.request_id = "id".to_owned();
        let (flight, _end) = board(&flights, "a", &context);
        context.call.cancellation.cancel();
        let own = Arc::clone(&flight.context);
        assert!(!own.call.cancellation.is_cancelled());
        own.freshness.note(Some(Duration::from_secs(1)));
        assert_eq!(flight.leader(), "id");
        assert_eq!(context.freshness.kept_for(Duration::from_secs(1)), None);
        drop(flight);
        assert!(own.call.cancellation.is_cancelled());
    }
}
