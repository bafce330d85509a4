//! A task that goes on at once when it has woken itself.
//!
//! The HTTP library hands the body of a request over by a channel: a handler that waits for it, and the connection that
//! reads it, are one task, and each wakes the other. To the runtime that is a task that gives way to others. It goes to
//! the end of the queue, another thread is woken to share the work, and often the task goes on there, far from what the
//! first one had in its caches; and all that twice for each request.

use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use futures::task::AtomicWaker;
use tokio::task::yield_now;

use super::busy_poll::BusyPoll;

/// Times in a row that a future is polled before others get their turn: a request with a body takes two, and is found to
/// be over in the third. So requests that a client sends without waiting for answers do not keep the thread for long.
const TURNS: usize = 3;

/// The future waits: who wakes it wakes its task.
const WAITING: u8 = 0;
/// The future is being polled.
const POLLED: u8 = 1;
/// The future has been woken since its last poll began, or has not been polled yet.
const WOKEN: u8 = 2;

/// Polls a future again at once when it was woken while it was polled, and has its thread look for events before it sleeps.
pub(super) struct PollAgain<F> {
    future: Pin<Box<F>>,
    wakes: Arc<Wakes>,
    waker: Waker,
    busy_poll: BusyPoll,
}

struct Wakes {
    state: AtomicU8,
    task: AtomicWaker,
}

impl<F: Future> PollAgain<F> {
    pub(super) fn new(future: F, busy_poll: BusyPoll) -> Self {
        let wakes = Arc::new(Wakes {
            state: AtomicU8::new(WOKEN),
            task: AtomicWaker::new(),
        });
        PollAgain {
            future: Box::pin(future),
            waker: Arc::clone(&wakes).into(),
            wakes,
            busy_poll,
        }
    }
}

impl<F: Future> Future for PollAgain<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let PollAgain {
            future,
            wakes,
            waker,
            busy_poll,
        } = &mut *self;
        wakes.task.register(context.waker());
        if wakes.state.load(Ordering::SeqCst) == WAITING {
            if busy_poll.goes_on(wakes.as_ref()) {
                look_for_events(context);
            }
            return Poll::Pending;
        }
        busy_poll.end();
        for _ in 0..TURNS {
            wakes.state.store(POLLED, Ordering::SeqCst);
            if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(waker)) {
                return Poll::Ready(output);
            }
            if wakes.rest() {
                if busy_poll.begin(wakes.as_ref()) {
                    look_for_events(context);
                }
                return Poll::Pending;
            }
        }
        context.waker().wake_by_ref();
        Poll::Pending
    }
}

/// Has the task polled again when the runtime has looked for events, which it does without sleeping then.
fn look_for_events(context: &mut Context<'_>) {
    let _ = pin!(yield_now()).poll(context);
}

impl Wakes {
    /// Waits, unless the future has been woken since its poll began.
    fn rest(&self) -> bool {
        self.state
            .compare_exchange(POLLED, WAITING, Ordering::SeqCst, Ordering::SeqCst)
            .is_ok()
    }
}

impl Wake for Wakes {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if self.state.swap(WOKEN, Ordering::SeqCst) == WAITING {
            self.task.wake();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::sync::atomic::AtomicUsize;
    use std::thread;
    use std::time::Duration;

    use tokio::sync::mpsc;
    use tokio::time::{sleep, timeout};

    use super::*;

    const LONG: Duration = Duration::from_secs(60);

    /// Counts how often it is woken.
    #[derive(Default)]
    struct Task(AtomicUsize);

    impl Wake for Task {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }

    impl Task {
        fn woken(&self) -> usize {
            self.0.load(Ordering::SeqCst)
        }
    }

    /// A future that wakes itself so many times.
    fn wakes_itself(mut left: usize) -> impl Future<Output = ()> {
        poll_fn(move |context| match left {
            0 => Poll::Ready(()),
            _ => {
                left -= 1;
                context.waker().wake_by_ref();
                Poll::Pending
            }
        })
    }

