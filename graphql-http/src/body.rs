//! Request bodies: read within bounds of size and time.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::task::Poll;
use std::time::Duration;

use axum::body::Body;
use axum::http::header::{CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, EXPECT};
use axum::http::{HeaderMap, Request};
use bytes::Bytes;
use tokio_stream::StreamExt;

use graphql_service::MemoryAccount;

use crate::code;
use crate::error::HttpError;
use crate::resources::Resources;

/// How long a body waits for memory before it is refused.
const PATIENCE: Duration = Duration::from_secs(1);

/// How much of a body that is too large is read and thrown away, so that a client that is still
/// sending gets the answer instead of a closed connection.
const DRAINED_BYTES: usize = 256 << 20;

/// Bounds on a body.
#[derive(Clone, Copy, Debug)]
pub struct BodyLimits {
    /// Maximum size in bytes.
    pub bytes: usize,
    /// Time for it to arrive.
    pub time: Duration,
}

/// A body, with the account that counts it.
#[non_exhaustive]
pub struct ReadBody {
    /// The bytes.
    pub text: Bytes,
    /// What counts them, for as long as they are held.
    pub memory: MemoryAccount,
}

/// Reads the body; memory stays within `limits.bytes` whatever is sent, and all bodies together stay
/// within their part of the budget.
pub async fn read(
    request: Request<Body>,
    limits: BodyLimits,
    resources: &Resources,
) -> Result<ReadBody, HttpError> {
    let declared = declared_length(request.headers());
    let waits = request.headers().contains_key(EXPECT);
    if waits && declared.is_some_and(|n| n > limits.bytes as u64) {
        return Err(too_large(limits));
    }
    let memory = resources.bodies.account();
    let mut collected = pin!(collect(request.into_body(), declared, limits, memory));
    // As a rule it came with the headers, and needs no timer.
    if let Some(read) = at_hand(collected.as_mut()).await {
        return read;
    }
    match tokio::time::timeout(limits.time, collected).await {
        Ok(result) => result,
        Err(_) => Err(HttpError::new(
            code::BODY_TIMEOUT,
            "the body did not arrive in time",
        )),
    }
}

/// Returns what a future gives without waiting. The connection reads a body once someone wants it, so the future is
/// polled a second time.
async fn at_hand<F: Future>(mut future: Pin<&mut F>) -> Option<F::Output> {
    let mut is_wanted = false;
    let at_hand = poll_fn(|context| match future.as_mut().poll(context) {
        Poll::Ready(output) => Poll::Ready(Some(output)),
        Poll::Pending if is_wanted => Poll::Ready(None),
        Poll::Pending => {
            is_wanted = true;
            context.waker().wake_by_ref();
            Poll::Pending
        }
    });
    at_hand.await
}

async fn collect(
    body: Body,
    declared: Option<u64>,
    limits: BodyLimits,
    memory: MemoryAccount,
) -> Result<ReadBody, HttpError> {
    let mut stream = body.into_data_stream();
    let mut kept = Vec::new();
    let mut seen = 0_usize;
    while let Some(piece) = stream.next().await {
        let piece =
            piece.map_err(|_| HttpError::new(code::REQUEST_MALFORMED, "the body is incomplete"))?;
        seen = seen.saturating_add(piece.len());
        if seen <= limits.bytes {
            let before = kept.capacity();
            if seen > before {
                kept.reserve_exact(room(before, seen, declared) - kept.len());
            }
            memory
                .grow_within(kept.capacity() - before, PATIENCE)
                .await
                .map_err(|_| HttpError::out_of_memory())?;
            kept.extend_from_slice(&piece);
        } else {
            kept = Vec::new();
            memory.shrink(usize::MAX);
            if seen > DRAINED_BYTES {
                break;
            }
        }
    }
    if seen > limits.bytes {
        Err(too_large(limits))
    } else {
        let text = kept.into();
        Ok(ReadBody { text, memory })
    }
}

/// Returns the room to make for a body of which `seen` bytes are there: twice as much as before, so that little is copied,
/// but no more than it declares.
fn room(before: usize, seen: usize, declared: Option<u64>) -> usize {
    let declared = declared.and_then(|length| usize::try_from(length).ok());
    let doubled = before.saturating_mul(2);
    doubled.min(declared.unwrap_or(usize::MAX)).max(seen)
}

/// Checks that the body is of one of `media_types`, in UTF-8 and not compressed.
pub fn require_type(headers: &HeaderMap, media_types: &[&str]) -> Result<(), HttpError> {
    let refused = |message: String| Err(HttpError::new(code::UNSUPPORTED_MEDIA_TYPE, message));
    let expected = || media_types.join(" or ");
    let Some(value) = headers.get(CONTENT_TYPE) else {
        return refused(format!(
            "the request has no Content-Type, expected {}",
            expected()
        ));
    };
    let value = value.to_str().unwrap_or_default().to_ascii_lowercase();
    let mut parts = value.split(';').map(str::trim);
    let media_type = parts.next().unwrap_or_default();
    if !media_types.contains(&media_type) {
        return refused(format!("the Content-Type is not {}", expected()));
    }
    let charset = parts
        .find_map(|p| p.strip_prefix("charset="))
        .map(|c| c.trim_matches('"'));
    if charset.is_some_and(|c| c != "utf-8" && c != "utf8") {
        return refused("the character set is not utf-8".to_owned());
    }
    match headers.get(CONTENT_ENCODING) {
        Some(encoding) if encoding != "identity" => {
            refused("compressed request bodies are not supported".to_owned())
        }
        _ => Ok(()),
    }
}

fn declared_length(headers: &HeaderMap) -> Option<u64> {
    headers.get(CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

fn too_large(limits: BodyLimits) -> HttpError {
    let message = format!("the body is larger than {} bytes", limits.bytes);
    HttpError::new(code::BODY_TOO_LARGE, message)
}

#[cfg(test)]
mod tests {
    use super::room;

    #[test]
    fn room_doubles_up_to_what_is_declared() {
        assert_eq!(room(0, 10, None), 10);
        assert_eq!(room(10, 11, None), 20);
        assert_eq!(room(10, 50, None), 50);
        assert_eq!(room(10, 11, Some(15)), 15);
        assert_eq!(room(10, 15, Some(15)), 15);
        assert_eq!(room(10, 11, Some(u64::MAX)), 20);
    }
}
