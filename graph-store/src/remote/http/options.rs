//! Connection options for SPARQL servers: addresses, authentication and timeouts.

use std::time::Duration;

use outbound::{Addresses, HttpCodes, Secret};

use super::error::OptionsError;
use super::values::{ResultFormat, ServerKind, ServerType};

/// The options of an [`super::HttpEndpoint`].
///
/// A time of zero disables the timeout where its documentation says so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConnectionOptions {
    /// Addresses of the servers: the base of an RDF4J or GraphDB server, of a Fuseki server, or,
    /// without a [`repository`](Self::repository), the address that takes queries.
    pub addresses: Addresses,
    /// Addresses that take updates, one for each of [`addresses`](Self::addresses), in the same order.
    ///
    /// Without them, servers of RDF4J's protocol and Fuseki are written to at addresses that follow from
    /// those for queries, and other endpoints cannot be written to.
    pub update_addresses: Addresses,
    /// Whether the servers keep concurrent updates apart. If not, nothing is written.
    pub is_isolated: bool,
    /// For how long a transaction of the servers may last without a request.
    pub transaction_timeout: Duration,
    /// Kind of the servers.
    pub server: ServerType,
    /// Repository of RDF4J and GraphDB, dataset of Fuseki.
    pub repository: Option<String>,
    /// User of basic authentication.
    pub username: Option<String>,
    /// Password of the user.
    pub credentials: Option<Secret>,
    /// Bearer token, instead of user and password.
    pub token: Option<Secret>,
    /// Maximum number of connections to one server; further requests wait for a free one.
    pub max_concurrent_connections: usize,
    /// Maximum wait for a free connection; zero disables the timeout.
    pub connection_request_timeout: Duration,
    /// Maximum time to connect; zero disables the timeout.
    pub connect_timeout: Duration,
    /// Maximum time without a byte from the server, including the wait for the start of a result;
    /// zero disables the timeout.
    pub socket_timeout: Duration,
    /// Statuses of responses after which a request is retried; never 401 and 403.
    pub retry_http_codes: HttpCodes,
    /// Maximum number of retries; zero disables them. A connection that is lost before the response
    /// begins counts too, and is replaced at once.
    pub max_retries: u32,
    /// Delay before a retry.
    pub retry_interval: Duration,
    /// Replaces the three timeouts in health checks, and limits the whole check; zero disables the
    /// timeout.
    pub health_check_timeout: Duration,
    /// Maximum time for a read once one of several servers has failed.
    pub unavailable_read_timeout: Duration,
    /// Maximum time for what is repeated of a write once one of several servers has failed: whatever comes before
    /// its commit.
    pub unavailable_write_timeout: Duration,
    /// How often it is looked whether a failed server answers again. It is skipped until then, while others answer.
    pub scan_failed_interval: Duration,
    /// Tries another server when one answers 4xx, unless that says that the request or its sender is wrong.
    pub retry_on_http_4xx: bool,
    /// Tries another server when one answers 5xx, unless that says that it cannot do what is asked.
    pub retry_on_http_5xx: bool,
    /// Fails over even with a single address, which is retried until the time of the read or write is up.
    pub force_cluster_client: bool,
    /// Sends requests also to servers that said that they do not have the repository. Without it, they are skipped like
    /// those that failed.
    pub force_connection: bool,
    /// Maximum size of a result, in bytes as transferred.
    pub max_result_bytes: u64,
    /// Format of results.
    pub result_format: ResultFormat,
}

impl Default for ConnectionOptions {
    fn default() -> Self {
        ConnectionOptions {
            addresses: Addresses::default(),
            update_addresses: Addresses::default(),
            is_isolated: true,
            transaction_timeout: Duration::from_secs(60),
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
            unavailable_write_timeout: Duration::from_secs(60),
            scan_failed_interval: Duration::from_secs(15),
            retry_on_http_4xx: true,
            retry_on_http_5xx: true,
            force_cluster_client: false,
            force_connection: false,
            max_result_bytes: 512 << 20,
            result_format: ResultFormat::Json,
        }
    }
}

impl ConnectionOptions {
    /// Checks that the options are consistent.
    ///
    /// # Errors
    /// When there is no address, no connection, no repository where one is needed, or two kinds of
    /// authentication.
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
        if !self.update_addresses.is_empty() && self.update_addresses.len() != self.addresses.len()
        {
            return Err(OptionsError::UpdateAddresses);
        }
        match (self.server, &self.repository) {
            (ServerType::Known(ServerKind::Sparql11), Some(_)) => {
                Err(OptionsError::RepositoryUnknown)
            }
            _ => Ok(()),
        }
    }

    /// Returns whether another server takes over for a failed one, or a single one is waited for.
    #[must_use]
    pub fn fails_over(&self) -> bool {
        self.force_cluster_client || self.addresses.len() > 1
    }
}

/// Returns the limit for a timeout; `None` if it is zero.
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
                update_addresses: "http://a/update, http://b/update".parse().unwrap(),
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
