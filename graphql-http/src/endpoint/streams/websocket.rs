//! Operations over a WebSocket, by the protocol `graphql-transport-ws`.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::FromRequestParts;
use axum::extract::ws::{CloseFrame, Message, Utf8Bytes, WebSocket, WebSocketUpgrade, close_code};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, header};
use axum::response::Response as HttpResponse;
use futures::stream::BoxStream;
use futures::{Stream, StreamExt};
use graphql_service::{Caller, GraphqlError, code as shared};
use serde_json::value::RawValue;
use tokio::time::{Instant, Interval, MissedTickBehavior, timeout, timeout_at};
use tokio_stream::StreamMap;
use tokio_tungstenite::tungstenite::Error as SocketError;
use traces::RequestSpan;
use tracing::{Instrument, Span};

use super::messages::{ClientMessage, PROTOCOL, ServerMessage};
use super::operation::{Operation, Said};
use super::{Log, Streams, expired, token_expired};
use crate::code;
use crate::connection_permit::ConnectionPermit;
use crate::endpoint::GraphqlEndpoint;
use crate::error::HttpError;
use crate::forwarding::Forwarding;
use crate::request_id::RequestId;
use crate::sender::{self, Sender};

/// What is read of a connection at once.
const READ: usize = 8 << 10;

/// Time for the two sides to say farewell.
const FAREWELL: Duration = Duration::from_secs(1);

/// Longest reason that fits into the message that closes a WebSocket.
const LONGEST_REASON: usize = 123;

/// Returns whether a request asks for a WebSocket.
pub fn asks_for_websocket(method: &Method, headers: &HeaderMap) -> bool {
    let upgrade = headers.get(header::UPGRADE);
    let is_websocket = |value: &HeaderValue| value.as_bytes().eq_ignore_ascii_case(b"websocket");
    method == Method::GET && upgrade.is_some_and(is_websocket)
}

/// Takes a connection over.
pub(crate) async fn upgrade(
    endpoint: Arc<GraphqlEndpoint>,
    streams: Arc<Streams>,
    forwarding: Arc<Forwarding>,
    id: RequestId,
    Sender(caller): Sender,
    mut parts: Parts,
) -> Result<HttpResponse, HttpError> {
    let upgrade = WebSocketUpgrade::from_request_parts(&mut parts, &())
        .await
        .map_err(|refused| handshake(refused.body_text()))?;
    let longest = streams.options.max_message_bytes;
    let upgrade = upgrade
        .protocols([PROTOCOL])
        .read_buffer_size(READ)
        .max_frame_size(longest)
        .max_message_size(longest);
    if upgrade.selected_protocol().is_none() {
        let message = format!("`Sec-WebSocket-Protocol` does not offer `{PROTOCOL}`");
        return Err(handshake(message));
    }
    endpoint.service()?;
    // Counts as an open connection as long as it is held.
    let held = (
        streams.connection()?,
        parts.extensions.remove::<ConnectionPermit>(),
    );
    let session = Session {
        headers: kept(&parts.headers, &forwarding),
        endpoint,
        streams,
        forwarding,
        id,
        caller,
        traced: RequestSpan::among(&parts.extensions),
        serial: 0,
        operations: StreamMap::new(),
        was_heard: true,
    };
    let span = tracing::Span::current();
    let conversation = |socket: WebSocket| {
        let conversation = async move {
            session.run(socket).await;
            drop(held);
        };
        conversation.instrument(span)
    };
    let failed = |error: axum::Error| tracing::debug!(%error, "a WebSocket did not begin");
    Ok(upgrade.on_failed_upgrade(failed).on_upgrade(conversation))
}

fn handshake(message: impl Into<String>) -> HttpError {
    HttpError::new(code::WEBSOCKET_HANDSHAKE, message)
}

/// Returns the headers of the handshake that its operations have.
fn kept(headers: &HeaderMap, forwarding: &Forwarding) -> HeaderMap {
    let of_operations = headers.iter().filter(|(name, _)| {
        [header::ACCEPT_LANGUAGE, header::CONNECTION].contains(name) || may_bring(forwarding, name)
    });
    let of_operations = of_operations.map(|(name, value)| (name.clone(), value.clone()));
    of_operations.collect()
}

/// Returns whether `connection_init` may bring a header.
fn may_bring(forwarding: &Forwarding, name: &HeaderName) -> bool {
    *name == header::AUTHORIZATION || forwarding.forwards(name)
}

/// Why a conversation is over.
#[derive(Debug)]
enum End {
    /// We close the connection.
    Close(u16, String),
    /// The client has closed it, or it is broken.
    Gone,
}

