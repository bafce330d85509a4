//! A proxy in front of an HTTP server, which harms some of the requests to it or of the answers.
//!
//! Several proxies in front of one server stand for several servers that hold the same data.

use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;

/// What goes wrong with a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// No one listens, and connections that are open end.
    Refuse,
    /// The connection is reset.
    Reset,
    /// The connection is closed.
    Close,
    /// No answer comes, and the connection stays open.
    Hang,
    /// The answer comes late.
    Delay(Duration),
    /// The proxy answers with a status, in place of the server.
    Status(u16),
    /// The answer ends after so many bytes.
    Truncate(usize),
    /// The answer ends so many bytes before its end.
    Cut(usize),
    /// The answer comes a few bytes at a time.
    Drip(usize, Duration),
}

/// Which requests are harmed, and how.
#[derive(Clone, Copy)]
pub struct Harm {
    pub fault: Fault,
    /// The server gets the request nevertheless.
    pub is_carried_out: bool,
    /// Whether a request is harmed, given its first line and its body.
    pub only: fn(&str, &str) -> bool,
    /// How many requests are harmed.
    pub times: usize,
}

/// A running proxy; it stops when this is dropped.
pub struct FaultProxy {
    address: SocketAddr,
    shared: Arc<Shared>,
    /// Whether no one listens.
    refuses: watch::Sender<bool>,
}

#[derive(Default)]
struct Shared {
    harm: Mutex<Option<Harm>>,
}

impl Shared {
    fn harm(&self) -> MutexGuard<'_, Option<Harm>> {
        self.harm.lock().unwrap()
    }

    /// Returns what goes wrong with a request, and counts it.
    fn take(&self, line: &str, body: &str) -> Option<Harm> {
        let mut harm = self.harm();
        let harm = harm.as_mut()?;
        if harm.times == 0 || !(harm.only)(line, body) {
            return None;
        }
        harm.times = harm.times.saturating_sub(1);
        Some(*harm)
    }
}

/// A request as it arrived.
struct Request {
    /// Its first line, and its headers but for that of the connection.
    head: String,
    body: Vec<u8>,
}

impl FaultProxy {
    /// Starts a proxy in front of the server at an address, which harms nothing yet.
    pub fn start(server: SocketAddr) -> Self {
        let (refuses, refused) = watch::channel(false);
        let shared = Arc::new(Shared::default());
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let address = listener.local_addr().unwrap();
        let running = Running {
            address,
            server,
            shared: Arc::clone(&shared),
            refused,
        };
        thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .unwrap();
            runtime.block_on(running.run(listener));
        });
        FaultProxy {
            address,
            shared,
            refuses,
        }
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Harms requests from now on.
    pub fn harm(&self, harm: Harm) {
        *self.shared.harm() = Some(harm);
        // The proxy is there as long as this is.
        self.refuses
            .send(harm.fault == Fault::Refuse && harm.times > 0)
            .unwrap();
    }

    /// Passes everything on from now on.
    pub fn heal(&self) {
        *self.shared.harm() = None;
        self.refuses.send(false).unwrap();
    }

    /// Returns whether all requests have come that are harmed.
    pub fn is_spent(&self) -> bool {
        let harm = self.shared.harm();
        harm.is_some_and(|harm| harm.times == 0 || harm.fault == Fault::Refuse)
    }
}

struct Running {
    address: SocketAddr,
    server: SocketAddr,
    shared: Arc<Shared>,
    refused: watch::Receiver<bool>,
}

impl Running {
    async fn run(mut self, listener: std::net::TcpListener) {
        let mut listener = TcpListener::from_std(listener).unwrap();
        loop {
            let mut connections = JoinSet::new();
            while !*self.refused.borrow_and_update() {
                tokio::select! {
                    changed = self.refused.changed() => if changed.is_err() { return },
                    accepted = listener.accept() => {
                        let (client, _) = accepted.unwrap();
                        let (server, shared) = (self.server, Arc::clone(&self.shared));
                        connections.spawn(async move {
                            // A connection that breaks is what the tests are about.
                            let _ = carry(client, server, &shared).await;
                        });
                    }
                }
            }
            drop((connections, listener));
            // The port is kept; a connection to it is refused, since the socket does not listen.
            let kept = TcpSocket::new_v4().unwrap();
            kept.set_reuseaddr(true).unwrap();
            kept.bind(self.address).unwrap();
            while *self.refused.borrow_and_update() {
                if self.refused.changed().await.is_err() {
                    return;
                }
            }
            listener = kept.listen(128).unwrap();
        }
    }
}

