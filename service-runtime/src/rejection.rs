//! Answers to what is not even a request.
//!
//! The HTTP library answers a malformed request line, and headers that are too large, on its own and
//! without a body. A connection is wrapped here so that these answers have a code, too.

use std::future::Future;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use graphql_http::{HttpError, code as common, request_id::X_REQUEST_ID};
use graphql_service::ErrorCode;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};
use uuid::Uuid;

use super::code;

/// A connection on which the library's own answers get a body.
pub(crate) struct Rejections<S> {
    stream: S,
    /// What is written in place of such an answer.
    pending: Vec<u8>,
    written: usize,
    /// The client may still be sending; runs from the end of the answer.
    lingering: Option<Pin<Box<Sleep>>>,
}

/// Maximum time in which the rest of a rejected request is read and discarded. A connection that is
/// closed with bytes unread is reset, and the client may lose the answer
/// (<https://www.rfc-editor.org/rfc/rfc9112#section-9.6>).
const LINGER: Duration = Duration::from_secs(1);

impl<S> Rejections<S> {
    pub(crate) fn new(stream: S) -> Self {
        Rejections {
            stream,
            pending: Vec::new(),
            written: 0,
            lingering: None,
        }
    }
}

impl<S: AsyncRead + Unpin> Rejections<S> {
    /// Reads and discards what a rejected client still sends, for at most [`LINGER`].
    fn poll_linger(&mut self, context: &mut Context<'_>) -> Poll<()> {
        if self.pending.is_empty() {
            return Poll::Ready(());
        }
        let timer = self
            .lingering
            .get_or_insert_with(|| Box::pin(sleep(LINGER)));
        if timer.as_mut().poll(context).is_ready() {
            return Poll::Ready(());
        }
        let mut scratch = [0; 4 << 10];
        loop {
            let mut buffer = ReadBuf::new(&mut scratch);
            match ready!(Pin::new(&mut self.stream).poll_read(context, &mut buffer)) {
                Ok(()) if !buffer.filled().is_empty() => {}
                _ => return Poll::Ready(()),
            }
        }
    }
}

impl<S: AsyncWrite + Unpin> Rejections<S> {
    /// Writes what is pending.
    fn poll_pending(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        while self.written < self.pending.len() {
            let rest = &self.pending[self.written..];
            match ready!(Pin::new(&mut self.stream).poll_write(context, rest))? {
                0 => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                written => self.written += written,
            }
        }
        Poll::Ready(Ok(()))
    }

    /// Takes the answer to write in place of one of the library's own.
    fn replace(&mut self, answer: Vec<u8>, context: &mut Context<'_>) -> io::Result<()> {
        self.pending = answer;
        self.written = 0;
        match self.poll_pending(context) {
            // What is left is written before anything else, and when the library flushes.
            Poll::Pending => Ok(()),
            Poll::Ready(result) => result,
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Rejections<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Rejections<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        ready!(self.poll_pending(context))?;
        if let Some(answer) = coded(bytes) {
            self.replace(answer, context)?;
            return Poll::Ready(Ok(bytes.len()));
        }
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let mut filled = slices.iter().filter(|slice| !slice.is_empty());
        if let (Some(only), None) = (filled.next(), filled.next()) {
            return self.poll_write(context, only);
        }
        ready!(self.poll_pending(context))?;
        Pin::new(&mut self.stream).poll_write_vectored(context, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_pending(context))?;
        ready!(Pin::new(&mut self.stream).poll_flush(context))?;
        // The library flushes its own answer, and drops the connection without a shutdown.
        self.poll_linger(context).map(Ok)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_pending(context))?;
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

/// Returns the answer in place of `bytes`, when these are an answer that the library makes on its
/// own: a whole head of one of three statuses, without a body and without the identifier that every
/// answer of ours has.
fn coded(bytes: &[u8]) -> Option<Vec<u8>> {
    let (code, message) = kind(bytes)?;
    let head = std::str::from_utf8(bytes).ok()?.strip_suffix("\r\n\r\n")?;
    let mut headers = head.split("\r\n").skip(1).map(|line| line.split_once(": "));
    let is_own = headers.all(|header| {
        header.is_some_and(|(name, value)| match name {
            "content-length" => value == "0",
            name => matches!(name, "connection" | "date"),
        })
    });
    is_own.then(|| answer(code, message))
}

/// Returns the code and the message for the status of an answer, if it is one that the library makes.
fn kind(bytes: &[u8]) -> Option<(ErrorCode, &'static str)> {
    let status = bytes.strip_prefix(b"HTTP/1.")?.get(1..6)?;
    match status {
        b" 400 " => Some((common::REQUEST_MALFORMED, "the request is not valid HTTP")),
        b" 414 " => Some((code::URI_TOO_LONG, "the target of the request is too long")),
        b" 431 " => Some((
            code::HEADERS_TOO_LARGE,
            "the target and the headers of the request are too large, or the headers too many",
        )),
        _ => None,
    }
}

fn answer(code: ErrorCode, message: &str) -> Vec<u8> {
    let error = HttpError::new(code, message);
    let (status, body) = (error.status, error.body().to_string());
    let id = Uuid::new_v4();
    tracing::info!(request_id = %id, status = status.as_u16(), "refused a malformed request");
    format!(
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\nx-content-type-options: nosniff\r\n\
         {X_REQUEST_ID}: {id}\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_answers_of_the_library_itself_get_a_body() {
        let own = "HTTP/1.1 431 Request Header Fields Too Large\r\ncontent-length: 0\r\n\
                   date: Sat, 01 Aug 2026 10:00:00 GMT\r\n\r\n";
        let answer = String::from_utf8(coded(own.as_bytes()).unwrap()).unwrap();
        assert!(answer.starts_with("HTTP/1.1 431 Request Header Fields Too Large\r\n"));
        assert!(
            answer.contains("\"code\":\"HEADERS_TOO_LARGE\""),
            "{answer}"
        );
        for other in [
            "HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\nx-request-id: a\r\n\r\n",
            "HTTP/1.1 400 Bad Request\r\ncontent-length: 2\r\n\r\n{}",
            "HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n",
            "HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n",
            "HTTP/1.",
            "",
        ] {
            assert_eq!(coded(other.as_bytes()), None, "{other}");
        }
    }
}