impl From<axum::Error> for End {
    fn from(error: axum::Error) -> Self {
        let error = error.into_inner();
        let close = |code: u16, reason: &str| End::Close(code, reason.to_owned());
        match error.downcast_ref::<SocketError>() {
            Some(SocketError::Capacity(_)) => close(close_code::SIZE, "the message is too long"),
            Some(SocketError::Utf8(_)) => close(close_code::INVALID, "the message is not UTF-8"),
            Some(SocketError::Protocol(_)) => close(close_code::PROTOCOL, "the frame is not valid"),
            _ => End::Gone,
        }
    }
}

/// The codes of the protocol for the end of a connection.
mod closing {
    pub(super) const BAD_REQUEST: u16 = 4400;
    pub(super) const UNAUTHORIZED: u16 = 4401;
    pub(super) const FORBIDDEN: u16 = 4403;
    pub(super) const INITIALIZATION_TIMEOUT: u16 = 4408;
    pub(super) const ALREADY_EXISTS: u16 = 4409;
    pub(super) const TOO_MANY_INITIALIZATIONS: u16 = 4429;
}

fn bad_request(reason: impl Into<String>) -> End {
    End::Close(closing::BAD_REQUEST, reason.into())
}

/// A conversation with a client.
struct Session {
    endpoint: Arc<GraphqlEndpoint>,
    streams: Arc<Streams>,
    forwarding: Arc<Forwarding>,
    /// The identifier of the handshake.
    id: RequestId,
    /// The headers of the operations.
    headers: HeaderMap,
    caller: Option<Arc<Caller>>,
    /// The span of the handshake.
    traced: Span,
    /// Number of the last operation.
    serial: u64,
    operations: StreamMap<String, BoxStream<'static, Said>>,
    /// Whether something came since the client was asked for a sign of life.
    was_heard: bool,
}

impl Session {
    async fn run(mut self, mut socket: WebSocket) {
        let begun = Instant::now();
        let end = self.converse(&mut socket).await;
        // What is under way ends here.
        self.operations.clear();
        let (code, reason) = match end {
            End::Gone => (close_code::ABNORMAL, String::new()),
            End::Close(code, reason) => {
                farewell(&mut socket, code, &reason).await;
                (code, reason)
            }
        };
        let (operations, ms) = (self.serial, begun.elapsed().as_millis() as u64);
        tracing::info!(code, reason, operations, ms, "WebSocket closed");
    }

    /// Listens and speaks until there is a reason to stop.
    async fn converse(&mut self, socket: &mut WebSocket) -> End {
        let patience = self.streams.options.init_timeout;
        let initialized = timeout(patience, self.initialized(socket)).await;
        let late = || {
            let reason = "`connection_init` did not come in time";
            Err(End::Close(
                closing::INITIALIZATION_TIMEOUT,
                reason.to_owned(),
            ))
        };
        if let Err(end) = initialized.unwrap_or_else(|_| late()) {
            return end;
        }
        let ending = self.streams.ending.clone();
        let expired = expired(self.caller.as_deref(), self.streams.leeway);
        let mut expired = std::pin::pin!(futures::future::OptionFuture::from(expired));
        let mut signs = signs_of_life(self.streams.options.keep_alive);
        loop {
            let done = tokio::select! {
                next = message_or_tick(socket, &mut signs) => match next {
                    Next::Message(message) => self.received(socket, message).await,
                    Next::Tick => self.ask(socket).await,
                },
                Some((id, said)) = self.operations.next(), if !self.operations.is_empty() => {
                    self.say(socket, &id, said).await
                }
                Some(()) = &mut expired => {
                    Err(End::Close(closing::FORBIDDEN, token_expired().message))
                }
                () = ending.cancelled(), if self.operations.is_empty() => {
                    let reason = "the service is shutting down";
                    Err(End::Close(close_code::AWAY, reason.to_owned()))
                }
            };
            if let Err(end) = done {
                return end;
            }
        }
    }
}

/// Returns when clients are to be asked for a sign of life.
fn signs_of_life(interval: Duration) -> Option<Interval> {
    let mut signs = (!interval.is_zero())
        .then(|| tokio::time::interval_at(Instant::now() + interval, interval))?;
    signs.set_missed_tick_behavior(MissedTickBehavior::Delay);
    Some(signs)
}

/// What a conversation goes on with.
enum Next<M> {
    /// The client has sent something; `None` at the end.
    Message(Option<M>),
    /// The client is to be asked for a sign of life.
    Tick,
}

/// Waits for a message, and for the time to ask for one. A message that has arrived comes first: it is a sign of life,
/// however long it has waited while something was sent.
async fn message_or_tick<M>(
    messages: &mut (impl Stream<Item = M> + Unpin),
    signs: &mut Option<Interval>,
) -> Next<M> {
    tokio::select! {
        biased;
        message = messages.next() => Next::Message(message),
        () = tick(signs) => Next::Tick,
    }
}

