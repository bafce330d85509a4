//! Fetches a small document over HTTP, within bounds.

use std::sync::Arc;
use std::time::Duration;

use reqwest::header::{ACCEPT, HeaderValue};
use reqwest::redirect::Policy;
use reqwest::{Client, StatusCode, Url};
use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::BuilderVerifierExt;

/// Maximum size of a set of keys.
const MAX_BYTES: usize = 256 << 10;

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
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let builder =
        ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
    let builder = match url.scheme() {
        "https" => builder.with_platform_verifier()?,
        // A machine without certificates can use this one too.
        _ => builder.with_root_certificates(RootCertStore::empty()),
    };
    let client = Client::builder()
        .tls_backend_preconfigured(builder.with_no_client_auth())
        .redirect(Policy::none())
        .retry(reqwest::retry::never())
        .no_proxy()
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

/// Fetches a document.
pub(super) async fn fetch(client: &Client, url: &Url) -> Result<Vec<u8>, FetchError> {
    let request = client.get(url.clone()).header(ACCEPT, TYPES);
    let mut response = request.send().await.map_err(FetchError::Request)?;
    if response.status() != StatusCode::OK {
        return Err(FetchError::Status(response.status()));
    }
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(FetchError::Request)? {
        if body.len() + chunk.len() > MAX_BYTES {
            return Err(FetchError::TooLarge);
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}
