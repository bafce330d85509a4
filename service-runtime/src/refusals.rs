//! Log lines about callers that are refused for where they come from.
//!
//! Whoever operates a service learns from them which property would allow a page or a host name. What is refused
//! comes from anyone, so each origin or name is logged once in a while, and few of them altogether.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use graphql_service::ErrorCode;

/// Time after which an origin or a name is logged again.
const WHILE: Duration = Duration::from_secs(600);
/// Lines in this time.
const MAX_LINES: usize = 20;
/// Longest value that is logged, in bytes.
const MAX_BYTES: usize = 200;

/// Which refusals were logged lately.
#[derive(Debug, Default)]
pub(crate) struct Refusals(Mutex<Lately>);

#[derive(Debug, Default)]
struct Lately {
    began: Option<Instant>,
    logged: HashSet<(&'static str, String)>,
    /// Refusals that no line speaks of, since the last line.
    omitted: u64,
}

impl Refusals {
    /// Logs that a page of `origin` was refused, which `property` could allow.
    pub(crate) fn origin(&self, origin: Option<&[u8]>, code: ErrorCode, property: &'static str) {
        let origin = origin.map_or_else(|| "unknown".to_owned(), shown);
        let key = (property, origin.clone());
        if let Some(omitted) = self.note(key, Instant::now()) {
            tracing::warn!(
                origin, %code, property, omitted,
                "refused a request from a web page of another origin; the property can allow it"
            );
        }
    }

    /// Logs that a request under the name `host` was refused, which `property` could allow.
    pub(crate) fn host(&self, host: &str, code: ErrorCode, property: &'static str) {
        let host = shown(host.as_bytes());
        if let Some(omitted) = self.note((property, host.clone()), Instant::now()) {
            tracing::warn!(
                host, %code, property, omitted,
                "refused a request for an unknown host name; the property can allow it"
            );
        }
    }

    /// Returns whether a refusal is to be logged: then, how many were not since the last line.
    fn note(&self, refused: (&'static str, String), now: Instant) -> Option<u64> {
        let mut lately = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_over = |began: Instant| now.duration_since(began) >= WHILE;
        if lately.began.is_none_or(is_over) {
            lately.began = Some(now);
            lately.logged.clear();
        }
        if lately.logged.len() >= MAX_LINES || !lately.logged.insert(refused) {
            lately.omitted = lately.omitted.saturating_add(1);
            return None;
        }
        Some(std::mem::take(&mut lately.omitted))
    }
}

/// Returns a value of a client as it is logged: in ASCII, everything else escaped, and not too long.
fn shown(value: &[u8]) -> String {
    let mut text = String::new();
    for byte in value {
        match byte {
            b' '..=b'~' => text.push(char::from(*byte)),
            byte => text.push_str(&format!("\\x{byte:02x}")),
        }
        if text.len() > MAX_BYTES {
            text.truncate(MAX_BYTES);
            text.push_str("...");
            break;
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROPERTY: &str = "http.cors.allowedOrigins";

    #[test]
    fn an_origin_is_logged_once_in_a_while_and_all_together_are_few() {
        let (refusals, begin) = (Refusals::default(), Instant::now());
        let note = |origin: &str, after: Duration| {
            refusals.note((PROPERTY, origin.to_owned()), begin + after)
        };
        assert_eq!(note("http://a.example", Duration::ZERO), Some(0));
        for _ in 0..3 {
            assert_eq!(note("http://a.example", Duration::ZERO), None);
        }
        assert_eq!(note("http://b.example", Duration::ZERO), Some(3));
        let others = (0..1_000).map(|n| note(&format!("http://{n}.example"), Duration::ZERO));
        assert_eq!(others.flatten().count(), MAX_LINES - 2);
        assert!(refusals.0.lock().unwrap().logged.len() <= MAX_LINES);
        assert_eq!(
            note("http://a.example", WHILE),
            Some(1_000 - (MAX_LINES as u64 - 2))
        );
    }

    #[test]
    fn what_is_logged_of_a_client_is_short_ascii() {
        assert_eq!(shown(b"https://a.example:1"), "https://a.example:1");
        assert_eq!(
            shown("é\t\u{202e}".as_bytes()),
            "\\xc3\\xa9\\x09\\xe2\\x80\\xae"
        );
        let long = shown(&[b'x'; 5_000]);
        assert_eq!(long.len(), MAX_BYTES + 3);
    }
}
