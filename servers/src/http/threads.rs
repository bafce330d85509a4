//! Threads for connections, each with those that it was given.
//!
//! The threads of a runtime share their tasks: one whose task gives way searches the others for work, and wakes another
//! when it goes on. Around requests of some microseconds threads would wake each other several times for each, and
//! connections move from core to core. So a connection stays with one thread here. What its requests start, such as
//! work in slots, calls to other services and timers, belongs to the runtime of the service: threads share it there, and
//! it goes on when these have ended. Nobody relieves a thread whose connections happen to be the busy ones: what takes
//! longer than about a millisecond is not done here, and counts are even.

use std::future::Future;
use std::io;
use std::num::NonZero;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use tokio::net::TcpStream;
use tokio::runtime::{Builder, Handle};
use tokio::sync::oneshot;
use tokio::task::{JoinHandle, spawn_blocking};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::busy_poll::BusyPoll;
use super::poll_again::PollAgain;

/// Threads that end, with the connections that are open then, when this is dropped.
pub(super) struct Threads {
    threads: Vec<Thread>,
    /// The runtime of the service.
    shared: Handle,
    end: DropGuard,
}

/// A thread with a runtime for itself.
struct Thread {
    runtime: Handle,
    running: JoinHandle<()>,
    /// Held by each of its connections.
    connections: Arc<()>,
}

impl Threads {
    /// Starts threads. Must be called within the runtime of the service, which waits for them when it ends.
    ///
    /// # Errors
    ///
    /// Fails when the operating system refuses what they need.
    pub(super) async fn start(count: NonZero<usize>) -> io::Result<Self> {
        let ended = CancellationToken::new();
        let mut started = Threads {
            threads: Vec::with_capacity(count.get()),
            shared: Handle::current(),
            end: ended.clone().drop_guard(),
        };
        for _ in 0..count.get() {
            started.threads.push(Thread::start(ended.clone()).await?);
        }
        Ok(started)
    }

    /// Has the thread with the fewest connections run another one.
    pub(super) fn spawn<C>(
        &self,
        stream: TcpStream,
        connection: impl FnOnce(TcpStream) -> C + Send + 'static,
        busy_poll: BusyPoll,
    ) where
        C: Future<Output = ()> + Send + 'static,
    {
        let fewest = self.threads.iter().min_by_key(|thread| thread.count());
        let thread = fewest.expect("there is a thread");
        let counted = Arc::clone(&thread.connections);
        let shared = self.shared.clone();
        // From now on the thread waits for events of the stream.
        let stream = stream.into_std();
        thread.runtime.spawn(async move {
            let _counted = counted;
            match stream.and_then(TcpStream::from_std) {
                Ok(stream) => {
                    let connection = Within::new(shared, connection(stream));
                    PollAgain::new(connection, busy_poll).await;
                }
                Err(error) => tracing::warn!(%error, "failed to take a connection over"),
            }
        });
    }

    /// Ends the threads, and waits until they have.
    pub(super) async fn end(self) {
        let Threads { threads, end, .. } = self;
        drop(end);
        for thread in threads {
            // A thread that has failed has ended as well.
            let _ = thread.running.await;
        }
    }
}

impl Thread {
    async fn start(ended: CancellationToken) -> io::Result<Self> {
        let (sender, started) = oneshot::channel();
        let running = spawn_blocking(move || run(&ended, sender));
        let runtime = started.await.map_err(io::Error::other)??;
        Ok(Thread {
            runtime,
            running,
            connections: Arc::new(()),
        })
    }

    /// Returns the number of its connections.
    fn count(&self) -> usize {
        Arc::strong_count(&self.connections) - 1
    }
}

/// Runs connections until the end.
fn run(ended: &CancellationToken, started: oneshot::Sender<io::Result<Handle>>) {
    match Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => {
            if started.send(Ok(runtime.handle().clone())).is_ok() {
                runtime.block_on(ended.cancelled());
            }
        }
        Err(error) => {
            // Nobody waits for it where the service ends already.
            let _ = started.send(Err(error));
        }
    }
}

/// A future that finds itself in another runtime than the one that polls it.
struct Within<F> {
    runtime: Handle,
    /// `None` once it is dropped.
    future: Option<Pin<Box<F>>>,
}

