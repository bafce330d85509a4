//! Fetches a small document over HTTP, within bounds.

use std::time::Duration;

use bytes::Bytes;
use outbound::{Body, BodyError};
use reqwest::header::{ACCEPT, HeaderValue};
use reqwest::{Client, Method, StatusCode, Url};
use traces::{Exchange, Peer};

/// Maximum size of a set of keys.
const MAX_BYTES: u64 = 256 << 10;

const TYPES: HeaderValue = HeaderValue::from_static("application/jwk-set+json, application/json");

/// Why a document could not be fetched.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(super) enum FetchError {
    #[error("the request failed")]
    Request(#[source] reqwest::Error),
    #[error("the server answered {0}")]
    Status(StatusCode),
    #[error("the response is larger than 256 KiB")]
    TooLarge,
    #[error("the response is not a set of keys")]
    NotKeys,
}

/// Makes a client that verifies certificates as the system does, and follows no redirections: what
/// is fetched decides who is believed.
///
/// # Errors
///
/// Fails when TLS cannot be set up.
pub(super) fn client(url: &Url, timeout: Duration) -> Result<Client, ClientError> {
    let client = outbound::client(outbound::tls::config_for([url])?)
        .timeout(timeout)
        // Minutes pass until the next request.
        .pool_max_idle_per_host(0);
    Ok(client.build()?)
}

/// Why there is no client.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClientError {
    /// TLS cannot be set up.
    #[error("failed to set up TLS")]
    Tls(#[from] rustls::Error),
    /// The client cannot be made.
    #[error("failed to set up the HTTP client")]
    Client(#[from] reqwest::Error),
}

/// Begins the span of fetching a document, as a part of the request that this thread answers.
pub(super) fn traced(url: &Url) -> Exchange {
    Exchange::client_in_context(&Method::GET, peer(url))
}

/// Fetches a document.
pub(super) async fn fetch(
    client: &Client,
    url: &Url,
    mut traced: Exchange,
) -> Result<Bytes, FetchError> {
    let request = client
        .get(url.clone())
        .header(ACCEPT, TYPES)
        .headers(traced.headers());
    let response = request.send().await.map_err(|error| {
        traced.failed("connection");
        FetchError::Request(error)
    })?;
    traced.answered(response.status());
    if response.status() != StatusCode::OK {
        return Err(FetchError::Status(response.status()));
    }
    let body = Body::of(response).limited(MAX_BYTES).all().await;
    body.map_err(|error| match error {
        BodyError::Broken(error) => FetchError::Request(error),
        _ => FetchError::TooLarge,
    })
}

/// Returns what a span says of the server at an address.
pub(super) fn peer(url: &Url) -> Peer<'_> {
    Peer {
        address: url.host_str().unwrap_or_default(),
        port: url.port_or_known_default(),
    }
}
