//! The HTTP interface of the service.
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

mod answer;
mod authentication;
mod authority;
mod backups;
mod batch;
mod body;
mod callers;
mod change_records;
pub mod code;
mod compression;
mod connection;
mod docs;
mod dump;
mod error;
mod front;
mod gateway;
mod graphql;
mod idempotency;
mod listener;
mod loading;
mod login;
mod managing;
mod negotiate;
mod observer;
mod operations;
mod page;
mod preconditions;
mod refusals;
mod rejection;
mod request_id;
mod response_body;
mod sdl;
mod search;
mod server;
mod soml;
mod soml_rbac;
mod streams;

pub use authentication::authenticated;
pub use front::with_middleware;
pub use graphql::{GraphqlEndpoint, RequestBounds};
pub use listener::ServeError;
pub use server::{GatewayServer, SearchServer, Server, gateway_router, router, search_router};
