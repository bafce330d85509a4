//! The options of what is around the routes of a service.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

use graphql_service::Limits;

use super::caller_lists::{HostNames, Origins};
use super::tls::TlsFiles;
use super::trusted_proxies::TrustedProxies;

/// Options that every service has.
#[derive(Clone, Debug)]
pub struct HostOptions {
    /// Name of the service in health records and at `/__about`.
    pub name: String,
    /// Address to listen on; port 0 takes a free one. Where it is one of this machine alone, requests may name only
    /// such hosts.
    pub address: SocketAddr,
    /// Address at which others reach the service, where it is known; shown at `/__about`.
    pub network_address: Option<String>,
    /// Limits on a document and its response.
    pub limits: Limits,
    /// Time for a request, after which it fails.
    pub request_timeout: Duration,
    /// Maximum size of the body of a GraphQL request.
    pub max_body_bytes: usize,
    /// Maximum size of a SOML document that is sent.
    pub max_schema_bytes: usize,
    /// Whether `GET /` serves GraphiQL.
    pub graphiql: bool,
    /// Whether clients may request the plan of a query.
    pub explain: bool,
    /// The role that may manage schemas and the rights on them, whatever these say.
    pub admin_role: String,
    /// How long a health record is cached.
    pub health_cache: Duration,
    /// Bounds on connections.
    pub listener: ListenerOptions,
    /// Whose requests are answered.
    pub callers: CallerOptions,
}

/// Bounds on connections.
#[derive(Clone, Debug)]
pub struct ListenerOptions {
    /// Maximum number of open connections; further clients wait in the queue of the operating system.
    pub max_connections: usize,
    /// Time for the head of a request to come.
    pub header_timeout: Duration,
    /// Time for a client to take the next part of a response.
    pub send_timeout: Duration,
    /// Time for open requests to complete at the end.
    pub shutdown_timeout: Duration,
    /// The certificate of a listener that speaks TLS; without one it speaks plain HTTP.
    pub tls: Option<TlsFiles>,
}

/// Whose requests are answered: names of the service, and web pages.
#[derive(Clone, Debug)]
pub struct CallerOptions {
    /// Host names that requests may use, in addition to those of this machine.
    pub hosts: HostNames,
    /// Origins of web pages that may call.
    pub origins: Origins,
    /// How long browsers may keep the answer to a preflight.
    pub preflight_age: Duration,
    /// The proxies in front of the service.
    pub proxies: TrustedProxies,
}

impl Default for HostOptions {
    fn default() -> Self {
        HostOptions {
            name: "service".to_owned(),
            address: SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0),
            network_address: None,
            limits: Limits::default(),
            request_timeout: Duration::from_secs(60),
            max_body_bytes: 1 << 20,
            max_schema_bytes: 8 << 20,
            graphiql: true,
            explain: false,
            admin_role: "SchemaRBACAdmin".to_owned(),
            health_cache: Duration::from_secs(30),
            listener: ListenerOptions::default(),
            callers: CallerOptions::default(),
        }
    }
}

impl Default for ListenerOptions {
    fn default() -> Self {
        ListenerOptions {
            max_connections: 900,
            header_timeout: Duration::from_secs(30),
            send_timeout: Duration::from_secs(30),
            shutdown_timeout: Duration::from_secs(10),
            tls: None,
        }
    }
}

impl Default for CallerOptions {
    fn default() -> Self {
        CallerOptions {
            hosts: HostNames::default(),
            origins: Origins::None,
            preflight_age: Duration::from_secs(600),
            proxies: TrustedProxies::default(),
        }
    }
}
