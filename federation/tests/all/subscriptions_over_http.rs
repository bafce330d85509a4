//! Subscriptions of subgraphs on real sockets, with each fault of the other side: as server-sent events, and over
//! WebSockets.

use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use federation::supergraph::Subgraph;
use federation::transport::http::{HttpOptions, HttpOptionsError, HttpTransport};
use federation::transport::{Phase, SubgraphSubscription};
use federation::{SubgraphTransport, TransportError};
use futures::StreamExt;
use graphql_service::{CallContext, Forwarded, RequestContext};
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::handshake::server::{Request, Response};
use tokio_tungstenite::tungstenite::http::HeaderValue;
use tokio_tungstenite::tungstenite::protocol::CloseFrame;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::{Message, WebSocket, accept_hdr};

use crate::http::{LONG, runtime};
use crate::sockets::{Behaviour, PATIENCE, Server, answer, with_headers};
use crate::subscriptions::supergraph;

const BODY: &str = r#"{"query":"subscription { a }"}"#;

pub(crate) fn options(source: &str) -> HttpOptions {
    let mut options = crate::http::options();
    options.ping_interval = LONG;
    let source = source.parse().unwrap();
    options.subscriptions.insert("clock".to_owned(), source);
    options
}

fn clock() -> Subgraph {
    let supergraph = supergraph();
    let mut subgraphs = supergraph.subgraphs().iter();
    subgraphs.find(|it| it.name == "clock").unwrap().clone()
}

/// What came of a subscription: its events, and why it did not simply end.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) events: Vec<Value>,
    pub(crate) failure: Option<TransportError>,
}

/// Takes part in a subscription until it ends, or until there are so many events.
pub(crate) async fn taken(
    transport: &HttpTransport,
    context: &RequestContext,
    most: usize,
) -> Outcome {
    let subscription = SubgraphSubscription::alone(BODY, 1_000);
    let mut outcome = Outcome {
        events: Vec::new(),
        failure: None,
    };
    let begun = transport.subscribe(&clock(), subscription, context).await;
    let mut events = match begun {
        Ok(events) => events,
        Err(error) => {
            outcome.failure = Some(error);
            return outcome;
        }
    };
    while outcome.events.len() < most {
        match events.next().await {
            None => break,
            Some(Ok(event)) => {
                let event = serde_json::from_slice(&event.body);
                outcome.events.push(event.unwrap());
            }
            Some(Err(error)) => {
                outcome.failure = Some(error);
                assert!(events.next().await.is_none(), "nothing follows an error");
                break;
            }
        }
    }
    outcome
}

fn subscribed(url: &str, options: HttpOptions) -> Outcome {
    let transport = HttpTransport::new([("clock", url)], options).unwrap();
    runtime().block_on(taken(&transport, &RequestContext::new(), 10))
}

pub(crate) fn data(value: u64) -> Value {
    json!({ "data": { "a": value } })
}

// ---- server-sent events

const EVENTS: &str = "text/event-stream; charset=utf-8";

/// Returns an answer without a length, which ends with the connection.
fn stream(text: &str) -> Vec<u8> {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n";
    format!("{head}{text}").into_bytes()
}

fn sse(behaviour: Behaviour) -> Outcome {
    let server = Server::start(behaviour);
    subscribed(&server.url(), options("sse"))
}

fn sse_of(text: &str) -> Outcome {
    sse(Behaviour::Closes(stream(text)))
}

const ONE: &str = "event: next\ndata: {\"data\":{\"a\":1}}\n\n";

#[test]
fn server_sent_events_are_taken_until_they_are_complete() {
    let text = format!(
        "{ONE}: ping\n\nevent: heartbeat\ndata: x\n\ndata: {{\"data\":\ndata: {{\"a\":2}}}}\n\nevent: complete\ndata:\n\n{ONE}"
    );
    let outcome = sse_of(&text);
    assert_eq!(outcome.events, [data(1), data(2)]);
    assert!(outcome.failure.is_none(), "{outcome:?}");
}

