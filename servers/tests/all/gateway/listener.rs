//! Clients of subscriptions, as server-sent events and over WebSockets.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;

use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::http::{HeaderValue, StatusCode};
use tokio_tungstenite::tungstenite::{self, HandshakeError, Message, WebSocket};

use super::process::Gateway;
use crate::processes::PATIENCE;

pub(crate) const PROTOCOL: &str = "graphql-transport-ws";

fn connected(base: &str) -> (TcpStream, String) {
    let authority = base.trim_start_matches("http://").to_owned();
    let stream = TcpStream::connect(&authority).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    (stream, authority)
}

/// A client that reads server-sent events.
pub(crate) struct Events {
    reader: BufReader<TcpStream>,
    pub(crate) head: String,
}

impl Events {
    /// Sends an operation that is answered by events alone.
    pub(crate) fn of(gateway: &Gateway, query: &str) -> Events {
        Events::with(gateway, query, "text/event-stream", &[])
    }

    pub(crate) fn with(
        gateway: &Gateway,
        query: &str,
        accept: &str,
        headers: &[(&str, &str)],
    ) -> Events {
        Events::at(&gateway.base, query, accept, headers)
    }

    /// Sends an operation to the service at an address.
    pub(crate) fn at(base: &str, query: &str, accept: &str, headers: &[(&str, &str)]) -> Events {
        let (mut stream, authority) = connected(base);
        let body = json!({ "query": query }).to_string();
        let mut head = format!(
            "POST /graphql HTTP/1.1\r\nhost: {authority}\r\ncontent-type: application/json\r\n\
             accept: {accept}\r\nconnection: close\r\ncontent-length: {}\r\n",
            body.len()
        );
        for (name, value) in headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        write!(stream, "{head}\r\n{body}").unwrap();
        let mut events = Events {
            reader: BufReader::new(stream),
            head: String::new(),
        };
        while !events.head.ends_with("\r\n\r\n") {
            assert_ne!(events.reader.read_line(&mut events.head).unwrap(), 0);
        }
        events.head.make_ascii_lowercase();
        events
    }

    /// Returns the next line that says something; `None` at the end. The sizes of chunks are left out.
    pub(crate) fn line(&mut self) -> Option<String> {
        loop {
            let mut line = String::new();
            if self.reader.read_line(&mut line).unwrap() == 0 {
                return None;
            }
            let line = line.trim_end_matches(['\r', '\n']).to_owned();
            let is_size = line.bytes().all(|byte| byte.is_ascii_hexdigit());
            if !is_size {
                return Some(line);
            }
        }
    }

    /// Returns the data of the next event `next`; `None` once it is complete.
    pub(crate) fn next(&mut self) -> Option<Value> {
        loop {
            match &*self
                .line()
                .expect("the events are complete before they end")
            {
                "event: next" => {
                    let data = self.line().unwrap();
                    let data = data.strip_prefix("data: ").unwrap();
                    return Some(serde_json::from_str(data).unwrap());
                }
                "event: complete" => {
                    assert_eq!(self.line().unwrap(), "data:");
                    assert_eq!(self.line(), None);
                    return None;
                }
                ":" => {}
                other => panic!("{other}"),
            }
        }
    }

    /// Waits for a sign of life.
    pub(crate) fn comment(&mut self) {
        assert_eq!(self.line().unwrap(), ":");
    }
}

/// A client that speaks over a WebSocket.
pub(crate) struct Socket {
    socket: WebSocket<TcpStream>,
}

