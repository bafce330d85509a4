//! `GET /dump`: all data of the store as N-Quads or TriG, while they are served.
//!
//! The text is made on a thread of its own, a piece ahead of what the client takes. Where that breaks off, so does the
//! answer: a client never takes a part for the whole.

use std::cell::RefCell;
use std::io::{self, Write};
use std::ops::ControlFlow;
use std::rc::Rc;
use std::sync::Arc;

use async_trait::async_trait;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header::{
    ACCEPT, ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_ENCODING, CONTENT_TYPE,
    VARY,
};
use axum::http::{HeaderMap, HeaderValue, Method, Version};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use call_context::CallError;
use futures::stream::unfold;
use graph_store::{CallContext, GraphStore, QuadSink, StoreError};
use graphql_http::{
    HttpError, RequestId, Sender as TokenSender, code as common, negotiate::weighted,
};
use oxrdf::Quad;
use rdf_load::{DumpFormat, DumpWriter};
use service_runtime::schemas::audit;
use tokio::runtime::Handle;
use tokio::sync::OwnedSemaphorePermit;
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio_util::sync::DropGuard;

use super::super::app::App;
use super::super::code;

/// Bytes that are collected before they are sent.
const PIECE: usize = 64 << 10;

/// Pieces that may wait for the client.
const QUEUE: usize = 2;

/// Sends all data to those who may make backups: they are in those too.
pub(super) async fn read(
    State(app): State<Arc<App>>,
    sender: TokenSender,
    id: RequestId,
    request: Request,
) -> Result<Response, HttpError> {
    let wanted = Wanted::of(&request)?;
    if request.method() == Method::HEAD {
        return Ok(wanted.headers(Body::empty()));
    }
    if app.store.exporter().is_none() {
        let message = "the store of the service cannot list its data";
        return Err(HttpError::new(code::DUMP_UNSUPPORTED, message));
    }
    let permit = Arc::clone(&app.dumps).try_acquire_owned().map_err(|_| {
        let message = "the maximum number of concurrent dumps is running";
        HttpError::new(code::DUMP_RUNNING, message)
    })?;
    audit(&sender, "dump", wanted.format.name(), "");
    let context = CallContext::new().with_request_id(id.0);
    let stop = context.cancellation.clone().drop_guard();
    let (pieces, mut received) = channel(QUEUE);
    let dump = Dump {
        store: Arc::clone(&app.store),
        wanted,
        context,
        pieces,
        _permit: permit,
    };
    drop(tokio::task::spawn_blocking(move || dump.make()));
    // What fails at once is answered as an error.
    let first = match received.recv().await {
        Some(Ok(piece)) => piece,
        Some(Err(error)) => return Err(failed(&error)),
        None => return Err(HttpError::internal()),
    };
    Ok(wanted.headers(body(first, received, stop)))
}

/// What the client takes.
#[derive(Clone, Copy)]
struct Wanted {
    format: DumpFormat,
    is_gzipped: bool,
}

impl Wanted {
    fn of(request: &Request) -> Result<Self, HttpError> {
        if request.version() < Version::HTTP_11 {
            let message = "a dump needs HTTP/1.1: with an older version, a truncated dump would not be \
                 noticed";
            return Err(HttpError::new(common::REQUEST_MALFORMED, message));
        }
        let format = negotiated(request.headers()).ok_or_else(|| {
            let message = "dumps are `application/n-quads` or `application/trig`";
            HttpError::new(common::NOT_ACCEPTABLE, message)
        })?;
        Ok(Wanted {
            format,
            is_gzipped: takes_gzip(request.headers()),
        })
    }

    fn headers(self, body: Body) -> Response {
        let name = match self.format {
            DumpFormat::NQuads => "attachment; filename=\"dump.nq\"",
            DumpFormat::TriG => "attachment; filename=\"dump.trig\"",
        };
        let headers = [
            (CONTENT_TYPE, self.format.media_type()),
            (CONTENT_DISPOSITION, name),
            (CACHE_CONTROL, "no-store"),
            (VARY, "accept, accept-encoding"),
        ];
        let mut response = (headers, body).into_response();
        if self.is_gzipped {
            let headers = response.headers_mut();
            headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        }
        response
    }
}

/// Chooses after `Accept`: the greatest weight, then N-Quads.
fn negotiated(headers: &HeaderMap) -> Option<DumpFormat> {
    let Some(ranges) = weighted(headers, ACCEPT) else {
        return Some(DumpFormat::default());
    };
    let weight = |format: DumpFormat| {
        let names = [format.media_type(), "application/*", "*/*"];
        let weight = names.iter().find_map(|name| {
            let of = ranges.iter().find(|(range, _)| range == name);
            of.map(|(_, weight)| *weight)
        });
        weight.unwrap_or(0.0)
    };
    let (lines, trig) = (weight(DumpFormat::NQuads), weight(DumpFormat::TriG));
    if trig > lines {
        Some(DumpFormat::TriG)
    } else {
        (lines > 0.0).then_some(DumpFormat::NQuads)
    }
}

/// Returns whether the client would rather have the text gzipped.
fn takes_gzip(headers: &HeaderMap) -> bool {
    let ranges = weighted(headers, ACCEPT_ENCODING).unwrap_or_default();
    let weight = |name: &str| {
        let of = ranges.iter().find(|(range, _)| range == name);
        of.map(|(_, weight)| *weight)
    };
    let gzip = weight("gzip").or_else(|| weight("*")).unwrap_or(0.0);
    gzip > 0.0 && gzip >= weight("identity").unwrap_or(0.0)
}

