//! The body of an answer as it arrives: bounded in size and in silence, and complete or an error.

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use reqwest::Response;
use reqwest::header::{CONTENT_LENGTH, TRANSFER_ENCODING};

/// A body as it arrives.
#[derive(Debug)]
pub struct Body {
    response: Response,
    limit: u64,
    silence: Option<Duration>,
    bytes: u64,
}

/// Why a body is not complete.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BodyError {
    /// It is longer than it may be.
    #[error("the response is longer than {limit} bytes")]
    TooLong {
        /// The limit, in bytes.
        limit: u64,
    },
    /// Nothing arrived for some time.
    #[error("nothing arrived for {} ms", silence.as_millis())]
    Silent {
        /// The time.
        silence: Duration,
    },
    /// The connection broke off, or what came was not HTTP.
    #[error(transparent)]
    Broken(#[from] reqwest::Error),
}

impl Body {
    /// Takes the body of a response, without a bound.
    #[must_use]
    pub fn of(response: Response) -> Self {
        Body {
            response,
            limit: u64::MAX,
            silence: None,
            bytes: 0,
        }
    }

    /// Refuses more than `limit` bytes.
    #[must_use]
    pub fn limited(mut self, limit: u64) -> Self {
        self.limit = limit;
        self
    }

    /// Refuses to wait for longer than `silence` for the next bytes.
    #[must_use]
    pub fn within(mut self, silence: Option<Duration>) -> Self {
        self.silence = silence;
        self
    }

    /// Returns the response that the body belongs to.
    #[must_use]
    pub fn response(&self) -> &Response {
        &self.response
    }

    /// Returns how many bytes have arrived.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns whether a body that breaks off differs from a complete one.
    #[must_use]
    pub fn end_is_marked(&self) -> bool {
        let headers = self.response.headers();
        let is_chunked = headers.get_all(TRANSFER_ENCODING).iter().any(|value| {
            let text = value.to_str().unwrap_or_default();
            let mut codings = text.split(',').map(str::trim);
            codings.any(|coding| coding.eq_ignore_ascii_case("chunked"))
        });
        is_chunked || headers.contains_key(CONTENT_LENGTH)
    }

    /// Refuses a body whose declared length is too large.
    ///
    /// # Errors
    /// [`BodyError::TooLong`].
    pub fn check_length(&self) -> Result<(), BodyError> {
        match self.response.content_length() {
            Some(length) if length > self.limit => Err(self.too_long()),
            _ => Ok(()),
        }
    }

    /// Returns the next bytes, or `None` at the proper end.
    ///
    /// # Errors
    /// When there are too many, none arrive in time, or the connection breaks off.
    pub async fn next(&mut self) -> Result<Option<Bytes>, BodyError> {
        // Bytes may arrive faster than they are read; other tasks must get their turn.
        tokio::task::consume_budget().await;
        let chunk = self.response.chunk();
        let chunk = match self.silence {
            None => chunk.await,
            Some(silence) => match tokio::time::timeout(silence, chunk).await {
                Ok(chunk) => chunk,
                Err(_) => return Err(BodyError::Silent { silence }),
            },
        };
        let Some(chunk) = chunk? else {
            return Ok(None);
        };
        self.bytes += chunk.len() as u64;
        if self.bytes > self.limit {
            return Err(self.too_long());
        }
        Ok(Some(chunk))
    }

    /// Reads all of it.
    ///
    /// # Errors
    /// Those of [`Body::next`].
    pub async fn all(self) -> Result<Bytes, BodyError> {
        self.all_counted(|_| Ok(())).await
    }

    /// Reads all of it. `count` is called with the bytes that arrive, and can end reading with an error.
    ///
    /// # Errors
    /// Those of [`Body::next`] and of `count`.
    pub async fn all_counted<E: From<BodyError>>(
        mut self,
        mut count: impl FnMut(usize) -> Result<(), E>,
    ) -> Result<Bytes, E> {
        self.check_length()?;
        let (mut first, mut all) = (Bytes::new(), BytesMut::new());
        while let Some(chunk) = self.next().await? {
            count(chunk.len())?;
            // A short answer is one chunk, which need not be copied.
            if first.is_empty() && all.is_empty() {
                first = chunk;
                continue;
            }
            if all.is_empty() {
                all.extend_from_slice(&std::mem::take(&mut first));
            }
            all.extend_from_slice(&chunk);
        }
        Ok(if all.is_empty() { first } else { all.freeze() })
    }

    fn too_long(&self) -> BodyError {
        BodyError::TooLong { limit: self.limit }
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;

    use super::*;
    use crate::client::client;
    use crate::tls;

    /// Returns the body that a server sends piece by piece; it keeps the connection open afterwards if it is `open`.
    async fn body(pieces: &'static [&'static str], is_open: bool) -> Body {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}/", listener.local_addr().unwrap());
        tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut request = [0; 1024];
            let _ = stream.read(&mut request).await.unwrap();
            for piece in pieces {
                stream.write_all(piece.as_bytes()).await.unwrap();
                stream.flush().await.unwrap();
                tokio::task::yield_now().await;
            }
            if is_open {
                std::future::pending::<()>().await;
            }
        });
        let client = client(tls::config(false, None).unwrap()).build().unwrap();
        Body::of(client.get(address).send().await.unwrap())
    }

    const CHUNKED: &str = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";

    #[tokio::test]
    async fn a_body_is_all_of_it_or_an_error() {
        let whole = body(
            &[CHUNKED, "3\r\nabc\r\n", "2\r\nde\r\n", "0\r\n\r\n"],
            false,
        )
        .await;
        assert!(whole.end_is_marked());
        assert_eq!(whole.all().await.unwrap(), "abcde");
        let cut = body(&[CHUNKED, "3\r\nabc\r\n"], false).await;
        assert!(matches!(cut.all().await, Err(BodyError::Broken(_))));
        let unmarked = body(&["HTTP/1.1 200 OK\r\n\r\nabc"], false).await;
        assert!(!unmarked.end_is_marked());
    }

    #[tokio::test]
    async fn a_body_that_is_too_long_is_not_read_to_its_end() {
        const SAID: &str = "HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\n";
        let refused = body(&[SAID], true).await.limited(1_000).all().await;
        assert!(matches!(refused, Err(BodyError::TooLong { limit: 1_000 })));
        let unsaid = body(&[CHUNKED, "3\r\nabc\r\n"], true).await;
        let refused = unsaid.limited(2).all().await;
        assert!(matches!(refused, Err(BodyError::TooLong { limit: 2 })));
    }

    #[tokio::test]
    async fn silence_ends_the_wait_for_a_body() {
        let silence = Duration::from_millis(1);
        let silent = body(&[CHUNKED], true).await.within(Some(silence));
        let ended = silent.all().await;
        assert!(matches!(ended, Err(BodyError::Silent { .. })), "{ended:?}");
    }

    #[tokio::test]
    async fn whoever_counts_a_body_may_end_it() {
        #[derive(Debug)]
        struct Full;
        impl From<BodyError> for Full {
            fn from(error: BodyError) -> Self {
                panic!("{error}")
            }
        }
        let large = body(
            &[CHUNKED, "3\r\nabc\r\n", "2\r\nde\r\n", "0\r\n\r\n"],
            false,
        )
        .await;
        let mut room = 4;
        let ended = large.all_counted(|bytes| {
            room -= i64::try_from(bytes).unwrap();
            if room < 0 { Err(Full) } else { Ok(()) }
        });
        assert!(ended.await.is_err());
    }
}
