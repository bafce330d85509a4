//! Subscriptions over WebSockets: the protocol `graphql-transport-ws`, with a connection for each subscription.

use std::borrow::Cow;
use std::time::Duration;

use bytes::Bytes;
use futures::stream::{self, StreamExt};
use futures::{SinkExt, future};
use graphql_service::RequestContext;
use reqwest::header::{
    ACCEPT, ACCEPT_ENCODING, CONNECTION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue,
    SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_KEY, SEC_WEBSOCKET_PROTOCOL, SEC_WEBSOCKET_VERSION,
    UPGRADE,
};
use reqwest::{Client, StatusCode, Upgraded, Url, Version};
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::runtime::Handle;
use tokio::time::{Instant, Interval, MissedTickBehavior, interval_at, timeout};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::error::CapacityError;
use tokio_tungstenite::tungstenite::handshake::client::generate_key;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, Role, WebSocketConfig};
use tokio_tungstenite::tungstenite::{Error as SocketError, Message as Frame};

use super::super::super::{
    Allowances, Phase, SubgraphEvent, SubgraphEvents, SubgraphSubscription, TransportError,
};
use super::super::options::{HttpOptions, bound};
use super::super::{answered, failed, headers, within};

/// The protocol.
const PROTOCOL: &str = "graphql-transport-ws";

/// The only subscription of a connection.
const ID: &str = "1";

/// Bytes of a message beside the event in it.
const ENVELOPE: usize = 1 << 10;

/// Bytes that are read or written at once.
const BUFFER: usize = 8 << 10;

/// How long the end of a connection may take.
const FAREWELL: Duration = Duration::from_secs(1);

/// Begins a subscription.
pub(super) async fn subscribe(
    client: &Client,
    url: Url,
    subscription: SubgraphSubscription,
    context: &RequestContext,
    options: &HttpOptions,
) -> Result<SubgraphEvents, TransportError> {
    let SubgraphSubscription { body, allowances } = subscription;
    let socket = connected(client, url, context, options, allowances.limit()).await?;
    let mut session = Session {
        socket: Some(socket),
        pings: pings(options.ping_interval),
        is_answered: true,
        is_over: false,
        is_closed: false,
        allowances,
    };
    let wait = bound(options.idle_timeout);
    let acknowledged = async {
        session.send(init(context)).await?;
        session.acknowledged().await
    };
    within(wait, Phase::Acknowledging, acknowledged).await??;
    let mut text = format!("{{\"id\":\"{ID}\",\"type\":\"subscribe\",\"payload\":").into_bytes();
    text.extend_from_slice(&body);
    text.push(b'}');
    let text = String::from_utf8(text).map_err(|error| TransportError::Broken(Box::new(error)))?;
    within(wait, Phase::Silence, session.send(Frame::text(text))).await??;
    let next = |mut session: Session| async move {
        let event = session.event().await;
        // Nothing is left to be completed after a failure.
        session.is_over |= event.is_err();
        Ok(event?.map(|event| (event, session)))
    };
    Ok(stream::try_unfold(session, next).boxed())
}

/// Opens a WebSocket by a request of HTTP.
async fn connected(
    client: &Client,
    url: Url,
    context: &RequestContext,
    options: &HttpOptions,
    limit: usize,
) -> Result<WebSocketStream<Upgraded>, TransportError> {
    let key = generate_key();
    let headers = handshake(headers::outgoing(context)?, &key)?;
    let sent = client.get(url).version(Version::HTTP_11).headers(headers);
    let response = answered(sent, options).await?;
    let status = response.status();
    if status.is_client_error() || status.is_server_error() {
        return Err(TransportError::Status(status.as_u16()));
    }
    let is = |name: HeaderName, expected: &str| {
        let mut values = response.headers().get_all(name).iter();
        values.next().is_some_and(|value| value == expected) && values.next().is_none()
    };
    let has_agreed = status == StatusCode::SWITCHING_PROTOCOLS
        && is(SEC_WEBSOCKET_ACCEPT, &derive_accept_key(key.as_bytes()))
        && is(SEC_WEBSOCKET_PROTOCOL, PROTOCOL);
    if !has_agreed {
        return Err(TransportError::NoEvents(PROTOCOL));
    }
    let upgraded = response
        .upgrade()
        .await
        .map_err(|error| failed(error, TransportError::Connection))?;
    let longest = limit.saturating_add(ENVELOPE);
    let config = WebSocketConfig::default()
        .read_buffer_size(BUFFER)
        .write_buffer_size(0)
        .max_message_size(Some(longest))
        .max_frame_size(Some(longest));
    Ok(WebSocketStream::from_raw_socket(upgraded, Role::Client, Some(config)).await)
}

