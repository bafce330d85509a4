//! A small HTTP server in this process that answers as it is told, byte for byte.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

use crate::faults::{JSON, TSV};

/// What a check finds.
const CHECKED: &str = r#"{"head":{"vars":["subject"]},"results":{"bindings":[{"subject":{"type":"uri","value":"urn:a"}}]}}"#;

/// How the end of a body is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Framing {
    Length,
    Chunked,
    Close,
    /// There is no answer; the connection ends.
    Cut,
}

/// A request as it came.
#[derive(Clone, Debug)]
pub(crate) struct Received {
    /// Request line and headers.
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Received {
    /// Returns whether it asks for any statement.
    pub(crate) fn is_check(&self) -> bool {
        self.body.contains("LIMIT+1")
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines().skip(1);
        let mut fields = lines.filter_map(|line| line.split_once(':'));
        let found = fields.find(|(key, _)| key.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.trim())
    }
}

/// An answer as it is sent.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub(crate) status: &'static str,
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) body: Vec<u8>,
    pub(crate) framing: Framing,
    /// Before the answer.
    pub(crate) wait: Duration,
}

impl Answer {
    pub(crate) fn new(status: &'static str, content_type: &str, body: &str) -> Self {
        Answer {
            status,
            headers: vec![("Content-Type", content_type.to_owned())],
            body: body.as_bytes().to_vec(),
            framing: Framing::Length,
            wait: Duration::ZERO,
        }
    }

    /// The whole result, in the form that is asked for; that of a check for a check.
    pub(crate) fn whole(request: &Received) -> Self {
        if request.is_check() {
            return Answer::new("200 OK", "application/sparql-results+json", CHECKED);
        }
        match request.header("accept") {
            Some("text/tab-separated-values") => {
                Answer::new("200 OK", "text/tab-separated-values; charset=utf-8", TSV)
            }
            _ => Answer::new("200 OK", "application/sparql-results+json", JSON),
        }
    }

    pub(crate) fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    pub(crate) fn framed(mut self, framing: Framing) -> Self {
        self.framing = framing;
        self
    }

    pub(crate) fn after(mut self, wait: Duration) -> Self {
        self.wait = wait;
        self
    }

    /// The bytes on the wire.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        if self.framing == Framing::Cut {
            return Vec::new();
        }
        let mut head = format!("HTTP/1.1 {}\r\n", self.status);
        for (name, value) in &self.headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        head.push_str(&match self.framing {
            Framing::Length => format!("Content-Length: {}\r\n\r\n", self.body.len()),
            Framing::Chunked => "Transfer-Encoding: chunked\r\n\r\n".to_owned(),
            Framing::Close | Framing::Cut => "Connection: close\r\n\r\n".to_owned(),
        });
        let mut bytes = head.into_bytes();
        if self.framing != Framing::Chunked {
            bytes.extend_from_slice(&self.body);
            return bytes;
        }
        for chunk in self.body.chunks(100) {
            bytes.extend_from_slice(format!("{:x}\r\n", chunk.len()).as_bytes());
            bytes.extend_from_slice(chunk);
            bytes.extend_from_slice(b"\r\n");
        }
        bytes.extend_from_slice(b"0\r\n\r\n");
        bytes
    }
}

type Handler = dyn Fn(&Received) -> Answer + Send + Sync;

/// What a running endpoint counts.
#[derive(Default)]
struct Seen {
    requests: Mutex<Vec<Received>>,
    open: AtomicUsize,
    most: AtomicUsize,
    /// Connections that the client closed while it was being answered.
    abandoned: AtomicUsize,
}

/// A running endpoint; it stops when this is dropped.
pub(crate) struct Endpoint {
    pub(crate) address: SocketAddr,
    seen: Arc<Seen>,
    task: JoinHandle<()>,
}

impl Endpoint {
    /// Answers every request as `handler` says.
    pub(crate) async fn start(
        handler: impl Fn(&Received) -> Answer + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let seen = Arc::<Seen>::default();
        let handler: Arc<Handler> = Arc::new(handler);
        let task = tokio::spawn({
            let seen = Arc::clone(&seen);
            async move {
                let mut connections = tokio::task::JoinSet::new();
                while let Ok((stream, _)) = listener.accept().await {
                    let (seen, handler) = (Arc::clone(&seen), Arc::clone(&handler));
                    connections.spawn(async move {
                        // A connection that breaks is what the tests are about.
                        let _ = serve(stream, &seen, &*handler).await;
                    });
                }
            }
        });
        Endpoint {
            address,
            seen,
            task,
        }
    }

    /// Answers every request with the whole result.
    pub(crate) async fn healthy() -> Self {
        Endpoint::start(Answer::whole).await
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/sparql", self.address)
    }

    pub(crate) fn requests(&self) -> Vec<Received> {
        self.seen.requests.lock().unwrap().clone()
    }

    /// The greatest number of requests at the same time.
    pub(crate) fn most_at_once(&self) -> usize {
        self.seen.most.load(Ordering::SeqCst)
    }

    pub(crate) fn abandoned(&self) -> usize {
        self.seen.abandoned.load(Ordering::SeqCst)
    }
}

impl Drop for Endpoint {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn serve(mut stream: TcpStream, seen: &Seen, handler: &Handler) -> std::io::Result<()> {
    while let Some(request) = receive(&mut stream).await? {
        seen.requests.lock().unwrap().push(request.clone());
        let open = seen.open.fetch_add(1, Ordering::SeqCst) + 1;
        seen.most.fetch_max(open, Ordering::SeqCst);
        let answer = handler(&request);
        let mut nothing = [0; 1];
        let gone = tokio::select! {
            () = tokio::time::sleep(answer.wait) => false,
            read = stream.read(&mut nothing) => !matches!(read, Ok(1)),
        };
        seen.open.fetch_sub(1, Ordering::SeqCst);
        if gone {
            seen.abandoned.fetch_add(1, Ordering::SeqCst);
            return Ok(());
        }
        stream.write_all(&answer.bytes()).await?;
        if matches!(answer.framing, Framing::Close | Framing::Cut) {
            return stream.shutdown().await;
        }
    }
    Ok(())
}

/// Reads one request, or nothing when the client has closed the connection.
async fn receive(stream: &mut TcpStream) -> std::io::Result<Option<Received>> {
    let mut bytes = Vec::new();
    let head_end = loop {
        if let Some(at) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            break at + 4;
        }
        if stream.read_buf(&mut bytes).await? == 0 {
            return Ok(None);
        }
    };
    let mut received = Received {
        head: String::from_utf8_lossy(&bytes[..head_end]).into_owned(),
        body: String::new(),
    };
    let length = received
        .header("content-length")
        .map_or(0, |text| text.parse().unwrap());
    while bytes.len() < head_end + length {
        if stream.read_buf(&mut bytes).await? == 0 {
            return Ok(None);
        }
    }
    received.body = String::from_utf8(bytes[head_end..].to_vec()).unwrap();
    Ok(Some(received))
}

/// A port where nothing listens.
pub(crate) async fn dead_address() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    listener.local_addr().unwrap()
}
