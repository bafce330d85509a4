//! The federation gateway in a process: its subgraphs, how their schemas are read and composed, and what it
//! says of their health.

mod advice;
mod app;
mod client;
mod composite;
mod examples;
mod extension;
mod health;
mod local;
mod log_in;
mod poll;
mod schemas;
mod start;
mod subgraph;
mod transport;

pub use app::{GatewayApp, GatewayParts, SetupError};
pub(crate) use client::Client;
pub(crate) use composite::Composite;
pub use extension::Extension;
pub(crate) use health::{health, obstacle};
pub use local::LocalSubgraph;
pub use log_in::IdpIncomplete;
pub(crate) use schemas::read_sdl;
pub use start::StartError;
pub use subgraph::{Subgraph, SubgraphsError};
