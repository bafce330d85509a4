//! Configuration: one table of properties, read from defaults, a file, the environment and flags.
//!
//! Later sources win: defaults, then the file, then the environment, then the command line. Case
//! and punctuation in names are ignored: `graphql.limits.whereDepth`,
//! `GRAPHQL_LIMITS_WHEREDEPTH` and `graphql_limits_where_depth` are the same property.

mod advice;
pub mod code;
mod contract;
mod defaults;
mod edge;
mod edge_routes;
mod gateway;
mod headers;
mod log_in;
mod loggers;
mod migration;
mod mutation;
mod provider;
mod read;
mod search;
mod security;
mod setting;
mod settings;
mod storage;
mod store;
mod subgraphs;
mod table;
mod times;
mod traces;

pub use advice::token_warnings;
pub(crate) use edge::EDGE_PORT;
pub use edge::{EdgeSettings, HealthPath, PublicPaths, RouteSettings};
pub(crate) use gateway::GATEWAY_PORT;
pub(crate) use gateway::REALM;
pub use gateway::{
    GatewaySettings, HostName, IdpKind, IdpSettings, PathPrefix, Protocol, Seconds,
    SubscriptionSettings,
};
pub use headers::HeaderNames;
pub use log_in::IdpIncomplete;
pub(crate) use log_in::log_in_options;
pub use loggers::LoggerLevels;
pub(crate) use loggers::{changed, levels_of};
pub use migration::{LastingStore, MigrationDestination, MigrationSettings};
pub use mutation::{Graph, MutationSettings};
pub use provider::ProviderSettings;
pub use read::{Sources, code_of, markdown, read};
pub(crate) use search::SEARCH_PORT;
pub use search::{
    AccessTimeout, IndexCreateSettings, Patience, Positive, RetrySettings, SearchPort, SearchRoles,
    SearchSettings,
};
pub use security::{Algorithms, Names, SecuritySettings, Switch};
pub use setting::Automatic;
pub use settings::Settings;
pub use storage::{
    ApplicationSettings, Decision, MongoEndpoint, MongoSettings, NetworkAddress, Rdf4jSettings,
    RepositoryTemplate, Scheme, StorageProvider, StorageSettings,
};
pub use store::{StoreSettings, SyncWhen};
pub use table::CATALOGUE;
pub use traces::{StandardVariables, TracesEndpoint, TracesSettings};
