//! Settings of the connection to a cluster.

use std::time::Duration;

use outbound::{Addresses, Secret};

/// The settings of an [`OpenSearch`](super::OpenSearch) engine.
///
/// A time of zero disables the timeout where its documentation says so.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct OpenSearchOptions {
    /// Addresses of the nodes (`indexer.host`).
    pub addresses: Addresses,
    /// Name of the application, whose indexes these are (`application.name`).
    pub application: String,
    /// User of basic authentication.
    pub username: Option<String>,
    /// Password of the user.
    pub password: Option<Secret>,
    /// Certificates, as PEM, of authorities that are trusted in addition to those of the system.
    pub authorities: Option<Vec<u8>>,
    /// Maximum number of connections to one node; further requests wait for a free one.
    pub max_connections: usize,
    /// Maximum time to connect, and maximum wait for a free connection (`indexer.accessTimeout`); zero
    /// disables the timeout.
    pub access_timeout: Duration,
    /// Maximum time from a request to the end of its answer; zero disables the timeout.
    pub request_timeout: Duration,
    /// Replaces the other timeouts in health checks (`indexer.healthCheckTimeout`).
    pub health_check_timeout: Duration,
    /// Maximum number of times that a request is repeated.
    pub max_retries: u32,
    /// Delay before the first repetition when no other node is left to ask; it doubles with each.
    pub retry_interval: Duration,
    /// For how long a node is set aside that failed once; it doubles with each failure, up to a minute.
    pub aside_interval: Duration,
    /// Maximum size of an answer, in bytes.
    pub max_answer_bytes: u64,
}

/// Why an engine cannot be made from its options.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OptionsError {
    /// No address is given.
    #[error("no address of a search engine is given")]
    NoAddress,
    /// An address with a query, which would not be sent.
    #[error("`{0}` has a query, which the address of a search engine cannot have")]
    Query(String),
    /// No connections are allowed.
    #[error("at least one connection to the search engine is needed")]
    NoConnections,
    /// A password without a user.
    #[error("a password for the search engine is given without a username")]
    NoUsername,
    /// An application without a name would own every index.
    #[error("the application has no name")]
    NoApplication,
    /// The HTTP client cannot be made.
    #[error("failed to set up the HTTP client")]
    Client(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// TLS cannot be set up.
    #[error("failed to set up TLS")]
    Tls(#[source] Box<dyn std::error::Error + Send + Sync>),
}

impl OpenSearchOptions {
    /// Names the nodes and the application.
    #[must_use]
    pub fn new(addresses: Addresses, application: impl Into<String>) -> Self {
        OpenSearchOptions {
            addresses,
            application: application.into(),
            username: None,
            password: None,
            authorities: None,
            max_connections: 100,
            access_timeout: Duration::from_secs(2),
            request_timeout: Duration::from_secs(60),
            health_check_timeout: Duration::from_secs(3),
            max_retries: 4,
            retry_interval: Duration::from_millis(100),
            aside_interval: Duration::from_secs(1),
            max_answer_bytes: 128 << 20,
        }
    }

    /// Sets the user and password of basic authentication.
    #[must_use]
    pub fn with_user(mut self, username: impl Into<String>, password: Secret) -> Self {
        self.username = Some(username.into());
        self.password = Some(password);
        self
    }

    pub(super) fn validate(&self) -> Result<(), OptionsError> {
        if self.addresses.is_empty() {
            return Err(OptionsError::NoAddress);
        }
        if let Some(url) = self.addresses.urls().iter().find(|u| u.query().is_some()) {
            return Err(OptionsError::Query(url.to_string()));
        }
        if self.max_connections == 0 {
            return Err(OptionsError::NoConnections);
        }
        if self.password.is_some() && self.username.is_none() {
            return Err(OptionsError::NoUsername);
        }
        if self.application.is_empty() {
            return Err(OptionsError::NoApplication);
        }
        Ok(())
    }
}

/// Returns the limit for a timeout; `None` if it is zero.
pub(super) fn bound(timeout: Duration) -> Option<Duration> {
    (!timeout.is_zero()).then_some(timeout)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options() -> OpenSearchOptions {
        OpenSearchOptions::new("http://127.0.0.1:9200".parse().expect("an address"), "demo")
    }

    #[test]
    fn contradictions_are_refused() {
        assert!(options().validate().is_ok());
        let with = |change: fn(&mut OpenSearchOptions)| {
            let mut options = options();
            change(&mut options);
            options
        };
        for case in [
            with(|options| options.addresses = Addresses::default()),
            with(|options| options.addresses = "http://h/?a=b".parse().expect("an address")),
            with(|options| options.max_connections = 0),
            with(|options| options.password = Some(Secret::new("p"))),
            with(|options| options.application.clear()),
        ] {
            assert!(case.validate().is_err(), "{case:?}");
        }
    }

    #[test]
    fn the_password_is_not_shown() {
        let options = options().with_user("somebody", Secret::new("hidden"));
        assert!(!format!("{options:?}").contains("hidden"));
    }
}