#[test]
fn a_subscription_by_server_sent_events_is_a_request_that_accepts_nothing_else() {
    let server = Server::start(Behaviour::Closes(stream("event: complete\ndata:\n\n")));
    let transport = HttpTransport::new([("clock", &*server.url())], options("sse")).unwrap();
    let forwarded = Forwarded::new([("Authorization", "Bearer a"), ("Host", "other")]);
    let context = RequestContext::new().with_forwarded(forwarded);
    let outcome = runtime().block_on(taken(&transport, &context, 1));
    assert!(outcome.failure.is_none(), "{outcome:?}");
    let seen = server.seen.requests.lock().unwrap()[0].clone();
    assert_eq!(seen.body, BODY.as_bytes());
    for line in [
        "post /graphql http/1.1",
        "accept: text/event-stream",
        "accept-encoding: identity",
        "authorization: bearer a",
        &format!("host: {}", server.address),
    ] {
        assert!(
            seen.head.lines().any(|known| known == line),
            "{line}: {}",
            seen.head
        );
    }
}

#[test]
fn events_whose_encoding_is_called_none_are_taken() {
    for encoding in ["none", "None", "identity, none", ""] {
        let headers =
            format!("content-type: text/event-stream\r\ncontent-encoding: {encoding}\r\n");
        let text = format!("{ONE}event: complete\ndata:\n\n");
        let outcome = sse(Behaviour::Closes(with_headers("200 OK", &headers, text)));
        assert_eq!(outcome.events, [data(1)], "{encoding}: {outcome:?}");
        assert!(outcome.failure.is_none(), "{encoding}: {outcome:?}");
    }
}

#[test]
fn each_fault_of_server_sent_events_has_its_error() {
    let long = format!("event: next\ndata: {}\n\n", "x".repeat(2_000));
    let refused = r#"{"errors":[{"message":"no"}]}"#;
    let gzip = "content-type: text/event-stream\r\ncontent-encoding: gzip\r\n";
    let cases: Vec<(&str, Outcome, usize)> = vec![
        ("Protocol(\"the events end without", sse_of(ONE), 1),
        (
            "Protocol(\"there is an event `error`",
            sse_of("event: error\ndata: x\n\n"),
            0,
        ),
        (
            "TooLarge { limit: 1000 }",
            sse_of(&format!("{ONE}{long}")),
            1,
        ),
        (
            "TooLarge { limit: 1000 }",
            sse(Behaviour::Endless(stream(ONE), b"data".to_vec())),
            1,
        ),
        (
            "Status(503)",
            sse(Behaviour::Answers(answer("503 No", EVENTS, ONE))),
            0,
        ),
        (
            "Status(401)",
            sse(Behaviour::Answers(answer("401 No", "text/html", "x"))),
            0,
        ),
        (
            "NoEvents(\"server-sent events\")",
            sse(Behaviour::Answers(answer(
                "200 OK",
                "application/json",
                r#"{"data":{"a":1}}"#,
            ))),
            0,
        ),
        (
            "NotJson",
            sse(Behaviour::Answers(answer("200 OK", "text/html", "<p>"))),
            0,
        ),
        (
            "Encoding",
            sse(Behaviour::Closes(with_headers(
                "200 OK",
                gzip,
                ONE.as_bytes(),
            ))),
            0,
        ),
        ("Connection(", sse(Behaviour::Closes(Vec::new())), 0),
    ];
    for (expected, outcome, events) in cases {
        let failure = format!("{:?}", outcome.failure.as_ref().unwrap());
        assert!(failure.starts_with(expected), "{expected}: {failure}");
        assert_eq!(outcome.events.len(), events, "{expected}");
    }
    let told = sse(Behaviour::Answers(answer(
        "400 No",
        "application/graphql-response+json",
        refused,
    )));
    assert_eq!(told.events, [json!({"errors": [{"message": "no"}]})]);
    assert!(told.failure.is_none());
    let cut = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: 5000\r\n\r\n";
    let cut = sse(Behaviour::Closes(format!("{cut}{ONE}").into_bytes()));
    assert!(
        matches!(cut.failure, Some(TransportError::Broken(_))),
        "{cut:?}"
    );
    assert_eq!(cut.events, [data(1)]);
}

#[test]
fn a_subgraph_that_does_not_answer_a_subscription_is_given_up() {
    let server = Server::start(Behaviour::Silent);
    let mut options = options("sse");
    // Whatever the time to connect is.
    (options.idle_timeout, options.connect_timeout) = (Duration::from_millis(50), LONG);
    let begun = Instant::now();
    // On a busy machine the time may be over before the request is sent.
    while server.seen.abandoned.load(Ordering::SeqCst) == 0 {
        assert!(begun.elapsed() < PATIENCE, "the exchange goes on");
        let outcome = subscribed(&server.url(), options.clone());
        let failure = outcome.failure.unwrap();
        assert!(
            matches!(failure, TransportError::TimedOut(Phase::Silence)),
            "{failure:?}"
        );
    }
}

