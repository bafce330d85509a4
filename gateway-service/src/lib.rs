#![doc = include_str!("../README.md")]
//!
//! # The way of subgraphs to a composite schema
//!
//! 1. Where [`GatewayAppOptions::supergraph_file`] names a composed supergraph, `follow.rs` serves it and follows the
//!    file (`supergraph_file.rs`), and no subgraph is asked for its schema. Otherwise [`GatewayApp::start`] reads
//!    `_service { sdl }` of all subgraphs (`schemas.rs`; [`fetch_sdl`] does so for one), and waits for those that may
//!    come. What answers and is none ends the start.
//! 2. `Composite::new` composes them in a slot, and makes the `federation::Gateway` that serves the outcome. It is
//!    in one `ArcSwap`: requests keep the one that they began with. `poll.rs` puts another one there, never
//!    a worse one. How subgraphs are called (`endpoints.rs`) belongs to a composite schema, since a file
//!    can name others.
//! 3. A request goes through the `GraphqlEndpoint` of every service, which takes along what is forwarded
//!    (`graphql_http::Forwarding`). `transport.rs` calls subgraphs of the process as a `graphql_service::Service`,
//!    and all others over HTTP.
//! 4. A subscription comes from `Service::stream` as a stream of replies, which `graphql-http/src/endpoint/streams`
//!    sends. A task of its own (`federation/src/subscription.rs`) takes the events of
//!    the subgraph into a bounded queue, so a client that stalls never holds a subgraph up, and events are answered
//!    when the client asks for the next one. All operations of a WebSocket run in the one task of their connection,
//!    which owns them: what the client ends is dropped there and then, and nothing of it can be said any more. A
//!    connection that was taken over keeps its permit (`service-runtime/src/listener.rs`), so it counts, and the
//!    shutdown waits for it.

mod address;
mod advice;
mod anchors;
mod app;
mod client;
pub mod code;
mod composite;
mod endpoints;
mod examples;
mod explain;
mod follow;
mod health;
mod host;
mod local;
mod metrics;
mod options;
mod poll;
mod routes;
mod schemas;
mod seen;
mod server;
mod start;
mod subgraph;
mod supergraph_file;
mod transport;
mod trouble;

pub use address::{endpoint, is_plain};
pub use app::{GatewayApp, GatewayParts, SetupError};
pub use local::LocalSubgraph;
pub use options::{ExchangeOptions, GatewayAppOptions, SubgraphOptions};
pub use schemas::{ClientErrorText, SdlError, fetch_sdl};
pub use start::StartError;
pub use subgraph::{Subgraph, SubgraphsError};
pub use supergraph_file::SupergraphFileError;
