//! Streams pass as they come: server-sent events and WebSockets.

use service_runtime::HostOptions;
use test_support::sockets::{Behaviour, Server};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::support::{Edge, code, options, route, to};

const EVENT: &[u8] =
    b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\nevent: next\ndata: 1\n\n";

#[tokio::test]
async fn events_arrive_before_the_stream_ends_and_streams_are_bounded() {
    let service = Server::start(Behaviour::Drips(
        EVENT.to_vec(),
        std::time::Duration::from_millis(10),
    ));
    let mut options = options();
    options.max_streams = Some(1);
    let edge = Edge::with(
        &options,
        HostOptions::default(),
        None,
        vec![route("/x", &service)],
    )
    .await;
    let mut first = edge.get("/x").send().await.unwrap();
    let event = first.chunk().await.unwrap().unwrap();
    assert!(event.starts_with(b"event: next"));
    let (status, code) = code(edge.get("/x").send().await.unwrap()).await;
    assert_eq!((status.as_u16(), code.as_str()), (503, "TOO_MANY_STREAMS"));
    drop(first);
    // Its place is free once the edge has seen that the client is gone.
    loop {
        let mut again = edge.get("/x").send().await.unwrap();
        if again.status().is_success() {
            assert!(again.chunk().await.unwrap().is_some());
            break;
        }
        tokio::task::yield_now().await;
    }
}

/// Takes connections that become something else, and sends back in capitals what it gets.
async fn echoing() -> std::net::SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            tokio::spawn(async move {
                let head = read_head(&mut stream).await;
                if !head.contains("upgrade: websocket") {
                    let body =
                        b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\nok";
                    stream.write_all(body).await.unwrap();
                    return;
                }
                let answer = b"HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\
                               sec-websocket-accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n";
                stream.write_all(answer).await.unwrap();
                let mut buffer = [0; 64];
                while let Ok(read @ 1..) = stream.read(&mut buffer).await {
                    let text = buffer[..read].to_ascii_uppercase();
                    if stream.write_all(&text).await.is_err() {
                        break;
                    }
                }
            });
        }
    });
    address
}

async fn read_head(stream: &mut TcpStream) -> String {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte).await.unwrap();
        head.push(byte[0]);
    }
    String::from_utf8(head).unwrap().to_ascii_lowercase()
}

async fn opened(edge: &Edge) -> (TcpStream, String) {
    let mut stream = TcpStream::connect(edge.address).await.unwrap();
    let request = "GET /x HTTP/1.1\r\nHost: localhost\r\nConnection: keep-alive, Upgrade\r\nUpgrade: websocket\r\n\
                   Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
    stream.write_all(request.as_bytes()).await.unwrap();
    let head = read_head(&mut stream).await;
    (stream, head)
}

#[tokio::test]
async fn a_websocket_is_passed_on_in_both_directions_and_ends_with_the_edge() {
    let service = echoing().await;
    let mut options = options();
    options.max_streams = Some(1);
    let edge = Edge::with(
        &options,
        HostOptions::default(),
        None,
        vec![to("/x", &[service])],
    )
    .await;
    let (mut stream, head) = opened(&edge).await;
    assert!(head.starts_with("http/1.1 101"), "{head}");
    assert!(
        head.contains("sec-websocket-accept: s3pplmbitxaq9kygzzhzrbk+xoo="),
        "{head}"
    );
    for _ in 0..3 {
        stream.write_all(b"ping").await.unwrap();
        let mut echoed = [0; 4];
        stream.read_exact(&mut echoed).await.unwrap();
        assert_eq!(&echoed, b"PING");
    }
    let (_, refused) = opened(&edge).await;
    assert!(refused.starts_with("http/1.1 503"), "{refused}");
    // Requests still get through.
    assert!(edge.get("/x").send().await.unwrap().status().is_success());
    edge.end().await;
    let mut rest = Vec::new();
    // The connection ends, one way or another.
    let _ = stream.read_to_end(&mut rest).await;
    assert!(rest.is_empty());
}
