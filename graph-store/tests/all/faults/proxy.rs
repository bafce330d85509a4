//! A TCP proxy that harms what it carries back to the client.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::task::JoinHandle;

/// What happens to the bytes of a connection on their way to the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    None,
    /// The connection ends, as if the server had closed it, after so many bytes.
    CloseAfter(usize),
    /// The connection is reset after so many bytes.
    ResetAfter(usize),
    /// No byte comes any more after so many.
    StallAfter(usize),
    /// A few bytes come at a time.
    Drip {
        bytes: usize,
        every: Duration,
    },
}

/// A running proxy; it stops when this is dropped.
pub(crate) struct Proxy {
    address: SocketAddr,
    upstream: SocketAddr,
    fault: Arc<Mutex<Fault>>,
    task: Option<JoinHandle<()>>,
    /// Keeps the port while the proxy is down. A connection to it is refused, since it does not listen.
    kept: Option<TcpSocket>,
}

impl Proxy {
    pub(crate) async fn start(upstream: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let mut proxy = Proxy {
            address: listener.local_addr().unwrap(),
            upstream,
            fault: Arc::new(Mutex::new(Fault::None)),
            task: None,
            kept: None,
        };
        proxy.listen(listener);
        proxy
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Harms connections that are made from now on.
    pub(crate) fn set(&self, fault: Fault) {
        *self.fault.lock().unwrap() = fault;
    }

    /// Closes all connections and refuses new ones.
    pub(crate) async fn down(&mut self) {
        if let Some(task) = self.task.take() {
            task.abort();
            // Its end is what was asked for.
            let _ = task.await;
            let socket = TcpSocket::new_v4().unwrap();
            socket.set_reuseaddr(true).unwrap();
            socket.bind(self.address).unwrap();
            self.kept = Some(socket);
        }
    }

    /// Listens again, at the same place.
    pub(crate) async fn up(&mut self) {
        let kept = self.kept.take().expect("it is down");
        self.listen(kept.listen(128).unwrap());
    }

    fn listen(&mut self, listener: TcpListener) {
        let (upstream, fault) = (self.upstream, Arc::clone(&self.fault));
        self.task = Some(tokio::spawn(async move {
            let mut connections = tokio::task::JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                let fault = *fault.lock().unwrap();
                connections.spawn(async move {
                    // A connection that breaks is what the tests are about.
                    let _ = carry(stream, upstream, fault).await;
                });
            }
        }));
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        if let Some(task) = &self.task {
            task.abort();
        }
    }
}

async fn carry(client: TcpStream, upstream: SocketAddr, fault: Fault) -> std::io::Result<()> {
    let server = TcpStream::connect(upstream).await?;
    if matches!(fault, Fault::ResetAfter(_)) {
        // Closing it then resets it.
        client.set_zero_linger()?;
    }
    let (mut from_client, mut to_client) = client.into_split();
    let (mut from_server, mut to_server) = server.into_split();
    let forth = tokio::spawn(async move {
        let _ = tokio::io::copy(&mut from_client, &mut to_server).await;
    });
    let mut carried = 0;
    let mut buffer = vec![0; 1 << 16];
    loop {
        if matches!(fault, Fault::CloseAfter(0) | Fault::ResetAfter(0)) {
            // Not before the request has come: that would be a server that is not there.
            from_server.readable().await?;
        }
        let read = match fault {
            Fault::CloseAfter(end) | Fault::ResetAfter(end) | Fault::StallAfter(end)
                if carried == end =>
            {
                break;
            }
            _ => from_server.read(&mut buffer).await?,
        };
        if read == 0 {
            return to_client.shutdown().await;
        }
        let allowed = match fault {
            Fault::CloseAfter(end) | Fault::ResetAfter(end) | Fault::StallAfter(end) => {
                read.min(end - carried)
            }
            Fault::None | Fault::Drip { .. } => read,
        };
        carried += allowed;
        match fault {
            Fault::Drip { bytes, every } => {
                for part in buffer[..allowed].chunks(bytes) {
                    to_client.write_all(part).await?;
                    tokio::time::sleep(every).await;
                }
            }
            _ => to_client.write_all(&buffer[..allowed]).await?,
        }
    }
    match fault {
        Fault::StallAfter(_) => std::future::pending().await,
        Fault::ResetAfter(_) => {
            forth.abort();
            // With it goes the half of the client's connection that it holds.
            let _ = forth.await;
            to_client.forget();
            Ok(())
        }
        _ => to_client.shutdown().await,
    }
}
