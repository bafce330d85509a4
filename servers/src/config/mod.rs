//! Configuration: one table of properties, read from defaults, a file, the environment and flags.
//!
//! Later sources win: defaults, then the file, then the environment, then the command line. Case
//! and punctuation in names are ignored: `graphql.limits.whereDepth`,
//! `GRAPHQL_LIMITS_WHEREDEPTH` and `graphql_limits_where_depth` are the same property.

mod advice;
mod assign;
mod callers;
pub mod code;
mod contract;
mod docs;
mod environment;
mod gateway;
mod headers;
mod mutation;
mod nearest;
mod properties;
mod provider;
mod search;
mod security;
mod settings;
mod sources;
mod store;
mod subgraphs;
mod table;
mod traces;

pub use advice::token_warnings;
pub use callers::{HostNames, Origins};
pub(crate) use docs::described;
pub use docs::markdown;
pub(crate) use gateway::GATEWAY_PORT;
pub use gateway::{
    ExchangeSettings, GatewaySettings, HostName, IdpSettings, PersistedSettings, Protocol, Seconds,
    SubgraphSettings, SubscriptionSettings, TrustedSettings,
};
pub use headers::HeaderNames;
pub use mutation::{Graph, MutationSettings};
pub(crate) use nearest::nearest;
pub use provider::ProviderSettings;
pub(crate) use search::SEARCH_PORT;
pub use search::{
    IndexCreateSettings, Patience, Positive, SearchPort, SearchSettings, ServiceAddress,
    Severities, Severity,
};
pub use security::{Algorithms, Names, SecuritySettings, Switch};
pub use settings::{Automatic, LogFormat, Settings};
pub use sources::{ConfigError, Sources, read};
pub use store::{StoreSettings, SyncWhen};
pub(crate) use subgraphs::endpoint;
pub use table::{PROPERTIES, Property};
pub use traces::{StandardVariables, TracesEndpoint, TracesSettings};