async fn tick(signs: &mut Option<Interval>) {
    match signs {
        Some(signs) => {
            signs.tick().await;
        }
        None => std::future::pending().await,
    }
}

/// Sends the client the reason why the connection ends, and waits a moment for it to be received.
async fn farewell(socket: &mut WebSocket, code: u16, reason: &str) {
    let mut ends = (0..=LONGEST_REASON).rev();
    let short = ends.find_map(|end| reason.get(..end.min(reason.len())));
    let frame = CloseFrame {
        code,
        reason: short.unwrap_or_default().into(),
    };
    let until = Instant::now() + FAREWELL;
    let told = timeout_at(until, socket.send(Message::Close(Some(frame)))).await;
    if !matches!(told, Ok(Ok(()))) {
        return;
    }
    // A connection that is closed with bytes unread is reset, and the client may lose what it was told.
    while let Ok(Some(Ok(_))) = timeout_at(until, socket.recv()).await {}
}

async fn send(socket: &mut WebSocket, message: &ServerMessage<'_>) -> Result<(), End> {
    let message = Message::Text(message.text().into());
    Ok(socket.send(message).await?)
}

/// What comes of a connection: the text of a message, or nothing that says anything.
fn text(message: Option<Result<Message, axum::Error>>) -> Result<Option<Utf8Bytes>, End> {
    match message {
        None | Some(Ok(Message::Close(_))) => Err(End::Gone),
        Some(Err(error)) => Err(error.into()),
        Some(Ok(Message::Text(text))) => Ok(Some(text)),
        Some(Ok(Message::Binary(_))) => Err(bad_request("messages must be text")),
        // Answered by the library.
        Some(Ok(Message::Ping(_) | Message::Pong(_))) => Ok(None),
    }
}

impl Session {
    /// Waits until the client has introduced itself.
    async fn initialized(&mut self, socket: &mut WebSocket) -> Result<(), End> {
        loop {
            let Some(text) = text(socket.recv().await)? else {
                continue;
            };
            match ClientMessage::read(&text).map_err(bad_request)? {
                ClientMessage::ConnectionInit(payload) => {
                    self.introduced(payload).await?;
                    return send(socket, &ServerMessage::ConnectionAck).await;
                }
                ClientMessage::Ping(payload) => {
                    send(socket, &ServerMessage::Pong { payload }).await?
                }
                ClientMessage::Pong | ClientMessage::Complete { .. } => {}
                ClientMessage::Subscribe { .. } => {
                    let reason = "`connection_init` must come first".to_owned();
                    return Err(End::Close(closing::UNAUTHORIZED, reason));
                }
            }
        }
    }

    /// Takes the headers that the client brings in `connection_init`; those of the handshake stand.
    async fn introduced(&mut self, payload: Option<&RawValue>) -> Result<(), End> {
        for (name, value) in brought(payload, &self.forwarding).map_err(bad_request)? {
            if !self.headers.contains_key(&name) {
                self.headers.insert(name, value);
            }
        }
        // What the handshake has is verified.
        let (Some(verifier), None) = (&self.streams.verifier, &self.caller) else {
            return Ok(());
        };
        if !self.streams.requires_tokens && !self.headers.contains_key(header::AUTHORIZATION) {
            return Ok(());
        }
        match sender::sender(verifier, &self.headers).await {
            Ok(caller) => {
                sender::note(&caller);
                self.caller = Some(Arc::new(caller));
                Ok(())
            }
            Err(refusal) => Err(End::Close(
                closing::FORBIDDEN,
                format!("{}: {refusal}", refusal.code()),
            )),
        }
    }

    /// Does what a message of the client asks for.
    async fn received(
        &mut self,
        socket: &mut WebSocket,
        message: Option<Result<Message, axum::Error>>,
    ) -> Result<(), End> {
        self.was_heard = true;
        let Some(text) = text(message)? else {
            return Ok(());
        };
        match ClientMessage::read(&text).map_err(bad_request)? {
            ClientMessage::ConnectionInit(_) => {
                let reason = "`connection_init` must be sent only once".to_owned();
                Err(End::Close(closing::TOO_MANY_INITIALIZATIONS, reason))
            }
            ClientMessage::Ping(payload) => send(socket, &ServerMessage::Pong { payload }).await,
            ClientMessage::Pong => Ok(()),
            ClientMessage::Complete { id } => {
                // Nothing more is said of it. It may be over already.
                self.operations.remove(&*id);
                Ok(())
            }
            ClientMessage::Subscribe { id, payload } => self.subscribe(socket, id, payload).await,
        }
    }

