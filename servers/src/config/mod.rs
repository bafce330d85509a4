//! Configuration: one table of properties, read from defaults, a file, the environment and flags.
//!
//! Later sources win: defaults, then the file, then the environment, then the command line. Case
//! and punctuation in names are ignored: `graphql.limits.whereDepth`,
//! `GRAPHQL_LIMITS_WHEREDEPTH` and `graphql_limits_where_depth` are the same property.

mod advice;
mod assign;
pub mod code;
mod contract;
mod docs;
mod environment;
mod gateway;
mod headers;
mod log_in;
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
pub(crate) use docs::described;
pub use docs::markdown;
pub(crate) use gateway::GATEWAY_PORT;
pub use gateway::{
    GatewaySettings, HostName, IdpSettings, Protocol, Seconds, SubscriptionSettings,
};
pub use headers::HeaderNames;
pub use log_in::IdpIncomplete;
pub(crate) use log_in::log_in_options;
pub use mutation::{Graph, MutationSettings};
pub(crate) use nearest::nearest;
pub use provider::ProviderSettings;
pub(crate) use search::SEARCH_PORT;
pub use search::{
    IndexCreateSettings, Patience, Positive, RetrySettings, SearchPort, SearchSettings,
};
pub use security::{Algorithms, Names, SecuritySettings, Switch};
pub use settings::{Automatic, LogFormat, Settings};
pub use sources::{ConfigError, Sources, read};
pub use store::{StoreSettings, SyncWhen};
pub use table::{PROPERTIES, Property};
pub use traces::TracesSettings;
