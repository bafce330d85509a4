//! An edge that listens, with servers behind it that do what they are told to.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use edge_service::{EdgeApp, EdgeOptions, RouteOptions, Target};
use outbound::Secret;
use reqwest::{Client, RequestBuilder, Response, StatusCode};
use serde_json::Value;
use service_auth::{Verifier, VerifierOptions};
use service_runtime::{HostOptions, HostState, ResourceOptions, Server, resources};
use test_support::sockets::{self, Behaviour};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

/// An edge on a port of its own, which ends with the test.
pub(crate) struct Edge {
    pub(crate) address: SocketAddr,
    pub(crate) client: Client,
    end: Option<oneshot::Sender<()>>,
    task: JoinHandle<()>,
}

/// A route to a server.
pub(crate) fn route(path: &str, server: &sockets::Server) -> RouteOptions {
    to(path, &[server.address])
}

/// A route to several servers.
pub(crate) fn to(path: &str, servers: &[SocketAddr]) -> RouteOptions {
    let addresses: Vec<String> = servers.iter().map(|at| format!("http://{at}")).collect();
    let target = Target::Servers(addresses.join(",").parse().unwrap());
    let name = path.trim_start_matches('/');
    RouteOptions::new(if name.is_empty() { "root" } else { name }, path, target)
}

/// A route to servers that are only connected to when they are checked.
pub(crate) fn unasked(path: &str, servers: &[SocketAddr]) -> RouteOptions {
    RouteOptions {
        health: None,
        ..to(path, servers)
    }
}

/// A server that answers every request so.
pub(crate) fn answering(body: &str) -> sockets::Server {
    sockets::Server::start(Behaviour::Answers(answer("200 OK", body)))
}

pub(crate) fn answer(status: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    let head =
        format!("HTTP/1.1 {status}\r\ncontent-type: text/plain\r\ncontent-length: {length}\r\n");
    format!(
        "{head}x-of-server: yes\r\nconnection: keep-alive\r\nkeep-alive: timeout=5\r\n\r\n{body}"
    )
    .into_bytes()
}

/// Options under which servers are checked once at the beginning, and no more while a test runs.
pub(crate) fn options() -> EdgeOptions {
    let mut options = EdgeOptions::default();
    options.upstream.check_interval = Duration::from_secs(3_600);
    options.upstream.check_timeout = sockets::PATIENCE;
    options
}

impl Edge {
    pub(crate) async fn start(routes: Vec<RouteOptions>) -> Self {
        Edge::with(&options(), HostOptions::default(), None, routes).await
    }

    pub(crate) async fn with(
        options: &EdgeOptions,
        host: HostOptions,
        verifier: Option<Verifier>,
        routes: Vec<RouteOptions>,
    ) -> Self {
        let host = HostOptions {
            name: "edge".to_owned(),
            ..host
        };
        let state = HostState::new(host, resources(&ResourceOptions::default()));
        let state = state.with_verifier(verifier.map(Arc::new));
        let app = Arc::new(EdgeApp::new(state, options, routes).unwrap());
        let server = Server::listen(app).await.unwrap();
        let address = server.address();
        let (end, ended) = oneshot::channel::<()>();
        let task = tokio::spawn(server.run(async {
            let _ = ended.await;
        }));
        Edge {
            address,
            client: client(),
            end: Some(end),
            task,
        }
    }

    pub(crate) fn get(&self, path: &str) -> RequestBuilder {
        self.client.get(format!("http://{}{path}", self.address))
    }

    pub(crate) fn post(&self, path: &str, body: &str) -> RequestBuilder {
        let request = self.client.post(format!("http://{}{path}", self.address));
        request.body(body.to_owned())
    }

    pub(crate) async fn end(mut self) {
        self.end = None;
        self.task.await.unwrap();
    }
}

fn client() -> Client {
    let tls = outbound::tls::config(false, None).unwrap();
    outbound::client(tls).build().unwrap()
}

/// Verifies tokens of the secret of these tests.
pub(crate) fn verifier() -> Verifier {
    let mut options = VerifierOptions::default();
    options.secret = Some(Secret::new(SECRET));
    Verifier::of(&options).unwrap()
}

pub(crate) const SECRET: &str = "0123456789abcdef0123456789ABCDEF";

/// The code of an error.
pub(crate) async fn code(response: Response) -> (StatusCode, String) {
    let status = response.status();
    let body = response.text().await.unwrap();
    let value: Value = serde_json::from_str(&body).unwrap_or_default();
    let code = value["errors"][0]["extensions"]["code"].as_str();
    (status, code.unwrap_or_default().to_owned())
}

/// The requests of clients that a server has seen, without checks.
pub(crate) fn requests(server: &sockets::Server) -> Vec<sockets::Arrived> {
    let seen = server.seen.requests.lock().unwrap().clone();
    let is_check = |it: &sockets::Arrived| it.head.starts_with("get /__health http");
    seen.into_iter().filter(|it| !is_check(it)).collect()
}

/// Waits until a server has seen so many requests of a kind.
pub(crate) async fn until_seen(
    server: &sockets::Server,
    count: usize,
    is_meant: impl Fn(&sockets::Arrived) -> bool,
) {
    let seen = || {
        let seen = server.seen.requests.lock().unwrap();
        seen.iter().filter(|it| is_meant(it)).count()
    };
    while seen() < count {
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}
