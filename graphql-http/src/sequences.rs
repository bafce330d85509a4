//! The headers by which a client sees changes that it has made: `Data-Sequence` and `Await-Data-Sequence`.

use axum::http::{HeaderMap, HeaderName, HeaderValue};
use graphql_service::{AWAIT_DATA_SEQUENCE, DATA_SEQUENCE, DataSequences, Sequences};

use crate::code;
use crate::error::HttpError;

/// The header of an answer.
pub const DATA_SEQUENCE_HEADER: HeaderName = HeaderName::from_static(DATA_SEQUENCE);

/// The header of a request.
pub const AWAIT_DATA_SEQUENCE_HEADER: HeaderName = HeaderName::from_static(AWAIT_DATA_SEQUENCE);

/// Returns which changes a request waits for.
///
/// # Errors
/// When the header is there several times, or does not hold sequences.
pub(crate) fn awaited(headers: &HeaderMap) -> Result<Option<Sequences>, HttpError> {
    let mut values = headers.get_all(&AWAIT_DATA_SEQUENCE_HEADER).iter();
    let Some(value) = values.next() else {
        return Ok(None);
    };
    let read = value.to_str().ok().and_then(|text| text.parse().ok());
    match read.filter(|_| values.next().is_none()) {
        Some(sequences) => Ok(Some(sequences)),
        None => {
            let message = "`Await-Data-Sequence` must be sent once, with the value of \
                           `Data-Sequence` from a response";
            Err(HttpError::new(code::REQUEST_MALFORMED, message))
        }
    }
}

/// Sets the header that names the changes made by a request.
pub(crate) fn say(sequences: &DataSequences, headers: &mut HeaderMap) {
    let written = sequences.written();
    if written.is_empty() {
        return;
    }
    let value = HeaderValue::from_str(&written.to_string());
    headers.insert(DATA_SEQUENCE_HEADER, value.expect("numbers are visible"));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_says_once_what_it_waits_for() {
        let read = |values: &[&str]| {
            let headers = values.iter().map(|value| {
                let value = HeaderValue::from_str(value).expect("visible");
                (AWAIT_DATA_SEQUENCE_HEADER, value)
            });
            let awaited = awaited(&headers.collect());
            awaited.map(|awaited| awaited.map(|awaited| awaited.to_string()))
        };
        assert_eq!(read(&[]), Ok(None));
        assert_eq!(read(&["17"]), Ok(Some("17".to_owned())));
        assert_eq!(read(&["17, 4"]), Ok(Some("4, 17".to_owned())));
        for values in [&["x"][..], &[""], &["1", "2"]] {
            let error = read(values).expect_err("malformed");
            assert_eq!(error.code, code::REQUEST_MALFORMED, "{values:?}");
        }
    }

    #[test]
    fn an_answer_says_what_was_changed_if_something_was() {
        let mut headers = HeaderMap::new();
        let sequences = DataSequences::default();
        say(&sequences, &mut headers);
        assert!(headers.is_empty());
        sequences.note([3, 12]);
        say(&sequences, &mut headers);
        assert_eq!(headers[DATA_SEQUENCE_HEADER], "3, 12");
    }
}
