//! Asking an authorization server for tokens.

use std::time::{Duration, SystemTime};

use outbound::Secret;
use reqwest::header::HeaderMap;
use reqwest::{Method, Url};

use super::metadata::{Metadata, issuer};
use super::{DeviceAuthorization, OauthError, Tokens};
use crate::exchange::{Answer, Content, Exchange, ExchangeError, Question};

const DEVICE_CODE: &str = "urn:ietf:params:oauth:grant-type:device_code";

/// What `slow_down` adds to the interval (RFC 8628 section 3.5).
const SLOWER: Duration = Duration::from_secs(5);
/// The longest interval after failures.
const MAX_INTERVAL: Duration = Duration::from_secs(60);

/// A public client of an authorization server.
#[derive(Clone, Debug)]
pub struct OauthClient {
    exchange: Exchange,
    metadata: Metadata,
    client_id: String,
}

impl OauthClient {
    /// Reads the metadata of an issuer.
    ///
    /// # Errors
    /// When the issuer is no address under TLS or of loopback, has no metadata, or publishes those of someone else.
    pub async fn discover(address: &str, client_id: impl Into<String>) -> Result<Self, OauthError> {
        let issuer = issuer(address)?;
        let exchange = Exchange::new([&issuer])?;
        let metadata = Metadata::read(&exchange, &issuer).await?;
        let endpoints = [
            Some(&metadata.token_endpoint),
            metadata.device_authorization_endpoint.as_ref(),
            metadata.revocation_endpoint.as_ref(),
        ];
        Ok(OauthClient {
            // An issuer on this machine may have its endpoints elsewhere.
            exchange: Exchange::new(endpoints.into_iter().flatten())?,
            metadata,
            client_id: client_id.into(),
        })
    }

    /// Returns the issuer as it calls itself.
    #[must_use]
    pub fn issuer(&self) -> &str {
        &self.metadata.issuer
    }

    /// Begins a log-in that is confirmed in a browser (RFC 8628 section 3.1). `scope` is a list separated by spaces.
    ///
    /// # Errors
    /// When the server does not offer it, or refuses the client or the scope.
    pub async fn authorize_device(
        &self,
        scope: Option<&str>,
    ) -> Result<DeviceAuthorization, OauthError> {
        let endpoint = self
            .metadata
            .device_authorization_endpoint
            .as_ref()
            .ok_or(OauthError::NoDeviceFlow)?;
        let mut form = vec![("client_id", self.client_id.as_str())];
        form.extend(scope.map(|scope| ("scope", scope)));
        let answer = self.post(endpoint, &form).await?;
        if answer.status.is_success() {
            return DeviceAuthorization::of(&answer.body);
        }
        Err(OauthError::of(&answer))
    }

    /// Waits until the user has confirmed the log-in (RFC 8628 section 3.4). `sleep` waits for a time.
    ///
    /// A server that cannot be reached, or fails, is asked again at growing intervals.
    ///
    /// # Errors
    /// When the user refuses, when the code expires, and when the server refuses the client.
    pub async fn confirmed(
        &self,
        authorization: &DeviceAuthorization,
        mut sleep: impl AsyncFnMut(Duration),
    ) -> Result<Tokens, OauthError> {
        let form = [
            ("grant_type", DEVICE_CODE),
            ("device_code", authorization.device_code.reveal()),
            ("client_id", &self.client_id),
        ];
        let mut interval = authorization.interval;
        let mut left = authorization.expires_in;
        while let Some(rest) = left.checked_sub(interval) {
            sleep(interval).await;
            left = rest;
            let error = match self.grant(&form).await {
                Ok(tokens) => return Ok(tokens),
                Err(error) => error,
            };
            match &error {
                OauthError::Denied(denial) => match denial.error.as_str() {
                    "authorization_pending" => {}
                    "slow_down" => interval += SLOWER,
                    "access_denied" => return Err(OauthError::AccessDenied),
                    "expired_token" => return Err(OauthError::Expired),
                    _ => return Err(error),
                },
                error if error.may_pass() => interval = MAX_INTERVAL.min(interval * 2),
                _ => return Err(error),
            }
        }
        Err(OauthError::Expired)
    }

    /// Exchanges a refresh token for new tokens. The refresh token stays the same where the server issues none.
    ///
    /// # Errors
    /// [`OauthError::Denied`] when the refresh token has ended or was revoked.
    pub async fn refresh(&self, refresh_token: &Secret) -> Result<Tokens, OauthError> {
        let form = [
            ("grant_type", "refresh_token"),
            ("refresh_token", refresh_token.reveal()),
            ("client_id", &self.client_id),
        ];
        let mut tokens = self.grant(&form).await?;
        tokens
            .refresh_token
            .get_or_insert_with(|| refresh_token.clone());
        Ok(tokens)
    }

    /// Revokes a refresh token, and with it the log-in (RFC 7009). Returns whether the server offers that.
    ///
    /// # Errors
    /// When the server refuses.
    pub async fn revoke(&self, refresh_token: &Secret) -> Result<bool, OauthError> {
        let Some(endpoint) = &self.metadata.revocation_endpoint else {
            return Ok(false);
        };
        let form = [
            ("token", refresh_token.reveal()),
            ("token_type_hint", "refresh_token"),
            ("client_id", &self.client_id),
        ];
        let answer = self.post(endpoint, &form).await?;
        if answer.status.is_success() {
            return Ok(true);
        }
        Err(OauthError::of(&answer))
    }

    async fn grant(&self, form: &[(&str, &str)]) -> Result<Tokens, OauthError> {
        let asked = SystemTime::now();
        let answer = self.post(&self.metadata.token_endpoint, form).await?;
        Tokens::of(&answer, asked)
    }

    async fn post(&self, url: &Url, form: &[(&str, &str)]) -> Result<Answer, ExchangeError> {
        self.exchange
            .ask(Question {
                method: Method::POST,
                url: url.clone(),
                headers: HeaderMap::new(),
                content: Content::Form(form),
            })
            .await
    }
}
