//! One identifier and one log line per request.

use std::convert::Infallible;
use std::future::Future;
use std::time::{Duration, Instant};

use axum::extract::{FromRequestParts, Request};
use axum::http::request::Parts;
use axum::http::{HeaderName, HeaderValue, Method};
use axum::response::Response;
use traces::{Exchange, RequestSpan};
use tracing::Instrument;
use uuid::Uuid;

use crate::answered::{Answered, Relayed, Summary};

/// The header that carries the identifier in both directions.
pub const X_REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

const MAX_LENGTH: usize = 128;

/// Identifier of a request: the client's own when it is printable ASCII of up to 128 characters, else a new one.
///
/// Quotes, backslashes and spaces may be in it, so a log line must have it as a string value, which is escaped, and
/// never by `Display`.
#[derive(Clone, Debug)]
pub struct RequestId(pub String);

impl RequestId {
    fn of(request: &Request) -> Self {
        let given = request
            .headers()
            .get(X_REQUEST_ID)
            .and_then(|value| value.to_str().ok());
        match given {
            Some(id) if is_fit(id) => RequestId(id.to_owned()),
            _ => RequestId::new(),
        }
    }

    fn new() -> Self {
        RequestId(Uuid::new_v4().to_string())
    }

    /// Returns the identifier of a part of the request.
    pub(crate) fn part(&self, number: u64) -> Self {
        let id = format!("{}.{number}", self.0);
        if id.len() <= MAX_LENGTH {
            RequestId(id)
        } else {
            RequestId::new()
        }
    }
}

/// The identifier that [`track`] gave the request; a new one where that is not in place.
impl<S: Sync> FromRequestParts<S> for RequestId {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Infallible> {
        let given = parts.extensions.get::<RequestId>();
        Ok(given.cloned().unwrap_or_else(RequestId::new))
    }
}

fn is_fit(id: &str) -> bool {
    (1..=MAX_LENGTH).contains(&id.len()) && id.bytes().all(|byte| matches!(byte, b' '..=b'~'))
}

/// Gives a request that came at some time its identifier, returns it, and logs how the request went. `ended` learns how
/// long it took.
///
/// Where someone wants spans, it has one too, which is in its extensions as [`RequestSpan`].
pub async fn track<A: Future<Output = Answered>>(
    mut request: Request,
    started: Instant,
    answer: impl FnOnce(Request, RequestId) -> A,
    ended: impl FnOnce(&Response, Duration),
) -> Response {
    let id = RequestId::of(&request);
    let method = request.method().clone();
    let path = request.uri().path().to_owned();
    let mut exchange = if is_probe(&path) {
        Exchange::untraced()
    } else {
        Exchange::server(&method, "http", &path, request.headers())
    };
    if !exchange.is_untraced() {
        let span = RequestSpan(exchange.span().clone());
        request.extensions_mut().insert(span);
    }
    let traced = exchange.span().clone();
    let trace_id = traces::trace_id(&traced);
    let user = tracing::field::Empty;
    // A service that answers with what it has done for an equal request names that.
    let joined = tracing::field::Empty;
    let span = tracing::info_span!("request", request_id = id.0, trace_id, user, joined);
    let header = HeaderValue::from_str(&id.0).expect("an identifier is printable ASCII");
    let tracked = async move {
        let Answered {
            mut response,
            summary,
        } = answer(request, id).await;
        response.headers_mut().insert(X_REQUEST_ID, header);
        let taken = started.elapsed();
        log(&method, &path, &response, taken, summary);
        exchange.answered(response.status());
        ended(&response, taken);
        response
    };
    tracked.instrument(span).instrument(traced).await
}

/// Returns whether a path is one that is asked every few seconds, and of which no one wants to read.
fn is_probe(path: &str) -> bool {
    path.starts_with("/__") || path == "/metrics"
}

/// Logs a request that was answered.
fn log(
    method: &Method,
    path: &str,
    response: &Response,
    taken: Duration,
    summary: Option<Summary>,
) {
    let status = response.status().as_u16();
    let ms = taken.as_millis() as u64;
    // Probes come every few seconds and say nothing new.
    if path.starts_with("/__") {
        tracing::debug!(%method, path, status, ms, "answered");
    } else if let Some(summary) = summary {
        let Summary { bytes, outcome, .. } = summary;
        match summary.written {
            None => tracing::info!(%method, path, status, ms, bytes, ?outcome, "answered"),
            Some(of) => tracing::info!(
                %method, path, status, ms, bytes, ?outcome,
                created = of.created, updated = of.updated, deleted = of.deleted, "mutation answered"
            ),
        }
    } else if let Some(relayed) = response.extensions().get::<Relayed>() {
        let Relayed {
            route,
            server,
            client,
        } = relayed;
        let client = client.map(tracing::field::display);
        let (route, server) = (&**route, server.as_deref());
        tracing::info!(%method, path, status, ms, route, server, client, "passed on");
    } else {
        tracing::info!(%method, path, status, ms, "answered");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn printable_ascii_of_up_to_128_characters_is_taken() {
        assert!(is_fit("a-B_9.z"));
        let all: String = (' '..='~').collect();
        assert!(is_fit(&all) && all.len() == 95);
        assert!(is_fit(&"x".repeat(128)));
        assert_eq!(RequestId("a".to_owned()).part(7).0, "a.7");
        let long = RequestId("a".repeat(128)).part(7);
        assert!(is_fit(&long.0) && !long.0.starts_with(&"a".repeat(64)));
        for unfit in ["", "é", "a\tb", "a\nb", "a\u{7f}", &"x".repeat(129)] {
            assert!(!is_fit(unfit), "{unfit:?}");
        }
    }
}
