//! Compression of responses: zstd, then brotli, then gzip, as the client accepts them, and off the async
//! workers where it takes long.

use std::io::{self, Write};
use std::sync::Arc;

use axum::body::{Body, HttpBody};
use axum::extract::Request;
use axum::http::header::{
    ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, ETAG, VARY,
};
use axum::http::{HeaderMap, HeaderValue, Method};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use graphql_service::{MemoryAccount, Size};

use crate::negotiate::weighted;
use crate::resources::Resources;
use crate::response_body::ResponseBody;

/// Length from which a response is worth compressing.
const LEAST: usize = 2 << 10;

/// Length up to which responses other than GraphQL's are compressed.
const MOST: u64 = 32 << 20;

/// Length of the segments that compression gives.
const SEGMENT: usize = 64 << 10;

/// An encoding of content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Encoding {
    Zstd,
    Brotli,
    Gzip,
}

/// Returns what an entity tag was before its representation was encoded.
pub fn plain_tag(opaque: &str) -> &str {
    let mut names = ENCODINGS.iter().map(|(_, name)| name);
    let plain = names.find_map(|name| opaque.strip_suffix(name)?.strip_suffix('-'));
    plain.unwrap_or(opaque)
}

/// Encodings, the best first.
const ENCODINGS: [(Encoding, &str); 3] = [
    (Encoding::Zstd, "zstd"),
    (Encoding::Brotli, "br"),
    (Encoding::Gzip, "gzip"),
];

impl Encoding {
    /// Chooses after `Accept-Encoding`: the greatest weight, then the best encoding.
    pub(crate) fn negotiate(headers: &HeaderMap) -> Option<Self> {
        let ranges = weighted(headers, ACCEPT_ENCODING)?;
        let weight = |name: &str| {
            let of = |name: &str| ranges.iter().find(|(range, _)| range == name);
            of(name)
                .or_else(|| of("*"))
                .map_or(0.0, |(_, weight)| *weight)
        };
        let identity = ranges
            .iter()
            .find(|(range, _)| range == "identity")
            .map_or(0.0, |(_, weight)| *weight);
        let mut best: Option<(Encoding, f32)> = None;
        for (encoding, name) in ENCODINGS {
            let weight = weight(name);
            let is_better = best.is_none_or(|(_, other)| weight > other);
            if weight > 0.0 && weight >= identity && is_better {
                best = Some((encoding, weight));
            }
        }
        best.map(|(encoding, _)| encoding)
    }

    fn name(self) -> &'static str {
        let names = ENCODINGS.iter().find(|(encoding, _)| *encoding == self);
        names.expect("every encoding has a name").1
    }
}

/// Segments of a response, and the account that counts them.
type Segments = (Vec<Bytes>, Option<Arc<MemoryAccount>>);

/// Compresses the segments of a GraphQL response as the client accepts it; the encoding is `None` where
/// they stay as they are.
pub(crate) async fn compress(
    segments: Segments,
    encoding: Option<Encoding>,
    resources: &Resources,
) -> (Segments, Option<Encoding>) {
    let length: usize = segments.0.iter().map(Bytes::len).sum();
    let Some(encoding) = encoding.filter(|_| length >= LEAST) else {
        return (segments, None);
    };
    let size = Size::Compressed(length);
    if size.is_short() {
        return compressed(segments, encoding);
    }
    let (plain, memory) = segments;
    // Where there is no slot for it, the response goes as it is.
    let kept = (plain.clone(), memory.clone());
    let work = move || compressed((plain, memory), encoding);
    let done = resources.slots.run_sized(size, None, work).await;
    done.unwrap_or((kept, None))
}

/// Compresses, or gives the segments back where there is no memory for it.
fn compressed((plain, memory): Segments, encoding: Encoding) -> (Segments, Option<Encoding>) {
    let mut output = Output {
        complete: Vec::new(),
        current: Vec::new(),
        memory: memory.clone(),
    };
    match write_all(&plain, encoding, &mut output) {
        Ok(()) => {
            output.complete_segment();
            if let Some(memory) = &memory {
                memory.shrink(plain.iter().map(Bytes::len).sum());
            }
            ((output.complete, memory), Some(encoding))
        }
        Err(_) => {
            output.give_back();
            ((plain, memory), None)
        }
    }
}

fn write_all(plain: &[Bytes], encoding: Encoding, output: &mut Output) -> io::Result<()> {
    match encoding {
        Encoding::Zstd => {
            let mut writer = zstd::stream::write::Encoder::new(output, 3)?;
            plain
                .iter()
                .try_for_each(|segment| writer.write_all(segment))?;
            writer.finish()?;
        }
        Encoding::Brotli => {
            let mut writer = brotli::CompressorWriter::new(output, 4 << 10, 4, 20);
            plain
                .iter()
                .try_for_each(|segment| writer.write_all(segment))?;
            writer.flush()?;
            writer.into_inner();
        }
        Encoding::Gzip => {
            let level = flate2::Compression::new(5);
            let mut writer = flate2::write::GzEncoder::new(output, level);
            plain
                .iter()
                .try_for_each(|segment| writer.write_all(segment))?;
            writer.finish()?;
        }
    }
    Ok(())
}

