//! One request to an identity provider, and what is read of the answer.

use std::time::Duration;

use outbound::retry::retry_after;
use outbound::{Body, BodyError, causes};
#[cfg(feature = "idp")]
use reqwest::header::CONTENT_TYPE;
use reqwest::header::{ACCEPT, HeaderMap, HeaderValue};
use reqwest::{Client, Method, StatusCode, Url};
use serde_json::Value;

use super::fetch::peer;

/// Maximum size of an answer.
const MAX_BYTES: u64 = 4 << 20;
/// Maximum time of a request as a whole.
const TIMEOUT: Duration = Duration::from_secs(30);

const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// Sends requests, and reads answers within a bound.
#[derive(Clone, Debug)]
pub(crate) struct Exchange {
    client: Client,
}

/// A request.
pub(crate) struct Question<'q> {
    pub(crate) method: Method,
    pub(crate) url: Url,
    pub(crate) headers: HeaderMap,
    pub(crate) content: Content<'q>,
}

/// The body of a request.
#[derive(Clone, Copy)]
pub(crate) enum Content<'c> {
    /// No body.
    None,
    /// A JSON value.
    #[cfg(feature = "idp")]
    Json(&'c Value),
    /// Pairs of a form.
    Form(&'c [(&'c str, &'c str)]),
}

/// An answer.
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    #[cfg_attr(
        not(feature = "idp"),
        expect(dead_code, reason = "only a service that logs in is told to wait")
    )]
    pub(crate) retry_after: Option<Duration>,
    /// `null` where there is none, or none in JSON.
    pub(crate) body: Value,
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ExchangeError {
    /// The client cannot be set up.
    #[error("{0}")]
    Setup(String),
    /// The server does not answer.
    #[error("{0}")]
    Unreachable(String),
    /// The answer exceeds the bound.
    #[error("it is too large")]
    TooLarge,
}

impl Exchange {
    /// Creates a client for some addresses.
    pub(crate) fn new<'u>(
        addresses: impl IntoIterator<Item = &'u Url>,
    ) -> Result<Self, ExchangeError> {
        let tls = outbound::tls::config_for(addresses)
            .map_err(|error| ExchangeError::Setup(error.to_string()))?;
        let client = outbound::client(tls)
            .timeout(TIMEOUT)
            .build()
            .map_err(|error| ExchangeError::Setup(causes(error)))?;
        Ok(Exchange { client })
    }

    /// Sends a request once.
    pub(crate) async fn ask(&self, question: Question<'_>) -> Result<Answer, ExchangeError> {
        let mut traced = traces::Exchange::client_in_context(&question.method, peer(&question.url));
        let request = self
            .client
            .request(question.method, question.url)
            .header(ACCEPT, JSON)
            .headers(question.headers);
        let request = match question.content {
            Content::None => request,
            #[cfg(feature = "idp")]
            Content::Json(body) => request.header(CONTENT_TYPE, JSON).body(body.to_string()),
            Content::Form(pairs) => request.form(pairs),
        };
        let unreachable = |error| ExchangeError::Unreachable(causes(error));
        let response = request
            .headers(traced.headers())
            .send()
            .await
            .map_err(|error| {
                traced.failed("connection");
                unreachable(error)
            })?;
        traced.answered(response.status());
        let (status, retry_after) = (response.status(), retry_after(response.headers()));
        let bytes =
            Body::of(response)
                .limited(MAX_BYTES)
                .all()
                .await
                .map_err(|error| match error {
                    BodyError::Broken(error) => unreachable(error),
                    _ => ExchangeError::TooLarge,
                })?;
        Ok(Answer {
            status,
            retry_after,
            body: serde_json::from_slice(&bytes).unwrap_or_default(),
        })
    }
}
