//! Messages of the protocol `graphql-transport-ws`.

use std::borrow::Cow;

use bytes::Bytes;
use graphql_service::GraphqlError;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// The subprotocol of WebSockets, as the handshake names it.
pub(super) const PROTOCOL: &str = "graphql-transport-ws";

/// Longest identifier of an operation, in bytes.
const LONGEST_ID: usize = 256;

/// What a client says.
#[derive(Debug)]
pub(super) enum ClientMessage<'a> {
    ConnectionInit(Option<&'a RawValue>),
    Ping(Option<&'a RawValue>),
    Pong,
    Subscribe { id: String, payload: &'a RawValue },
    Complete { id: Cow<'a, str> },
}

/// The form of all messages.
#[derive(Deserialize)]
struct Form<'a> {
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    payload: Option<&'a RawValue>,
}

impl<'a> ClientMessage<'a> {
    /// Reads a message; the error says what is wrong with it.
    pub(super) fn read(text: &'a str) -> Result<Self, String> {
        if !text.trim_start().starts_with('{') {
            return Err("not a message: it is not a JSON object".to_owned());
        }
        let form: Form<'a> =
            serde_json::from_str(text).map_err(|error| format!("not a message: {error}"))?;
        let payload = form.payload;
        let object = || match payload {
            Some(payload) if !payload.get().starts_with('{') => {
                Err(format!("the payload of `{}` is not an object", form.kind))
            }
            payload => Ok(payload),
        };
        Ok(match &*form.kind {
            "connection_init" => ClientMessage::ConnectionInit(object()?),
            "ping" => ClientMessage::Ping(object()?),
            "pong" => ClientMessage::Pong,
            "subscribe" => {
                let payload = object()?.ok_or("`subscribe` has no payload")?;
                let id = id(form.id)?.into_owned();
                ClientMessage::Subscribe { id, payload }
            }
            "complete" => ClientMessage::Complete { id: id(form.id)? },
            kind => {
                let kind: String = kind.chars().take(32).collect();
                return Err(format!("there is no message `{kind}`"));
            }
        })
    }
}

fn id(id: Option<Cow<'_, str>>) -> Result<Cow<'_, str>, String> {
    match id {
        None => Err("the message has no `id`".to_owned()),
        Some(id) if id.is_empty() || id.len() > LONGEST_ID => {
            Err(format!("an `id` has 1 to {LONGEST_ID} bytes"))
        }
        Some(id) => Ok(id),
    }
}

/// A message without an operation, or with little to say of one.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum ServerMessage<'a> {
    ConnectionAck,
    Pong {
        #[serde(skip_serializing_if = "Option::is_none")]
        payload: Option<&'a RawValue>,
    },
    Error {
        id: &'a str,
        payload: &'a [GraphqlError],
    },
    Complete {
        id: &'a str,
    },
}

impl ServerMessage<'_> {
    pub(super) fn text(&self) -> String {
        serde_json::to_string(self).expect("messages consist of strings and JSON")
    }
}

/// Returns the message that brings a response, whose JSON text comes in segments.
pub(super) fn next(id: &str, response: &[Bytes]) -> Bytes {
    let head = serde_json::to_string(id).expect("a string is JSON");
    let length: usize = response.iter().map(Bytes::len).sum();
    let mut text = Vec::with_capacity(head.len() + length + 40);
    text.extend_from_slice(b"{\"type\":\"next\",\"id\":");
    text.extend_from_slice(head.as_bytes());
    text.extend_from_slice(b",\"payload\":");
    for segment in response {
        text.extend_from_slice(segment);
    }
    text.push(b'}');
    text.into()
}

#[cfg(test)]
mod tests {
    use graphql_service::{Answer, Reply};
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn messages_of_clients_are_read_and_others_refused() {
        let read = |message: Value| {
            let text = message.to_string();
            let read = ClientMessage::read(&text).map(|message| format!("{message:?}"));
            read.unwrap_or_else(|error| format!("! {error}"))
        };
        let cases = [
            (json!({"type": "connection_init"}), "ConnectionInit(None)"),
            (
                json!({"type": "connection_init", "payload": {"a": 1}, "other": 1}),
                "ConnectionInit(Some(",
            ),
            (json!({"type": "ping"}), "Ping(None)"),
            (json!({"type": "pong", "payload": {}}), "Pong"),
            (
                json!({"type": "subscribe", "id": "\u{1}\"", "payload": {"query": ""}}),
                "Subscribe { id: \"\\u{1}\\\"\"",
            ),
            (
                json!({"type": "complete", "id": "1"}),
                "Complete { id: \"1\"",
            ),
            (json!({"type": "complete"}), "! the message has no `id`"),
            (
                json!({"type": "complete", "id": ""}),
                "! an `id` has 1 to 256 bytes",
            ),
            (
                json!({"type": "subscribe", "id": "i".repeat(257), "payload": {}}),
                "! an `id` has",
            ),
            (json!({"type": "complete", "id": 1}), "! not a message: "),
            (
                json!({"type": "subscribe", "id": "1"}),
                "! `subscribe` has no payload",
            ),
            (
                json!({"type": "subscribe", "id": "1", "payload": []}),
                "! the payload of `subscribe` is not an object",
            ),
            (
                json!({"type": "connection_init", "payload": "a"}),
                "! the payload of `connection_init`",
            ),
            (json!({"type": "start"}), "! there is no message `start`"),
            (json!(["ping", null, null]), "! not a message: "),
            (json!({"id": "1"}), "! not a message: missing field `type`"),
        ];
        for (message, expected) in cases {
            let read = read(message.clone());
            assert!(read.starts_with(expected), "{message}: {read}");
        }
    }

    #[test]
    fn messages_of_the_server_have_the_form_of_the_protocol() {
        let payload = RawValue::from_string(r#"{"a":1}"#.to_owned()).unwrap();
        let errors = [GraphqlError::new(
            graphql_service::code::OVERLOADED,
            "no \"room\"",
        )];
        let said = |message: ServerMessage<'_>| -> Value {
            serde_json::from_str(&message.text()).unwrap()
        };
        assert_eq!(
            said(ServerMessage::ConnectionAck),
            json!({"type": "connection_ack"})
        );
        assert_eq!(
            said(ServerMessage::Pong { payload: None }),
            json!({"type": "pong"})
        );
        let payload = Some(&*payload);
        assert_eq!(
            said(ServerMessage::Pong { payload }),
            json!({"type": "pong", "payload": {"a": 1}})
        );
        assert_eq!(
            said(ServerMessage::Complete { id: "é\"" }),
            json!({"type": "complete", "id": "é\""})
        );
        let error = said(ServerMessage::Error {
            id: "1",
            payload: &errors,
        });
        assert_eq!(error["payload"][0]["message"], "no \"room\"");
        let answer = Answer::new(br#"{"a":1}"#.to_vec(), Vec::new());
        let response = Reply::Executed(answer).into_response();
        let text = next("\"", response.body.segments());
        let read: Value = serde_json::from_slice(&text).unwrap();
        assert_eq!(
            read,
            json!({"type": "next", "id": "\"", "payload": {"data": {"a": 1}}})
        );
    }
}
