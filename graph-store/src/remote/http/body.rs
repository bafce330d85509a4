//! The body of a response with the connection that it holds; its memory is counted, and a body of lines is complete.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use call_context::{CallContext, ResultMemory};
use outbound::{BodyError, causes};
use reqwest::Response;
use service_metrics::Call;
use tokio::sync::SemaphorePermit;
use traces::Exchange;

use super::error::HttpError;

/// Bytes of an error response that are kept for the log.
const EXCERPT: usize = 500;

/// Bytes that a term takes in memory for each byte of it in a result, about.
const GROWTH: usize = 2;

/// The body of a response; holds its connection until it is dropped.
pub(super) struct Body<'a> {
    body: outbound::Body,
    address: String,
    memory: Option<Arc<dyn ResultMemory>>,
    /// The last byte must be the end of a line.
    lines: bool,
    last: u8,
    /// The request, which is recorded with the end of the body.
    call: Option<Call>,
    _connection: Option<SemaphorePermit<'a>>,
    traced: Exchange,
}

impl<'a> Body<'a> {
    pub(super) fn new(
        response: Response,
        address: String,
        socket_timeout: Option<Duration>,
        connection: Option<SemaphorePermit<'a>>,
    ) -> Self {
        Body {
            body: outbound::Body::of(response).within(socket_timeout),
            address,
            memory: None,
            lines: false,
            last: b'\n',
            call: None,
            _connection: connection,
            traced: Exchange::untraced(),
        }
    }

    /// Records the request once the body is dropped.
    pub(super) fn recorded(mut self, call: Call) -> Self {
        self.call = Some(call);
        self
    }

    /// Has the span of the request last as long as the body is read.
    pub(super) fn traced(mut self, traced: Exchange) -> Self {
        self.traced = traced;
        self
    }

    pub(super) fn address(&self) -> &str {
        &self.address
    }

    pub(super) fn response(&self) -> &Response {
        self.body.response()
    }

    /// Refuses more than `limit` bytes.
    pub(super) fn limited(mut self, limit: u64) -> Result<Self, HttpError> {
        self.body = self.body.limited(limit);
        match self.body.check_length() {
            Err(error) => Err(self.failed(error)),
            Ok(()) => Ok(self),
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
        self.body.end_is_marked()
    }

    /// Returns the next bytes, or `None` at the proper end.
    pub(super) async fn next(&mut self) -> Result<Option<Bytes>, HttpError> {
        let chunk = self.read().await;
        if let (Err(error), Some(call)) = (&chunk, &mut self.call) {
            call.fail(error.word());
        }
        chunk
    }

    async fn read(&mut self) -> Result<Option<Bytes>, HttpError> {
        let chunk = self.body.next().await;
        if chunk.is_err() {
            self.traced.failed("broken_response");
        }
        let Some(chunk) = chunk.map_err(|error| self.failed(error))? else {
            if self.lines && self.last != b'\n' {
                self.traced.failed("broken_response");
                return Err(self.broken("it ends within a line".to_owned()));
            }
            return Ok(None);
        };
        self.last = chunk.last().copied().unwrap_or(self.last);
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
            bytes: self.body.bytes(),
            cause,
        }
    }

    fn failed(&self, error: BodyError) -> HttpError {
        let address = self.address.clone();
        match error {
            BodyError::TooLong { limit } => HttpError::TooLarge { address, limit },
            BodyError::Silent { silence } => HttpError::Silent {
                address,
                timeout: silence,
            },
            BodyError::Broken(error) => self.broken(causes(error)),
            error => self.broken(error.to_string()),
        }
    }
}