/// A part of a dump.
enum Piece {
    Text(Bytes),
    /// Everything was sent.
    End,
}

type Pieces = Sender<Result<Piece, StoreError>>;

/// A dump that is made.
struct Dump {
    store: Arc<dyn GraphStore>,
    wanted: Wanted,
    context: CallContext,
    pieces: Pieces,
    _permit: OwnedSemaphorePermit,
}

impl Dump {
    /// Makes the dump on the thread of the caller.
    fn make(self) {
        Handle::current().block_on(async {
            let made = self.send_all().await;
            if let Err(error) = &made {
                let error = error as &dyn std::error::Error;
                let request_id = self.context.request_id.as_str();
                tracing::warn!(error, request_id, "a dump was aborted");
            }
            // A client that is gone needs no end.
            let _ = self.pieces.send(made.map(|()| Piece::End)).await;
        });
    }

    async fn send_all(&self) -> Result<(), StoreError> {
        let store = self
            .store
            .exporter()
            .ok_or_else(|| StoreError::Unsupported("no listing".to_owned()))?;
        let text = Text::default();
        let Wanted { format, is_gzipped } = self.wanted;
        let mut sending = Sending {
            writer: DumpWriter::new(text.clone(), format, is_gzipped),
            text: text.clone(),
            pieces: &self.pieces,
            failed: None,
        };
        store.export(&mut sending, &self.context).await?;
        if let Some(error) = sending.failed {
            return Err(error);
        }
        sending.writer.finish().map_err(unwritten)?;
        if text.is_empty() {
            Ok(())
        } else {
            send(&self.pieces, text.take()).await
        }
    }
}

/// Text that is not sent yet.
#[derive(Clone, Default)]
struct Text(Rc<RefCell<Vec<u8>>>);

impl Text {
    fn len(&self) -> usize {
        self.0.borrow().len()
    }

    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn take(&self) -> Bytes {
        self.0.take().into()
    }
}

impl Write for Text {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Sends quads as text.
struct Sending<'p> {
    writer: DumpWriter<Text>,
    text: Text,
    pieces: &'p Pieces,
    failed: Option<StoreError>,
}

#[async_trait(?Send)]
impl QuadSink for Sending<'_> {
    async fn take(&mut self, quads: Vec<Quad>) -> ControlFlow<()> {
        let mut sent = self.writer.write(&quads).map_err(unwritten);
        drop(quads);
        if sent.is_ok() && self.text.len() >= PIECE {
            sent = send(self.pieces, self.text.take()).await;
        }
        match sent {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                self.failed = Some(error);
                ControlFlow::Break(())
            }
        }
    }
}

/// Sends a piece as soon as the client has taken those before it.
async fn send(pieces: &Pieces, text: Bytes) -> Result<(), StoreError> {
    let sent = pieces.send(Ok(Piece::Text(text))).await;
    sent.map_err(|_| StoreError::Call(CallError::Cancelled))
}

fn unwritten(error: io::Error) -> StoreError {
    StoreError::Failed(Box::new(error))
}

/// Returns the body whose first piece is there. It fails unless the last piece is the end; when it is dropped, the
/// dump stops.
fn body(first: Piece, received: Receiver<Result<Piece, StoreError>>, stop: DropGuard) -> Body {
    let stream = unfold(Some((Some(first), received, stop)), |state| async move {
        let (first, mut received, stop) = state?;
        let next = match first {
            Some(piece) => Some(Ok(piece)),
            None => received.recv().await,
        };
        match next {
            Some(Ok(Piece::Text(text))) => Some((Ok(text), Some((None, received, stop)))),
            Some(Ok(Piece::End)) => None,
            // What exactly is in the log.
            Some(Err(_)) | None => Some((Err(io::Error::other("the dump was aborted")), None)),
        }
    });
    Body::from_stream(stream)
}

fn failed(error: &StoreError) -> HttpError {
    match error {
        StoreError::Unsupported(message) => HttpError::new(code::DUMP_UNSUPPORTED, message),
        _ => HttpError::new(
            code::DUMP_FAILED,
            "the data cannot be read; see the log for this request id",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn accept(name: axum::http::HeaderName, value: &str) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(name, value.parse().unwrap());
        headers
    }

    #[test]
    fn the_syntax_follows_the_weights() {
        let format = |value: &str| negotiated(&accept(ACCEPT, value));
        assert_eq!(negotiated(&HeaderMap::new()), Some(DumpFormat::NQuads));
        for value in [
            "*/*",
            "application/*",
            "application/n-quads, application/trig",
        ] {
            assert_eq!(format(value), Some(DumpFormat::NQuads), "{value}");
        }
        for value in [
            "application/trig",
            "application/trig, */*;q=0.1",
            "application/n-quads;q=0, application/trig;q=0.1",
        ] {
            assert_eq!(format(value), Some(DumpFormat::TriG), "{value}");
        }
        for value in ["text/turtle", "application/n-quads;q=0", "*/*;q=0"] {
            assert_eq!(format(value), None, "{value}");
        }
    }

    #[test]
    fn text_is_gzipped_for_those_who_would_rather_have_it_so() {
        let takes = |value: &str| takes_gzip(&accept(ACCEPT_ENCODING, value));
        for value in ["gzip", "br, gzip;q=0.5", "*", "gzip, identity"] {
            assert!(takes(value), "{value}");
        }
        for value in ["", "br", "gzip;q=0", "gzip;q=0.5, identity", "*, gzip;q=0"] {
            assert!(!takes(value), "{value}");
        }
        assert!(!takes_gzip(&HeaderMap::new()));
    }
}
