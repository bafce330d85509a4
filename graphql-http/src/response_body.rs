//! The body of a GraphQL response on its way to the client: segments that are freed as they are sent.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::body::HttpBody;
use bytes::Bytes;
use graphql_service::MemoryAccount;
use hyper::body::{Frame, SizeHint};

/// Segments of a response, counted until the connection has taken the next one.
pub(crate) struct ResponseBody {
    segments: VecDeque<Bytes>,
    left: u64,
    /// Length of the segment that was taken last.
    taken: usize,
    memory: Option<Arc<MemoryAccount>>,
}

impl ResponseBody {
    pub(crate) fn new(segments: Vec<Bytes>, memory: Option<Arc<MemoryAccount>>) -> Self {
        ResponseBody {
            left: segments.iter().map(|segment| segment.len() as u64).sum(),
            segments: segments.into(),
            taken: 0,
            memory,
        }
    }
}

impl HttpBody for ResponseBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if let Some(memory) = &self.memory {
            memory.shrink(self.taken);
        }
        let next = self.segments.pop_front();
        self.taken = next.as_ref().map_or(0, Bytes::len);
        self.left -= self.taken as u64;
        Poll::Ready(next.map(|segment| Ok(Frame::data(segment))))
    }

    fn is_end_stream(&self) -> bool {
        self.segments.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left)
    }
}
