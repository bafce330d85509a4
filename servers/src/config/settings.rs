//! The typed settings that the properties fill, with their defaults.

use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use graph_store::remote::http::ConnectionOptions;
use graph_store::value::Numbers;
use graphql_service::Limits;
use object_engine::EngineLimits;
use service_log::LogFormat;
use service_runtime::{HostNames, Origins, TrustedProxies};

use super::edge::EdgeSettings;
use super::gateway::GatewaySettings;
use super::loggers::LoggerLevels;
use super::mutation::MutationSettings;
use super::provider::ProviderSettings;
use super::search::SearchSettings;
use super::security::{SecuritySettings, Switch};
use super::setting::Automatic;
use super::storage::{ApplicationSettings, StorageSettings};
use super::store::StoreSettings;
use super::traces::TracesSettings;

/// Everything that can be configured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Name of the service: `application.name`, or that of the program.
    pub name: String,
    /// Address to listen on (`application.host`).
    pub host: IpAddr,
    /// Port to listen on; 0 takes a free one (`application.port`).
    pub port: u16,
    /// Limits on a document and its response (`graphql.limits.*`).
    pub limits: Limits,
    /// Limits on the arguments and the plan of an operation (`graphql.limits.*`).
    pub engine_limits: EngineLimits,
    /// Timeout of a GraphQL request (`graphql.requestTimeout`).
    pub request_timeout: Duration,
    /// How to write numbers that JSON parsers may round (`graphql.numbers`).
    pub numbers: Numbers,
    /// Whether lists without values are null where the schema does not say it (`graphql.response.json.nullArrays`).
    pub null_arrays: bool,
    /// Whether the API is a federation subgraph (`graphql.federation.enabled`).
    pub federation: Switch,
    /// How mutations are served (`graphql.mutation.*`, `mutation.*`).
    pub mutation: MutationSettings,
    /// Whether clients may request the plan of a query (`graphql.explain.enabled`).
    pub explain: bool,
    /// Whether types that no operation can use are left out of the API (`graphql.schema.prune`).
    pub prune: bool,
    /// Whether all arguments of the API are described (`graphql.schema.describeArguments`).
    pub describe_arguments: bool,
    /// Whether `GET /` serves GraphiQL (`graphql.graphiql.enabled`).
    pub graphiql: bool,
    /// The SPARQL server that holds the data; without an address, the store is embedded
    /// (`sparql.endpoint.*`).
    pub sparql: ConnectionOptions,
    /// Where an embedded store keeps its data (`store.*`).
    pub store: StoreSettings,
    /// Maximum size of the body of a GraphQL request (`http.maxBodyBytes`).
    pub max_body_bytes: usize,
    /// Maximum size of a SOML document that is sent (`http.maxSchemaBytes`).
    pub max_schema_bytes: usize,
    /// Memory that all requests together may hold (`http.memoryBudget`).
    pub memory_budget: Automatic,
    /// Maximum number of open connections (`http.maxConnections`).
    pub max_connections: usize,
    /// Maximum time for a client to go on reading a response (`http.sendTimeout`).
    pub send_timeout: Duration,
    /// Number of requests that are executed at once off the async workers (`graphql.slots`).
    pub slots: Automatic,
    /// Maximum number of requests that wait for a slot (`graphql.queue`).
    pub queue: usize,
    /// Names under which clients may call (`http.allowedHosts`).
    pub allowed_hosts: HostNames,
    /// Origins of web pages that may call (`http.cors.allowedOrigins`).
    pub cors_origins: Origins,
    /// How long browsers may keep the answer to a preflight (`http.cors.maxAge`).
    pub cors_max_age: Duration,
    /// Proxies in front of the service (`http.trustedProxies`).
    pub trusted_proxies: TrustedProxies,
    /// How requests are authenticated (`security.*`).
    pub security: SecuritySettings,
    /// How the service is called by others (`application.*`).
    pub application: ApplicationSettings,
    /// Where schemas are stored (`soml.storage.*`).
    pub storage: StorageSettings,
    /// Maximum number of stored schemas (`soml.storage.maxSchemas`).
    pub max_stored_schemas: usize,
    /// Maximum size of all stored schemas in bytes (`soml.storage.maxBytes`).
    pub max_stored_bytes: usize,
    /// Maximum time for a client to send the request headers (`http.headerTimeout`).
    pub header_timeout: Duration,
    /// Maximum time for open requests to complete at shutdown (`http.shutdownTimeout`).
    pub shutdown_timeout: Duration,
    /// The development provider of tokens (`security.provisioning.file`, `security.provider.*`).
    pub provider: ProviderSettings,
    /// How long a health record is cached (`health.cacheTime`).
    pub health_cache: Duration,
    /// How objects are indexed and searched (`search.*`, `indexing.*`, `indexer.*`).
    pub search: SearchSettings,
    /// How subgraphs are composed and served (`graphql.service.*`, `gateway.*`).
    pub gateway: GatewaySettings,
    /// One address in front of services (`edge.*`).
    pub edge: EdgeSettings,
    /// Whether metrics are recorded, and shown at `/metrics` (`metrics.enabled`).
    pub metrics: bool,
    /// Duration from which on an operation is logged as slow (`logging.slowOperations.threshold`).
    pub slow_operations: Option<Duration>,
    /// Format of log lines (`logging.format`).
    pub log_format: LogFormat,
    /// Log level or directives (`logging.level`).
    pub log_level: String,
    /// Levels of individual loggers (`logging.level.<name>`).
    pub loggers: LoggerLevels,
    /// Whether and where to traces are sent (`traces.*`).
    pub traces: TracesSettings,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            name: "object-service".to_owned(),
            host: IpAddr::V4(Ipv4Addr::LOCALHOST),
            port: 9995,
            limits: Limits::default(),
            engine_limits: EngineLimits::default(),
            request_timeout: Duration::from_secs(60),
            numbers: Numbers::Exact,
            null_arrays: false,
            federation: Switch::Automatic,
            mutation: MutationSettings::default(),
            explain: false,
            prune: false,
            describe_arguments: false,
            graphiql: true,
            sparql: ConnectionOptions::default(),
            store: StoreSettings::default(),
            max_body_bytes: 1 << 20,
            max_schema_bytes: 8 << 20,
            memory_budget: Automatic(None),
            max_connections: 900,
            send_timeout: Duration::from_secs(30),
            slots: Automatic(None),
            queue: 1_000,
            allowed_hosts: HostNames::default(),
            cors_origins: Origins::None,
            cors_max_age: Duration::from_secs(600),
            trusted_proxies: TrustedProxies::default(),
            security: SecuritySettings::default(),
            application: ApplicationSettings::default(),
            storage: StorageSettings::default(),
            max_stored_schemas: 1_000,
            max_stored_bytes: 64 << 20,
            header_timeout: Duration::from_secs(30),
            shutdown_timeout: Duration::from_secs(10),
            provider: ProviderSettings::default(),
            health_cache: Duration::from_secs(30),
            search: SearchSettings::default(),
            gateway: GatewaySettings::default(),
            edge: EdgeSettings::default(),
            metrics: false,
            slow_operations: Some(Duration::from_secs(1)),
            log_format: LogFormat::Text,
            log_level: "info".to_owned(),
            loggers: LoggerLevels::default(),
            traces: TracesSettings::default(),
        }
    }
}
