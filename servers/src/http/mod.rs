//! The HTTP interface of the service.

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
mod error;
mod gateway;
mod graphql;
mod host;
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
pub use graphql::{GraphqlEndpoint, RequestBounds};
pub use listener::ServeError;
pub use server::{
    GatewayServer, SearchServer, Server, gateway_router, router, search_router, with_middleware,
};
