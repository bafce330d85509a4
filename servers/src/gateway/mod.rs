//! The federation gateway in a process: its subgraphs, how their schemas are read and composed, and what it
//! says of their health.

mod advice;
mod app;
mod client;
pub mod code;
mod composite;
mod endpoints;
mod examples;
mod explain;
mod extension;
mod follow;
mod health;
mod local;
mod log_in;
mod metrics;
mod persisted;
mod poll;
mod schemas;
mod start;
mod subgraph;
mod supergraph_file;
mod traces;
mod transport;
mod trouble;

pub use app::{GatewayApp, GatewayParts, SetupError};
pub(crate) use client::Client;
pub(crate) use composite::Composite;
pub(crate) use explain::Explaining;
pub use extension::Extension;
pub(crate) use health::{health, obstacle};
pub use local::LocalSubgraph;
pub use log_in::IdpIncomplete;
pub use persisted::TrustedError;
pub(crate) use persisted::{PersistedQueries, not_supported};
pub(crate) use schemas::read_sdl;
pub use start::StartError;
pub use subgraph::{Subgraph, SubgraphsError};
pub use supergraph_file::SupergraphFileError;
pub(crate) use traces::TraceId;
pub use traces::TracesError;
pub(crate) use trouble::all_advice;
