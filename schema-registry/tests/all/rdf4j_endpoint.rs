//! A small server of RDF4J's protocol in this process, which answers as it is told and stores nothing.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use graph_store::remote::http::ConnectionOptions;
use schema_registry::{Rdf4jSchemaOptions, Rdf4jSchemaStore};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};

/// How long a test waits for what must happen, on a busy machine too.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// What RDF4J says of a transaction that has conflicted.
pub(crate) const CONFLICT: &str =
    "Transaction handling error: org.eclipse.rdf4j.sail.SailConflictException: x";

/// A request as it came.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    /// Method and path with its arguments.
    pub(crate) line: String,
    /// Request line and headers.
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Request {
    /// Returns what the request is for, in a word.
    pub(crate) fn kind(&self) -> &'static str {
        let known = [
            ("action=QUERY", "QUERY"),
            ("action=UPDATE", "UPDATE"),
            ("action=COMMIT", "COMMIT"),
            ("POST /r/repositories/schemas/transactions", "begin"),
            ("/transactions/", "end"),
            ("/statements", "update"),
            ("/rest/repositories", "create"),
            ("PUT /r/repositories/schemas ", "create"),
            ("DELETE /r/repositories/schemas ", "remove"),
            ("POST /r/repositories/schemas?", "read"),
        ];
        let line = format!("{} ", self.line);
        let found = known.into_iter().find(|(part, _)| line.contains(part));
        found.map_or("other", |(_, kind)| kind)
    }
}

/// What the server does with a request.
#[derive(Clone, Debug)]
pub(crate) enum Answer {
    Says(&'static str, String),
    /// A row for the query, with these values of variables, as JSON.
    Row(&'static str),
    /// A result that breaks off.
    CutResult,
    /// The connection ends without an answer.
    Cut,
    /// Nothing comes.
    Hangs,
}

impl Answer {
    pub(crate) fn status(status: &'static str) -> Option<Self> {
        Some(Answer::Says(status, "so it is".to_owned()))
    }

    fn bytes(&self) -> Vec<u8> {
        const RESULT: &str = "application/sparql-results+json";
        let (status, kind, body) = match self {
            Answer::Says(status, text) => (*status, "text/plain", text.clone()),
            Answer::Row(row) => ("200 OK", RESULT, result(row)),
            Answer::CutResult => {
                let mut bytes = Answer::Row("").bytes();
                bytes.truncate(bytes.len() - 5);
                return bytes;
            }
            Answer::Cut | Answer::Hangs => return Vec::new(),
        };
        let location = "Location: http://elsewhere/r/repositories/schemas/transactions/t1\r\n";
        let length = body.len();
        format!(
            "HTTP/1.1 {status}\r\n{location}Content-Type: {kind}\r\nContent-Length: {length}\r\n\r\n{body}"
        )
        .into_bytes()
    }
}

fn result(row: &str) -> String {
    let names = [
        "text", "revision", "id", "bytes", "schema", "service", "a", "b", "c", "node", "type",
        "subject", "s", "p", "o", "g", "n",
    ];
    let names = names.map(|name| format!("\"{name}\"")).join(",");
    format!(r#"{{"head":{{"vars":[{names}]}},"results":{{"bindings":[{row}]}}}}"#)
}

type Script = dyn Fn(&Request) -> Option<Answer> + Send + Sync;

/// What a running server has seen and is told.
struct State {
    script: Mutex<Arc<Script>>,
    has_repository: AtomicBool,
    is_graphdb: bool,
    requests: Mutex<Vec<Request>>,
    arrived: watch::Sender<usize>,
}

/// A running server; it stops when this is dropped.
pub(crate) struct Endpoint {
    pub(crate) address: SocketAddr,
    state: Arc<State>,
    task: JoinHandle<()>,
}

impl Endpoint {
    /// Starts a server that answers as RDF4J does unless `script` has another answer.
    pub(crate) async fn rdf4j(
        script: impl Fn(&Request) -> Option<Answer> + Send + Sync + 'static,
    ) -> Self {
        Endpoint::start(false, script).await
    }

    /// Starts a server that says that it is GraphDB.
    pub(crate) async fn graphdb(
        script: impl Fn(&Request) -> Option<Answer> + Send + Sync + 'static,
    ) -> Self {
        Endpoint::start(true, script).await
    }

    async fn start(
        is_graphdb: bool,
        script: impl Fn(&Request) -> Option<Answer> + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let state = Arc::new(State {
            script: Mutex::new(Arc::new(script)),
            has_repository: AtomicBool::new(true),
            is_graphdb,
            requests: Mutex::default(),
            arrived: watch::Sender::new(0),
        });
        let shared = Arc::clone(&state);
        let task = tokio::spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                connections.spawn(serve(stream, Arc::clone(&shared)));
            }
        });
        Endpoint {
            address,
            state,
            task,
        }
    }

    /// Answers otherwise from now on, and forgets what has arrived.
    pub(crate) fn change(
        &self,
        script: impl Fn(&Request) -> Option<Answer> + Send + Sync + 'static,
    ) {
        *self.state.script.lock().unwrap() = Arc::new(script);
        self.state.requests.lock().unwrap().clear();
    }

    /// Loses the repository.
    pub(crate) fn lose_repository(&self) {
        self.state.has_repository.store(false, Ordering::SeqCst);
    }

