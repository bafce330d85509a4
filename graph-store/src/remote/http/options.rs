//! How a SPARQL server is reached, whom it trusts, and how long it is waited for.

use std::time::Duration;

use super::error::OptionsError;
use super::values::{Addresses, HttpCodes, ResultFormat, Secret, ServerKind, ServerType};

/// The options of an [`super::HttpEndpoint`].
///
/// Times of zero mean without end where that is said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConnectionOptions {
    /// Where the servers are: the base of an RDF4J or GraphDB server, of a Fuseki server, or, without
    /// a [`repository`](Self::repository), the address that takes queries.
    pub addresses: Addresses,
    /// Kind of the servers.
    pub server: ServerType,
    /// Repository of RDF4J and GraphDB, dataset of Fuseki.
    pub repository: Option<String>,
    /// User of basic authentication.
    pub username: Option<String>,
    /// Password of the user.
    pub credentials: Option<Secret>,
    /// Bearer token, in place of user and password.
    pub token: Option<Secret>,
    /// Connections to one server at the same time; further requests wait for one to be free.
    pub max_concurrent_connections: usize,
    /// Greatest wait for a free connection; zero waits without end.
    pub connection_request_timeout: Duration,
    /// Greatest time to connect; zero waits without end.
    pub connect_timeout: Duration,
    /// Greatest time without a byte from the server, so also for the start of a result; zero waits
    /// without end.
    pub socket_timeout: Duration,
    /// Answers that are tried again.
    pub retry_http_codes: HttpCodes,
    /// How often a request is sent again at most; zero for never. A connection that is lost before
    /// the answer begins counts too, and is replaced at once.
    pub max_retries: u32,
    /// Wait before a request is sent again.
    pub retry_interval: Duration,
    /// Replaces the three timeouts in health checks, and bounds the whole check; zero waits without
    /// end.
    pub health_check_timeout: Duration,
    /// Greatest time for a read once a server of several has failed.
    pub unavailable_read_timeout: Duration,
    /// How long a failed server is left aside while others answer.
    pub scan_failed_interval: Duration,
    /// Asks another server when one answers 4xx.
    pub retry_on_http_4xx: bool,
    /// Asks another server when one answers 5xx.
    pub retry_on_http_5xx: bool,
    /// Fails over even with one address: it is tried until the read's time is up.
    pub force_cluster_client: bool,
    /// Greatest size of a result, in bytes as sent.
    pub max_result_bytes: u64,
    /// Form of results.
    pub result_format: ResultFormat,
}

impl Default for ConnectionOptions {
    fn default() -> Self {
        ConnectionOptions {
            addresses: Addresses::default(),
            server: ServerType::Auto,
            repository: None,
            username: None,
            credentials: None,
            token: None,
            max_concurrent_connections: 500,
            connection_request_timeout: Duration::from_secs(10),
            connect_timeout: Duration::from_secs(10),
            socket_timeout: Duration::ZERO,
            retry_http_codes: "503".parse().expect("503 is a code"),
            max_retries: 1,
            retry_interval: Duration::from_secs(2),
            health_check_timeout: Duration::from_secs(5),
            unavailable_read_timeout: Duration::from_secs(60),
            scan_failed_interval: Duration::from_secs(15),
            retry_on_http_4xx: true,
            retry_on_http_5xx: true,
            force_cluster_client: false,
            max_result_bytes: 512 << 20,
            result_format: ResultFormat::Json,
        }
    }
}

impl ConnectionOptions {
    /// Checks what the options say together.
    ///
    /// # Errors
    /// When there is no address, no connection, no repository where one is needed, or
    /// authentication of two sorts.
    pub fn validate(&self) -> Result<(), OptionsError> {
        if self.addresses.is_empty() {
            return Err(OptionsError::NoAddress);
        }
        if self.max_concurrent_connections == 0 {
            return Err(OptionsError::NoConnections);
        }
        if self.token.is_some() && (self.username.is_some() || self.credentials.is_some()) {
            return Err(OptionsError::TwoAuthentications);
        }
        if self.credentials.is_some() && self.username.is_none() {
            return Err(OptionsError::NoUsername);
        }
        match (self.server, &self.repository) {
            (ServerType::Known(ServerKind::Sparql11), Some(_)) => {
                Err(OptionsError::RepositoryUnknown)
            }
            _ => Ok(()),
        }
    }

    /// Tells whether a failed server is replaced by another.
    pub(super) fn fails_over(&self) -> bool {
        self.force_cluster_client || self.addresses.len() > 1
    }
}

/// Returns the bound that a timeout means; zero is none.
pub(super) fn bound(timeout: Duration) -> Option<Duration> {
    (!timeout.is_zero()).then_some(timeout)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options() -> ConnectionOptions {
        ConnectionOptions {
            addresses: "http://127.0.0.1:7200".parse().unwrap(),
            ..ConnectionOptions::default()
        }
    }

    #[test]
    fn contradictions_are_refused() {
        assert!(options().validate().is_ok());
        let cases = [
            ConnectionOptions::default(),
            ConnectionOptions {
                max_concurrent_connections: 0,
                ..options()
            },
            ConnectionOptions {
                token: Some(Secret::new("t")),
                username: Some("u".to_owned()),
                ..options()
            },
            ConnectionOptions {
                credentials: Some(Secret::new("p")),
                ..options()
            },
            ConnectionOptions {
                server: ServerType::Known(ServerKind::Sparql11),
                repository: Some("r".to_owned()),
                ..options()
            },
        ];
        for case in cases {
            assert!(case.validate().is_err(), "{case:?}");
        }
    }

    #[test]
    fn credentials_are_not_shown() {
        let options = ConnectionOptions {
            username: Some("somebody".to_owned()),
            credentials: Some(Secret::new("hidden")),
            token: Some(Secret::new("hidden")),
            ..options()
        };
        assert!(!format!("{options:?}").contains("hidden"));
    }
}
