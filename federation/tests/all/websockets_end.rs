//! How connections of subscriptions end: both sides say so, and what comes next does not wait for it.

use std::net::TcpListener;
use std::sync::mpsc::{Receiver, channel};

use federation::TransportError;
use federation::transport::http::HttpTransport;
use graphql_service::RequestContext;
use serde_json::json;
use std::io::Read;
use tokio_tungstenite::tungstenite::handshake::server::{Request, Response};
use tokio_tungstenite::tungstenite::http::HeaderValue;
use tokio_tungstenite::tungstenite::protocol::CloseFrame;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::{Message, accept_hdr};

use crate::http::runtime;
use crate::sockets::PATIENCE;
use crate::subscriptions_over_http::{Outcome, Socket, begin, data, event, options, say, taken};

/// Starts a server that has one connection at a time, and tells what its script returns for each.
#[expect(clippy::result_large_err, reason = "the type is that of the library")]
fn one_by_one<T: Send + 'static>(
    script: impl Fn(&mut Socket) -> T + Send + 'static,
) -> (String, Receiver<T>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/graphql", listener.local_addr().unwrap());
    let (sender, told) = channel();
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let shake = |_: &Request, mut response: Response| {
                let protocol = HeaderValue::from_static("graphql-transport-ws");
                let headers = response.headers_mut();
                headers.insert("sec-websocket-protocol", protocol);
                Ok(response)
            };
            let Ok(mut socket) = accept_hdr(stream, shake) else {
                continue;
            };
            if sender.send(script(&mut socket)).is_err() {
                return;
            }
        }
    });
    (url, told)
}

/// Returns the frame by which the client closes the connection: none if it only goes away.
fn closing(socket: &mut Socket) -> Option<CloseFrame> {
    loop {
        match socket.read() {
            Ok(Message::Close(frame)) => return frame,
            Ok(_) => {}
            Err(_) => return None,
        }
    }
}

/// Takes so many events of each of some subscriptions, and waits for what the server tells of each.
fn subscribed<T: Send + 'static>(
    url: &str,
    told: Receiver<T>,
    times: usize,
    events: usize,
) -> Vec<(Outcome, T)> {
    let transport = HttpTransport::new([("clock", url)], options("ws")).unwrap();
    runtime().block_on(async {
        let mut outcomes = Vec::new();
        for _ in 0..times {
            outcomes.push(taken(&transport, &RequestContext::new(), events).await);
        }
        // The runtime goes on, as that of a server does.
        let all = move || {
            (0..times)
                .map(|_| told.recv_timeout(PATIENCE).unwrap())
                .collect()
        };
        let told: Vec<T> = tokio::task::spawn_blocking(all).await.unwrap();
        outcomes.into_iter().zip(told).collect()
    })
}

fn frame(code: u16, reason: &'static str) -> CloseFrame {
    CloseFrame {
        code: CloseCode::from(code),
        reason: reason.into(),
    }
}

#[test]
fn a_close_frame_is_answered_with_its_code_and_reason() {
    for sent in [
        Some(frame(1000, "")),
        Some(frame(1001, "going away")),
        Some(frame(4400, "bad subscription")),
        None,
    ] {
        let said = sent.clone();
        let (url, told) = one_by_one(move |socket| {
            begin(socket);
            event(socket, 1);
            let _ = socket.close(said.clone());
            // The answer, or that the connection has gone.
            socket.read().map(|answer| format!("{answer:?}"))
        });
        let [(outcome, answer)] = &subscribed(&url, told, 1, 10)[..] else {
            panic!("one subscription");
        };
        assert_eq!(outcome.events, [data(1)]);
        let failure = outcome.failure.as_ref().unwrap();
        assert!(
            matches!(failure, TransportError::Closed { .. }),
            "{failure:?}"
        );
        let expected = format!("{:?}", Message::Close(sent));
        assert_eq!(answer.as_ref().unwrap(), &expected);
    }
}

#[test]
fn a_close_frame_before_the_acknowledgement_is_answered_too() {
    let (url, told) = one_by_one(|socket| {
        let _ = socket.read();
        let _ = socket.close(Some(frame(4403, "Forbidden")));
        closing(socket)
    });
    let [(outcome, answer)] = &subscribed(&url, told, 1, 10)[..] else {
        panic!("one subscription");
    };
    let failure = outcome.failure.as_ref().unwrap();
    let is_told = matches!(failure, TransportError::Closed { code: 4403, .. });
    assert!(is_told, "{failure:?}");
    assert_eq!(*answer, Some(frame(4403, "Forbidden")));
}

#[test]
fn a_subscription_is_closed_by_a_frame_whoever_ends_it() {
    // The subgraph ends it.
    let (url, told) = one_by_one(|socket| {
        begin(socket);
        event(socket, 1);
        say(socket, json!({"id": "1", "type": "complete"}));
        closing(socket)
    });
    for (outcome, closing) in subscribed(&url, told, 2, 10) {
        assert_eq!(outcome.events, [data(1)]);
        assert_eq!(closing, Some(frame(1000, "")));
    }
    // Nobody wants it any more.
    let (url, told) = one_by_one(|socket| {
        begin(socket);
        event(socket, 1);
        closing(socket)
    });
    for (outcome, closing) in subscribed(&url, told, 2, 1) {
        assert_eq!(outcome.events, [data(1)]);
        assert_eq!(closing, Some(frame(1000, "")));
    }
}

#[test]
fn a_server_with_one_connection_at_a_time_serves_one_subscription_after_another() {
    let (url, told) = one_by_one(|socket| {
        begin(socket);
        event(socket, 1);
        let _ = socket.close(Some(frame(1001, "")));
        let answer = closing(socket);
        // The connection has gone when the next one is accepted.
        let _ = socket.get_mut().read_to_end(&mut Vec::new());
        answer
    });
    for (outcome, answer) in subscribed(&url, told, 3, 10) {
        assert_eq!(outcome.events, [data(1)], "{:?}", outcome.failure);
        assert_eq!(answer, Some(frame(1001, "")));
    }
}

#[test]
fn a_ping_is_answered_while_there_are_no_events() {
    let (url, told) = one_by_one(|socket| {
        begin(socket);
        let _ = socket.send(Message::Ping("there?".into()));
        let answer = loop {
            match socket.read() {
                Ok(Message::Pong(answer)) => break Some(answer),
                Ok(_) => {}
                Err(_) => break None,
            }
        };
        event(socket, 1);
        say(socket, json!({"id": "1", "type": "complete"}));
        closing(socket);
        answer
    });
    let [(outcome, answer)] = &subscribed(&url, told, 1, 10)[..] else {
        panic!("one subscription");
    };
    assert_eq!(outcome.events, [data(1)]);
    assert_eq!(answer.as_deref(), Some(&b"there?"[..]));
}

#[test]
fn a_server_that_does_not_answer_a_close_frame_loses_its_connection() {
    let (url, told) = one_by_one(|socket| {
        begin(socket);
        event(socket, 1);
        // All that the client says is read, and nothing is answered.
        let mut said = Vec::new();
        socket
            .get_mut()
            .read_to_end(&mut said)
            .map(|_| said.is_empty())
    });
    let [(outcome, is_silent)] = &subscribed(&url, told, 1, 1)[..] else {
        panic!("one subscription");
    };
    assert_eq!(outcome.events, [data(1)]);
    assert!(!is_silent.as_ref().unwrap(), "there is a Close frame");
}
