//! The federation gateway: its subgraphs, and how it talks to them.

use std::collections::BTreeMap;
use std::time::Duration;

use clap::ValueEnum;
use federation::GatewayLimits;
use gateway_service::{ExchangeOptions, SubgraphOptions};
use graphql_http::{PersistedOptions, TrustedOptions};
use outbound::Secret;
use reqwest::Url;
use reqwest::header::HeaderName;
use service_config::Setting;
use uuid::Uuid;

use super::headers::HeaderNames;
use super::search::{Positive, SearchPort};
use super::security::{Names, Switch};
use super::setting::{Automatic, Programs};
use super::times::milliseconds;

/// The port of the gateway unless told otherwise.
pub(crate) const GATEWAY_PORT: u16 = 9000;

/// The realm of Keycloak unless told otherwise.
pub(crate) const REALM: &str = "soml";

/// How subgraphs are composed and served (`graphql.service.*`, `gateway.*` and the names of the interface).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct GatewaySettings {
    /// Whether the all-in-one is a gateway too (`gateway.enabled`).
    pub enabled: Switch,
    /// Port of the gateway in the all-in-one (`gateway.port`).
    pub port: SearchPort,
    /// The subgraphs by their numbers (`graphql.service.N`).
    pub subgraphs: BTreeMap<u32, SubgraphOptions>,
    /// The file of a composed supergraph, in place of schemas of subgraphs (`gateway.supergraph.file`).
    pub supergraph_file: Option<String>,
    /// How the gateway logs in to read the schemas of subgraphs (`idp.*`).
    pub idp: IdpSettings,
    /// Headers of clients that subgraphs are sent (`forward.headers`).
    pub forward_headers: HeaderNames,
    /// How long answers may be kept that say nothing of it (`cache.maxAge`).
    pub cache_max_age: Seconds,
    /// Accepted for deployments that set it (`engine.apiKey`).
    pub engine_api_key: Option<Secret>,
    /// Pause between checks of the subgraphs (`service.dwell`).
    pub dwell: Positive,
    /// Pause between looks for other schemas of the subgraphs (`poll.interval`).
    pub poll_interval: Seconds,
    /// Whether a schema that is bound in the same process is served at once (`gateway.followBindings`).
    pub follows_bindings: bool,
    /// Whether mutations of the subgraphs are served (`gateway.mutations.enabled`).
    pub mutations: bool,
    /// Whether types that no operation can reach are left out of the schema (`gateway.pruneUnreachableTypes`).
    pub prune: bool,
    /// Limits on plans and subgraphs (`gateway.limits.*`).
    pub limits: GatewayLimits,
    /// Time-outs of requests to subgraphs (`gateway.subgraph.*`).
    pub exchange: ExchangeOptions,
    /// Whether equal queries to a subgraph that are in flight at the same time are sent once
    /// (`gateway.sharing.subgraphRequests`).
    pub share_subgraph_requests: bool,
    /// Whether equal queries of clients that are in flight at the same time are executed once
    /// (`gateway.sharing.clientRequests`).
    pub share_client_requests: bool,
    /// Whether subgraphs are not asked again, within an operation, for what they have said of entities
    /// (`gateway.entityMemo.enabled`).
    pub entity_memo: bool,
    /// The subgraphs that are always asked (`gateway.entityMemo.except`).
    pub entity_memo_except: Names,
    /// Queries that clients bring and name (`gateway.persistedQueries.*`).
    pub persisted: PersistedOptions,
    /// Operations that a file lists (`gateway.trustedDocuments.*`).
    pub trusted: TrustedOptions,
    /// Maximum number of requests in one body (`gateway.batching.maxOperations`).
    pub batch: usize,
    /// Subscriptions of clients (`gateway.subscriptions.*`).
    pub subscriptions: SubscriptionSettings,
}

/// How clients subscribe, over WebSockets and by server-sent events (`gateway.subscriptions.*`).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SubscriptionSettings {
    /// How often clients are sent a sign of life (`gateway.subscriptions.keepAlive`).
    pub keep_alive: Duration,
    /// Time for a WebSocket to be initialized (`gateway.subscriptions.initTimeout`).
    pub init_timeout: Duration,
    /// Maximum number of connections that are WebSockets or streams of events
    /// (`gateway.subscriptions.maxConnections`).
    pub max_connections: Automatic,
    /// Maximum number of operations on one WebSocket at a time (`gateway.subscriptions.maxOperations`).
    pub max_operations: usize,
    /// Maximum size of a message of a client (`gateway.subscriptions.maxMessageBytes`).
    pub max_message_bytes: usize,
}

