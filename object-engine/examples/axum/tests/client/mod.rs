//! A server on a free port, and clients of it.

use std::io::Write;
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use example_axum::routes;
use futures::{SinkExt, StreamExt};
use graphql_service::executor::ServiceExecutor;
use object_engine::ObjectService;
use serde_json::{Value, json};
use tokio::runtime::Runtime;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::http::HeaderValue;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};

/// How long a test waits for what must happen, on a busy machine too.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// A running server, stopped when it is dropped.
pub(crate) struct Server {
    address: SocketAddr,
    runtime: Runtime,
}

impl Server {
    pub(crate) fn start(service: ObjectService, timeout: Option<Duration>) -> Self {
        let runtime = Runtime::new().expect("a runtime starts");
        let mut executor = ServiceExecutor::new(Arc::new(service));
        if let Some(timeout) = timeout {
            executor = executor.with_timeout(timeout);
        }
        let listening = tokio::net::TcpListener::bind("127.0.0.1:0");
        let listener = runtime.block_on(listening).expect("a free port");
        let address = listener.local_addr().expect("it listens");
        runtime.spawn(async move {
            axum::serve(listener, routes(executor))
                .await
                .expect("it serves until the test ends");
        });
        Server { address, runtime }
    }

    pub(crate) fn graphql(&self) -> String {
        format!("http://{}/graphql", self.address)
    }

    /// Sends a request, and returns the connection without waiting for the answer.
    pub(crate) fn post_without_reading(&self, body: &str) -> TcpStream {
        let mut stream = TcpStream::connect(self.address).expect("it listens");
        let head = "POST /graphql HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n";
        let length = body.len();
        write!(stream, "{head}Content-Length: {length}\r\n\r\n{body}").expect("it reads");
        stream
    }

    /// Opens a WebSocket and greets.
    pub(crate) fn socket(&self, protocol: &'static str) -> Socket<'_> {
        let address = format!("ws://{}/graphql/ws", self.address);
        let mut request = address.into_client_request().expect("an address");
        let header = HeaderValue::from_static(protocol);
        request
            .headers_mut()
            .insert("Sec-WebSocket-Protocol", header);
        let connected = self.runtime.block_on(connect_async(request));
        let (stream, _) = connected.expect("the server speaks WebSocket");
        let mut socket = Socket {
            runtime: &self.runtime,
            stream,
        };
        socket.send(&json!({"type": "connection_init"}));
        assert_eq!(socket.receive(), json!({"type": "connection_ack"}));
        socket
    }
}

/// A WebSocket of a client.
pub(crate) struct Socket<'a> {
    runtime: &'a Runtime,
    stream: WebSocketStream<MaybeTlsStream<tokio::net::TcpStream>>,
}

impl Socket<'_> {
    pub(crate) fn send(&mut self, message: &Value) {
        self.send_message(Message::text(message.to_string()));
    }

    pub(crate) fn send_message(&mut self, message: Message) {
        let sent = self.runtime.block_on(self.stream.send(message));
        sent.expect("the server reads");
    }

    pub(crate) fn receive(&mut self) -> Value {
        let next = async { tokio::time::timeout(PATIENCE, self.stream.next()).await };
        let message = self.runtime.block_on(next).expect("an answer in time");
        let message = message.expect("the socket is open").expect("a message");
        serde_json::from_str(message.to_text().expect("a text")).expect("JSON")
    }
}

fn agent() -> ureq::Agent {
    let config = ureq::Agent::config_builder().timeout_global(Some(PATIENCE));
    config.build().into()
}

fn body(mut response: ureq::http::Response<ureq::Body>) -> String {
    response.body_mut().read_to_string().expect("a text")
}

pub(crate) fn get(address: &str, parameters: &[(&str, &str)]) -> String {
    let request = agent().get(address).query_pairs(parameters.iter().copied());
    body(request.call().expect("an answer"))
}

pub(crate) fn post(address: &str, json: &str) -> String {
    post_as(address, "application/json", json)
}

pub(crate) fn post_as(address: &str, accept: &str, json: &str) -> String {
    let request = agent()
        .post(address)
        .header("Content-Type", "application/json")
        .header("Accept", accept);
    body(request.send(json).expect("an answer"))
}

/// Sends a form, with a small file under the last name.
pub(crate) fn multipart(address: &str, fields: &[(&str, &str)], file: Option<&str>) -> String {
    let mut form = String::new();
    for (name, value) in fields {
        form +=
            &format!("--sep\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n");
    }
    if let Some(name) = file {
        form += &format!(
            "--sep\r\nContent-Disposition: form-data; name=\"{name}\"; filename=\"a.txt\"\r\n\
             Content-Type: text/plain\r\n\r\nhello\r\n"
        );
    }
    form += "--sep--\r\n";
    let request = agent()
        .post(address)
        .header("Content-Type", "multipart/form-data; boundary=sep");
    body(request.send(&form).expect("an answer"))
}
