//! Bodies of answers as they arrive: bounded while they are read, and complete or an error.

use std::io::{self, Write};
use std::time::Duration;

use bytes::Bytes;
use flate2::write::MultiGzDecoder;
use outbound::BodyError;
use reqwest::Response;
use reqwest::header::{CONTENT_ENCODING, HeaderMap};

use super::super::{Allowance, Phase, TransportError};
use super::failed;

/// Compressed bytes that are expanded at once: a thousandfold of them is expanded in about a millisecond.
const PIECE: usize = 1 << 10;

/// Bytes for which room is made before they have arrived.
const RESERVED: u64 = 1 << 20;

/// Reads a body.
pub(super) async fn read(
    response: Response,
    allowance: &Allowance,
    idle: Option<Duration>,
) -> Result<Bytes, TransportError> {
    let is_compressed = is_gzip(response.headers())?;
    let length = response.content_length().unwrap_or_default();
    let mut body = outbound::Body::of(response)
        .limited(allowance.limit() as u64)
        .within(idle);
    let not_read = |error| match error {
        BodyError::TooLong { .. } => TransportError::TooLarge {
            limit: allowance.limit(),
        },
        BodyError::Silent { .. } => TransportError::TimedOut(Phase::Silence),
        BodyError::Broken(error) => failed(error, TransportError::Broken),
        error => TransportError::Broken(Box::new(error)),
    };
    body.check_length().map_err(not_read)?;
    let mut sink = Sink::new(is_compressed, allowance, length.min(RESERVED));
    loop {
        let Some(chunk) = body.next().await.map_err(not_read)? else {
            return sink.finish();
        };
        for piece in chunk.chunks(if is_compressed { PIECE } else { chunk.len() }) {
            // Bytes may arrive faster than they are read; other tasks must get their turn.
            tokio::task::consume_budget().await;
            sink.write(piece)?;
        }
    }
}

/// Returns whether a body is compressed with gzip, which only may be applied once.
///
/// `identity` and `none` say that nothing is applied. The second is no coding of HTTP, but some libraries send it with
/// streams of events, to keep proxies from compressing them.
///
/// # Errors
/// When another coding is applied.
pub(super) fn is_gzip(headers: &HeaderMap) -> Result<bool, TransportError> {
    let mut is_gzip = false;
    for value in headers.get_all(CONTENT_ENCODING) {
        let value = value.to_str().map_err(|_| TransportError::Encoding)?;
        for coding in value.split(',').map(str::trim) {
            match coding.to_ascii_lowercase().as_str() {
                "" | "identity" | "none" => {}
                "gzip" | "x-gzip" if !is_gzip => is_gzip = true,
                _ => return Err(TransportError::Encoding),
            }
        }
    }
    Ok(is_gzip)
}

/// Where a body goes.
enum Sink<'a> {
    Plain(Text<'a>),
    Gzip {
        decoder: Box<MultiGzDecoder<Text<'a>>>,
        /// Compressed bytes: a body of nothing but empty parts expands to nothing.
        arrived: usize,
    },
}

/// The text of a body, which takes what it grows by from its allowance.
struct Text<'a> {
    bytes: Vec<u8>,
    allowance: &'a Allowance,
    refused: Option<TransportError>,
}

impl<'a> Sink<'a> {
    fn new(is_compressed: bool, allowance: &'a Allowance, room: u64) -> Self {
        let text = Text {
            bytes: Vec::with_capacity(usize::try_from(room).unwrap_or_default()),
            allowance,
            refused: None,
        };
        if is_compressed {
            Sink::Gzip {
                decoder: Box::new(MultiGzDecoder::new(text)),
                arrived: 0,
            }
        } else {
            Sink::Plain(text)
        }
    }

