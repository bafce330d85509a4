//! Logs a service in to an identity provider, and keeps its token as long as it is valid.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use jsonwebtoken::dangerous::insecure_decode;
use outbound::Secret;
use reqwest::{Method, StatusCode};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::Mutex;
use uuid::Uuid;

use super::IdpError;
use super::transport::{Answer, Transport};

const LOGIN: &str = "/api/login";

/// A token is used until this long before its end, or until the last tenth of a short life.
const MARGIN: Duration = Duration::from_secs(30);

/// The longest wait that a provider can ask for.
const MAX_WAIT: Duration = Duration::from_secs(60);

/// How to log in.
#[derive(Clone, Debug)]
pub struct IdpOptions {
    /// Address of the provider, such as `http://localhost:9011`.
    pub address: String,
    /// The application to log in to.
    pub application_id: Uuid,
    /// User name or email address.
    pub username: String,
    /// Password.
    pub password: Secret,
    /// Number of further attempts after one that failed.
    pub retries: u32,
    /// Time between attempts. A provider may ask for more.
    pub retry_delay: Duration,
    /// Tries again after every failure, also where the provider refuses the request itself.
    pub counts_every_failure: bool,
}

impl IdpOptions {
    /// Creates options with ten retries, two seconds apart.
    #[must_use]
    pub fn new(
        address: impl Into<String>,
        application_id: Uuid,
        username: impl Into<String>,
        password: Secret,
    ) -> Self {
        IdpOptions {
            address: address.into(),
            application_id,
            username: username.into(),
            password,
            retries: 10,
            retry_delay: Duration::from_secs(2),
            counts_every_failure: false,
        }
    }
}

/// A user of an identity provider, who logs in when a token is needed.
pub struct IdpClient {
    options: IdpOptions,
    transport: Transport,
    /// Held during a log-in, so that there is one, however many wait for it.
    held: Mutex<Option<Held>>,
}

struct Held {
    token: Secret,
    /// When another one is needed.
    until: SystemTime,
}

/// A failed attempt.
struct Failure {
    error: IdpError,
    retry_after: Option<Duration>,
}

impl IdpClient {
    /// Creates a client; nothing is sent yet.
    ///
    /// # Errors
    /// When the address is malformed, or TLS cannot be set up.
    pub fn new(options: IdpOptions) -> Result<Self, IdpError> {
        let transport = Transport::new(&options.address)?;
        Ok(IdpClient {
            options,
            transport,
            held: Mutex::default(),
        })
    }

    /// Returns a token, the last one while it is valid for a moment yet.
    ///
    /// # Errors
    /// When no attempt succeeds, or the provider refuses the request itself.
    pub async fn token(&self) -> Result<Secret, IdpError> {
        let mut held = self.held.lock().await;
        let now = SystemTime::now();
        if let Some(held) = held.as_ref().filter(|held| now < held.until) {
            return Ok(held.token.clone());
        }
        *held = None;
        let answer = self.log_in().await?;
        let token = answer.body["token"].as_str();
        let token = Secret::new(token.ok_or(IdpError::Malformed("it has no token"))?);
        *held = usable_until(&answer.body, &token).map(|until| Held {
            token: token.clone(),
            until,
        });
        Ok(token)
    }

    /// Forgets the token.
    pub async fn forget(&self) {
        *self.held.lock().await = None;
    }

    /// Tries until an attempt succeeds.
    async fn log_in(&self) -> Result<Answer, IdpError> {
        let attempts = self.options.retries.saturating_add(1);
        let mut attempt = 1;
        loop {
            let Failure { error, retry_after } = match self.attempt().await {
                Ok(answer) => return Ok(answer),
                Err(failure) => failure,
            };
            if !self.options.counts_every_failure && !error.may_pass() {
                return Err(error);
            }
            tracing::warn!(attempt, attempts, %error, "failed to log in to the identity provider");
            if attempt == attempts {
                return Err(IdpError::GaveUp {
                    attempts,
                    source: Box::new(error),
                });
            }
            let asked = retry_after.unwrap_or_default().min(MAX_WAIT);
            tokio::time::sleep(self.options.retry_delay.max(asked)).await;
            attempt += 1;
        }
    }

    async fn attempt(&self) -> Result<Answer, Failure> {
        let body = json!({
            "loginId": self.options.username,
            "password": self.options.password.reveal(),
            "applicationId": self.options.application_id.to_string(),
        });
        let sent = self.transport.send(Method::POST, LOGIN, &[], Some(&body));
        let answer = sent.await.map_err(|error| Failure {
            error,
            retry_after: None,
        })?;
        let error = match answer.status {
            StatusCode::OK => return Ok(answer),
            StatusCode::ACCEPTED => IdpError::NotRegistered,
            StatusCode::NOT_FOUND => IdpError::Credentials,
            _ => answer.refused(),
        };
        Err(Failure {
            error,
            retry_after: answer.retry_after,
        })
    }
}

/// Returns until when a token can be used; `None` where nothing tells.
fn usable_until(body: &Value, token: &Secret) -> Option<SystemTime> {
    let stated = body["tokenExpirationInstant"].as_u64();
    let stated = stated.map(Duration::from_millis);
    let end = UNIX_EPOCH.checked_add(stated.or_else(|| claimed(token))?)?;
    let left = end.duration_since(SystemTime::now()).ok()?;
    end.checked_sub(MARGIN.min(left / 10))
}

/// Returns the end that a token claims. It is only read: whoever takes the token verifies it.
fn claimed(token: &Secret) -> Option<Duration> {
    #[derive(Deserialize)]
    struct End {
        exp: u64,
    }
    let end = insecure_decode::<End>(token.reveal()).ok()?;
    Some(Duration::from_secs(end.claims.exp))
}
