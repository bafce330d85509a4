//! The body of an answer as it arrives: bounded in size and in silence, and complete or an error.

use std::time::Duration;

use bytes::Bytes;
use reqwest::Response;
use reqwest::header::{CONTENT_LENGTH, TRANSFER_ENCODING};
use tokio::sync::SemaphorePermit;

use super::error::{HttpError, causes};

/// Bytes of an error answer that are kept for the log.
const EXCERPT: usize = 500;

/// The body of an answer; holds its connection until it is dropped.
pub(super) struct Body<'a> {
    response: Response,
    address: String,
    socket_timeout: Option<Duration>,
    bytes: u64,
    limit: u64,
    /// The last byte has to be the end of a line.
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

    /// Refuses a body that does not end with a line.
    pub(super) fn of_lines(mut self) -> Self {
        self.lines = true;
        self
    }

    /// Tells whether a connection that breaks off can be told from one that ends.
    pub(super) fn end_is_marked(&self) -> bool {
        let headers = self.response.headers();
        let chunked = headers.get_all(TRANSFER_ENCODING).iter().any(|value| {
            let text = value.to_str().unwrap_or_default().to_ascii_lowercase();
            text.split(',').any(|coding| coding.trim() == "chunked")
        });
        chunked || headers.contains_key(CONTENT_LENGTH)
    }

    /// Returns the next bytes, or nothing at the proper end.
    pub(super) async fn next(&mut self) -> Result<Option<Bytes>, HttpError> {
        // Bytes may come faster than they are parsed; others want to run too.
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
        Ok(Some(chunk))
    }

    /// Reads what a server says about a failure: the begin of it, in one line.
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