impl<F: Future> Within<F> {
    fn new(runtime: Handle, future: F) -> Self {
        Within {
            runtime,
            future: Some(Box::pin(future)),
        }
    }
}

impl<F: Future<Output = ()>> Future for Within<F> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let Within { runtime, future } = &mut *self;
        let _entered = runtime.enter();
        match future {
            Some(future) => future.as_mut().poll(context),
            None => Poll::Ready(()),
        }
    }
}

impl<F> Drop for Within<F> {
    fn drop(&mut self) {
        let _entered = self.runtime.enter();
        self.future = None;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;
    use std::future::pending;
    use std::thread::{self, ThreadId};
    use std::time::Duration;

    use tokio::net::TcpListener;
    use tokio::task::yield_now;
    use tokio::time::timeout;

    use super::*;

    const TWO: NonZero<usize> = NonZero::new(2).unwrap();

    /// Waits for something that takes a moment.
    async fn within<T>(work: impl Future<Output = T>) -> T {
        timeout(Duration::from_secs(60), work).await.unwrap()
    }

    /// A connection of this machine, from the side of the server and from that of the client.
    async fn connection() -> (TcpStream, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap());
        let (served, client) = tokio::join!(listener.accept(), client);
        (served.unwrap().0, client.unwrap())
    }

    /// Gives a connection to the threads, which lasts until its client ends it; returns its client, and the thread.
    async fn open(threads: &Threads) -> (TcpStream, ThreadId) {
        let (served, client) = connection().await;
        let (sender, thread) = oneshot::channel();
        let lasts = |stream: TcpStream| async move {
            sender.send(thread::current().id()).unwrap();
            stream.readable().await.unwrap();
        };
        threads.spawn(served, lasts, BusyPoll::NEVER);
        (client, within(thread).await.unwrap())
    }

    #[tokio::test]
    async fn a_connection_goes_to_the_thread_with_the_fewest() {
        let threads = Threads::start(TWO).await.unwrap();
        let mut of_thread = HashMap::<_, Vec<_>>::new();
        for _ in 0..8 {
            let (client, thread) = open(&threads).await;
            of_thread.entry(thread).or_default().push(client);
        }
        let counts: Vec<_> = of_thread.values().map(Vec::len).collect();
        assert_eq!(counts, [4, 4]);

        let freed = *of_thread.keys().next().unwrap();
        of_thread.remove(&freed);
        within(async {
            while threads.threads.iter().all(|thread| thread.count() > 0) {
                yield_now().await;
            }
        })
        .await;
        let mut clients = Vec::new();
        for _ in 0..4 {
            let (client, thread) = open(&threads).await;
            assert_eq!(thread, freed);
            clients.push(client);
        }
        within(threads.end()).await;
    }

    #[tokio::test]
    async fn what_a_connection_starts_goes_on_when_threads_have_ended() {
        let threads = Threads::start(TWO).await.unwrap();
        let (served, _client) = connection().await;
        let (sender, started) = oneshot::channel();
        let (go_on, waits) = oneshot::channel();
        let starts = |_| async {
            let goes_on = tokio::spawn(async {
                waits.await.unwrap();
                thread::current().id()
            });
            sender.send(goes_on).unwrap();
        };
        threads.spawn(served, starts, BusyPoll::NEVER);
        let started = within(started).await.unwrap();
        within(threads.end()).await;
        go_on.send(()).unwrap();
        assert_eq!(within(started).await.unwrap(), thread::current().id());
    }

    #[tokio::test]
    async fn open_connections_end_with_the_threads() {
        /// Starts something at its end.
        struct AtEnd(Option<oneshot::Sender<()>>);

        impl Drop for AtEnd {
            fn drop(&mut self) {
                let sender = self.0.take().unwrap();
                tokio::spawn(async move { sender.send(()).unwrap() });
            }
        }

        let threads = Threads::start(TWO).await.unwrap();
        let (served, _client) = connection().await;
        let (sender, started) = oneshot::channel();
        let (at_end, ended) = oneshot::channel();
        let never_ends = |_| async {
            let _at_end = AtEnd(Some(at_end));
            sender.send(()).unwrap();
            pending().await
        };
        threads.spawn(served, never_ends, BusyPoll::NEVER);
        within(started).await.unwrap();
        within(threads.end()).await;
        within(ended).await.unwrap();
    }
}
