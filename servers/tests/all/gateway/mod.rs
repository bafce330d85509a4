//! The federation gateway as a process, over subgraphs on sockets.

mod all_in_one;
pub(crate) mod clock;
#[cfg(feature = "otlp")]
pub(crate) mod collector;
mod configuration;
mod faults;
mod forwarding;
mod identity;
mod life;
pub(crate) mod listener;
mod log_in;
mod own_service;
mod polling;
pub(crate) mod process;
mod protocols;
mod roles;
mod serving;
mod shared_types;
mod sharing;
pub(crate) mod soml;
mod stream_clients;
pub(crate) mod subgraph;
pub(crate) mod subscriptions;
mod supergraph;
#[cfg(feature = "otlp")]
mod traces;
#[cfg(not(feature = "otlp"))]
mod without_traces;

use test_support::sockets;
