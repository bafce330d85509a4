//! What a running service has around what it serves: a listener with bounds, callers and tokens, request identifiers, the pages and
//! probes of every service, health records, and the progress of a load.
//!
//! # From a connection to a request
//!
//! A connection is one task (`listener`), with bounds on clients that stall (`connection`, `rejection`). `front`, one
//! function around all routes, does for every request what does not depend on its path, since each layer of a
//! router costs a request several allocations: identifier and log line, rules for callers, the token where requests
//! need one, the answer to a panic, compression. What is posted to `/graphql` does not come by the router. What few
//! requests do is boxed, so that the future of a short request is small: it is moved several times. The route reads
//! the request, negotiates the media type and makes a `graphql_service::RequestContext` with deadline, cancellation,
//! request id, languages and the `Caller` that the token stands for.

pub(crate) mod authentication;
mod authority;
mod caller_lists;
mod callers;
mod checks;
pub mod code;
mod connection;
mod docs;
pub(crate) mod documents;
pub(crate) mod front;
pub(crate) mod gate;
mod health;
pub(crate) mod listener;
mod loading;
pub(crate) mod login;
pub(crate) mod managing;
mod memory;
mod operations;
mod options;
mod page;
pub(crate) mod preconditions;
mod refusals;
mod rejection;
mod resources;
pub(crate) mod routes;
mod schema_route;
mod sdl;
mod served;
mod shared_look;
mod state;

pub use authentication::authenticated;
pub use caller_lists::{HostNames, Origins};
pub(crate) use checks::{
    COMPOSITION, GATEWAY_CHECKS, INDEXER, INDEXES, MUTATION, OBJECT_CHECKS, QUERY, SCHEMA,
    SCHEMA_CHANGES, SCHEMA_RIGHTS, SEARCH, SEARCH_CHECKS, STORE, SUBGRAPH,
};
pub use front::with_middleware;
pub(crate) use health::{Advice, Check, HealthCache, TROUBLE};
pub use health::{HealthRecord, Status};
pub use listener::ServeError;
pub use loading::{LoadProgress, LoadState};
pub use options::{CallerOptions, HostOptions, ListenerOptions};
pub(crate) use resources::of_low_priority;
pub use resources::{ResourceOptions, resources};
pub(crate) use sdl::{PrintedSdl, SdlCell};
pub use served::Example;
pub(crate) use served::{Host, Shown, no_schema};
pub(crate) use shared_look::SharedLook;
pub use state::HostState;
