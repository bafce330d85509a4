//! Listens on an address, and serves routes there until a stop signal.

use std::convert::Infallible;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use graphql_http::ConnectionPermit;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use super::connection::{Connected, Connection};
use super::middleware::ServiceRouter;
use super::options::{HostOptions, ListenerOptions};
use super::rejection::Rejections;
use super::tls::{ServerTls, TlsError};
use super::trusted_proxies::ClientAddress;

/// Maximum size of the headers of a request, and of what is read of a body at once.
const BUFFER: usize = 64 << 10;

/// Why the service could not run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// The address cannot be listened on.
    #[error("failed to listen on {address}{}", hint(.source))]
    Listen {
        /// The address.
        address: SocketAddr,
        /// The cause.
        #[source]
        source: io::Error,
    },
    /// The certificate cannot be used.
    #[error("TLS cannot be served")]
    Tls(#[source] Box<TlsError>),
}

fn hint(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::AddrInUse => {
            "; the port is in use: choose another with --port, or with `search.port` and \
             `gateway.port` for the other services"
        }
        _ => "",
    }
}

/// An address that is listened on, where clients wait until it is served.
pub struct Listener {
    listener: TcpListener,
    address: SocketAddr,
    bounds: ListenerOptions,
    tls: Option<Arc<ServerTls>>,
}

impl Listener {
    /// Listens on the address of a service, with its bounds on connections.
    ///
    /// # Errors
    ///
    /// Fails when the address cannot be listened on, or its certificate cannot be used.
    pub async fn bind(options: &HostOptions) -> Result<Self, ServeError> {
        let tls = options
            .listener
            .tls
            .as_ref()
            .map(ServerTls::read)
            .transpose()
            .map_err(|error| ServeError::Tls(Box::new(error)))?;
        let address = options.address;
        let failed = |source| ServeError::Listen { address, source };
        let listener = TcpListener::bind(address).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        Ok(Listener {
            listener,
            address,
            bounds: options.listener.clone(),
            tls: tls.map(Arc::new),
        })
    }

    /// Returns the address, with the actual port.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves requests until `stop` completes, then calls `drain` and gives open ones the time for a shutdown to
    /// complete. Any axum `Router` can be served.
    pub async fn serve(
        self,
        routes: impl Into<ServiceRouter>,
        stop: impl Future<Output = ()>,
        drain: impl FnOnce(),
    ) {
        let routes = routes.into();
        let Listener {
            listener,
            bounds,
            tls,
            ..
        } = self;
        let following = tls.clone().map(|tls| tokio::spawn(tls.watch()));
        let mut http = http1::Builder::new();
        http.timer(TokioTimer::new())
            .header_read_timeout(bounds.header_timeout)
            .max_buf_size(BUFFER);
        let most = u32::try_from(bounds.max_connections).unwrap_or(u32::MAX);
        let connections = Arc::new(Semaphore::new(most as usize));
        let ending = CancellationToken::new();
        let mut stop = pin!(stop);
        loop {
            let next = async {
                // Further clients wait in the queue of the operating system.
                let permit = Arc::clone(&connections).acquire_owned().await;
                (accept(&listener).await, permit)
            };
            let ((stream, client), permit) = tokio::select! {
                next = next => next,
                () = &mut stop => break,
            };
            let held = permit.ok().map(ConnectionPermit::new);
            let connected = Connected { client, held };
            let (http, routes, ending) = (http.clone(), routes.clone(), ending.clone());
            let stream = Connection::new(stream, bounds.send_timeout);
            let Some(tls) = &tls else {
                tokio::spawn(serve_connection(http, stream, routes, connected, ending));
                continue;
            };
            let (acceptor, timeout) = (tls.acceptor(), bounds.header_timeout);
            tokio::spawn(async move {
                // A client that stalls in the handshake is one that stalls in its headers.
                let accepted = tokio::time::timeout(timeout, acceptor.accept(stream));
                match ending.run_until_cancelled(accepted).await {
                    Some(Ok(Ok(stream))) => {
                        serve_connection(http, stream, routes, connected, ending.clone()).await;
                    }
                    Some(Ok(Err(error))) => tracing::debug!(%error, "no TLS connection"),
                    Some(Err(_)) => tracing::debug!("the TLS handshake took too long"),
                    None => {}
                }
            });
        }
        drop(listener);
        if let Some(following) = following {
            following.abort();
        }
        drain();
        ending.cancel();
        tracing::info!("shutting down");
        // Connections that were taken over count as well.
        let ended = connections.acquire_many(most);
        if tokio::time::timeout(bounds.shutdown_timeout, ended)
            .await
            .is_err()
        {
            tracing::warn!("requests were still open at the end of the shutdown timeout");
        }
    }
}

/// Serves the requests of a connection, until either side ends it.
async fn serve_connection<S: AsyncRead + AsyncWrite + Send + Unpin + 'static>(
    http: http1::Builder,
    stream: S,
    routes: ServiceRouter,
    connected: Connected,
    ending: CancellationToken,
) {
    let of_requests = connected.clone();
    let service = service_fn(move |request: hyper::Request<_>| {
        let routes = routes.clone();
        let answered = routes.receive(request.map(Body::new), of_requests.clone());
        async { Ok::<_, Infallible>(answered.await) }
    });
    let stream = TokioIo::new(Rejections::new(stream));
    let connection = http.serve_connection(stream, service).with_upgrades();
    let mut connection = pin!(connection);
    let ended = tokio::select! {
        ended = &mut connection => ended,
        () = ending.cancelled() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    // Clients that go away are no concern of an operator.
    if let Err(error) = ended {
        tracing::debug!(%error, "connection ended");
    }
}

/// Waits for the next connection. Failures pass: a client may be gone already, and file handles
/// come free again.
async fn accept(listener: &TcpListener) -> (TcpStream, ClientAddress) {
    loop {
        match listener.accept().await {
            Ok((stream, peer)) => {
                // Without this small answers wait for an acknowledgement; it is no more than that.
                let _ = stream.set_nodelay(true);
                return (stream, ClientAddress(peer.ip()));
            }
            Err(error) => {
                tracing::warn!(%error, "failed to accept a connection");
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        }
    }
}
