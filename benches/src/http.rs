//! The service over HTTP: one that runs in this process, and connections that send requests.

use std::future::Future;
use std::net::{SocketAddr, ToSocketAddrs};
use std::sync::Arc;

use bytes::Bytes;
use graph_store::GraphStore;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper::header::{CONTENT_TYPE, HOST};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{HeaderMap, Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use object_service::SchemaChangeError;
use schema_registry::{Expected, InMemorySchemaStore};
use servers::config::Settings;
use servers::wiring::object_service;
use service_runtime::ServeError;
use service_runtime::Server;
use tokio::net::{TcpListener, TcpStream};

/// A failure to reach the service.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HttpError {
    /// The address is not `http://HOST:PORT`.
    #[error("`{0}` is not an address such as http://127.0.0.1:9995")]
    Address(String),
    /// The service does not listen.
    #[error("failed to connect")]
    Connect(#[source] std::io::Error),
    /// The exchange failed.
    #[error("failed to exchange messages")]
    Exchange(#[from] hyper::Error),
    /// The connection broke.
    #[error("the connection failed")]
    Connection(#[source] std::io::Error),
    /// The server closes a connection that waits for an answer.
    #[error("the server closed the connection before the answer was whole")]
    Closed,
    /// The answer is not one of HTTP.
    #[error("the head of the answer is malformed")]
    Head(#[from] httparse::Error),
    /// The answer does not tell how long it is.
    #[error("the answer has no length")]
    Length,
    /// The service refuses.
    #[error("the service answers {0}")]
    Status(StatusCode),
    /// The answer holds errors.
    #[error("the answer holds errors: {0}")]
    Errors(String),
    /// No request can be made of the parts.
    #[error("the request is malformed")]
    Request(#[from] hyper::http::Error),
    /// The service does not start.
    #[error("failed to start the service")]
    Start(#[from] ServeError),
    /// The schema cannot be served.
    #[error("failed to bind the schema")]
    Schema(#[from] SchemaChangeError),
}

/// Starts the service on a free port of this machine, on the runtime at hand; it ends with `stop`.
///
/// # Errors
/// When the schema cannot be served or nothing can listen.
pub async fn start(
    soml: &str,
    store: Arc<dyn GraphStore>,
    stop: impl Future<Output = ()> + Send + 'static,
) -> Result<SocketAddr, HttpError> {
    let settings = Settings {
        port: 0,
        ..Settings::default()
    };
    let schemas = Arc::new(InMemorySchemaStore::default());
    let app = Arc::new(object_service(&settings, store, schemas));
    let (stored, _) = app.store_schema(soml).await?;
    app.bind(&stored.id, &Expected::default(), None).await?;
    let server = Server::listen(app).await?;
    let address = server.address();
    tokio::spawn(server.run(stop));
    Ok(address)
}

/// Reads `http://HOST:PORT`.
///
/// # Errors
/// When it is something else, or the host is unknown.
pub fn address(url: &str) -> Result<SocketAddr, HttpError> {
    let malformed = || HttpError::Address(url.to_owned());
    let rest = url.strip_prefix("http://").ok_or_else(malformed)?;
    let mut found = rest
        .trim_end_matches('/')
        .to_socket_addrs()
        .map_err(|_| malformed())?;
    found.next().ok_or_else(malformed)
}

/// Serves something else by the same HTTP library, on a free port of this machine and the runtime at
/// hand: the response to a request whose body is a number is what `answer` says of it, and status 500
/// where it says nothing.
///
/// # Errors
/// When nothing can listen.
pub async fn serve<A>(
    answer: impl Fn(usize) -> A + Send + Sync + 'static,
) -> Result<SocketAddr, HttpError>
where
    A: Future<Output = Option<Bytes>> + Send + 'static,
{
    let listener = TcpListener::bind("127.0.0.1:0").await;
    let listener = listener.map_err(HttpError::Connect)?;
    let address = listener.local_addr().map_err(HttpError::Connect)?;
    let answer = Arc::new(answer);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let _ = stream.set_nodelay(true);
            let answer = Arc::clone(&answer);
            let service = service_fn(move |request: Request<Incoming>| {
                let answer = Arc::clone(&answer);
                async move {
                    let body = request.into_body().collect().await?.to_bytes();
                    let number = std::str::from_utf8(&body).ok().and_then(|n| n.parse().ok());
                    let answer = match number {
                        Some(number) => answer(number).await,
                        None => None,
                    };
                    let is_answered = answer.is_some();
                    let body = Full::new(answer.unwrap_or_default());
                    let mut response = Response::new(body);
                    if !is_answered {
                        *response.status_mut() = StatusCode::INTERNAL_SERVER_ERROR;
                    }
                    Ok::<_, hyper::Error>(response)
                }
            });
            let connection = http1::Builder::new().serve_connection(TokioIo::new(stream), service);
            tokio::spawn(connection);
        }
    });
    Ok(address)
}

/// Connects to a server; what is sent goes out at once.
pub(crate) async fn connect(address: SocketAddr) -> Result<TcpStream, HttpError> {
    let stream = TcpStream::connect(address).await;
    let stream = stream.map_err(HttpError::Connect)?;
    stream.set_nodelay(true).map_err(HttpError::Connect)?;
    Ok(stream)
}

/// A connection that is kept open.
pub struct Connection {
    host: String,
    sender: SendRequest<Full<Bytes>>,
}

impl Connection {
    /// Connects.
    ///
    /// # Errors
    /// When nothing listens.
    pub async fn open(address: SocketAddr) -> Result<Self, HttpError> {
        let stream = connect(address).await?;
        let (sender, connection) = handshake(TokioIo::new(stream)).await?;
        tokio::spawn(connection);
        Ok(Connection {
            host: address.to_string(),
            sender,
        })
    }

    /// Sends a GraphQL request and returns the whole answer.
    ///
    /// # Errors
    /// When the exchange fails or the status is not 200.
    pub async fn send(&mut self, body: Bytes) -> Result<Bytes, HttpError> {
        let (status, body) = self.exchange(Method::POST, "/graphql", body).await?;
        if status.is_success() {
            Ok(body)
        } else {
            Err(HttpError::Status(status))
        }
    }

    /// Sends a request to a path and returns status and body of the answer.
    ///
    /// # Errors
    /// When the exchange fails.
    pub async fn exchange(
        &mut self,
        method: Method,
        path: &str,
        body: Bytes,
    ) -> Result<(StatusCode, Bytes), HttpError> {
        self.exchange_with(method, path, &HeaderMap::new(), body)
            .await
    }

    /// Sends a request with some headers to a path, and returns status and body of the answer.
    ///
    /// # Errors
    /// When the exchange fails.
    pub async fn exchange_with(
        &mut self,
        method: Method,
        path: &str,
        headers: &HeaderMap,
        body: Bytes,
    ) -> Result<(StatusCode, Bytes), HttpError> {
        let mut request = Request::builder()
            .method(method)
            .uri(path)
            .header(HOST, &self.host)
            .header(CONTENT_TYPE, "application/json")
            .body(Full::new(body))?;
        request.headers_mut().extend(headers.clone());
        self.sender.ready().await?;
        let response = self.sender.send_request(request).await?;
        let status = response.status();
        Ok((status, response.into_body().collect().await?.to_bytes()))
    }
}
