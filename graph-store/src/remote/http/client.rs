//! The HTTP clients: one for queries, one for health checks, which has a timeout of its own.

use std::sync::Arc;
use std::time::Duration;

use reqwest::header::HeaderValue;
use reqwest::redirect::Policy;
use reqwest::{Client, RequestBuilder};
use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::BuilderVerifierExt;

use super::error::OptionsError;
use super::options::{ConnectionOptions, bound};
use super::values::Secret;

/// Idle connections are closed before servers do it, some of which wait no longer than 20 s: a
/// request sent on a connection that is being closed is lost.
const IDLE: Duration = Duration::from_secs(10);

/// A client, with the headers and timeouts of every request.
#[derive(Debug)]
pub(super) struct Channel {
    client: Client,
    authentication: Authentication,
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
        let tls = tls(options)?;
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
            Channel::new(options, tls, checks)?,
        ))
    }

    fn new(
        options: &ConnectionOptions,
        tls: ClientConfig,
        timeouts: Timeouts,
    ) -> Result<Self, OptionsError> {
        let builder = Client::builder()
            .tls_backend_preconfigured(tls)
            // Requests to a store, and their credentials, must not go to another address.
            .redirect(Policy::none())
            // Retries are configured by the options and counted elsewhere.
            .retry(reqwest::retry::never())
            .no_proxy()
            .tcp_nodelay(true)
            .pool_idle_timeout(IDLE);
        let builder = match bound(timeouts.connect) {
            Some(time) => builder.connect_timeout(time),
            None => builder,
        };
        Ok(Channel {
            client: builder.build().map_err(OptionsError::Client)?,
            authentication: authentication(options)?,
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

/// Sets up TLS with the system's certificates if an address requires TLS: a machine without
/// certificates can still use other addresses.
fn tls(options: &ConnectionOptions) -> Result<ClientConfig, OptionsError> {
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(OptionsError::Tls)?;
    let addresses = options.addresses.urls();
    let builder = if addresses.iter().any(|url| url.scheme() == "https") {
        builder
            .with_platform_verifier()
            .map_err(OptionsError::Tls)?
    } else {
        builder.with_root_certificates(RootCertStore::empty())
    };
    Ok(builder.with_no_client_auth())
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