#[test]
fn the_exchange_ends_with_the_subscription() {
    let server = Server::start(Behaviour::Drips(stream(ONE), Duration::from_millis(5)));
    let transport = HttpTransport::new([("clock", &*server.url())], options("sse")).unwrap();
    let outcome = runtime().block_on(taken(&transport, &RequestContext::new(), 1));
    assert_eq!(outcome.events, [data(1)]);
    assert!(server.is_abandoned());
}

#[test]
fn subscriptions_of_a_subgraph_that_is_not_there_are_refused() {
    let refused = HttpTransport::new([("atlas", "http://atlas/graphql")], options("ws"));
    assert!(matches!(refused, Err(HttpOptionsError::Unknown(name)) if name == "clock"));
}

// ---- WebSockets

pub(crate) type Socket = WebSocket<TcpStream>;
type Script = fn(&mut Socket);

/// A server of WebSockets that runs a script for each connection, and keeps the head of its handshake.
struct Sockets {
    address: SocketAddr,
    heads: Receiver<Vec<(String, String)>>,
}

impl Sockets {
    fn start(protocol: Option<&'static str>, script: Script) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (sender, heads) = channel();
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let sender = sender.clone();
                std::thread::spawn(move || serve(stream, protocol, &sender, script));
            }
        });
        Sockets { address, heads }
    }
}

#[expect(clippy::result_large_err, reason = "the type is that of the library")]
fn serve(
    stream: TcpStream,
    protocol: Option<&'static str>,
    heads: &Sender<Vec<(String, String)>>,
    script: Script,
) {
    let shake = |request: &Request, mut response: Response| {
        let headers = request.headers().iter();
        let headers = headers.map(|(name, value)| {
            let value = value.to_str().unwrap_or_default();
            (name.to_string(), value.to_owned())
        });
        let _ = heads.send(headers.collect());
        if let Some(protocol) = protocol {
            let value = HeaderValue::from_static(protocol);
            response
                .headers_mut()
                .insert("sec-websocket-protocol", value);
        }
        Ok(response)
    };
    if let Ok(mut socket) = accept_hdr(stream, shake) {
        script(&mut socket);
    }
}

const PROTOCOL: Option<&str> = Some("graphql-transport-ws");

pub(crate) fn say(socket: &mut Socket, message: Value) {
    // The other side may have gone.
    let _ = socket.send(Message::text(message.to_string()));
}

/// Returns the next message of the client; null once it has closed the connection.
fn heard(socket: &mut Socket) -> Value {
    loop {
        match socket.read() {
            Ok(Message::Text(text)) => return serde_json::from_str(&text).unwrap(),
            Ok(Message::Ping(_) | Message::Pong(_)) => {}
            _ => return Value::Null,
        }
    }
}

fn acknowledge(socket: &mut Socket) -> Value {
    let init = heard(socket);
    say(socket, json!({"type": "connection_ack"}));
    init
}

/// Goes on until the client is subscribed.
pub(crate) fn begin(socket: &mut Socket) {
    acknowledge(socket);
    let subscribe = heard(socket);
    let payload = json!({"query": "subscription { a }"});
    let expected = json!({"id": "1", "type": "subscribe", "payload": payload});
    assert_eq!(subscribe, expected);
}

pub(crate) fn event(socket: &mut Socket, value: u64) {
    say(
        socket,
        json!({"id": "1", "type": "next", "payload": data(value)}),
    );
}

fn ws(script: Script) -> Outcome {
    let server = Sockets::start(PROTOCOL, script);
    subscribed(&format!("http://{}/graphql", server.address), options("ws"))
}

#[test]
fn events_over_a_websocket_are_taken_until_they_are_complete() {
    let outcome = ws(|socket| {
        acknowledge(socket);
        say(socket, json!({"type": "ping", "payload": {"x": 1}}));
        assert_eq!(heard(socket)["type"], "subscribe");
        assert_eq!(heard(socket), json!({"type": "pong"}));
        event(socket, 1);
        say(socket, json!({"type": "pong"}));
        let _ = socket.send(Message::Ping("x".into()));
        event(socket, 2);
        say(socket, json!({"id": "1", "type": "complete"}));
        event(socket, 3);
        assert_eq!(heard(socket), Value::Null);
    });
    assert_eq!(outcome.events, [data(1), data(2)]);
    assert!(outcome.failure.is_none(), "{outcome:?}");
}