impl Socket {
    /// Connects, and says nothing yet.
    pub(crate) fn connect(gateway: &Gateway, headers: &[(&'static str, &str)]) -> Socket {
        Socket::at(&gateway.base, headers)
    }

    /// Connects to the service at an address, and says nothing yet.
    pub(crate) fn at(base: &str, headers: &[(&'static str, &str)]) -> Socket {
        let socket = Socket::handshake(base, Some(PROTOCOL), headers);
        Socket {
            socket: socket.unwrap(),
        }
    }

    /// Shakes hands; the error is the status of a server that does not.
    pub(crate) fn handshake(
        base: &str,
        protocol: Option<&str>,
        headers: &[(&'static str, &str)],
    ) -> Result<WebSocket<TcpStream>, StatusCode> {
        let (stream, authority) = connected(base);
        let mut request = format!("ws://{authority}/graphql")
            .into_client_request()
            .unwrap();
        let protocol = protocol.map(|protocol| ("sec-websocket-protocol", protocol));
        for (name, value) in headers.iter().copied().chain(protocol) {
            let value = HeaderValue::from_str(value).unwrap();
            request.headers_mut().insert(name, value);
        }
        match tungstenite::client(request, stream) {
            Ok((socket, _)) => Ok(socket),
            Err(HandshakeError::Failure(tungstenite::Error::Http(refused))) => {
                Err(refused.status())
            }
            Err(error) => panic!("{error}"),
        }
    }

    /// Connects, and is acknowledged.
    pub(crate) fn open(gateway: &Gateway, payload: &Value) -> Socket {
        let mut socket = Socket::connect(gateway, &[]);
        socket.say(json!({"type": "connection_init", "payload": payload}));
        assert_eq!(socket.heard(), json!({"type": "connection_ack"}));
        socket
    }

    pub(crate) fn say(&mut self, message: Value) {
        self.send(Message::text(message.to_string()));
    }

    pub(crate) fn send(&mut self, message: Message) {
        self.socket.send(message).unwrap();
    }

    pub(crate) fn subscribe(&mut self, id: &str, query: &str) {
        self.say(json!({"type": "subscribe", "id": id, "payload": {"query": query}}));
    }

    /// Returns the next message.
    pub(crate) fn heard(&mut self) -> Value {
        match self.read() {
            Ok(message) => message,
            Err((code, reason)) => panic!("it is closed: {code} {reason}"),
        }
    }

    /// Returns the payload of the next message, which is about an operation.
    pub(crate) fn next(&mut self, kind: &str, id: &str) -> Value {
        let message = self.heard();
        assert_eq!(message["type"], kind, "{message}");
        assert_eq!(message["id"], id, "{message}");
        message["payload"].clone()
    }

    /// Waits until the other side closes the connection; returns its code and its reason.
    pub(crate) fn closed(&mut self) -> (u16, String) {
        match self.read() {
            Ok(message) => panic!("{message}"),
            Err(closed) => closed,
        }
    }

    /// Returns the next message; the error says with which code and why the other side has closed the connection.
    pub(crate) fn read(&mut self) -> Result<Value, (u16, String)> {
        loop {
            match self.socket.read() {
                Ok(Message::Text(text)) => return Ok(serde_json::from_str(&text).unwrap()),
                Ok(Message::Close(Some(frame))) => {
                    return Err((frame.code.into(), frame.reason.to_string()));
                }
                Ok(Message::Ping(_) | Message::Pong(_)) => {}
                Ok(other) => panic!("{other:?}"),
                Err(error) => return Err((0, error.to_string())),
            }
        }
    }

    /// Waits for a ping; false if something else comes.
    pub(crate) fn is_pinged(&mut self) -> bool {
        matches!(self.socket.read(), Ok(Message::Ping(_)))
    }

    /// Sends a message; false if the connection is closed.
    pub(crate) fn try_send(&mut self, message: Message) -> bool {
        self.socket.send(message).is_ok()
    }

    /// Closes the connection as it should be, and reads what is still said.
    pub(crate) fn end(mut self) {
        // It may be closed already.
        let _ = self.socket.close(None);
        while self.read().is_ok() {}
    }

    /// Goes away without a word.
    pub(crate) fn vanish(self) {
        drop(self.socket.into_inner());
    }
}