/// How the gateway logs in to the identity provider (`idp.*`).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct IdpSettings {
    /// What the provider is (`idp.type`).
    pub kind: IdpKind,
    /// The application to log in to (`idp.applicationId`).
    pub application_id: Option<Uuid>,
    /// How the provider is reached (`idp.protocol`).
    pub protocol: Option<Protocol>,
    /// Its host (`idp.host`).
    pub host: Option<HostName>,
    /// Its port (`idp.port`).
    pub port: Option<u16>,
    /// The path before all of its paths (`idp.path`).
    pub path: Option<PathPrefix>,
    /// The realm of Keycloak (`idp.realm`).
    pub realm: String,
    /// The secret of the client at Keycloak (`idp.clientSecret`).
    pub client_secret: Option<Secret>,
    /// The user (`idp.username`).
    pub username: Option<String>,
    /// The password of the user (`idp.password`).
    pub password: Option<Secret>,
    /// Further attempts after one that failed (`idp.login.retries`).
    pub retries: u32,
    /// Pause between attempts (`idp.login.retryDelay`).
    pub retry_delay: Duration,
}

/// What an identity provider is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum IdpKind {
    /// FusionAuth, or the provider of a service.
    #[value(name = "fusionauth")]
    FusionAuth,
    /// Keycloak.
    Keycloak,
}

/// The beginning of all paths of a server, such as `/auth`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathPrefix(pub String);

/// `http` or `https`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// HTTP.
    Http,
    /// HTTP under TLS.
    Https,
}

/// The name or the address of a host, without a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostName(pub String);

/// A time in seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seconds(pub Duration);

impl Default for GatewaySettings {
    fn default() -> Self {
        GatewaySettings {
            enabled: Switch::Automatic,
            port: SearchPort(None),
            subgraphs: BTreeMap::new(),
            supergraph_file: None,
            idp: IdpSettings::default(),
            forward_headers: HeaderNames(vec![
                HeaderName::from_static("x-request-id"),
                HeaderName::from_static("authorization"),
            ]),
            cache_max_age: Seconds(Duration::ZERO),
            engine_api_key: None,
            dwell: Positive(10_000),
            poll_interval: Seconds(Duration::ZERO),
            follows_bindings: true,
            mutations: true,
            prune: false,
            limits: GatewayLimits::default(),
            exchange: ExchangeOptions::default(),
            share_subgraph_requests: true,
            share_client_requests: false,
            entity_memo: true,
            entity_memo_except: Names::default(),
            persisted: PersistedOptions::default(),
            trusted: TrustedOptions::default(),
            batch: 0,
            subscriptions: SubscriptionSettings::default(),
        }
    }
}

impl Default for SubscriptionSettings {
    fn default() -> Self {
        SubscriptionSettings {
            keep_alive: Duration::from_secs(15),
            init_timeout: Duration::from_secs(10),
            max_connections: Automatic(None),
            max_operations: 100,
            max_message_bytes: 64 << 10,
        }
    }
}

impl Default for IdpSettings {
    fn default() -> Self {
        IdpSettings {
            kind: IdpKind::FusionAuth,
            application_id: None,
            protocol: None,
            host: None,
            port: None,
            path: None,
            realm: REALM.to_owned(),
            client_secret: None,
            username: None,
            password: None,
            retries: 10,
            retry_delay: Duration::from_secs(2),
        }
    }
}

impl GatewaySettings {
    /// Returns the port of the gateway beside an object service on `port`.
    #[must_use]
    pub fn port_beside(&self, port: u16) -> u16 {
        match (self.port.0, port) {
            (Some(port), _) => port,
            (None, 0) => 0,
            (None, _) => GATEWAY_PORT,
        }
    }

    /// Returns what is said of subgraphs, by their numbers. Properties that say `none` leave nothing.
    pub(crate) fn given(&self) -> impl Iterator<Item = (u32, &SubgraphOptions)> + Clone {
        let all = self.subgraphs.iter().map(|(number, it)| (*number, it));
        all.filter(|(_, it)| **it != SubgraphOptions::default())
    }

    /// Returns the property that makes a process a gateway: the file of a supergraph, or the first subgraph.
    pub(crate) fn made_by(&self) -> Option<String> {
        if self.supergraph_file.is_some() {
            return Some("`gateway.supergraph.file`".to_owned());
        }
        let (number, _) = self.given().next()?;
        Some(format!(
            "`graphql.service.{number}` (GRAPHQL_SERVICE_{number})"
        ))
    }

    /// Returns the pause between checks of the subgraphs.
    #[must_use]
    pub fn dwell_time(&self) -> Duration {
        Duration::from_millis(self.dwell.0.into())
    }
}

impl Protocol {
    pub(crate) fn scheme(self) -> &'static str {
        match self {
            Protocol::Http => "http",
            Protocol::Https => "https",
        }
    }
}

impl Setting<Programs> for Option<u16> {
    const TYPE: &'static str = "port or `none`";

    fn parse(text: &str) -> Result<Self, &'static str> {
        match text {
            "" | "none" => Ok(None),
            _ => match text.parse() {
                Ok(port @ 1..) => Ok(Some(port)),
                _ => Err("a port between 1 and 65535, or `none`"),
            },
        }
    }

    fn show(&self) -> String {
        self.map_or_else(|| "none".to_owned(), |port| port.to_string())
    }
}

