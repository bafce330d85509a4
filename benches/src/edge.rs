//! What the edge adds to a request, at a fixed rate of requests.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use edge_service::{EdgeApp, EdgeError, EdgeOptions, RouteOptions, Target};
use hyper::header::AUTHORIZATION;
use hyper::{HeaderMap, Method};
use outbound::Secret;
use serde_json::json;
use service_auth::{Verifier, VerifierError, VerifierOptions};
use service_runtime::{HostOptions, HostState, ResourceOptions, ServeError, Server, resources};

use crate::http::{Connection, HttpError};
use crate::measure::Samples;

/// The secret of the tokens of requests.
const SECRET: &str = "0123456789abcdef0123456789ABCDEF";

/// Why the edge could not be measured.
#[derive(Debug, thiserror::Error)]
pub enum EdgeBenchError {
    /// A request failed.
    #[error("a request failed")]
    Http(#[from] HttpError),
    /// The edge cannot be set up.
    #[error("the edge cannot be set up")]
    Edge(#[from] EdgeError),
    /// Tokens cannot be verified.
    #[error("tokens cannot be verified")]
    Verifier(#[from] VerifierError),
    /// The edge cannot listen.
    #[error("the edge cannot listen")]
    Serve(#[from] ServeError),
    /// A token cannot be made.
    #[error("a token cannot be made")]
    Token(#[from] jsonwebtoken::errors::Error),
}

/// Starts an edge that verifies tokens and counts requests in front of a server.
///
/// # Errors
/// When it cannot be set up or listen.
pub async fn in_front_of(server: SocketAddr) -> Result<SocketAddr, EdgeBenchError> {
    let addresses = format!("http://{server}").parse();
    let target = Target::Servers(addresses.expect("the address of a server"));
    let mut options = VerifierOptions::default();
    options.secret = Some(Secret::new(SECRET));
    let verifier = Arc::new(Verifier::of(&options)?);
    let state = HostState::new(
        HostOptions::default(),
        resources(&ResourceOptions::default()),
    );
    let routes = vec![RouteOptions::new("graphql", "/graphql", target)];
    let edge = EdgeApp::new(
        state.with_verifier(Some(verifier)),
        &EdgeOptions::default(),
        routes,
    )?;
    let listening = Server::listen(Arc::new(edge)).await?;
    let address = listening.address();
    tokio::spawn(listening.run(std::future::pending()));
    Ok(address)
}

/// Returns the headers of requests, with a token.
///
/// # Errors
/// When no token can be made.
pub fn headers() -> Result<HeaderMap, EdgeBenchError> {
    let claims = json!({ "sub": "bench", "exp": 4_102_444_800_u64 });
    let key = jsonwebtoken::EncodingKey::from_secret(SECRET.as_bytes());
    let token = jsonwebtoken::encode(&jsonwebtoken::Header::default(), &claims, &key)?;
    let token = format!("Bearer {token}");
    let token = token.try_into().expect("a token is ASCII");
    Ok(HeaderMap::from_iter([(AUTHORIZATION, token)]))
}

/// Sends requests at a fixed rate, whether answers come or not, and times each from the moment at which it was due.
///
/// # Errors
/// When a request fails.
pub async fn at_rate(
    address: SocketAddr,
    headers: &HeaderMap,
    body: &Bytes,
    rate: u32,
    time: Duration,
) -> Result<Samples, EdgeBenchError> {
    /// Connections that requests take in turns.
    const CONNECTIONS: u32 = 8;
    let begun = Instant::now() + Duration::from_millis(10);
    let pause = Duration::from_secs(1) / rate;
    let count = u32::try_from(time.as_nanos() / pause.as_nanos()).unwrap_or(u32::MAX);
    let clients = (0..CONNECTIONS).map(|number| async move {
        let mut connection = Connection::open(address).await?;
        let mut samples = Samples::default();
        for request in (number..count).step_by(CONNECTIONS as usize) {
            let due = begun + pause * request;
            tokio::time::sleep_until(due.into()).await;
            let (status, _) = connection
                .exchange_with(Method::POST, "/graphql", headers, body.clone())
                .await?;
            if !status.is_success() {
                return Err(HttpError::Status(status).into());
            }
            samples.add(due.elapsed());
        }
        Ok::<_, EdgeBenchError>(samples)
    });
    let mut all = Samples::default();
    for samples in futures::future::try_join_all(clients).await? {
        all.merge(samples);
    }
    Ok(all)
}
