//! The connection that requests come by, which ends when its client stops reading.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::http::Extensions;
use graphql_http::ConnectionPermit;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep};

use super::trusted_proxies::ClientAddress;

/// The connection that a request came by.
#[derive(Clone, Debug)]
pub(crate) struct Connected {
    /// Where it comes from, or where a trusted proxy says that the request does.
    pub(crate) client: ClientAddress,
    pub(crate) held: Option<ConnectionPermit>,
}

impl Connected {
    /// Makes it available to handlers.
    pub(crate) fn note(self, extensions: &mut Extensions) {
        extensions.insert(self.client);
        if let Some(held) = self.held {
            extensions.insert(held);
        }
    }
}

/// Bytes that a client has to take within the timeout while more wait for it. A client that takes a
/// few at a time would otherwise keep a response in memory for hours.
const LEAST: usize = 64 << 10;

/// A stream whose writes fail when the other side takes too little for too long.
pub(crate) struct Connection<S> {
    stream: S,
    timeout: Duration,
    /// Runs while bytes wait; made when they do for the first time.
    timer: Option<Pin<Box<Sleep>>>,
    is_waiting: bool,
    /// Bytes that were taken since the timer was set.
    taken: usize,
}

impl<S> Connection<S> {
    pub(crate) fn new(stream: S, timeout: Duration) -> Self {
        Connection {
            stream,
            timeout,
            timer: None,
            is_waiting: false,
            taken: 0,
        }
    }

    /// Looks at the time after a write.
    fn watched<T>(
        &mut self,
        context: &mut Context<'_>,
        polled: Poll<io::Result<T>>,
        taken: impl Fn(&T) -> usize,
    ) -> Poll<io::Result<T>> {
        match &polled {
            Poll::Ready(Ok(done)) => {
                self.taken = self.taken.saturating_add(taken(done));
                polled
            }
            Poll::Ready(Err(_)) => polled,
            Poll::Pending => {
                let timeout = self.timeout;
                let timer = self.timer.get_or_insert_with(|| Box::pin(sleep(timeout)));
                if !self.is_waiting || self.taken >= LEAST {
                    timer.as_mut().reset(Instant::now() + timeout);
                    self.taken = 0;
                    self.is_waiting = true;
                }
                match timer.as_mut().poll(context) {
                    Poll::Ready(()) => {
                        let message = "the client does not read its response";
                        Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, message)))
                    }
                    Poll::Pending => Poll::Pending,
                }
            }
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Connection<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Connection<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.watched(context, polled, |taken| *taken)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.stream).poll_write_vectored(context, bytes);
        self.watched(context, polled, |taken| *taken)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let polled = Pin::new(&mut self.stream).poll_flush(context);
        // Everything that waited was taken.
        if polled.is_ready() {
            self.is_waiting = false;
        }
        self.watched(context, polled, |()| 0)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let polled = Pin::new(&mut self.stream).poll_shutdown(context);
        self.watched(context, polled, |()| 0)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[tokio::test(start_paused = true)]
    async fn a_client_that_does_not_read_is_given_up() {
        let (ours, _theirs) = duplex(1 << 10);
        let mut connection = Connection::new(ours, 30 * SECOND);
        let started = Instant::now();
        let failed = connection.write_all(&[0; 10_000]).await.unwrap_err();
        assert_eq!(failed.kind(), io::ErrorKind::TimedOut);
        assert_eq!(started.elapsed().as_secs(), 30);
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_reads_a_few_bytes_at_a_time_is_given_up() {
        let (ours, mut theirs) = duplex(1 << 10);
        let mut connection = Connection::new(ours, 30 * SECOND);
        let reading = tokio::spawn(async move {
            let mut buffer = [0; 100];
            while theirs.read(&mut buffer).await.is_ok_and(|read| read > 0) {
                tokio::time::sleep(SECOND).await;
            }
        });
        let failed = connection.write_all(&vec![0; 10 << 20]).await.unwrap_err();
        assert_eq!(failed.kind(), io::ErrorKind::TimedOut);
        drop(connection);
        reading.await.unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_has_taken_everything_may_wait_for_more_as_long_as_it_likes() {
        let (ours, mut theirs) = duplex(1 << 10);
        let mut connection = Connection::new(ours, 30 * SECOND);
        let reading = tokio::spawn(async move {
            let (mut buffer, mut all) = ([0; 100], 0);
            loop {
                // Each time some bytes wait for it.
                tokio::time::sleep(SECOND).await;
                match theirs.read(&mut buffer).await.unwrap() {
                    0 => return all,
                    read => all += read,
                }
            }
        });
        for _ in 0..3 {
            connection.write_all(&[0; 1_500]).await.unwrap();
            connection.flush().await.unwrap();
            tokio::time::sleep(3_600 * SECOND).await;
        }
        drop(connection);
        assert_eq!(reading.await.unwrap(), 3 * 1_500);
    }

    #[tokio::test(start_paused = true)]
    async fn a_slow_client_that_goes_on_reading_gets_everything() {
        let (ours, mut theirs) = duplex(32 << 10);
        let mut connection = Connection::new(ours, 30 * SECOND);
        let reading = tokio::spawn(async move {
            let (mut buffer, mut all) = (vec![0; 32 << 10], 0);
            loop {
                match theirs.read(&mut buffer).await.unwrap() {
                    0 => return all,
                    read => all += read,
                }
                tokio::time::sleep(5 * SECOND).await;
            }
        });
        connection.write_all(&vec![0; 2 << 20]).await.unwrap();
        connection.flush().await.unwrap();
        drop(connection);
        assert_eq!(reading.await.unwrap(), 2 << 20);
    }
}
