//! The queue of the writers of a store: one turn at a time, in the order of their arrival.
//!
//! It needs no asynchronous runtime: whoever ends a turn wakes the next one, and a thread that lives
//! as long as someone waits wakes those whose deadline passes.

use std::collections::{BTreeMap, VecDeque};
use std::pin::pin;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};
use std::time::Instant;

use call_context::{CallContext, CallError};
use futures::channel::oneshot;
use futures::future::{self, Either};

use crate::error::StoreError;

/// A queue whose turns are given in the order of arrival.
#[derive(Clone, Default)]
pub(crate) struct Queue {
    line: Arc<Mutex<Line>>,
}

#[derive(Default)]
struct Line {
    /// Someone has the turn.
    is_taken: bool,
    waiting: VecDeque<oneshot::Sender<Turn>>,
}

/// The right to write, which goes to the next one in the queue when it is dropped.
pub(crate) struct Turn {
    /// `None` once it has gone on.
    line: Option<Arc<Mutex<Line>>>,
}

impl Queue {
    /// Waits for a turn, until the deadline or cancellation of the call.
    pub(crate) async fn turn(&self, context: &CallContext) -> Result<Turn, StoreError> {
        context.check()?;
        let mut next = {
            let mut line = locked(&self.line);
            if !line.is_taken {
                line.is_taken = true;
                return Ok(Turn {
                    line: Some(Arc::clone(&self.line)),
                });
            }
            let (sender, next) = oneshot::channel();
            line.waiting.push_back(sender);
            next
        };
        let cancelled = pin!(context.cancellation.cancelled());
        let late = pin!(passed(context.deadline));
        match future::select(&mut next, future::select(cancelled, late)).await {
            Either::Left((Ok(turn), _)) => Ok(turn),
            Either::Left((Err(_), _)) => unreachable!("the line outlives those who wait in it"),
            // A turn that arrives now is dropped with its channel, and so passed on.
            Either::Right((Either::Left(_), _)) => Err(StoreError::Call(CallError::Cancelled)),
            Either::Right((Either::Right(_), _)) => Err(StoreError::Call(CallError::Deadline)),
        }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let mut turn = self.line.take();
        while let Some(shared) = turn {
            let next = {
                let mut line = locked(&shared);
                let next = line.waiting.pop_front();
                line.is_taken = next.is_some();
                next
            };
            let Some(next) = next else {
                return;
            };
            let sent = next.send(Turn { line: Some(shared) });
            // Whoever no longer waits gives the turn back.
            turn = sent.err().and_then(|mut unwanted| unwanted.line.take());
        }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Ends when a deadline has passed; never without one.
async fn passed(deadline: Option<Instant>) {
    let Some(deadline) = deadline else {
        return future::pending().await;
    };
    let mut alarm: Option<Alarm> = None;
    future::poll_fn(|context| {
        if Instant::now() >= deadline {
            return Poll::Ready(());
        }
        match &alarm {
            Some(alarm) => alarm.renew(context.waker()),
            None => alarm = Some(Alarm::set(deadline, context.waker())),
        }
        Poll::Pending
    })
    .await;
}

/// A waker that is called at a time; taken back when dropped.
struct Alarm {
    at: (Instant, u64),
}

#[derive(Default)]
struct Clock {
    alarms: BTreeMap<(Instant, u64), Waker>,
    /// Distinguishes alarms for the same time.
    count: u64,
    is_running: bool,
}

static CLOCK: Mutex<Clock> = Mutex::new(Clock {
    alarms: BTreeMap::new(),
    count: 0,
    is_running: false,
});
/// Notified when the first alarm changes.
static CHANGED: Condvar = Condvar::new();

impl Alarm {
    fn set(time: Instant, waker: &Waker) -> Self {
        let mut clock = locked(&CLOCK);
        clock.count += 1;
        let at = (time, clock.count);
        clock.alarms.insert(at, waker.clone());
        if clock.is_running {
            CHANGED.notify_one();
        } else {
            clock.is_running = true;
            let thread = std::thread::Builder::new().name("store-deadlines".to_owned());
            thread.spawn(ring).expect("a process can start a thread");
        }
        Alarm { at }
    }

    fn renew(&self, waker: &Waker) {
        if let Some(known) = locked(&CLOCK).alarms.get_mut(&self.at) {
            known.clone_from(waker);
        }
    }
}

impl Drop for Alarm {
    fn drop(&mut self) {
        let mut clock = locked(&CLOCK);
        clock.alarms.remove(&self.at);
        if clock.alarms.is_empty() {
            CHANGED.notify_one();
        }
    }
}

/// Calls wakers at their time until there are none left.
fn ring() {
    let mut clock = locked(&CLOCK);
    while let Some(first) = clock.alarms.first_entry() {
        let wait = first.key().0.saturating_duration_since(Instant::now());
        if wait.is_zero() {
            let waker = first.remove();
            drop(clock);
            waker.wake();
            clock = locked(&CLOCK);
        } else {
            let waited = CHANGED.wait_timeout(clock, wait);
            clock = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
    clock.is_running = false;
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    use futures::FutureExt;
    use futures::executor::block_on;
    use futures::future::join_all;

    use super::*;

    #[test]
    fn turns_are_given_one_at_a_time_in_the_order_of_arrival() {
        let (queue, context) = (Queue::default(), CallContext::new());
        let first = block_on(queue.turn(&context)).expect("the first turn");
        let order = Mutex::new(Vec::new());
        let waiting = (0..5).map(|number| {
            let (queue, context, order) = (&queue, &context, &order);
            async move {
                let turn = queue.turn(context).await.expect("a turn");
                order.lock().unwrap().push(number);
                drop(turn);
            }
        });
        let mut waiting = Box::pin(join_all(waiting));
        assert!(waiting.as_mut().now_or_never().is_none());
        assert!(
            order.lock().unwrap().is_empty(),
            "the first one has the turn"
        );
        drop(first);
        block_on(waiting);
        assert_eq!(*order.lock().unwrap(), [0, 1, 2, 3, 4]);
    }

    #[test]
    fn who_stops_waiting_is_passed_over() {
        let (queue, context) = (Queue::default(), CallContext::new());
        let first = block_on(queue.turn(&context)).expect("the first turn");
        let mut gone = Box::pin(queue.turn(&context));
        assert!(gone.as_mut().now_or_never().is_none());
        let mut given = Box::pin(queue.turn(&context));
        assert!(given.as_mut().now_or_never().is_none());
        let mut last = Box::pin(queue.turn(&context));
        assert!(last.as_mut().now_or_never().is_none());
        drop(gone);
        drop(first);
        // The turn has been sent to the second one, which does not look any more.
        drop(given);
        assert!(last.as_mut().now_or_never().expect("a turn").is_ok());
    }

    #[test]
    fn waiting_ends_with_the_deadline_or_cancellation() {
        let queue = Queue::default();
        let first = block_on(queue.turn(&CallContext::new())).expect("the first turn");
        let context = CallContext::new().with_timeout(Duration::from_millis(30));
        let late = join_all([queue.turn(&context), queue.turn(&context)]);
        for late in block_on(late) {
            assert!(matches!(late, Err(StoreError::Call(CallError::Deadline))));
        }
        let context = CallContext::new().with_timeout(Duration::from_secs(600));
        let cancellation = context.cancellation.clone();
        let cancel = std::thread::spawn(move || cancellation.cancel());
        let cancelled = block_on(queue.turn(&context));
        assert!(matches!(
            cancelled,
            Err(StoreError::Call(CallError::Cancelled))
        ));
        cancel.join().expect("it cancels");
        drop(first);
        assert!(block_on(queue.turn(&CallContext::new())).is_ok());
    }

    #[test]
    fn many_threads_are_never_in_it_together() {
        let (queue, inside) = (Queue::default(), Arc::new(AtomicUsize::new(0)));
        let threads = (0..8).map(|number| {
            let (queue, inside) = (queue.clone(), Arc::clone(&inside));
            std::thread::spawn(move || {
                for round in 0..200 {
                    let timeout = Duration::from_micros(50 * (number + round % 7));
                    let context = CallContext::new().with_timeout(timeout);
                    if let Ok(turn) = block_on(queue.turn(&context)) {
                        assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0);
                        std::thread::yield_now();
                        inside.fetch_sub(1, Ordering::SeqCst);
                        drop(turn);
                    }
                }
            })
        });
        for thread in threads.collect::<Vec<_>>() {
            thread.join().expect("one at a time");
        }
        assert!(block_on(queue.turn(&CallContext::new())).is_ok());
    }
}