#[test]
fn credentials_are_in_the_handshake_and_in_the_first_message() {
    static INIT: std::sync::Mutex<Value> = std::sync::Mutex::new(Value::Null);
    let server = Sockets::start(PROTOCOL, |socket| {
        *INIT.lock().unwrap() = acknowledge(socket);
        heard(socket);
        say(socket, json!({"id": "1", "type": "complete"}));
    });
    let source = format!("ws://{}/events", server.address);
    let transport = HttpTransport::new([("clock", "http://unused.invalid/")], options(&source));
    let forwarded = Forwarded::new([
        ("authorization", "Bearer a"),
        ("sec-websocket-protocol", "other"),
        ("sec-websocket-extensions", "permessage-deflate"),
    ]);
    let call = CallContext::new().with_request_id("id-7");
    let context = RequestContext::from(call).with_forwarded(forwarded);
    let outcome = runtime().block_on(taken(&transport.unwrap(), &context, 1));
    assert!(outcome.failure.is_none(), "{outcome:?}");
    let head = server.heads.recv().unwrap();
    let header = |wanted: &str| {
        let of = head.iter().filter(|(name, _)| name == wanted);
        let of: Vec<&str> = of.map(|(_, value)| &**value).collect();
        of.join("|")
    };
    assert_eq!(header("authorization"), "Bearer a");
    assert_eq!(header("x-request-id"), "id-7");
    assert_eq!(header("sec-websocket-protocol"), "graphql-transport-ws");
    assert_eq!(header("sec-websocket-extensions"), "");
    let init = INIT.lock().unwrap().clone();
    assert_eq!(init["type"], "connection_init");
    assert_eq!(init["payload"]["authorization"], "Bearer a");
}

#[test]
fn the_errors_of_a_subgraph_are_its_last_event() {
    let outcome = ws(|socket| {
        begin(socket);
        let errors = json!([{"message": "no field `a`"}]);
        say(
            socket,
            json!({"id": "1", "type": "error", "payload": errors}),
        );
        heard(socket);
    });
    assert_eq!(
        outcome.events,
        [json!({"errors": [{"message": "no field `a`"}]})]
    );
    assert!(outcome.failure.is_none());
}

#[test]
fn each_fault_over_a_websocket_has_its_error() {
    let cases: Vec<(&str, Script)> = vec![
        ("Closed { code: 4403, reason: \"Forbidden\" }", |socket| {
            heard(socket);
            let frame = CloseFrame {
                code: CloseCode::from(4403),
                reason: "Forbidden".into(),
            };
            let _ = socket.close(Some(frame));
            heard(socket);
        }),
        ("Closed { code: 1005", |socket| {
            begin(socket);
            let _ = socket.close(None);
            heard(socket);
        }),
        ("Broken(", |socket| {
            begin(socket);
            let _ = socket.get_mut().shutdown(std::net::Shutdown::Both);
        }),
        ("Protocol(\"a message comes before", |socket| {
            heard(socket);
            event(socket, 1);
            heard(socket);
        }),
        (
            "Protocol(\"the connection is acknowledged twice",
            |socket| {
                begin(socket);
                say(socket, json!({"type": "connection_ack"}));
                heard(socket);
            },
        ),
        ("Protocol(\"a message is about an unknown", |socket| {
            begin(socket);
            say(
                socket,
                json!({"id": "2", "type": "next", "payload": data(1)}),
            );
            heard(socket);
        }),
        ("Protocol(\"a message has an unknown type", |socket| {
            begin(socket);
            say(
                socket,
                json!({"id": "1", "type": "data", "payload": data(1)}),
            );
            heard(socket);
        }),
        ("Protocol(\"a message has no `payload`", |socket| {
            begin(socket);
            say(socket, json!({"id": "1", "type": "next"}));
            heard(socket);
        }),
        ("Protocol(\"a message is not an object", |socket| {
            begin(socket);
            let _ = socket.send(Message::text("[1"));
            heard(socket);
        }),
        ("Protocol(\"a message is binary", |socket| {
            begin(socket);
            let _ = socket.send(Message::binary("x"));
            heard(socket);
        }),
        ("TooLarge { limit: 1000 }", |socket| {
            begin(socket);
            let long = json!({"data": "x".repeat(1_100)});
            say(socket, json!({"id": "1", "type": "next", "payload": long}));
            heard(socket);
        }),
        ("TooLarge { limit: 1000 }", |socket| {
            begin(socket);
            let _ = socket.send(Message::text("x".repeat(1 << 20)));
            heard(socket);
        }),
    ];
    for (expected, script) in cases {
        let outcome = ws(script);
        let failure = format!("{:?}", outcome.failure);
        assert!(
            failure.starts_with(&format!("Some({expected}")),
            "{expected}: {failure}"
        );
        assert!(outcome.events.is_empty());
    }
}

