//! The header `Idempotency-Key`, under which a client repeats a mutation.

use axum::http::{HeaderMap, HeaderName};

use crate::code;
use crate::error::HttpError;

/// The header.
pub const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");

const MAX_LENGTH: usize = 255;

/// Returns the key of a request, if it has one.
///
/// # Errors
/// When there are several, and when the key has other characters than visible ones of ASCII, none, or too
/// many. It is not part of the error: it may be all that keeps others from repeating the request.
pub(crate) fn idempotency_key(headers: &HeaderMap) -> Result<Option<String>, HttpError> {
    let mut values = headers.get_all(&IDEMPOTENCY_KEY).iter();
    let Some(value) = values.next() else {
        return Ok(None);
    };
    let bytes = value.as_bytes();
    let is_fit = (1..=MAX_LENGTH).contains(&bytes.len()) && bytes.iter().all(u8::is_ascii_graphic);
    match value.to_str() {
        Ok(key) if is_fit && values.next().is_none() => Ok(Some(key.to_owned())),
        _ => {
            let message = format!(
                "`Idempotency-Key` must be sent once and consist of 1 to {MAX_LENGTH} visible ASCII \
                 characters"
            );
            Err(HttpError::new(code::IDEMPOTENCY_KEY_INVALID, message))
        }
    }
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    fn key_of(values: &[&[u8]]) -> Result<Option<String>, HttpError> {
        let values = values.iter().map(|value| {
            let value = HeaderValue::from_bytes(value).unwrap();
            (IDEMPOTENCY_KEY, value)
        });
        idempotency_key(&values.collect())
    }

    #[test]
    fn keys_are_short_and_visible() {
        assert_eq!(key_of(&[]), Ok(None));
        for key in [
            "a",
            "8e03978e-40d5-43dd-bc93-6894a57f9324",
            "!~\"",
            &"x".repeat(255),
        ] {
            assert_eq!(key_of(&[key.as_bytes()]), Ok(Some(key.to_owned())), "{key}");
        }
        let long = "x".repeat(256);
        for key in [
            &b""[..],
            b"a b",
            b"a\tb",
            "\u{fc}".as_bytes(),
            long.as_bytes(),
        ] {
            let error = key_of(&[key]).unwrap_err();
            assert_eq!(error.code, code::IDEMPOTENCY_KEY_INVALID);
            assert!(key.is_empty() || !error.message.contains(&*String::from_utf8_lossy(key)));
        }
        assert!(key_of(&[b"a", b"a"]).is_err());
    }
}
