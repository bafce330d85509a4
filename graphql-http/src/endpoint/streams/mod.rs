//! Several responses to one request: as server-sent events, and over WebSockets.

mod messages;
mod operation;
pub(crate) mod sse;
pub(crate) mod websocket;

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use graphql_service::{Caller, ErrorCode, GraphqlError, code as shared};
use service_auth::Verifier;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Sleep;
use tokio_util::sync::CancellationToken;

pub use self::websocket::asks_for_websocket;

use crate::code;
use crate::error::HttpError;

/// How clients subscribe, over WebSockets and by server-sent events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubscriptionOptions {
    /// How often clients are sent a sign of life.
    pub keep_alive: Duration,
    /// Time for a WebSocket to be initialized.
    pub init_timeout: Duration,
    /// Maximum number of connections that are WebSockets or streams of events; `None` for three quarters of all.
    pub max_connections: Option<usize>,
    /// Maximum number of operations on one WebSocket at a time.
    pub max_operations: usize,
    /// Maximum size of a message of a client.
    pub max_message_bytes: usize,
}

impl Default for SubscriptionOptions {
    fn default() -> Self {
        SubscriptionOptions {
            keep_alive: Duration::from_secs(15),
            init_timeout: Duration::from_secs(10),
            max_connections: None,
            max_operations: 100,
            max_message_bytes: 64 << 10,
        }
    }
}

/// How an endpoint sends several responses to a request.
pub struct Streams {
    options: SubscriptionOptions,
    /// Verifies the tokens that clients of WebSockets send in `connection_init`.
    verifier: Option<Arc<Verifier>>,
    /// Whether such a client needs one.
    requires_tokens: bool,
    /// How far clocks may differ.
    leeway: Duration,
    /// Cancelled when the service ends.
    ending: CancellationToken,
    /// Connections that are taken for long.
    connections: Arc<Semaphore>,
    /// Operations of all WebSockets together.
    operations: Arc<Semaphore>,
}

/// Who may stream, and how much of it.
pub struct StreamBounds {
    /// Maximum number of connections of all kinds.
    pub connections: usize,
    /// Maximum number of open subscriptions.
    pub subscriptions: usize,
    /// Verifies the tokens that clients of WebSockets send in `connection_init`.
    pub verifier: Option<Arc<Verifier>>,
    /// Whether such a client needs one.
    pub requires_tokens: bool,
    /// How far clocks may differ.
    pub leeway: Duration,
}

impl Streams {
    /// Sends several responses until `ending` is cancelled.
    pub fn new(
        options: &SubscriptionOptions,
        bounds: StreamBounds,
        ending: CancellationToken,
    ) -> Self {
        let bounded = |most: usize| Arc::new(Semaphore::new(most.min(Semaphore::MAX_PERMITS)));
        let connections = options.max_connections;
        let connections = connections.unwrap_or(bounds.connections / 4 * 3);
        // As many as there could be without WebSockets: one for each connection, beside subscriptions.
        let operations = bounds.subscriptions.saturating_add(bounds.connections);
        Streams {
            options: options.clone(),
            verifier: bounds.verifier,
            requires_tokens: bounds.requires_tokens,
            leeway: bounds.leeway,
            ending,
            connections: bounded(connections),
            operations: bounded(operations),
        }
    }

    /// Takes a connection for long, if there may be one more.
    fn connection(&self) -> Result<OwnedSemaphorePermit, HttpError> {
        let connection = Arc::clone(&self.connections).try_acquire_owned();
        connection.map_err(|_| {
            let message = "the maximum number of WebSockets and event streams is reached";
            HttpError::new(code::TOO_MANY_STREAMS, message)
        })
    }
}

/// Returns when the token of a caller expires.
fn expiry(caller: &Caller, leeway: Duration) -> Option<Duration> {
    let seconds = caller.claims.get("exp")?.as_f64()?;
    let expires = Duration::try_from_secs_f64(seconds).ok()?;
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    Some((expires + leeway).saturating_sub(now.unwrap_or_default()))
}

/// Waits until the token of a caller expires, which is never where there is none, or where it is in ages.
fn expired(caller: Option<&Caller>, leeway: Duration) -> Option<Sleep> {
    /// More than timers can wait for at once is no matter of a connection.
    const AGES: Duration = Duration::from_secs(365 * 24 * 60 * 60);
    let left = expiry(caller?, leeway)?;
    (left < AGES).then(|| tokio::time::sleep(left))
}

/// Returns the error for a token that has expired during a stream.
fn token_expired() -> GraphqlError {
    GraphqlError::new(
        shared::UNAUTHENTICATED,
        "the token has expired; subscribe again with a new one",
    )
}

/// What is logged of a stream once it has ended, however it ends.
struct Log {
    transport: &'static str,
    /// The identifier of the operation, where that of the request is not known to the log anyway.
    request_id: String,
    span: tracing::Span,
    begun: Instant,
    events: u64,
    bytes: u64,
    outcome: &'static str,
    code: Option<ErrorCode>,
}

impl Log {
    fn new(transport: &'static str, request_id: String) -> Self {
        Log {
            transport,
            request_id,
            span: tracing::Span::current(),
            begun: Instant::now(),
            events: 0,
            bytes: 0,
            outcome: "left",
            code: None,
        }
    }

    fn event(&mut self, bytes: usize) {
        self.events += 1;
        self.bytes += bytes as u64;
    }

    fn failed(&mut self, errors: &[GraphqlError]) {
        self.outcome = "failed";
        self.code = errors.first().map(|error| error.code);
    }

    fn completed(&mut self) {
        self.outcome = "completed";
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        let _entered = self.span.enter();
        let ms = self.begun.elapsed().as_millis() as u64;
        let (events, bytes, outcome) = (self.events, self.bytes, self.outcome);
        let code = self.code.map_or("", |code| code.as_str());
        let (transport, id) = (self.transport, &self.request_id);
        tracing::info!(
            transport,
            operation = id,
            events,
            bytes,
            ms,
            outcome,
            code,
            "stream ended"
        );
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_token_is_good_until_it_expires_and_clocks_may_differ() {
        let left = |claims: serde_json::Value| {
            let claims = claims.as_object().expect("claims").clone();
            let caller = Caller::default().with_claims(claims);
            expiry(&caller, Duration::from_secs(1_000)).map(|left| left.as_secs())
        };
        let now = SystemTime::now()
            .duration_since(SystemTime::UNIX_EPOCH)
            .unwrap()
            .as_secs();
        assert!(matches!(
            left(json!({"exp": now + 60})),
            Some(1_000..=1_060)
        ));
        assert_eq!(left(json!({"exp": now - 2_000})), Some(0));
        assert_eq!(left(json!({"exp": -1})), None);
        assert_eq!(left(json!({})), None);
    }
}
