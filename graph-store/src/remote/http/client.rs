//! The HTTP clients: one for queries, one for health checks, which has a timeout of its own.

use std::time::Duration;

use outbound::Secret;
use reqwest::header::HeaderValue;
use reqwest::{Client, RequestBuilder};
use rustls::ClientConfig;

use super::error::OptionsError;
use super::options::{ConnectionOptions, bound};

/// Idle connections are closed before servers do it, some of which wait no longer than 20 s: a
/// request sent on a connection that is being closed is lost.
const IDLE: Duration = Duration::from_secs(10);

/// A client, with the headers and timeouts of every request.
#[derive(Debug)]
pub(super) struct Channel {
    client: Client,
    authentication: Authentication,
    /// Whether requests wait for one of the connections that there may be.
    pub(super) waits_for_connections: bool,
    /// Maximum wait for a free connection.
    pub(super) connection_request_timeout: Option<Duration>,
    /// Maximum time without a byte.
    pub(super) socket_timeout: Option<Duration>,
}

#[derive(Clone, Debug)]
enum Authentication {
    None,
    Basic {
        username: String,
        password: Option<Secret>,
    },
    Bearer(Secret),
}

/// How long a client waits; zero disables a timeout.
struct Timeouts {
    request: Duration,
    connect: Duration,
    socket: Duration,
}

impl Channel {
    /// Makes the clients of queries and of health checks.
    pub(super) fn pair(options: &ConnectionOptions) -> Result<(Self, Self), OptionsError> {
        let tls = outbound::tls::config_for(options.addresses.urls()).map_err(OptionsError::Tls)?;
        let queries = Timeouts {
            request: options.connection_request_timeout,
            connect: options.connect_timeout,
            socket: options.socket_timeout,
        };
        let time = options.health_check_timeout;
        let checks = Timeouts {
            request: time,
            connect: time,
            socket: time,
        };
        Ok((
            Channel::new(options, tls.clone(), queries)?,
            Channel {
                // A server that hangs keeps all of them.
                waits_for_connections: false,
                ..Channel::new(options, tls, checks)?
            },
        ))
    }

    fn new(
        options: &ConnectionOptions,
        tls: ClientConfig,
        timeouts: Timeouts,
    ) -> Result<Self, OptionsError> {
        let builder = outbound::client(tls)
            .tcp_nodelay(true)
            .pool_idle_timeout(IDLE);
        let builder = match bound(timeouts.connect) {
            Some(time) => builder.connect_timeout(time),
            None => builder,
        };
        Ok(Channel {
            client: builder.build().map_err(OptionsError::Client)?,
            authentication: authentication(options)?,
            waits_for_connections: true,
            connection_request_timeout: bound(timeouts.request),
            socket_timeout: bound(timeouts.socket),
        })
    }

    /// Starts a request with the credentials of the client.
    pub(super) fn request(&self, method: reqwest::Method, url: reqwest::Url) -> RequestBuilder {
        let request = self.client.request(method, url);
        match &self.authentication {
            Authentication::None => request,
            Authentication::Basic { username, password } => {
                request.basic_auth(username, password.as_ref().map(Secret::reveal))
            }
            Authentication::Bearer(token) => request.bearer_auth(token.reveal()),
        }
    }
}

fn authentication(options: &ConnectionOptions) -> Result<Authentication, OptionsError> {
    if let Some(token) = &options.token {
        HeaderValue::from_str(token.reveal()).map_err(|_| OptionsError::Token)?;
        return Ok(Authentication::Bearer(token.clone()));
    }
    Ok(match &options.username {
        Some(username) => Authentication::Basic {
            username: username.clone(),
            password: options.credentials.clone(),
        },
        None => Authentication::None,
    })
}