/// Returns the headers of the request that opens a WebSocket.
fn handshake(mut headers: HeaderMap, key: &str) -> Result<HeaderMap, TransportError> {
    for name in [CONTENT_TYPE, ACCEPT, ACCEPT_ENCODING] {
        headers.remove(name);
    }
    let own: Vec<HeaderName> = headers.keys().cloned().collect();
    for name in own {
        if name.as_str().starts_with("sec-websocket-") {
            headers.remove(name);
        }
    }
    let key =
        HeaderValue::from_str(key).map_err(|error| TransportError::Connection(Box::new(error)))?;
    headers.insert(CONNECTION, HeaderValue::from_static("Upgrade"));
    headers.insert(UPGRADE, HeaderValue::from_static("websocket"));
    headers.insert(SEC_WEBSOCKET_VERSION, HeaderValue::from_static("13"));
    headers.insert(SEC_WEBSOCKET_KEY, key);
    headers.insert(SEC_WEBSOCKET_PROTOCOL, HeaderValue::from_static(PROTOCOL));
    Ok(headers)
}

/// Returns the first message. What is forwarded is in it too, since many servers look for credentials there and
/// not in the headers of the handshake.
fn init(context: &RequestContext) -> Frame {
    let mut payload = serde_json::Map::new();
    for (name, value) in context.forwarded.iter() {
        payload.insert(name.to_owned(), value.into());
    }
    let message = if payload.is_empty() {
        serde_json::json!({ "type": "connection_init" })
    } else {
        serde_json::json!({ "type": "connection_init", "payload": payload })
    };
    Frame::text(message.to_string())
}

/// Returns the times at which the other side is asked for a sign of life.
fn pings(every: Duration) -> Option<Interval> {
    let every = bound(every)?;
    let mut pings = interval_at(Instant::now() + every, every);
    pings.set_missed_tick_behavior(MissedTickBehavior::Delay);
    Some(pings)
}

/// A message of a server.
#[derive(Deserialize)]
struct Message<'a> {
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
    #[serde(borrow, default)]
    id: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    payload: Option<&'a RawValue>,
}

/// What a message says of the subscription.
enum Said {
    Acknowledged,
    Event(Bytes),
    /// The subscription has failed with these errors.
    Errors(Bytes),
    Complete,
    Ping,
    Nothing,
}

/// A connection with its subscription.
struct Session {
    /// `None` once it is being closed.
    socket: Option<WebSocketStream<Upgraded>>,
    pings: Option<Interval>,
    /// Whether something arrived after the last ping.
    is_answered: bool,
    /// Whether the subgraph has ended the subscription.
    is_over: bool,
    /// Whether the subgraph has sent a Close frame.
    is_closed: bool,
    allowances: Allowances,
}

impl Session {
    async fn send(&mut self, frame: Frame) -> Result<(), TransportError> {
        let Some(socket) = &mut self.socket else {
            return Ok(());
        };
        socket.send(frame).await.map_err(of_socket)
    }

    /// Waits for the acknowledgement of the connection.
    async fn acknowledged(&mut self) -> Result<(), TransportError> {
        loop {
            match self.said().await? {
                Said::Acknowledged => return Ok(()),
                Said::Ping => self.pong().await?,
                Said::Nothing => {}
                _ => {
                    let what = "a message comes before the acknowledgement";
                    return Err(TransportError::Protocol(what));
                }
            }
        }
    }

    /// Waits for the next event; `None` where there are no more.
    async fn event(&mut self) -> Result<Option<SubgraphEvent>, TransportError> {
        loop {
            if self.is_over {
                return Ok(None);
            }
            match self.said().await? {
                Said::Event(body) => return self.allowances.event(body).map(Some),
                Said::Errors(body) => {
                    self.is_over = true;
                    return self.allowances.event(body).map(Some);
                }
                Said::Complete => self.is_over = true,
                Said::Ping => self.pong().await?,
                Said::Nothing => {}
                Said::Acknowledged => {
                    let what = "the connection is acknowledged twice";
                    return Err(TransportError::Protocol(what));
                }
            }
        }
    }