#[test]
fn a_handshake_that_does_not_agree_is_no_subscription() {
    for protocol in [None, Some("graphql-ws")] {
        let server = Sockets::start(protocol, |socket| {
            heard(socket);
        });
        let outcome = subscribed(&format!("http://{}/graphql", server.address), options("ws"));
        let failure = outcome.failure.unwrap();
        let expected = matches!(failure, TransportError::NoEvents("graphql-transport-ws"));
        assert!(expected, "{protocol:?}: {failure:?}");
    }
    let cases = [
        (answer("401 No", "text/html", "x"), "Status(401)"),
        (answer("404 No", "text/html", "x"), "Status(404)"),
        (answer("200 OK", "application/json", "{}"), "NoEvents("),
        (b"HTTP/1.1 101 Switching\r\nconnection: upgrade\r\nupgrade: websocket\r\nsec-websocket-protocol: graphql-transport-ws\r\nsec-websocket-accept: guessed\r\n\r\n".to_vec(), "NoEvents("),
        (Vec::new(), "Connection("),
    ];
    for (text, expected) in cases {
        let server = Server::start(Behaviour::Closes(text));
        let outcome = subscribed(&server.url(), options("ws"));
        let failure = format!("{:?}", outcome.failure.unwrap());
        assert!(failure.starts_with(expected), "{expected}: {failure}");
    }
}

#[test]
fn a_websocket_without_acknowledgement_or_sign_of_life_is_given_up() {
    let never = |socket: &mut Socket| while socket.read().is_ok() {};
    let server = Sockets::start(PROTOCOL, never);
    let mut quick = options("ws");
    quick.idle_timeout = Duration::from_millis(100);
    let url = format!("http://{}/graphql", server.address);
    loop {
        match subscribed(&url, quick.clone()).failure.unwrap() {
            TransportError::TimedOut(Phase::Acknowledging) => break,
            // On a busy machine the handshake may need longer.
            TransportError::TimedOut(Phase::Silence) => {
                assert!(
                    quick.idle_timeout < PATIENCE,
                    "the handshake is not answered"
                );
            }
            failure => panic!("{failure:?}"),
        }
        quick.idle_timeout *= 2;
    }
    let server = Sockets::start(PROTOCOL, |socket| {
        begin(socket);
        event(socket, 1);
        // Nothing is read, so nothing is answered.
        loop {
            std::thread::park();
        }
    });
    let mut quick = options("ws");
    quick.ping_interval = Duration::from_millis(100);
    let url = format!("http://{}/graphql", server.address);
    loop {
        let outcome = subscribed(&url, quick.clone());
        let failure = outcome.failure.unwrap();
        assert!(
            matches!(failure, TransportError::TimedOut(Phase::Silence)),
            "{failure:?}"
        );
        if outcome.events == [data(1)] {
            break;
        }
        // On a busy machine the server may need longer until its event.
        assert!(quick.ping_interval < PATIENCE, "{:?}", outcome.events);
        quick.ping_interval *= 2;
    }
}

#[test]
fn a_subscription_that_nobody_wants_any_more_is_completed() {
    static HEARD: std::sync::Mutex<Vec<Value>> = std::sync::Mutex::new(Vec::new());
    let server = Sockets::start(PROTOCOL, |socket| {
        begin(socket);
        event(socket, 1);
        for _ in 0..2 {
            let message = heard(socket);
            HEARD.lock().unwrap().push(message);
        }
    });
    let url = format!("http://{}/graphql", server.address);
    let transport = HttpTransport::new([("clock", &*url)], options("ws")).unwrap();
    runtime().block_on(async {
        let outcome = taken(&transport, &RequestContext::new(), 1).await;
        assert_eq!(outcome.events, [data(1)]);
        let begun = Instant::now();
        while HEARD.lock().unwrap().len() < 2 && begun.elapsed() < PATIENCE {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    });
    let complete = json!({"id": "1", "type": "complete"});
    assert_eq!(*HEARD.lock().unwrap(), [complete, Value::Null]);
}