    fn write(&mut self, piece: &[u8]) -> Result<(), TransportError> {
        match self {
            Sink::Plain(text) => {
                text.allowance.take(piece.len())?;
                text.bytes.extend_from_slice(piece);
                Ok(())
            }
            Sink::Gzip { decoder, arrived } => {
                *arrived += piece.len();
                let limit = decoder.get_ref().allowance.limit();
                if *arrived > limit {
                    return Err(TransportError::TooLarge { limit });
                }
                decoder
                    .write_all(piece)
                    .map_err(|error| refused(decoder.get_mut(), error))
            }
        }
    }

    fn finish(self) -> Result<Bytes, TransportError> {
        match self {
            Sink::Plain(text) => Ok(text.bytes.into()),
            Sink::Gzip { mut decoder, .. } => match decoder.try_finish() {
                Ok(()) => Ok(std::mem::take(&mut decoder.get_mut().bytes).into()),
                Err(error) => Err(refused(decoder.get_mut(), error)),
            },
        }
    }
}

/// Returns why nothing more can be expanded.
fn refused(text: &mut Text<'_>, error: io::Error) -> TransportError {
    let refused = text.refused.take();
    refused.unwrap_or_else(|| TransportError::Broken(Box::new(error)))
}

impl Write for Text<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.refused.is_none() {
            self.refused = self.allowance.take(bytes.len()).err();
        }
        if self.refused.is_some() {
            return Err(io::Error::other("the answer is too large"));
        }
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    fn compressed(text: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    fn expanded(bytes: &[u8], limit: usize) -> Result<Bytes, TransportError> {
        let allowance = Allowance::alone(limit);
        let mut sink = Sink::new(true, &allowance, 0);
        for piece in bytes.chunks(PIECE) {
            sink.write(piece)?;
        }
        sink.finish()
    }

    #[test]
    fn what_says_that_nothing_is_applied_is_no_coding() {
        let of = |values: &[&'static str]| {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append(CONTENT_ENCODING, value.parse().unwrap());
            }
            is_gzip(&headers).ok()
        };
        for plain in ["none", "None", "identity", "IDENTITY, none", "", " , none,"] {
            assert_eq!(of(&[plain]), Some(false), "{plain}");
        }
        for gzip in ["gzip", "GZip", "x-gzip", "gzip, identity", "none,gzip"] {
            assert_eq!(of(&[gzip]), Some(true), "{gzip}");
        }
        assert_eq!(of(&[]), Some(false));
        assert_eq!(of(&["identity", "gzip"]), Some(true));
        for refused in ["br", "gzip, br", "gzip, gzip", "none; q=1", "deflate"] {
            assert_eq!(of(&[refused]), None, "{refused}");
        }
        assert_eq!(of(&["gzip", "gzip"]), None);
    }

    #[test]
    fn a_compressed_body_is_bounded_by_what_it_expands_to() {
        let bomb = compressed(&vec![b' '; 8 << 20]);
        assert!(bomb.len() < 16 << 10);
        let refused = expanded(&bomb, 1 << 20);
        assert!(matches!(refused, Err(TransportError::TooLarge { .. })));
        assert_eq!(expanded(&bomb, 8 << 20).unwrap().len(), 8 << 20);
    }

    #[test]
    fn parts_that_expand_to_nothing_are_bounded_too() {
        let nothing = compressed(b"").repeat(100);
        assert_eq!(expanded(&nothing, 1 << 20).unwrap(), "");
        let refused = expanded(&nothing, 1_000);
        assert!(matches!(refused, Err(TransportError::TooLarge { .. })));
    }

    #[test]
    fn a_cut_or_damaged_body_is_an_error() {
        let mut bytes = compressed(b"{\"data\":{}}");
        let cut = expanded(&bytes[..bytes.len() - 4], 1_000);
        assert!(matches!(cut, Err(TransportError::Broken(_))), "{cut:?}");
        *bytes.last_mut().unwrap() ^= 1;
        let damaged = expanded(&bytes, 1_000);
        assert!(matches!(damaged, Err(TransportError::Broken(_))));
    }
}