    async fn pong(&mut self) -> Result<(), TransportError> {
        self.send(Frame::text(r#"{"type":"pong"}"#)).await
    }

    /// Waits for the next message, and asks for signs of life meanwhile.
    async fn said(&mut self) -> Result<Said, TransportError> {
        let Session {
            socket,
            pings,
            is_answered,
            is_closed,
            ..
        } = self;
        let Some(socket) = socket else {
            return Ok(Said::Complete);
        };
        loop {
            let due = async {
                match pings {
                    Some(pings) => pings.tick().await,
                    None => future::pending().await,
                }
            };
            let frame = tokio::select! {
                biased;
                frame = socket.next() => frame,
                _ = due => {
                    if !std::mem::replace(is_answered, false) {
                        return Err(TransportError::TimedOut(Phase::Silence));
                    }
                    socket.send(Frame::Ping(Bytes::new())).await.map_err(of_socket)?;
                    continue;
                }
            };
            *is_answered = true;
            // Small messages could arrive faster than they are read.
            tokio::task::consume_budget().await;
            return match frame {
                Some(Ok(Frame::Text(text))) => said(text.into()),
                Some(Ok(Frame::Close(frame))) => {
                    *is_closed = true;
                    Err(closed(frame))
                }
                Some(Ok(Frame::Binary(_))) => Err(TransportError::Protocol("a message is binary")),
                Some(Ok(_)) => continue,
                Some(Err(error)) => Err(of_socket(error)),
                None => Err(closed(None)),
            };
        }
    }
}

impl Drop for Session {
    /// Ends the subscription, and closes the connection, without anyone waiting for it.
    fn drop(&mut self) {
        let (Some(socket), Ok(runtime)) = (self.socket.take(), Handle::try_current()) else {
            return;
        };
        let last_words = match (self.is_closed, self.is_over) {
            (true, _) => LastWords::Answer,
            (false, true) => LastWords::Close,
            (false, false) => LastWords::CompleteAndClose,
        };
        runtime.spawn(timeout(FAREWELL, farewell(socket, last_words)));
    }
}

/// What is sent before a connection is closed.
enum LastWords {
    /// The answer to the Close frame of the subgraph.
    Answer,
    /// A Close frame.
    Close,
    /// The end of the subscription, and a Close frame.
    CompleteAndClose,
}

/// Ends a connection as [section 7 of RFC 6455](https://www.rfc-editor.org/rfc/rfc6455#section-7) says: each side sends
/// a Close frame, and the server closes the connection.
async fn farewell(
    mut socket: WebSocketStream<Upgraded>,
    last_words: LastWords,
) -> Result<(), SocketError> {
    if let LastWords::CompleteAndClose = last_words {
        let text = format!("{{\"id\":\"{ID}\",\"type\":\"complete\"}}");
        socket.send(Frame::text(text)).await?;
    }
    match last_words {
        // The answer waits in the socket since the frame was read.
        LastWords::Answer => socket.flush().await?,
        LastWords::Close | LastWords::CompleteAndClose => {
            let frame = CloseFrame {
                code: CloseCode::Normal,
                reason: "".into(),
            };
            socket.close(Some(frame)).await?;
        }
    }
    while socket.next().await.is_some_and(|frame| frame.is_ok()) {}
    Ok(())
}

/// Reads a message.
fn said(text: Bytes) -> Result<Said, TransportError> {
    let wrong = |what| Err(TransportError::Protocol(what));
    let Ok(message) = serde_json::from_slice::<Message<'_>>(&text) else {
        return wrong("a message is not an object of the protocol");
    };
    match &*message.kind {
        "connection_ack" => return Ok(Said::Acknowledged),
        "ping" => return Ok(Said::Ping),
        "pong" => return Ok(Said::Nothing),
        "next" | "error" | "complete" => {}
        _ => return wrong("a message has an unknown type"),
    }
    if message.id.as_deref() != Some(ID) {
        return wrong("a message is about an unknown subscription");
    }
    match (&*message.kind, message.payload) {
        ("complete", _) => Ok(Said::Complete),
        ("next", Some(payload)) => Ok(Said::Event(text.slice_ref(payload.get().as_bytes()))),
        ("error", Some(payload)) => Ok(Said::Errors(
            format!("{{\"errors\":{}}}", payload.get()).into(),
        )),
        _ => wrong("a message has no `payload`"),
    }
}

fn closed(frame: Option<CloseFrame>) -> TransportError {
    let (code, reason) = frame.map_or((1005, String::new()), |frame| {
        (frame.code.into(), frame.reason.as_str().to_owned())
    });
    TransportError::Closed { code, reason }
}

fn of_socket(error: SocketError) -> TransportError {
    match error {
        SocketError::Capacity(CapacityError::MessageTooLong { max_size, .. }) => {
            TransportError::TooLarge {
                limit: max_size.saturating_sub(ENVELOPE),
            }
        }
        SocketError::ConnectionClosed | SocketError::AlreadyClosed => closed(None),
        error => TransportError::Broken(Box::new(error)),
    }
}
