//! Logs a service in to an identity provider, and keeps its token as long as it is valid.

use std::time::{Duration, SystemTime};

use outbound::Secret;
use tokio::sync::Mutex;
use uuid::Uuid;

use super::log_in::{Failure, Issued, LogIn};
use super::transport::Transport;
use super::{Grant, IdpError};

/// A token is used until this long before its end, or until the last tenth of a short life.
const MARGIN: Duration = Duration::from_secs(30);

/// The longest wait that a provider can ask for.
const MAX_WAIT: Duration = Duration::from_secs(60);

/// How to log in.
#[derive(Clone, Debug)]
pub struct IdpOptions {
    /// Address of the provider, such as `http://localhost:9011`; a path in it comes before all others.
    pub address: String,
    /// Who logs in, and how.
    pub log_in: LogIn,
    /// Number of further attempts after one that failed.
    pub retries: u32,
    /// Time between attempts. A provider may ask for more.
    pub retry_delay: Duration,
    /// Tries again after every failure, also where the provider refuses the request itself.
    pub counts_every_failure: bool,
}

impl IdpOptions {
    /// Creates options of a log-in to an application of FusionAuth, with ten retries, two seconds apart.
    #[must_use]
    pub fn new(
        address: impl Into<String>,
        application_id: Uuid,
        username: impl Into<String>,
        password: Secret,
    ) -> Self {
        let log_in = LogIn::FusionAuth {
            application_id: Some(application_id),
            username: username.into(),
            password,
        };
        IdpOptions::with(address, log_in)
    }

    /// Creates options of a log-in to a realm of Keycloak, with ten retries, two seconds apart.
    #[must_use]
    pub fn keycloak(
        address: impl Into<String>,
        realm: impl Into<String>,
        client_id: impl Into<String>,
        grant: Grant,
    ) -> Self {
        let log_in = LogIn::Keycloak {
            realm: realm.into(),
            client_id: client_id.into(),
            grant,
        };
        IdpOptions::with(address, log_in)
    }

    /// Creates options of a log-in, with ten retries, two seconds apart.
    #[must_use]
    pub fn with(address: impl Into<String>, log_in: LogIn) -> Self {
        IdpOptions {
            address: address.into(),
            log_in,
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
        let Issued { token, expires_at } = self.log_in().await?;
        *held = expires_at.and_then(usable_until).map(|until| Held {
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
    async fn log_in(&self) -> Result<Issued, IdpError> {
        let attempts = self.options.retries.saturating_add(1);
        let mut attempt = 1;
        loop {
            let tried = self.options.log_in.attempt(&self.transport).await;
            let Failure { error, retry_after } = match tried {
                Ok(issued) => return Ok(issued),
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
}

/// Returns until when a token can be used; `None` where it has ended already.
fn usable_until(end: SystemTime) -> Option<SystemTime> {
    let left = end.duration_since(SystemTime::now()).ok()?;
    end.checked_sub(MARGIN.min(left / 10))
}