/// Collects what compression gives, in segments that are counted.
struct Output {
    complete: Vec<Bytes>,
    current: Vec<u8>,
    memory: Option<Arc<MemoryAccount>>,
}

impl Output {
    fn complete_segment(&mut self) {
        if !self.current.is_empty() {
            let segment = std::mem::take(&mut self.current);
            self.complete.push(segment.into());
        }
    }

    fn give_back(&self) {
        if let Some(memory) = &self.memory {
            let complete: usize = self.complete.iter().map(Bytes::len).sum();
            memory.shrink(complete + self.current.len());
        }
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if let Some(memory) = &self.memory
            && memory.grow(bytes.len()).is_err()
        {
            return Err(io::ErrorKind::OutOfMemory.into());
        }
        self.current.extend_from_slice(bytes);
        if self.current.len() >= SEGMENT {
            self.complete_segment();
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Sets the headers that name the encoding of a response, and that it varies by request.
pub(crate) fn set_headers(headers: &mut HeaderMap, encoding: Option<Encoding>) {
    headers.append(VARY, HeaderValue::from_static("accept-encoding"));
    if let Some(encoding) = encoding {
        headers.remove(CONTENT_LENGTH);
        headers.insert(CONTENT_ENCODING, HeaderValue::from_static(encoding.name()));
        // The representation is another one, but the revision that its tag names is the same; a weak
        // tag would match nothing in `If-Match`.
        if let Some(etag) = headers.get(ETAG).and_then(|etag| etag.to_str().ok())
            && let Some(opaque) = etag.strip_suffix('"')
            && let Ok(tag) = HeaderValue::from_str(&format!("{opaque}-{}\"", encoding.name()))
        {
            headers.insert(ETAG, tag);
        }
    }
}

/// Marks a response that was offered for compression.
#[derive(Clone, Copy)]
pub(crate) struct Offered;

/// Answers a request; compresses responses of paths other than GraphQL's.
pub async fn answered(
    resources: &Resources,
    request: Request,
    answer: impl AsyncFnOnce(Request) -> Response,
) -> Response {
    let encoding = Encoding::negotiate(request.headers());
    let is_head = request.method() == Method::HEAD;
    let mut response = answer(request).await;
    // GraphQL's were offered before.
    if response.extensions_mut().remove::<Offered>().is_some() {
        return response;
    }
    let length = response.body().size_hint().exact();
    let is_fit = length.is_some_and(|length| (LEAST as u64..=MOST).contains(&length))
        && is_compressible(response.headers());
    if is_head || !is_fit {
        return response;
    }
    let limit = usize::try_from(MOST).unwrap_or(usize::MAX);
    let body = std::mem::replace(response.body_mut(), Body::empty());
    let Ok(plain) = axum::body::to_bytes(body, limit).await else {
        return super::error::HttpError::internal().into_response();
    };
    let (segments, encoding) = compress((vec![plain], None), encoding, resources).await;
    set_headers(response.headers_mut(), encoding);
    *response.body_mut() = Body::new(ResponseBody::new(segments.0, segments.1));
    response
}

fn is_compressible(headers: &HeaderMap) -> bool {
    let content_type = headers
        .get(CONTENT_TYPE)
        .and_then(|value| value.to_str().ok());
    let is_text = content_type.is_some_and(|value| {
        value.starts_with("text/") || value.contains("json") || value.contains("graphql")
    });
    is_text && !headers.contains_key(CONTENT_ENCODING)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn negotiated(value: &str) -> Option<Encoding> {
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT_ENCODING, value.parse().unwrap());
        Encoding::negotiate(&headers)
    }

    #[test]
    fn the_best_accepted_encoding_is_chosen() {
        use Encoding::{Brotli, Gzip, Zstd};
        assert_eq!(Encoding::negotiate(&HeaderMap::new()), None);
        assert_eq!(negotiated("gzip, deflate, br, zstd"), Some(Zstd));
        assert_eq!(negotiated("gzip, br"), Some(Brotli));
        assert_eq!(negotiated("gzip;q=1, br;q=0.5"), Some(Gzip));
        assert_eq!(negotiated("*"), Some(Zstd));
        assert_eq!(negotiated("*, zstd;q=0"), Some(Brotli));
        assert_eq!(negotiated("identity, gzip;q=0.5"), None);
        assert_eq!(negotiated("deflate"), None);
    }
}