/// Passes on the requests of a connection, one after the other.
async fn carry(mut client: TcpStream, server: SocketAddr, shared: &Shared) -> io::Result<()> {
    client.set_nodelay(true)?;
    while let Some(request) = read(&mut client).await? {
        let line = request.head.lines().next().unwrap_or_default();
        let body = String::from_utf8_lossy(&request.body);
        let Some(harm) = shared.take(line, &body) else {
            let answer = forward(&request, server).await?;
            client.write_all(&answer).await?;
            // The server has closed its connection, and said so.
            return client.shutdown().await;
        };
        let answer = if harm.is_carried_out {
            forward(&request, server).await?
        } else {
            Vec::new()
        };
        match harm.fault {
            Fault::Refuse | Fault::Close => return client.shutdown().await,
            Fault::Reset => {
                client.set_zero_linger()?;
                return Ok(());
            }
            Fault::Hang => std::future::pending::<()>().await,
            Fault::Delay(time) => {
                tokio::time::sleep(time).await;
                client.write_all(&answer).await?;
            }
            Fault::Status(code) => {
                let answer = format!(
                    "HTTP/1.1 {code} Harmed\r\ncontent-type: text/plain\r\ncontent-length: 6\r\n\r\nharmed"
                );
                client.write_all(answer.as_bytes()).await?;
                continue;
            }
            Fault::Truncate(end) => client.write_all(&answer[..end.min(answer.len())]).await?,
            Fault::Cut(bytes) => {
                let end = answer.len().saturating_sub(bytes);
                client.write_all(&answer[..end]).await?;
            }
            Fault::Drip(bytes, every) => {
                for part in answer.chunks(bytes) {
                    client.write_all(part).await?;
                    tokio::time::sleep(every).await;
                }
            }
        }
        return client.shutdown().await;
    }
    Ok(())
}

/// Reads a request; `None` at the end of the connection.
async fn read(client: &mut TcpStream) -> io::Result<Option<Request>> {
    let mut bytes = Vec::new();
    let end = loop {
        let end = bytes.windows(4).position(|window| window == b"\r\n\r\n");
        if let Some(end) = end {
            break end;
        }
        if client.read_buf(&mut bytes).await? == 0 {
            return Ok(None);
        }
    };
    let mut body = bytes.split_off(end + 4);
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let length = length_of(&text).unwrap_or_default();
    let mut head = String::new();
    for line in text.lines().filter(|line| !line.is_empty()) {
        if !line.to_ascii_lowercase().starts_with("connection:") {
            head.push_str(line);
            head.push_str("\r\n");
        }
    }
    while body.len() < length {
        if client.read_buf(&mut body).await? == 0 {
            return Ok(None);
        }
    }
    Ok(Some(Request { head, body }))
}

/// Sends a request over a connection of its own, and reads the answer to its end.
async fn forward(request: &Request, server: SocketAddr) -> io::Result<Vec<u8>> {
    let mut connection = TcpStream::connect(server).await?;
    let head = format!("{}connection: close\r\n\r\n", request.head);
    connection.write_all(head.as_bytes()).await?;
    connection.write_all(&request.body).await?;
    let mut answer = Vec::new();
    let end = loop {
        let head = answer.windows(4).position(|window| window == b"\r\n\r\n");
        if let Some(head) = head {
            let length = length_of(&String::from_utf8_lossy(&answer[..head]));
            break length.map(|length| head + 4 + length);
        }
        if connection.read_buf(&mut answer).await? == 0 {
            return Ok(answer);
        }
    };
    // Not every server closes the connection then.
    while end.is_none_or(|end| answer.len() < end) {
        if connection.read_buf(&mut answer).await? == 0 {
            break;
        }
    }
    Ok(answer)
}

/// Returns the length of the body after a head, if that says it.
fn length_of(head: &str) -> Option<usize> {
    let lower = head.to_ascii_lowercase();
    let value = lower
        .lines()
        .find_map(|line| line.strip_prefix("content-length:"))?;
    Some(value.trim().parse().unwrap())
}