    pub(crate) fn has_repository(&self) -> bool {
        self.state.has_repository.load(Ordering::SeqCst)
    }

    pub(crate) fn requests(&self) -> Vec<Request> {
        self.state.requests.lock().unwrap().clone()
    }

    /// Returns what has arrived about the repository, in short.
    pub(crate) fn sent(&self) -> Vec<&'static str> {
        let requests = self.requests();
        let kinds = requests.iter().map(Request::kind);
        kinds.filter(|kind| *kind != "other").collect()
    }

    /// Returns how many requests of a kind have arrived.
    pub(crate) fn count(&self, kind: &str) -> usize {
        self.sent().iter().filter(|sent| **sent == kind).count()
    }

    /// Waits until a request of a kind has arrived.
    pub(crate) async fn is_asked(&self, kind: &str) {
        let mut arrived = self.state.arrived.subscribe();
        let asked = arrived.wait_for(|_| self.count(kind) > 0);
        let asked = tokio::time::timeout(PATIENCE, asked).await;
        asked.expect("it arrives").unwrap();
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/r", self.address)
    }

    /// Returns options for this server: no retries, and no timeout that something which works could reach.
    pub(crate) fn options(&self) -> Rdf4jSchemaOptions {
        options(&self.url())
    }

    pub(crate) fn store(&self) -> Rdf4jSchemaStore {
        Rdf4jSchemaStore::new(self.options()).unwrap()
    }
}

impl Drop for Endpoint {
    fn drop(&mut self) {
        self.task.abort();
    }
}

pub(crate) fn options(addresses: &str) -> Rdf4jSchemaOptions {
    let mut options = Rdf4jSchemaOptions::new("app");
    options.timeout = PATIENCE;
    options.connection = ConnectionOptions {
        addresses: addresses.parse().unwrap(),
        repository: Some("schemas".to_owned()),
        max_retries: 0,
        retry_interval: Duration::from_millis(1),
        connection_request_timeout: PATIENCE,
        connect_timeout: PATIENCE,
        health_check_timeout: PATIENCE,
        ..ConnectionOptions::default()
    };
    options
}

async fn serve(mut stream: TcpStream, state: Arc<State>) -> std::io::Result<()> {
    let mut buffer = Vec::new();
    loop {
        let Some(request) = request(&mut stream, &mut buffer).await? else {
            return Ok(());
        };
        let script = Arc::clone(&state.script.lock().unwrap());
        state.requests.lock().unwrap().push(request.clone());
        let answer = script(&request).unwrap_or_else(|| state.usual(&request));
        state.arrived.send_modify(|arrived| *arrived += 1);
        match answer {
            Answer::Hangs => {
                // Until the client goes away.
                let _ = stream.read(&mut [0]).await?;
                return Ok(());
            }
            Answer::Cut | Answer::CutResult => return stream.write_all(&answer.bytes()).await,
            _ => stream.write_all(&answer.bytes()).await?,
        }
    }
}

impl State {
    /// Answers as RDF4J does, whose repository is empty.
    fn usual(&self, request: &Request) -> Answer {
        let says = |status, text: &str| Answer::Says(status, text.to_owned());
        let kind = request.kind();
        match kind {
            "other" if request.line.ends_with("/protocol") => return says("200 OK", "12"),
            "other" if request.line.ends_with("/rest/info/version") && self.is_graphdb => {
                return says("200 OK", r#"{"productVersion":"10.8.1"}"#);
            }
            "create" if self.has_repository.swap(true, Ordering::SeqCst) => {
                return says("409 Conflict", "repository already exists");
            }
            "create" => return says("204 No Content", ""),
            _ => {}
        }
        if kind == "other" || !self.has_repository.load(Ordering::SeqCst) {
            return says("404 Not Found", "Unknown repository: schemas");
        }
        match kind {
            "begin" => says("201 Created", ""),
            "UPDATE" | "end" | "update" => says("204 No Content", ""),
            "COMMIT" => says("200 OK", ""),
            "remove" => {
                self.has_repository.store(false, Ordering::SeqCst);
                says("204 No Content", "")
            }
            _ => Answer::Row(""),
        }
    }
}

/// Reads a request; `None` where the client has gone.
async fn request(stream: &mut TcpStream, buffer: &mut Vec<u8>) -> std::io::Result<Option<Request>> {
    let end = loop {
        if let Some(at) = buffer.windows(4).position(|four| four == b"\r\n\r\n") {
            break at + 4;
        }
        if stream.read_buf(buffer).await? == 0 {
            return Ok(None);
        }
    };
    let head = String::from_utf8_lossy(&buffer[..end]).into_owned();
    let lower = head.to_ascii_lowercase();
    let mut lengths = lower
        .lines()
        .filter_map(|line| line.strip_prefix("content-length:"));
    let length: usize = lengths
        .next()
        .map_or(0, |value| value.trim().parse().unwrap());
    while buffer.len() < end + length {
        if stream.read_buf(buffer).await? == 0 {
            return Ok(None);
        }
    }
    let body = String::from_utf8_lossy(&buffer[end..end + length]).into_owned();
    buffer.drain(..end + length);
    let line = head.lines().next().unwrap_or_default();
    Ok(Some(Request {
        line: line.trim_end_matches(" HTTP/1.1").to_owned(),
        head,
        body,
    }))
}
