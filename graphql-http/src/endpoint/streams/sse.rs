//! Responses as server-sent events, each on a connection of its own: an event `next` for each response, and one
//! `complete` at the end.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::body::{Body, HttpBody};
use axum::http::{HeaderName, HeaderValue, header};
use axum::response::Response as HttpResponse;
use bytes::Bytes;
use futures::StreamExt;
use futures::stream::{self, BoxStream};
use graphql_service::{Caller, Event, GraphqlError, MemoryAccount, Replies, Reply};
use hyper::body::Frame;
use memchr::memchr2;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::{Instant, Sleep, sleep};
use tokio_util::sync::DropGuard;

use super::{Log, Streams, expired, token_expired};
use crate::compression::Offered;
use crate::error::HttpError;

/// The media type.
pub(crate) const EVENT_STREAM: &str = "text/event-stream";

/// Header that keeps proxies such as nginx from buffering events.
const X_ACCEL_BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");

const NEXT: &[u8] = b"event: next\ndata: ";
const COMPLETE: &[u8] = b"event: complete\ndata:\n\n";
const KEEP_ALIVE: &[u8] = b":\n\n";

/// Length up to which an event is copied into one segment, so that it is sent by one write.
const ONE_SEGMENT: usize = 16 << 10;

/// Answers with events. What still works for them stops with `cancel`.
pub(crate) fn response(
    replies: Replies,
    streams: &Streams,
    caller: Option<&Caller>,
    request_id: String,
    cancel: DropGuard,
) -> Result<HttpResponse, HttpError> {
    let connection = streams.connection()?;
    let events = match replies {
        Replies::One(reply) => stream::iter([Event::Next(reply)]).boxed(),
        Replies::Several(events) => events,
    };
    let interval = streams.options.keep_alive;
    let body = EventsBody {
        events,
        segments: VecDeque::new(),
        memory: None,
        taken: 0,
        is_over: false,
        interval,
        timer: (!interval.is_zero()).then(|| Box::pin(sleep(interval))),
        expired: expired(caller, streams.leeway).map(Box::pin),
        log: Log::new("sse", request_id),
        _cancel: cancel,
        _connection: connection,
    };
    let mut response = HttpResponse::new(Body::new(body));
    response.extensions_mut().insert(Offered);
    let headers = response.headers_mut();
    let of = HeaderValue::from_static;
    headers.insert(header::CONTENT_TYPE, of("text/event-stream; charset=utf-8"));
    headers.insert(header::CACHE_CONTROL, of("no-store"));
    headers.insert(header::VARY, of("accept"));
    headers.insert(X_ACCEL_BUFFERING, of("no"));
    Ok(response)
}

/// Events on their way to the client. The next one is asked for when the connection has taken all of the last one.
struct EventsBody {
    events: BoxStream<'static, Event>,
    segments: VecDeque<Bytes>,
    /// Counts the event that is being sent.
    memory: Option<Arc<MemoryAccount>>,
    /// Length of the segment that was taken last.
    taken: usize,
    is_over: bool,
    interval: Duration,
    /// Runs while nothing is sent.
    timer: Option<Pin<Box<Sleep>>>,
    expired: Option<Pin<Box<Sleep>>>,
    log: Log,
    _cancel: DropGuard,
    _connection: OwnedSemaphorePermit,
}

impl EventsBody {
    fn next(&mut self, reply: Reply) {
        let response = reply.into_response();
        self.log.event(response.body.len());
        let (segments, memory) = response.body.into_parts();
        self.memory = memory;
        let end = Bytes::from_static(b"\n\n");
        let segments = segments.into_iter().map(one_line);
        let event: Vec<Bytes> = std::iter::once(Bytes::from_static(NEXT))
            .chain(segments)
            .chain([end])
            .collect();
        if event.iter().map(Bytes::len).sum::<usize>() <= ONE_SEGMENT {
            self.segments.push_back(event.concat().into())
        } else {
            self.segments.extend(event)
        }
    }

    fn complete(&mut self) {
        self.is_over = true;
        self.segments.push_back(Bytes::from_static(COMPLETE));
    }

    fn fail(&mut self, errors: Vec<GraphqlError>) {
        self.log.failed(&errors);
        self.next(Reply::Refused(errors));
        self.complete();
    }

    /// Waits for something to send.
    fn poll_event(&mut self, context: &mut Context<'_>) -> Poll<()> {
        if let Some(expired) = &mut self.expired
            && expired.as_mut().poll(context).is_ready()
        {
            self.fail(vec![token_expired()]);
            return Poll::Ready(());
        }
        match self.events.poll_next_unpin(context) {
            Poll::Ready(Some(Event::Next(reply))) => self.next(reply),
            Poll::Ready(Some(Event::Error(errors))) => self.fail(errors),
            Poll::Ready(None) => {
                self.log.completed();
                self.complete();
            }
            Poll::Pending => {
                let Some(timer) = &mut self.timer else {
                    return Poll::Pending;
                };
                ready!(timer.as_mut().poll(context));
                self.segments.push_back(Bytes::from_static(KEEP_ALIVE));
            }
        }
        Poll::Ready(())
    }
}

/// Returns JSON text without line ends, which stand for nothing there, and end the data of an event.
fn one_line(segment: Bytes) -> Bytes {
    if memchr2(b'\n', b'\r', &segment).is_none() {
        return segment;
    }
    let without = segment.iter().map(|byte| match byte {
        b'\n' | b'\r' => b' ',
        other => *other,
    });
    without.collect()
}

impl HttpBody for EventsBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if let Some(memory) = &self.memory {
            memory.shrink(self.taken);
        }
        self.taken = 0;
        if self.segments.is_empty() {
            self.memory = None;
            if self.is_over {
                return Poll::Ready(None);
            }
            ready!(self.poll_event(context));
            let later = Instant::now() + self.interval;
            if let Some(timer) = &mut self.timer {
                timer.as_mut().reset(later);
            }
        }
        let next = self.segments.pop_front();
        self.taken = next.as_ref().map_or(0, Bytes::len);
        Poll::Ready(next.map(|segment| Ok(Frame::data(segment))))
    }

    fn is_end_stream(&self) -> bool {
        self.is_over && self.segments.is_empty()
    }
}