    /// Begins an operation.
    async fn subscribe(
        &mut self,
        socket: &mut WebSocket,
        id: String,
        payload: &RawValue,
    ) -> Result<(), End> {
        if self.operations.contains_key(&id) {
            let reason = format!("an operation with the id {id} already exists");
            return Err(End::Close(closing::ALREADY_EXISTS, reason));
        }
        let most = self.streams.options.max_operations;
        if self.operations.len() >= most {
            let message = format!(
                "{most} operations are running on this connection, which is the \
                                   maximum"
            );
            let errors = [GraphqlError::new(code::TOO_MANY_OPERATIONS, message)];
            let payload = &errors;
            return send(socket, &ServerMessage::Error { id: &id, payload }).await;
        }
        let Ok(permit) = Arc::clone(&self.streams.operations).try_acquire_owned() else {
            let message = "the maximum number of operations on WebSockets is reached";
            let errors = [GraphqlError::new(shared::OVERLOADED, message)];
            let payload = &errors;
            return send(socket, &ServerMessage::Error { id: &id, payload }).await;
        };
        self.serial += 1;
        let request_id = self.id.part(self.serial);
        let text = payload.get().as_bytes().to_vec();
        let operation = Operation {
            endpoint: self.endpoint.clone(),
            request_id: request_id.clone(),
            text: text.into(),
            headers: self.headers.clone(),
            caller: self.caller.clone(),
            span: self.traced.clone(),
        };
        let log = Log::new("websocket", request_id.0);
        let said = operation.run(&id, permit, log);
        self.operations.insert(id, said);
        Ok(())
    }

    /// Sends the client the outcome of an operation.
    async fn say(&mut self, socket: &mut WebSocket, id: &str, said: Said) -> Result<(), End> {
        match said {
            Said::Next { text, memory } => {
                let sent = socket.send(Message::Text(text)).await;
                drop(memory);
                Ok(sent?)
            }
            Said::Failed(errors) => {
                self.operations.remove(id);
                let payload = &errors;
                send(socket, &ServerMessage::Error { id, payload }).await
            }
            Said::Complete => {
                self.operations.remove(id);
                send(socket, &ServerMessage::Complete { id }).await
            }
        }
    }

    /// Asks the client for a sign of life, unless it owes one.
    async fn ask(&mut self, socket: &mut WebSocket) -> Result<(), End> {
        if !std::mem::take(&mut self.was_heard) {
            tracing::debug!("the client of a WebSocket does not answer pings");
            return Err(End::Gone);
        }
        Ok(socket.send(Message::Ping(axum::body::Bytes::new())).await?)
    }
}

/// Returns the headers that the payload of `connection_init` brings: entries of its own or of `headers`, whose names
/// are those of headers that are forwarded.
fn brought(
    payload: Option<&RawValue>,
    forwarding: &Forwarding,
) -> Result<Vec<(HeaderName, HeaderValue)>, String> {
    let Some(payload) = payload else {
        return Ok(Vec::new());
    };
    type Entries = serde_json::Map<String, serde_json::Value>;
    let entries: Entries = serde_json::from_str(payload.get())
        .map_err(|error| format!("the payload of `connection_init` is not JSON: {error}"))?;
    let inner = entries.get("headers").and_then(|it| it.as_object());
    let all = entries.iter().chain(inner.into_iter().flatten());
    let mut headers: Vec<(HeaderName, HeaderValue)> = Vec::new();
    for (name, value) in all {
        let Ok(name) = name.parse::<HeaderName>() else {
            continue;
        };
        let is_known = headers.iter().any(|(known, _)| *known == name);
        if is_known || !may_bring(forwarding, &name) {
            continue;
        }
        let value = value.as_str().and_then(|it| HeaderValue::from_str(it).ok());
        let Some(mut value) = value else {
            return Err(format!(
                "`{name}` in the payload of `connection_init` is not the value of a header"
            ));
        };
        value.set_sensitive(name == header::AUTHORIZATION);
        headers.push((name, value));
    }
    Ok(headers)
}

#[cfg(test)]
mod tests {
    use futures::stream;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn what_a_client_has_sent_comes_before_the_question_whether_it_is_there() {
        let interval = Duration::from_secs(15);
        // Which one of two is taken is a matter of chance elsewhere.
        for _ in 0..100 {
            let mut signs = signs_of_life(interval);
            let mut messages = stream::iter(["pong"]).chain(stream::pending());
            tokio::time::advance(2 * interval).await;
            let next = message_or_tick(&mut messages, &mut signs).await;
            assert!(matches!(next, Next::Message(Some("pong"))));
            let next = message_or_tick(&mut messages, &mut signs).await;
            assert!(matches!(next, Next::Tick));
        }
    }
}
