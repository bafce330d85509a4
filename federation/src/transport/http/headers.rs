//! The headers of requests to subgraphs.

use graphql_service::{AWAIT_DATA_SEQUENCE, DATA_SEQUENCE, RequestContext, Sequences};
use reqwest::header::{
    ACCEPT, ACCEPT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, InvalidHeaderValue,
};

use super::super::TransportError;
use super::media;

/// Headers that belong to one connection, or describe a body; they are never passed on.
pub const OF_THE_CONNECTION: [&str; 15] = [
    "connection",
    "content-encoding",
    "content-length",
    "content-type",
    "expect",
    "host",
    "http2-settings",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// Headers that the transport sets itself; they are never passed on either.
pub const OF_THE_TRANSPORT: [&str; 2] = ["accept", "accept-encoding"];

const AWAITED: HeaderName = HeaderName::from_static(AWAIT_DATA_SEQUENCE);
const WRITTEN: HeaderName = HeaderName::from_static(DATA_SEQUENCE);
const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Returns the headers of a request: what is passed on, and what the transport says itself.
pub(super) fn outgoing(context: &RequestContext) -> Result<HeaderMap, TransportError> {
    let mut headers = HeaderMap::new();
    let connection = context.forwarded.iter();
    let connection = connection.filter(|(name, _)| name.eq_ignore_ascii_case("connection"));
    // `Connection` names headers that belong to the connection too.
    let named: Vec<&str> = connection
        .flat_map(|(_, value)| value.split(','))
        .map(str::trim)
        .collect();
    for (name, value) in context.forwarded.iter() {
        let refused = || TransportError::Forwarded {
            name: name.to_owned(),
        };
        let own = OF_THE_CONNECTION
            .iter()
            .chain(&OF_THE_TRANSPORT)
            .chain(&named);
        if own
            .into_iter()
            .any(|other| other.eq_ignore_ascii_case(name))
        {
            continue;
        }
        let header = HeaderName::from_bytes(name.as_bytes()).map_err(|_| refused())?;
        let value = sensitive(value).map_err(|_| refused())?;
        headers.append(header, value);
    }
    if !context.call.request_id.is_empty() {
        let id = sensitive(&context.call.request_id).map_err(|_| TransportError::Forwarded {
            name: REQUEST_ID.to_string(),
        })?;
        headers.insert(REQUEST_ID, id);
    }
    let awaited = context.sequences.awaited();
    if !awaited.is_empty() {
        let value = HeaderValue::from_str(&awaited.to_string());
        headers.insert(AWAITED, value.expect("numbers are visible"));
    }
    let json = HeaderValue::from_static("application/json; charset=utf-8");
    headers.insert(CONTENT_TYPE, json);
    headers.insert(ACCEPT, HeaderValue::from_static(media::ACCEPTED));
    headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("gzip"));
    traces::inject(&context.call.span, &mut headers);
    Ok(headers)
}

/// Notes which changes a subgraph says that it has made; what it says otherwise is none of them.
pub(super) fn note_sequences(context: &RequestContext, headers: &HeaderMap) {
    let said = headers.get(WRITTEN).and_then(|said| said.to_str().ok());
    if let Some(Ok(said)) = said.map(str::parse::<Sequences>) {
        context.sequences.note(said.iter());
    }
}

/// Returns a value that is neither shown nor kept in the tables of HTTP/2.
fn sensitive(value: &str) -> Result<HeaderValue, InvalidHeaderValue> {
    let mut value = HeaderValue::from_str(value.trim())?;
    value.set_sensitive(true);
    Ok(value)
}

#[cfg(test)]
mod tests {
    use graphql_service::{CallContext, Forwarded};

    use super::*;

    fn sent(entries: &[(&str, &str)]) -> Result<HeaderMap, TransportError> {
        let forwarded = Forwarded::new(entries.iter().copied());
        let context = RequestContext::from(CallContext::new().with_request_id("id-7"));
        outgoing(&context.with_forwarded(forwarded))
    }

    #[test]
    fn what_a_client_waits_for_and_what_a_subgraph_has_changed_are_passed_on() {
        let headers = sent(&[("Await-Data-Sequence", "forged")]).unwrap();
        assert_eq!(
            headers["await-data-sequence"], "forged",
            "as it is configured"
        );
        let context = RequestContext::new().with_awaited("5, 9".parse().unwrap());
        let headers = outgoing(&context).unwrap();
        assert_eq!(headers["await-data-sequence"], "5, 9");
        let answer = |said: &'static str| {
            let headers = [(WRITTEN, HeaderValue::from_static(said))];
            note_sequences(&context, &headers.into_iter().collect());
        };
        ["12", "many", "7, 8"].into_iter().for_each(answer);
        assert_eq!(context.sequences.written().to_string(), "7, 8, 12");
    }

    #[test]
    fn what_belongs_to_the_connection_or_to_the_body_is_not_passed_on() {
        let headers = sent(&[
            ("Authorization", " Bearer t "),
            ("Connection", "keep-alive, X-Hop"),
            ("x-hop", "1"),
            ("Transfer-Encoding", "chunked"),
            ("HOST", "other"),
            ("Content-Length", "3"),
            ("Accept-Encoding", "br"),
            ("X-Request-ID", "forged"),
            ("Cookie", "a=1"),
            ("cookie", "b=2"),
        ])
        .unwrap();
        let text = |name: &str| {
            let values: Vec<&str> = headers
                .get_all(name)
                .iter()
                .map(|value| value.to_str().unwrap())
                .collect();
            values.join("|")
        };
        assert_eq!(text("authorization"), "Bearer t");
        assert_eq!(text("cookie"), "a=1|b=2");
        assert_eq!(text("x-request-id"), "id-7");
        assert_eq!(text("accept-encoding"), "gzip");
        let mut names: Vec<&str> = headers.keys().map(HeaderName::as_str).collect();
        names.sort_unstable();
        let expected = [
            "accept",
            "accept-encoding",
            "authorization",
            "content-type",
            "cookie",
            "x-request-id",
        ];
        assert_eq!(names, expected);
        assert!(!format!("{headers:?}").contains("Bearer"));
    }

    #[test]
    fn what_cannot_be_a_header_is_refused_by_its_name() {
        for (name, value) in [("bad name", "x"), ("x-split", "a\r\nb: c")] {
            match sent(&[(name, value)]) {
                Err(TransportError::Forwarded { name: refused }) => assert_eq!(refused, name),
                other => panic!("{other:?}"),
            }
        }
    }
}