    fn poll(future: &mut PollAgain<impl Future<Output = ()>>, task: &Arc<Task>) -> Poll<()> {
        let waker = Waker::from(Arc::clone(task));
        Pin::new(future).poll(&mut Context::from_waker(&waker))
    }

    #[test]
    fn what_wakes_itself_goes_on_at_once() {
        let task = Arc::new(Task::default());
        let mut future = PollAgain::new(wakes_itself(TURNS - 1), BusyPoll::NEVER);
        assert_eq!(poll(&mut future, &task), Poll::Ready(()));
        assert_eq!(task.woken(), 0);
    }

    #[test]
    fn what_goes_on_waking_itself_gives_way_to_others() {
        let task = Arc::new(Task::default());
        let mut future = PollAgain::new(wakes_itself(2 * TURNS), BusyPoll::NEVER);
        assert_eq!(poll(&mut future, &task), Poll::Pending);
        assert_eq!(task.woken(), 1);
        assert_eq!(poll(&mut future, &task), Poll::Pending);
        assert_eq!(task.woken(), 2);
        assert_eq!(poll(&mut future, &task), Poll::Ready(()));
        assert_eq!(task.woken(), 2);
    }

    #[test]
    fn what_is_woken_while_it_rests_wakes_its_task() {
        let task = Arc::new(Task::default());
        let (sender, mut receiver) = mpsc::channel::<()>(1);
        let waits = async move {
            receiver.recv().await;
        };
        let mut future = PollAgain::new(waits, BusyPoll::NEVER);
        assert_eq!(poll(&mut future, &task), Poll::Pending);
        assert_eq!(task.woken(), 0);
        sender.try_send(()).unwrap();
        assert_eq!(task.woken(), 1);
        assert_eq!(poll(&mut future, &task), Poll::Ready(()));
    }

    /// A wake that is lost leaves the task waiting for ever.
    async fn no_wake_is_lost(messages: usize, busy_poll: BusyPoll) {
        let (sender, mut receiver) = mpsc::channel::<usize>(1);
        let (answers, mut answered) = mpsc::channel::<usize>(1);
        let echo = async move {
            while let Some(message) = receiver.recv().await {
                answers.send(message).await.unwrap();
            }
        };
        let echo = tokio::spawn(PollAgain::new(echo, busy_poll));
        let sending = thread::spawn(move || {
            for message in 0..messages {
                sender.blocking_send(message).unwrap();
            }
        });
        for message in 0..messages {
            let answer = timeout(LONG, answered.recv()).await;
            assert_eq!(answer, Ok(Some(message)));
        }
        sending.join().unwrap();
        timeout(LONG, echo).await.unwrap().unwrap();
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn no_wake_of_another_thread_is_lost() {
        no_wake_is_lost(20_000, BusyPoll::NEVER).await;
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn no_wake_of_another_thread_is_lost_while_events_are_looked_for() {
        no_wake_is_lost(2_000, BusyPoll::for_up_to(Duration::from_millis(1))).await;
    }

    #[tokio::test]
    async fn others_get_their_turn_while_events_are_looked_for() {
        let busy_poll = BusyPoll::for_up_to(Duration::from_secs(3600));
        let polls = Arc::new(AtomicUsize::new(0));
        let (sender, mut receiver) = mpsc::channel::<()>(1);
        let waits = async move { while receiver.recv().await.is_some() {} };
        let mut waits = PollAgain::new(waits, busy_poll);
        let counted = Arc::clone(&polls);
        let waiting = tokio::spawn(poll_fn(move |context| {
            counted.fetch_add(1, Ordering::Relaxed);
            Pin::new(&mut waits).poll(context)
        }));
        // The lull after the first message is brief.
        for _ in 0..2 {
            sender.send(()).await.unwrap();
            yield_now().await;
        }
        let before = polls.load(Ordering::Relaxed);
        let looks = async {
            while polls.load(Ordering::Relaxed) < before + 10 {
                sleep(Duration::from_millis(1)).await;
            }
        };
        timeout(LONG, looks).await.unwrap();
        drop(sender);
        timeout(LONG, waiting).await.unwrap().unwrap();
    }
}
