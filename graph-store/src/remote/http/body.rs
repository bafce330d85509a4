//! A response body as it arrives: limited in size and idle time, and complete or an error.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use call_context::{CallContext, ResultMemory};
use reqwest::Response;
use reqwest::header::{CONTENT_LENGTH, TRANSFER_ENCODING};
use tokio::sync::SemaphorePermit;

use super::error::HttpError;
use super::outgoing::causes;

/// Bytes of an error response that are kept for the log.
const EXCERPT: usize = 500;

/// Bytes that a term takes in memory for each byte of it in a result, about.
const GROWTH: usize = 2;

/// The body of a response; holds its connection until it is dropped.
pub(super) struct Body<'a> {
    response: Response,
    address: String,
    socket_timeout: Option<Duration>,
    bytes: u64,
    limit: u64,
    memory: Option<Arc<dyn ResultMemory>>,
    /// The last byte must be the end of a line.
    lines: bool,
    last: u8,
    _connection: SemaphorePermit<'a>,
}

impl<'a> Body<'a> {
    pub(super) fn new(
        response: Response,
        address: String,
        socket_timeout: Option<Duration>,
        connection: SemaphorePermit<'a>,
    ) -> Self {
        Body {
            response,
            address,
            socket_timeout,
            bytes: 0,
            limit: u64::MAX,
            memory: None,
            lines: false,
            last: b'\n',
            _connection: connection,
        }
    }

    pub(super) fn address(&self) -> &str {
        &self.address
    }

    pub(super) fn response(&self) -> &Response {
        &self.response
    }

    /// Refuses more than `limit` bytes.
    pub(super) fn limited(mut self, limit: u64) -> Result<Self, HttpError> {
        self.limit = limit;
        match self.response.content_length() {
            Some(length) if length > limit => Err(self.too_large()),
            _ => Ok(self),
        }
    }

    /// Counts the memory of what is read.
    pub(super) fn counted(mut self, context: &CallContext) -> Self {
        self.memory.clone_from(&context.memory);
        self
    }

    /// Refuses a body that does not end with a line.
    pub(super) fn of_lines(mut self) -> Self {
        self.lines = true;
        self
    }

    /// Returns whether a broken connection can be distinguished from a complete response.
    pub(super) fn end_is_marked(&self) -> bool {
        let headers = self.response.headers();
        let chunked = headers.get_all(TRANSFER_ENCODING).iter().any(|value| {
            let text = value.to_str().unwrap_or_default().to_ascii_lowercase();
            text.split(',').any(|coding| coding.trim() == "chunked")
        });
        chunked || headers.contains_key(CONTENT_LENGTH)
    }

    /// Returns the next bytes, or `None` at the proper end.
    pub(super) async fn next(&mut self) -> Result<Option<Bytes>, HttpError> {
        // Bytes may arrive faster than they are parsed; other tasks must get their turn.
        tokio::task::consume_budget().await;
        let chunk = self.response.chunk();
        let chunk = match self.socket_timeout {
            None => chunk.await,
            Some(timeout) => match tokio::time::timeout(timeout, chunk).await {
                Ok(chunk) => chunk,
                Err(_) => {
                    let address = self.address.clone();
                    return Err(HttpError::Silent { address, timeout });
                }
            },
        };
        let Some(chunk) = chunk.map_err(|error| self.broken(causes(error)))? else {
            if self.lines && self.last != b'\n' {
                return Err(self.broken("it ends within a line".to_owned()));
            }
            return Ok(None);
        };
        self.bytes += chunk.len() as u64;
        self.last = chunk.last().copied().unwrap_or(self.last);
        if self.bytes > self.limit {
            return Err(self.too_large());
        }
        let fits = |memory: &Arc<dyn ResultMemory>| memory.hold(GROWTH * chunk.len());
        if !self.memory.as_ref().is_none_or(fits) {
            return Err(HttpError::OutOfMemory);
        }
        Ok(Some(chunk))
    }

    /// Reads the start of an error message of the server, as one line.
    pub(super) async fn excerpt(mut self) -> String {
        let mut bytes = Vec::new();
        while bytes.len() < EXCERPT {
            match self.next().await {
                Ok(Some(chunk)) => bytes.extend_from_slice(&chunk),
                Ok(None) | Err(_) => break,
            }
        }
        bytes.truncate(EXCERPT);
        let text = String::from_utf8_lossy(&bytes);
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    fn broken(&self, cause: String) -> HttpError {
        HttpError::Broken {
            address: self.address.clone(),
            bytes: self.bytes,
            cause,
        }
    }

    fn too_large(&self) -> HttpError {
        HttpError::TooLarge {
            address: self.address.clone(),
            limit: self.limit,
        }
    }
}
