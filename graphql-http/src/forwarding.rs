//! Which headers of clients a service passes on, and for how long its answers may be kept.

use std::fmt::Write;
use std::time::Duration;

use axum::http::header::{AUTHORIZATION, CACHE_CONTROL, CONNECTION, VARY};
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use graphql_service::{Forwarded, Freshness};

use crate::code;
use crate::error::HttpError;
use crate::request_id::X_REQUEST_ID;

/// What a service does with the headers of requests and answers.
#[derive(Clone, Debug)]
pub struct Forwarding {
    names: Vec<HeaderName>,
    /// How long answers may be kept that say nothing of it.
    max_age: Duration,
}

impl Forwarding {
    /// Forwards the headers of some names. Answers that do not say for how long they may be kept may be so for `max_age`.
    pub fn new(names: Vec<HeaderName>, max_age: Duration) -> Self {
        Forwarding { names, max_age }
    }

    /// Returns whether a header is forwarded where it is not one of the connection alone.
    pub(crate) fn forwards(&self, name: &HeaderName) -> bool {
        *name != X_REQUEST_ID && self.names.contains(name)
    }

    /// Returns what subgraphs are sent of the headers of a request.
    ///
    /// The identifier of the request is not part of it: it is sent in any case, as it is logged here.
    pub(crate) fn forwarded(&self, headers: &HeaderMap) -> Result<Forwarded, HttpError> {
        let hops = headers
            .get_all(CONNECTION)
            .iter()
            .filter_map(|value| value.to_str().ok());
        let hops: Vec<&str> = hops
            .flat_map(|value| value.split(','))
            .map(str::trim)
            .collect();
        let is_of_hop = |name: &HeaderName| {
            let mut hops = hops.iter();
            hops.any(|hop| hop.eq_ignore_ascii_case(name.as_str()))
        };
        let mut entries = Vec::new();
        for name in &self.names {
            if *name == X_REQUEST_ID || is_of_hop(name) {
                continue;
            }
            for value in headers.get_all(name) {
                let value = value.to_str().map_err(|_| {
                    let message =
                        format!("the header `{name}` cannot be forwarded: it is not ASCII");
                    HttpError::new(code::REQUEST_MALFORMED, message)
                })?;
                entries.push((name.as_str(), value));
            }
        }
        Ok(Forwarded::new(entries))
    }

    /// Sets the headers that say how long a response may be cached.
    pub(crate) fn keep(&self, freshness: &Freshness, is_personal: bool, headers: &mut HeaderMap) {
        let Some(time) = freshness.kept_for(self.max_age) else {
            return;
        };
        let scope = if is_personal || freshness.is_private() {
            "private"
        } else {
            "public"
        };
        let text = format!("max-age={}, {scope}", time.as_secs());
        let Ok(value) = HeaderValue::from_str(&text) else {
            return;
        };
        headers.insert(CACHE_CONTROL, value);
        // Who waits for a change is not to get what was kept before it.
        let mut vary = String::from("accept, await-data-sequence");
        for name in self.names.iter().filter(|name| **name != X_REQUEST_ID) {
            let _ = write!(vary, ", {name}");
        }
        if let Ok(vary) = HeaderValue::from_str(&vary) {
            headers.insert(VARY, vary);
        }
    }
}

/// Returns whether a request carries what its answer may depend on beside the operation.
pub(crate) fn is_personal(headers: &HeaderMap) -> bool {
    headers.contains_key(AUTHORIZATION)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn forwarding(names: &[&'static str]) -> Forwarding {
        Forwarding {
            names: names
                .iter()
                .map(|name| HeaderName::from_static(name))
                .collect(),
            max_age: Duration::from_secs(5),
        }
    }

    fn headers(entries: &[(&'static str, &'static str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in entries {
            headers.append(*name, HeaderValue::from_static(value));
        }
        headers
    }

    #[test]
    fn exactly_the_named_headers_are_forwarded_and_none_of_the_hop() {
        let rules = forwarding(&["authorization", "x-tenant", "x-hop", "x-request-id"]);
        let sent = headers(&[
            ("authorization", "Bearer a"),
            ("X-Tenant", "1"),
            ("X-Tenant", "2"),
            ("cookie", "c=1"),
            ("x-hop", "1"),
            ("connection", "keep-alive, X-Hop"),
            ("x-request-id", "id"),
        ]);
        let forwarded = rules.forwarded(&sent).unwrap();
        let entries: Vec<_> = forwarded.iter().collect();
        let expected = [
            ("authorization", "Bearer a"),
            ("x-tenant", "1"),
            ("x-tenant", "2"),
        ];
        assert_eq!(entries, expected);
        let mut foreign = HeaderMap::new();
        foreign.insert("x-tenant", HeaderValue::from_bytes(b"\xff").unwrap());
        let refused = rules.forwarded(&foreign).unwrap_err();
        assert_eq!(refused.code, code::REQUEST_MALFORMED);
        assert!(refused.message.contains("x-tenant"));
    }

    #[test]
    fn what_may_be_kept_says_for_whom_and_by_which_headers() {
        let rules = forwarding(&["authorization", "x-request-id"]);
        let kept = |seconds: &[Option<u64>], is_personal| {
            let freshness = Freshness::default();
            for seconds in seconds {
                freshness.note(seconds.map(Duration::from_secs));
            }
            let mut headers = HeaderMap::new();
            rules.keep(&freshness, is_personal, &mut headers);
            let text = |name| {
                headers
                    .get(name)
                    .map(|it: &HeaderValue| it.to_str().unwrap().to_owned())
            };
            (text(CACHE_CONTROL), text(VARY))
        };
        let public = kept(&[Some(60), None], false);
        assert_eq!(public.0.unwrap(), "max-age=5, public");
        assert_eq!(
            public.1.unwrap(),
            "accept, await-data-sequence, authorization"
        );
        assert_eq!(kept(&[Some(3)], true).0.unwrap(), "max-age=3, private");
        assert_eq!(kept(&[Some(0), Some(9)], false), (None, None));
        assert_eq!(kept(&[], false), (None, None));
    }
}