impl Setting<Programs> for Option<Uuid> {
    const TYPE: &'static str = "UUID or `none`";

    fn parse(text: &str) -> Result<Self, &'static str> {
        match text {
            "" | "none" => Ok(None),
            _ => text.parse().map(Some).map_err(|_| "a UUID"),
        }
    }

    fn show(&self) -> String {
        self.map_or_else(|| "none".to_owned(), |id| id.to_string())
    }
}

impl Setting<Programs> for IdpKind {
    const TYPE: &'static str = "`fusionauth` or `keycloak`";

    fn parse(text: &str) -> Result<Self, &'static str> {
        IdpKind::from_str(text, true).map_err(|_| "`fusionauth` or `keycloak`")
    }

    fn show(&self) -> String {
        match self {
            IdpKind::FusionAuth => "fusionauth".to_owned(),
            IdpKind::Keycloak => "keycloak".to_owned(),
        }
    }
}

impl Setting<Programs> for Option<PathPrefix> {
    const TYPE: &'static str = "path or `none`";

    fn parse(text: &str) -> Result<Self, &'static str> {
        let path = text.trim_end_matches('/');
        if matches!(path, "" | "none") {
            return Ok(None);
        }
        let is_path = path.starts_with('/')
            && !path.contains(['?', '#', '\\', '%'])
            && !path.contains("//")
            && path.chars().all(|c| c.is_ascii_graphic());
        if is_path {
            Ok(Some(PathPrefix(path.to_owned())))
        } else {
            Err("a path that begins with `/`, such as `/auth`")
        }
    }

    fn show(&self) -> String {
        let path = self.as_ref().map(|path| path.0.clone());
        path.unwrap_or_else(|| "none".to_owned())
    }
}

impl Setting<Programs> for Option<Protocol> {
    const TYPE: &'static str = "`http`, `https` or `none`";

    fn parse(text: &str) -> Result<Self, &'static str> {
        match text.to_ascii_lowercase().as_str() {
            "" | "none" => Ok(None),
            "http" => Ok(Some(Protocol::Http)),
            "https" => Ok(Some(Protocol::Https)),
            _ => Err("`http` or `https`"),
        }
    }

    fn show(&self) -> String {
        self.map_or("none", Protocol::scheme).to_owned()
    }
}

impl Setting<Programs> for Option<HostName> {
    const TYPE: &'static str = "host or `none`";

    fn parse(text: &str) -> Result<Self, &'static str> {
        if matches!(text, "" | "none") {
            return Ok(None);
        }
        let expected = "the name or address of a host, without a port";
        let url = Url::parse(&format!("http://{text}")).map_err(|_| expected)?;
        let is_alone = url.username().is_empty()
            && url.password().is_none()
            && url.port().is_none()
            && url.path() == "/"
            && url.query().is_none()
            && url.fragment().is_none()
            && !text.ends_with([':', '/'])
            && !text.contains('@');
        match url.host_str() {
            Some(host) if is_alone => Ok(Some(HostName(host.to_owned()))),
            _ => Err(expected),
        }
    }

    fn show(&self) -> String {
        let host = self.as_ref().map(|host| host.0.clone());
        host.unwrap_or_else(|| "none".to_owned())
    }
}

impl Setting<Programs> for Seconds {
    const TYPE: &'static str = "seconds";

    fn parse(text: &str) -> Result<Self, &'static str> {
        let expected = "a number of seconds, or a time such as `500ms` or `2m`";
        let milliseconds = milliseconds(text)
            .map_err(|_| expected)?
            .parse()
            .map_err(|_| expected)?;
        Ok(Seconds(Duration::from_millis(milliseconds)))
    }

    fn show(&self) -> String {
        match self.0.subsec_millis() {
            0 => self.0.as_secs().to_string(),
            _ => format!("{}ms", self.0.as_millis()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn malformed_values_are_refused() {
        for text in ["a:1", "http://a", "a/b", "u@a", "a b", "a:"] {
            assert!(Option::<HostName>::parse(text).is_err(), "{text}");
        }
        assert!(Option::<HostName>::parse("[::1]").is_ok());
        assert!(Option::<Uuid>::parse("7").is_err());
        assert!(Option::<u16>::parse("0").is_err());
        assert!(Option::<Protocol>::parse("ftp").is_err());
        assert!(IdpKind::parse("okta").is_err());
        for text in ["auth", "/a?b", "/a#b", "/a b", "//host/a"] {
            assert!(Option::<PathPrefix>::parse(text).is_err(), "{text}");
        }
        assert_eq!(
            Option::<PathPrefix>::parse("/auth/").unwrap().show(),
            "/auth"
        );
    }

    #[test]
    fn seconds_may_have_a_unit() {
        assert_eq!(Seconds::parse("5").unwrap().0, Duration::from_secs(5));
        assert_eq!(Seconds::parse("250ms").unwrap().show(), "250ms");
        assert_eq!(Seconds::parse("2m").unwrap().show(), "120");
        assert!(Seconds::parse("soon").is_err());
    }
}
