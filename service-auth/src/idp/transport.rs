//! Requests to an identity provider, and what is read of the answers.

use std::time::Duration;

use outbound::retry::retry_after;
use outbound::{Body, BodyError, Secret, causes};
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue};
use reqwest::{Client, Method, StatusCode, Url};
use serde_json::Value;

use super::IdpError;

/// Maximum size of an answer.
const MAX_BYTES: u64 = 4 << 20;
/// Maximum time of a request as a whole.
const TIMEOUT: Duration = Duration::from_secs(30);
/// Codes of an answer that an error lists, and their length.
const MAX_CODES: usize = 10;
const MAX_CODE: usize = 100;

/// Requests to one identity provider.
pub(super) struct Transport {
    client: Client,
    base: Url,
    headers: HeaderMap,
}

/// A successful answer, or one of the failures that a request expects.
pub(super) struct Answer {
    pub(super) status: StatusCode,
    pub(super) retry_after: Option<Duration>,
    /// `null` where there is none, or none in JSON.
    pub(super) body: Value,
}

impl Transport {
    pub(super) fn new(address: &str) -> Result<Self, IdpError> {
        let base = Url::parse(address).map_err(|_| IdpError::Address)?;
        let is_plain = base.username().is_empty() && base.password().is_none();
        if !matches!(base.scheme(), "http" | "https") || !base.has_host() || !is_plain {
            return Err(IdpError::Address);
        }
        let tls = outbound::tls::config_for([&base])
            .map_err(|error| IdpError::Setup(error.to_string()))?;
        let client = outbound::client(tls)
            .timeout(TIMEOUT)
            .build()
            .map_err(|error| IdpError::Setup(causes(error)))?;
        Ok(Transport {
            client,
            base,
            headers: HeaderMap::new(),
        })
    }

    /// Sends an API key, and the tenant that it acts for, with each request.
    pub(super) fn with_key(mut self, key: &Secret, tenant: Option<&str>) -> Result<Self, IdpError> {
        let mut key = HeaderValue::from_str(key.reveal()).map_err(|_| IdpError::ApiKey)?;
        key.set_sensitive(true);
        self.headers.insert(AUTHORIZATION, key);
        if let Some(tenant) = tenant.and_then(|tenant| HeaderValue::from_str(tenant).ok()) {
            self.headers.insert("x-fusionauth-tenantid", tenant);
        }
        Ok(self)
    }

    /// Sends a request. `path` begins with `/`; pairs of `query` are escaped.
    pub(super) async fn send(
        &self,
        method: Method,
        path: &str,
        query: &[(&str, &str)],
        body: Option<&Value>,
    ) -> Result<Answer, IdpError> {
        let mut url = self.base.clone();
        url.set_path(path);
        url.set_query(None);
        if !query.is_empty() {
            url.query_pairs_mut().extend_pairs(query);
        }
        let mut request = self.client.request(method, url);
        request = request.headers(self.headers.clone());
        if let Some(body) = body {
            request = request
                .header(CONTENT_TYPE, "application/json")
                .body(body.to_string());
        }
        let unreachable = |error| IdpError::Unreachable(causes(error));
        let response = request.send().await.map_err(unreachable)?;
        let (status, retry_after) = (response.status(), retry_after(response.headers()));
        let bytes = Body::of(response).limited(MAX_BYTES).all().await;
        let bytes = bytes.map_err(|error| match error {
            BodyError::Broken(error) => unreachable(error),
            _ => IdpError::Malformed("it is too large"),
        })?;
        Ok(Answer {
            status,
            retry_after,
            body: serde_json::from_slice(&bytes).unwrap_or_default(),
        })
    }
}

impl Answer {
    /// Returns the error that this answer is.
    pub(super) fn refused(&self) -> IdpError {
        if self.status == StatusCode::UNAUTHORIZED {
            return IdpError::ApiKey;
        }
        let general = self.body["generalErrors"].as_array();
        let fields = self.body["fieldErrors"].as_object();
        let fields = fields.into_iter().flat_map(|fields| fields.values());
        let fields = fields.filter_map(Value::as_array).flatten();
        let errors = general.into_iter().flatten().chain(fields);
        let codes = errors.filter_map(|error| error["code"].as_str());
        let short = |code: &str| code.chars().take(MAX_CODE).collect();
        IdpError::Refused {
            status: self.status,
            codes: codes.take(MAX_CODES).map(short).collect(),
        }
    }
}
