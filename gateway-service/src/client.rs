//! Requests of the gateway itself to subgraphs: for schemas, health and good-to-go. Those of clients go through
//! the transport.

use std::time::Duration;

use bytes::Bytes;
use outbound::{Body, BodyError, Secret, causes};
use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE};
use reqwest::{RequestBuilder, StatusCode, Url};
use serde_json::{Value, json};

/// Maximum time of one request as a whole.
const TIMEOUT: Duration = Duration::from_secs(10);
/// Maximum size of an answer.
const MAX_BYTES: u64 = 64 << 20;

/// Sends requests to subgraphs.
#[derive(Clone, Debug)]
pub(crate) struct Client {
    http: reqwest::Client,
}

/// Why a request could not be sent, or was not answered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum ClientError {
    #[error("the HTTP client cannot be set up: {0}")]
    Setup(String),
    #[error("it does not answer: {0}")]
    Unreachable(String),
    #[error("its response is longer than {MAX_BYTES} bytes")]
    TooLong,
    #[error("the token cannot be sent")]
    Token,
}

/// An answer.
pub(super) struct Answer {
    pub(super) status: StatusCode,
    pub(super) body: Bytes,
}

impl Client {
    /// Creates a client for some addresses.
    pub(crate) fn new<'a>(
        addresses: impl IntoIterator<Item = &'a Url>,
    ) -> Result<Self, ClientError> {
        let tls = outbound::tls::config_for(addresses)
            .map_err(|error| ClientError::Setup(error.to_string()))?;
        let http = outbound::client(tls)
            .timeout(TIMEOUT)
            .build()
            .map_err(|error| ClientError::Setup(causes(error)))?;
        Ok(Client { http })
    }

    /// Sends a GraphQL query.
    pub(super) async fn query(
        &self,
        address: &Url,
        query: &str,
        token: Option<&Secret>,
    ) -> Result<Answer, ClientError> {
        let request = self
            .http
            .post(address.clone())
            .header(ACCEPT, "application/json")
            .header(CONTENT_TYPE, "application/json")
            .body(json!({ "query": query }).to_string());
        let request = match token {
            None => request,
            Some(token) => {
                let value = token.bearer().map_err(|_| ClientError::Token)?;
                request.header(AUTHORIZATION, value)
            }
        };
        sent(request).await
    }

    /// Reads what is at an address.
    pub(super) async fn get(&self, address: &Url) -> Result<Answer, ClientError> {
        let request = self.http.get(address.clone());
        sent(request.header(ACCEPT, "application/json")).await
    }
}

impl Answer {
    /// Returns the body as JSON; null if it is none.
    pub(super) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }
}

async fn sent(request: RequestBuilder) -> Result<Answer, ClientError> {
    let unreachable = |error| ClientError::Unreachable(causes(error));
    let response = request.send().await.map_err(unreachable)?;
    let status = response.status();
    let body = Body::of(response)
        .limited(MAX_BYTES)
        .all()
        .await
        .map_err(|error| match error {
            BodyError::Broken(error) => unreachable(error),
            _ => ClientError::TooLong,
        })?;
    Ok(Answer { status, body })
}
